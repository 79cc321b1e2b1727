"""Comparing what a kernel stored with what it should have."""

from __future__ import annotations

from typing import Any

import numpy as np


def different(found: Any, wanted: Any, *, free_zero: bool = False) -> Any:
    """Where two arrays of one dtype differ in a bit; all NaNs are one, and zeros too where `free_zero`."""
    assert found.dtype == wanted.dtype, f"{found.dtype} for {wanted.dtype}"
    bits = np.dtype(f"u{found.dtype.itemsize}")
    wrong = np.ascontiguousarray(found).view(bits) != np.ascontiguousarray(wanted).view(bits)
    wrong = wrong.reshape(np.shape(found))
    if found.dtype.kind not in "iub":
        a, b = found.astype(np.float64), wanted.astype(np.float64)
        wrong &= ~(np.isnan(a) & np.isnan(b))
        if free_zero:
            wrong &= ~((a == 0) & (b == 0))
    return wrong


def told(found: Any, wanted: Any, wrong: Any, inputs: dict[str, Any]) -> str:
    """The first lanes that differ, with the inputs there."""
    lines: list[str] = []
    for at in list(zip(*np.nonzero(np.atleast_1d(wrong)), strict=True))[:4]:
        spot = at if np.ndim(wrong) else ()
        given = ", ".join(f"{n}={np.broadcast_to(v, np.shape(wrong))[spot]!r}" for n, v in inputs.items())
        place = tuple(map(int, spot))
        lines.append(f"  lane {place}: {found[spot]!r} for {wanted[spot]!r} with {given}")
    return f"{int(np.sum(wrong))} lanes differ\n" + "\n".join(lines)


def flushed(dtype: Any, value: Any, inputs: dict[str, Any]) -> Any:
    """Where a GPU's approximate f32 arithmetic is out of its range, arguments or result: subnormal numbers, which it
    takes for zero, and those above 2**126, which are no divisors. Of f64 only the largest numbers are."""
    tiny, large = float(np.finfo(np.float32).tiny) * 1.001, 2.0**126
    if dtype == np.float64:
        tiny, large = 0.0, 2.0**1022
    wrong = np.zeros(np.shape(value), np.bool_)
    for one in (value, *inputs.values()):
        array = np.asarray(one)
        if array.dtype.kind in "iub":
            continue
        with np.errstate(all="ignore"):
            size = np.abs(array.astype(np.float64))
        wrong = wrong | np.broadcast_to(
            ((size < tiny) & (size > 0)) | ((size > large) & np.isfinite(size)), wrong.shape
        )
    return wrong
