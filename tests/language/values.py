"""Inputs: the values at which functions go wrong, and random ones."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tests.language.rounding import DTYPES, DTYPES8

FLOATS = ("f16", "bf16", "f32", "f64")
SIGNED = ("i8", "i16", "i32", "i64")
UNSIGNED = ("u8", "u16", "u32", "u64")
INTEGERS = (*SIGNED, *UNSIGNED)
NUMBERS = (*INTEGERS, *FLOATS)
ALL = ("bool", *NUMBERS)
CLASSES = {
    "D": ALL,
    "N": NUMBERS,
    "I": INTEGERS,
    "F": FLOATS,
    "B": ("bool", *INTEGERS),
    "W": ("i32", "i64", "u32", "u64"),
    "V": ("f32", "f64"),
    **{name: (name,) for name in ("f32", "f64", "i32", "i64", "u32")},
}
"""The dtypes behind the type variables of the language's signatures; W: the wide integers; V: the wide floats."""

_LARGEST = {"f16": 65504.0, "bf16": 255 * 2.0**120, "f32": (2 - 2.0**-23) * 2.0**127, "f64": 1.7976931348623157e308}
_NORMAL = {"f16": 2.0**-14, "bf16": 2.0**-126, "f32": 2.0**-126, "f64": 2.0**-1022}
_BITS = {"f16": 11, "bf16": 8, "f32": 24, "f64": 53}


def specials(dtype: str) -> Any:
    """32 values of a dtype."""
    if dtype == "bool":
        return np.arange(32) % 5 < 2
    if dtype in DTYPES8:
        return np.arange(0, 256, 8, dtype=np.uint8).view(DTYPES8[dtype])
    if dtype in FLOATS:
        large, small, step = _LARGEST[dtype], _NORMAL[dtype], 2.0 ** (1 - _BITS[dtype])
        some = [
            0.0, -0.0, math.inf, -math.inf, math.nan, 1.0, -1.0, 0.5, -0.5, 1.5, -1.5, 2.5, -2.5, large, -large, small,
            -small, small * step, -small * step, small * (1 - step), 1 + step, 1 - step / 2, 3.0, 7.0, 127.5, -128.5,
            255.5, 256.0, 1 / 3, math.pi, 1000.0, 0.001,
        ]  # fmt: skip
        return np.array(some, np.float64).astype(DTYPES[dtype])
    limits = np.iinfo(DTYPES[dtype])
    width = limits.bits
    some = [
        0,
        1,
        2,
        3,
        5,
        7,
        8,
        10,
        16,
        width - 1,
        width,
        width + 1,
        limits.max,
        limits.max - 1,
        limits.min,
        limits.min + 1,
    ]
    some += [limits.max // 2, limits.max // 2 + 1, limits.max // 3, 100, 127, 64, 31, 33]
    some += [-1, -2, -3, -7, -8, -width, -100, -128] if limits.min < 0 else [17, 63, 65, 129, 200, 254, 255, 12]
    return np.array([v if limits.min <= v <= limits.max else v % limits.max for v in some], DTYPES[dtype])


def random(dtype: str, count: int, seed: int) -> Any:
    """Values of all sizes: floats of many exponents, integers small and of full width."""
    rng = np.random.default_rng([seed, count])
    kind = DTYPES[dtype]
    if dtype == "bool":
        return rng.random(count) < 0.5
    if dtype in DTYPES8:
        return rng.integers(0, 256, count, dtype=np.uint8).view(kind)
    if dtype in FLOATS:
        scale = 2.0 ** rng.integers(-12, 12, count)
        found = (rng.standard_normal(count) * np.where(rng.random(count) < 0.5, 1.0, scale)).astype(kind)
        return np.where(rng.random(count) < 0.04, rng.choice(specials(dtype), count), found).astype(kind)
    limits = np.iinfo(kind)
    full = rng.integers(limits.min, limits.max, count, endpoint=True, dtype=kind)
    small = rng.integers(max(-9, limits.min), 10, count).astype(kind)
    return np.where(rng.random(count) < 0.6, small, full).astype(kind)


def inputs(dtype: str, count: int, seed: int) -> Any:
    """`specials` first, then random values."""
    return np.concatenate([specials(dtype), random(dtype, count - 32, seed)]).astype(DTYPES[dtype])
