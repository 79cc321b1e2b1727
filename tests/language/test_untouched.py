"""Memory that no lane is allowed to touch is not touched: arrays end at a page that faults."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from teeny.backends.cpu.kernel import CpuKernel, compile_module
from teeny.frontend.lower import define, lower_concrete
from tests.language.executors import module_of
from tests.language.fuzz import apart
from tests.language.trial import MODES, Guarded

MASKS = {
    "a row": "n > rM[None, :, None]",
    "a row and a flag": "(m != 1) & (n > rM[None, :, None])",
    "a row and another": "(rK[:, None, None] != m) & (n > rM[None, :, None])",
    "a flag": "(m == 1) & (rM[None, :, None] >= 0)",
    "nothing": "(rK[:, None, None] < n) & (rM[None, :, None] >= m)",
}
ENDS = {
    "stored": "tl.store(y + rN[None, None, :] + rM[None, :, None] * BN + rK[:, None, None] * BM * BN, x1)",
    "reduced": "tl.store(y + rM[None, :] + rK[:, None] * BM, tl.min(x1, axis=2))",
}


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("mask", MASKS)
def test_a_load_without_lanes(mask: str, end: str, tmp_path: Path) -> None:
    """The address depends on one axis alone, so the load could move out of the loops that its mask ends."""
    text = f"""
def kernel(x: tl.Ptr[tl.f32], y: tl.Ptr[tl.f32], n: tl.Scalar[tl.i32], m: tl.Scalar[tl.i32],
           BM: tl.Const[int], BN: tl.Const[int], BK: tl.Const[int]) -> None:
    rM, rN, rK = tl.arange(0, BM), tl.arange(0, BN), tl.arange(0, BK)
    x1 = tl.load(x + rN[None, None, :] + tl.zeros((BK, BM, BN), tl.i32), mask={MASKS[mask]}, other=1.0)
    {ENDS[end]}
"""
    definition, _ = define(module_of(text, tmp_path).kernel)
    for bm, bn, bk in ((2, 2, 2), (8, 16, 4)):
        module = lower_concrete(definition, {}, {"BM": bm, "BN": bn, "BK": bk})
        size = bm * bn * bk if end == "stored" else bm * bk
        for level, options in dict.fromkeys(MODES):
            kernel = compile_module(module, level, options=options)

            def launched(kernel: CpuKernel = kernel, size: int = size) -> str:
                x, y = Guarded(np.empty(0, np.float32), True), Guarded(np.zeros(size, np.float32), True)
                kernel.launch([x.address, y.address, 0, 0], (1, 1, 1))
                return "as it should be" if (y.array == 1).all() and y.untouched else f"{y.array[:8]}"

            assert apart(launched) == "as it should be", f"{level}, {options}"
