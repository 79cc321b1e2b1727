"""Prints, assertions, hints, barriers and assembly through the whole of Triton's compiler."""

from __future__ import annotations

import re
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest

import teeny as tn
from tests.language.executors import kernel_of
from tests.language.test_debug import ASSERTED, CONSTS, FLOW
from tests.language.test_hints import ASSEMBLY, HINTED

pytestmark = pytest.mark.skipif("triton" not in {d.name for d in metadata.distributions()}, reason="needs Triton")
TARGETS = ("sm_75", "sm_80", "sm_90", "sm_100", "sm_120", "gfx942")
PRINTED = """@tn.kernel
def kernel(x: tl.Ptr[tl.{0}], n: tl.Scalar[tl.u32]) -> None:
    at = tl.arange(0, 128)
    v = tl.load(x + at)
    tl.device_print("v", v, n, x, x + at)
    tl.device_print("v", v, hex=True)
    tl.device_print("here")
"""


@pytest.mark.parametrize("target", TARGETS)
def test_hints_and_barriers(target: str, tmp_path: Path) -> None:
    program = tn.compile(kernel_of(HINTED, tmp_path).specialize(B=128), target)
    assert "tt.divisibility" in program.file("ttgir").decode() or target == "gfx942"
    assert re.search(r"bar\.sync|s_barrier", program.file("asm").decode())


@pytest.mark.parametrize("target", ["sm_90", "gfx942"])
@pytest.mark.parametrize("dtype", ["bool_", "i8", "u16", "i64", "f16", "bf16", "f32", "f64"])
def test_prints(dtype: str, target: str, tmp_path: Path) -> None:
    program = tn.compile(kernel_of(PRINTED.format(dtype), tmp_path).specialize(), target)
    assert b"vprintf" in program.file("llir") or target == "gfx942"


@pytest.mark.parametrize("target", TARGETS)
def test_assertions_are_an_option(target: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TRITON_DEBUG", raising=False)
    made: Any = kernel_of(ASSERTED, tmp_path).specialize(SIZE=128)

    def asserts(**options: Any) -> bool:
        return "tt.assert" in tn.compile(made, target, **options).file("ttir").decode()

    assert (asserts(), asserts(debug=True), asserts(debug=False)) == (False, True, False)
    monkeypatch.setenv("TRITON_DEBUG", "1")
    assert (asserts(), asserts(debug=False)) == (True, False)


def test_control_flow_around_them(tmp_path: Path) -> None:
    tn.compile(kernel_of(FLOW, tmp_path).specialize(K=6), "sm_90", debug=True)
    tn.compile(kernel_of(CONSTS, tmp_path).specialize(K=3, F=0.5, B=True), "sm_90")


@pytest.mark.parametrize("target", [t for t in TARGETS if t.startswith("sm")])
def test_assembly(target: str, tmp_path: Path) -> None:
    program = tn.compile(kernel_of(ASSEMBLY, tmp_path).specialize(), target)
    assert "globaltimer" in program.ptx
