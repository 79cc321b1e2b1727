"""Kernels of Triton in the shapes that public libraries use, unchanged, on CPU tensors: what torch computes."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch")
pytest.importorskip("triton")

from bench.triton_kernels import GROUPS
from bench.triton_kernels.case import CASES

for group in GROUPS:
    importlib.import_module(f"bench.triton_kernels.{group}")

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module", autouse=True)
def cpu() -> None:
    from teeny.triton import activate

    activate()


@pytest.mark.parametrize("name", list(CASES))
def test_kernel(name: str) -> None:
    trial = CASES[name].make(1)
    trial.check()
    if trial.reset is not None:
        trial.reset()
    trial.check()


def test_there_are_forty() -> None:
    assert len(CASES) >= 40


def test_without_activation_where_there_is_no_gpu() -> None:
    """The entry point alone: `kernel[grid](...)` runs on the CPU, chosen by the variable."""
    program = (
        "from bench.triton_kernels import elementwise\n"
        "from bench.triton_kernels.case import CASES\n"
        "from triton.runtime import driver\n"
        "CASES['vector_add'].make(1).check()\n"
        "print(type(driver.active).__module__)\n"
    )
    environment = {**os.environ, "TRITON_DEFAULT_BACKEND": "cpu"}
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "teeny.triton.driver"
