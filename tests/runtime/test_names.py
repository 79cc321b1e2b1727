"""Kernels of any name that Python takes run and compile; their symbols are what machine code takes."""

from __future__ import annotations

import importlib.util
import linecache
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import teeny as tn
import teeny.language as tl
from teeny.ir.symbol import symbol_of

NAMES = {
    "größe": "gr_u00f6_u00dfe", "_": "kernel__", "__": "kernel___", "_a1": "_a1", "核": "_u6838", "add": "add",
    "mov": "mov", "ret": "ret", "reg": "reg", "define": "define",
}  # fmt: skip
needs_triton = pytest.mark.skipif(importlib.util.find_spec("triton") is None, reason="triton is not installed")


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEENY_CACHE_DIR", str(tmp_path / "cache"))


def named(name: str) -> Any:
    text = f"def {name}(x_ptr: tl.Ptr[tl.f32]) -> None:\n    tl.store(x_ptr, 2.0)\n"
    file = f"<kernel {name}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    scope: dict[str, Any] = {"tl": tl}
    exec(compile(text, file, "exec", dont_inherit=True), scope)
    return tn.kernel(scope[name])


@pytest.mark.parametrize("name", NAMES)
def test_a_kernel_of_this_name_runs(name: str) -> None:
    x = np.zeros(1, np.float32)
    named(name)[1](x)
    assert x[0] == 2.0


@needs_triton
@pytest.mark.parametrize("name", NAMES)
def test_its_entry_is_a_symbol(name: str) -> None:
    made = tn.compile(named(name).specialize(), "sm_90")
    assert symbol_of(name) == NAMES[name]
    assert made.interface.kernel == name
    entry = re.search(r"\.entry ([\w$]+)\(", str(made.ptx))
    assert entry is not None
    assert entry[1] == made.metadata["name"] == NAMES[name]
    assert made.file("cubin")
