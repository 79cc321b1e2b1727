"""Values of the elementary functions in a wider format, to measure errors against: f64 for f32, long double for f64."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np

from bench import special

ml_dtypes: Any = import_module("ml_dtypes")

Array = np.ndarray[Any, Any]
WIDER = np.finfo(np.longdouble).nmant >= 63
"""Whether long double is wider than f64 on this machine."""


def _erf(x: Array) -> Array:
    if x.dtype == np.float64:
        return np.vectorize(math.erf, otypes=[np.float64])(x)
    return np.array([_long_erf(float(value)) for value in x.ravel()], np.longdouble).reshape(x.shape)


def _long_erf(x: float) -> Any:
    if not math.isfinite(x) or abs(x) > 7 or x == 0:
        return np.longdouble(math.erf(x))
    mpmath: Any = import_module("mpmath")
    mpmath.mp.prec = 100
    exact = mpmath.erf(mpmath.mpf(x))
    high = float(exact)
    return np.longdouble(high) + np.longdouble(float(exact - high))


def _erfc(x: Array) -> Array:
    if x.dtype == np.float64:
        return np.vectorize(math.erfc, otypes=[np.float64])(x)
    return np.array([_long_erfc(float(value)) for value in x.ravel()], np.longdouble).reshape(x.shape)


def _long_erfc(x: float) -> Any:
    if not math.isfinite(x) or x > 28 or x < -7 or x == 0:
        return np.longdouble(math.erfc(x))
    mpmath: Any = import_module("mpmath")
    mpmath.mp.prec = 100
    exact, exponent = mpmath.frexp(mpmath.erfc(mpmath.mpf(x)))  # of a size that f64 holds in two parts
    high = float(exact)
    return np.ldexp(np.longdouble(high) + np.longdouble(float(exact - high)), int(exponent))


def _rsqrt(x: Array) -> Array:
    return 1 / np.sqrt(x)


def _rcbrt(x: Array) -> Array:
    return 1 / np.cbrt(x)


def _exp10(x: Array) -> Array:
    return np.power(x.dtype.type(10), x)


def _half_turns(x: Array, ahead: int) -> Array:
    """The sine of pi x and `ahead` quarter turns, by way of the nearest half."""
    size = np.abs(x)
    size = np.where(size < 2.0**62, np.fmod(size, 2), np.where(np.isfinite(size), size * 0, size))
    n = np.rint(2 * size)
    angle: Array = (size - n / 2) * _PI.astype(x.dtype)
    n = n + ahead
    found: Array = np.where(np.fmod(n, 2) == 1, np.cos(angle), np.sin(angle))
    return np.where(np.fmod(n, 4) >= 2, 0 - found, found + 0)


_PI = np.longdouble("3.14159265358979323846264338327950288")


def _sinpi(x: Array) -> Array:
    return np.where(np.signbit(x), -_half_turns(x, 0), _half_turns(x, 0))


def _cospi(x: Array) -> Array:
    return _half_turns(x, 1)


FUNCTIONS: dict[str, Callable[..., Any]] = {
    **{name: getattr(np, name) for name in ("exp", "exp2", "expm1", "log", "log2", "log1p", "sin", "cos", "tanh")},
    **{name: getattr(np, name) for name in ("tan", "sinh", "cosh", "log10", "cbrt", "hypot")},
    **{f"a{name}": getattr(np, f"arc{name}") for name in ("sin", "cos", "tan", "tan2", "sinh", "cosh", "tanh")},
    "rsqrt": _rsqrt,
    "rcbrt": _rcbrt,
    "exp10": _exp10,
    "sinpi": _sinpi,
    "cospi": _cospi,
    "erfc": _erfc,
    "erf": _erf,
    "pow": np.power,
    **{name: partial(special.wide, name) for name in special.ONE},
}
"""By the name of the language function, on arrays of the wider format."""
ROUNDED: dict[str, Callable[..., Any]] = {
    "sqrt": np.sqrt,
    "sqrt_rn": np.sqrt,
    "fdiv": np.divide,
    "div_rn": np.divide,
}
"""The same of functions that the CPU rounds correctly."""
TWO = ("pow", "fdiv", "div_rn", "atan2", "hypot")
"""Functions of two arguments."""


def exact(name: str, *arrays: Array) -> Array:
    """The function of floats in the wider format."""
    kind = np.longdouble if arrays[0].dtype == np.float64 else np.float64
    with np.errstate(all="ignore"):
        return np.asarray((FUNCTIONS | ROUNDED)[name](*(x.astype(kind) for x in arrays)))


def errors(found: Array, value: Array) -> Array:
    """How far floats are from exact values, in units of the last place of the format of what was found.

    Where the value rounds to zero, an infinity or NaN, the result must be that, sign of zero included: 0 or inf. On
    the edge, where either side is within an ulp, both are right.
    """
    info = ml_dtypes.finfo(found.dtype)
    with np.errstate(all="ignore"):
        wide, rounded = found.astype(value.dtype), value.astype(found.dtype).astype(value.dtype)
        same = (wide == rounded) & (np.signbit(wide) == np.signbit(rounded)) | (np.isnan(wide) & np.isnan(rounded))
        got = np.where(np.isinf(wide), np.copysign(np.ldexp(value.dtype.type(1), info.maxexp), wide), wide)
        exponent = np.frexp(np.where(np.isfinite(value), value, 1))[1] - 1
        unit = np.ldexp(np.ones_like(value), np.clip(exponent, info.minexp, info.maxexp - 1) - info.nmant)
        distance = np.abs(got - value) / unit
        edge = np.isfinite(value) & (value != 0) & ~np.isnan(wide) & (np.signbit(wide) == np.signbit(value))
        special = ~np.isfinite(rounded) | (rounded == 0) | ~np.isfinite(wide)
        distance = np.where(special & ~edge, np.inf, distance)
        return np.where(same & special, 0.0, distance).astype(np.float64)
