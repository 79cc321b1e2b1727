"""Every function of libdevice in kernels of Triton: native code and the reference against exact values."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("triton")

import teeny as tn
from teeny.backends.reference import run
from tests.triton.library_calls import SIZE, Call, arguments, every, groups, kernel_of
from tests.triton.library_exact import EXACT, KIND

CALLS = every()
NONE: dict[str, str] = {}
"""Symbols that do not work, and why: none."""


def results(calls: list[Call], given: list[Any], folder: Path) -> list[Any]:
    """A row a function, from native code and from the reference, which agree bit for bit."""
    kernel = tn.from_triton(kernel_of(calls, folder))
    native = np.zeros((len(calls), SIZE), KIND[calls[0].result])
    kernel[(1,)](*given, native, SIZE=SIZE)
    plain = np.zeros_like(native)
    names = [f"x{n}_ptr" for n in range(len(given))]
    types = dict(zip([*names, "y_ptr"], [*given, plain], strict=True))
    run(kernel.specialize(**types, SIZE=SIZE).module, [*given, plain], (1, 1, 1))
    for row, call in enumerate(calls):
        wrong = ~same(native[row], plain[row])
        assert not wrong.any(), (
            call.symbol,
            [x[wrong][:3] for x in given],
            native[row][wrong][:3],
            plain[row][wrong][:3],
        )
    return list(native)


def same(x: Any, y: Any) -> Any:
    """Equal bit for bit, but that all NaNs are one."""
    bits = f"u{x.itemsize}"
    return (x.view(bits) == y.view(bits)) | ((x != x) & (y != y))


@pytest.mark.parametrize("calls", groups([c for c in CALLS if c.plain in EXACT], 12), ids=lambda g: g[0].plain)
def test_exact(calls: list[Call], tmp_path: Path) -> None:
    given = arguments(calls[0].operands)
    for call, found in zip(calls, results(calls, given, tmp_path), strict=True):
        meaning: Any = EXACT[call.plain]
        values = [meaning(*row) for row in zip(*(x.tolist() for x in given), strict=True)]
        if call.result[0] == "f":
            wanted = np.array(values, np.float64).astype(KIND[call.result])
        else:
            bits = 8 * KIND[call.result](0).itemsize
            wanted = np.array([int(v) % (1 << bits) for v in values], f"u{bits // 8}").view(KIND[call.result])
        wrong = ~same(found, wanted)
        shown = [x[wrong][:4] for x in given]
        assert not wrong.any(), (call.symbol, int(wrong.sum()), shown, found[wrong][:4], wanted[wrong][:4])
