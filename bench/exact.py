"""Values of the elementary functions in a wider format, to measure errors against: f64 for f32, long double for f64."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np

Array = np.ndarray[Any, Any]
WIDER = np.finfo(np.longdouble).nmant >= 63
"""Whether long double is wider than f64 on this machine."""


def _erf(x: Array) -> Array:
    if x.dtype == np.float64:
        return np.vectorize(math.erf, otypes=[np.float64])(x)
    mpmath.mp.prec = 100
    return np.array([_long_erf(float(value)) for value in x.ravel()], np.longdouble).reshape(x.shape)


def _long_erf(x: float) -> Any:
    if not math.isfinite(x) or abs(x) > 7 or x == 0:
        return np.longdouble(math.erf(x))
    exact = mpmath.erf(mpmath.mpf(x))
    high = float(exact)
    return np.longdouble(high) + np.longdouble(float(exact - high))


FUNCTIONS: dict[str, Callable[..., Any]] = {
    **{name: getattr(np, name) for name in ("exp", "exp2", "expm1", "log", "log2", "log1p", "sin", "cos", "tanh")},
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "erf": _erf,
    "pow": np.power,
}
"""By the name of the language function, on arrays of the wider format."""


def exact(name: str, *arrays: Array) -> Array:
    """The function of f32 or f64 numbers in the wider format."""
    kind = np.float64 if arrays[0].dtype == np.float32 else np.longdouble
    if name == "pow":
        kind = np.longdouble
    with np.errstate(all="ignore"):
        return np.asarray(FUNCTIONS[name](*(x.astype(kind) for x in arrays)))


def errors(found: Array, value: Array) -> Array:
    """How far f32 or f64 results are from exact values, in units of the last place of the result's format.

    Where the value rounds to zero, an infinity or NaN, the result must be that, sign of zero included: 0 or inf. On
    the edge, where either side is within an ulp, both are right.
    """
    info = np.finfo(found.dtype)
    with np.errstate(all="ignore"):
        rounded = value.astype(found.dtype)
        same = (found == rounded) & (np.signbit(found) == np.signbit(rounded)) | (np.isnan(found) & np.isnan(rounded))
        got = np.where(np.isinf(found), np.copysign(np.ldexp(value.dtype.type(1), info.maxexp), found), found)
        exponent = np.frexp(np.where(np.isfinite(value), value, 1))[1] - 1
        unit = np.ldexp(np.ones_like(value), np.clip(exponent, info.minexp, info.maxexp - 1) - info.nmant)
        distance = np.abs(got.astype(value.dtype) - value) / unit
        edge = np.isfinite(value) & (value != 0) & ~np.isnan(found) & (np.signbit(found) == np.signbit(value))
        special = ~np.isfinite(rounded) | (rounded == 0) | ~np.isfinite(found)
        found_error = np.where(special & ~edge, np.inf, distance)
        return np.where(same & special, 0.0, found_error).astype(np.float64)
