"""Reductions and scans of 8-bit floats are written on bytes for Triton, and mean the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from teeny.backends.reference import run
from teeny.ir.core import walk_function
from teeny.ir.types import element_of
from teeny.ir.verify import verify
from teeny.passes.expand import expand, joins_float8
from tests.language.cells_combine import combined
from tests.language.executors import kernel_of
from tests.language.sheet import canary


@pytest.mark.parametrize("dtype", ["f8e4m3", "f8e5m2fnuz"])
def test_means_the_same(dtype: str, tmp_path: Path) -> None:
    sheet = combined(dtype)
    module = kernel_of(sheet.text(), tmp_path).specialize().module
    made = expand(module)
    verify(made, concrete=True)
    before, after = (
        [op for op in walk_function(m.kernel) if op.name in ("tt.reduce", "tt.scan")] for m in (module, made)
    )
    assert len(before) == len(after)
    assert any(joins_float8(op) for op in before)
    assert not any(joins_float8(op) for op in after)
    assert {str(element_of(v.type)) for op in after for v in op.operands} == {"i8", "i32"}
    found: list[list[Any]] = []
    for one in (module, made):
        arrays = [array.copy() for _, array in sheet.inputs.values()]
        arrays += [canary(kind, sheet.sizes[kind]) for kind in sheet.segments]
        run(one, list(arrays), (1, 1, 1))
        found.append(arrays)
    for x, y in zip(*found, strict=True):
        assert (x.view(np.uint8) == y.view(np.uint8)).all()
