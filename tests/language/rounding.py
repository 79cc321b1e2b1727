"""Correct rounding, written with exact numbers: what conversions and the fused multiply-add are measured against."""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

import ml_dtypes
import numpy as np

DTYPES: dict[str, np.dtype[Any]] = {
    "bool": np.dtype(np.bool_),
    **{f"{long[0]}{bits}": np.dtype(f"{long}{bits}") for long in ("int", "uint") for bits in (8, 16, 32, 64)},
    "f16": np.dtype(np.float16),
    "bf16": np.dtype(ml_dtypes.bfloat16),
    "f32": np.dtype(np.float32),
    "f64": np.dtype(np.float64),
}  # fmt: skip
"""The dtypes of the language by name, with sign, as NumPy has them."""
DTYPES8: dict[str, np.dtype[Any]] = {
    "f8e4m3": np.dtype(ml_dtypes.float8_e4m3fn),
    "f8e5m2": np.dtype(ml_dtypes.float8_e5m2),
    "f8e4m3fnuz": np.dtype(ml_dtypes.float8_e4m3fnuz),
    "f8e5m2fnuz": np.dtype(ml_dtypes.float8_e5m2fnuz),
}
"""The 8-bit floats, which have no arithmetic."""
DTYPES |= DTYPES8
NAMES = {dtype: name for name, dtype in DTYPES.items()}

_FORMATS = {"f16": (11, -24, 15), "bf16": (8, -133, 127), "f32": (24, -149, 127), "f64": (53, -1074, 1023)}
"""Bits of the significand, exponent of the smallest subnormal, largest exponent."""


def nearest(value: Fraction, name: str) -> float:
    """The number of a float format that is nearest to an exact one, ties to even; a zero has the sign of the value."""
    if value == 0:
        return 0.0
    bits, smallest, largest = _FORMATS[name]
    size = abs(value)
    exponent = size.numerator.bit_length() - size.denominator.bit_length()
    if size < Fraction(2) ** exponent:
        exponent -= 1
    last = max(exponent - bits + 1, smallest)
    count = round(size / Fraction(2) ** last)  # Python rounds halves to even
    if count.bit_length() + last > largest + 1:
        return math.inf if value > 0 else -math.inf
    return math.ldexp(count, last) if value > 0 else -math.ldexp(count, last)


def all_nearest(values: Iterable[Fraction | int], name: str, shape: tuple[int, ...]) -> Any:
    """`nearest` of each, as an array."""
    found = np.array([nearest(Fraction(v), name) for v in values], np.float64).reshape(shape)
    return found.astype(DTYPES[name])


def round_f64(x: Any, name: str) -> Any:
    """f64 values rounded once to a float dtype (a conversion by way of f32 would round twice)."""
    if name in ("f64", "f32", "f16"):
        with np.errstate(over="ignore"):
            return x.astype(DTYPES[name])
    bits, smallest, _ = _FORMATS[name]
    _, exponent = np.frexp(np.where(np.isfinite(x), x, 0.0))
    last = np.maximum(exponent - bits, smallest)
    rounded = np.ldexp(np.rint(np.ldexp(x, -last)), last)
    return np.where(np.isfinite(x), rounded, x).astype(DTYPES[name])


def from_integers(x: Any, name: str) -> Any:
    """Integers (or bools) rounded once to a float dtype."""
    if x.dtype.itemsize < 8:
        return round_f64(x.astype(np.float64), name)
    if name in ("f32", "f64"):
        return x.astype(DTYPES[name])
    return all_nearest((int(v) for v in x.ravel()), name, x.shape)


def to_integers(x: Any, name: str) -> Any:
    """Floats to an integer dtype: toward zero, saturating, NaN as 0."""
    dtype = DTYPES[name]
    limits = np.iinfo(dtype)
    wide = x.astype(np.float64)
    below, above = wide < float(limits.min), wide >= float(limits.max) + (1.0 if limits.bits < 53 else 0.0)
    plain = np.where(np.isnan(wide) | below | above, 0.0, np.trunc(wide)).astype(dtype)
    return np.where(below, dtype.type(limits.min), np.where(above, dtype.type(limits.max), plain)).astype(dtype)


def fused(x: Any, y: Any, z: Any) -> Any:
    """x * y + z with one rounding."""
    name = NAMES[x.dtype]
    x, y, z = np.broadcast_arrays(x, y, z)
    wide = [v.astype(np.float64) for v in (x, y, z)]
    with np.errstate(all="ignore"):
        plain = wide[0] * wide[1] + wide[2]
    special = ~(np.isfinite(wide[0]) & np.isfinite(wide[1]) & np.isfinite(wide[2]))
    out = np.array(plain)
    for at in np.ndindex(out.shape):
        if not special[at]:
            a, b, c = (float(v[at]) for v in wide)
            exact = Fraction(a) * Fraction(b) + Fraction(c)
            if exact:
                out[at] = nearest(exact, name)
            elif a * b != 0:
                out[at] = 0.0
            else:
                out[at] = math.copysign(0.0, a) * math.copysign(1.0, b) + c if a == 0 or b == 0 else 0.0
    return out.astype(x.dtype)
