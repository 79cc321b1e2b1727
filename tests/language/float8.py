"""8-bit floats, by the list of the numbers that each format has: what conversions to them should give."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.language.rounding import DTYPES8

FLOATS8 = tuple(DTYPES8)


def every(name: str) -> Any:
    """All 256 bit patterns of a format."""
    return np.arange(256, dtype=np.uint8).view(DTYPES8[name])


def _numbers(name: str) -> Any:
    """The finite numbers that are not negative, rising; the place of each is its bits."""
    values = np.arange(128, dtype=np.uint8).view(DTYPES8[name]).astype(np.float64)
    return values[np.isfinite(values)]


def to_float8(x: Any, name: str, rounding: str = "rtne") -> Any:
    """Numbers (of a dtype that f64 holds) as an 8-bit float: rounded once, saturated."""
    numbers = _numbers(name)
    with np.errstate(invalid="ignore"):
        wide = np.asarray(x).astype(np.float64)
    size = np.minimum(np.abs(np.where(np.isnan(wide), 0.0, wide)), numbers[-1])
    low = np.searchsorted(numbers, size, side="right") - 1
    code = low
    if rounding == "rtne":
        high = np.minimum(low + 1, len(numbers) - 1)
        middle = (numbers[low] + numbers[high]) / 2
        code = np.where((size > middle) | ((size == middle) & (high % 2 == 0)), high, low)
    if rounding == "rtz" and name == "f8e5m2":
        code = np.where(np.isinf(wide), 0x7C, code)
    negative = np.signbit(wide) & ((code != 0) | (not name.endswith("fnuz")))
    bits = np.where(negative, code | 0x80, code)
    nan = 0x80 if name.endswith("fnuz") else 0x7F
    return np.where(np.isnan(wide), nan, bits).astype(np.uint8).view(DTYPES8[name])


def edges(name: str) -> Any:
    """Numbers around which rounding turns, as f64: each number, the middle to the next, and what is beside both."""
    numbers = _numbers(name)
    middles = (numbers[:-1] + numbers[1:]) / 2
    beyond = numbers[-1] * np.array([1.03, 1.0625, 1.125, 2.0, 1e30])
    some = np.concatenate([numbers, middles, middles * (1 - 2.0**-22), middles * (1 + 2.0**-22), beyond])
    return np.concatenate([some, -some, [np.inf, -np.inf, np.nan]])
