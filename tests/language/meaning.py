"""What each function of the language means, in plain NumPy and independent of the compiler.

Arrays carry the language's dtypes with sign. A meaning takes arrays of the dtypes that the signature demands,
broadcasts them and gives the dtype that is promised. `UNSPECIFIED` says where the language leaves a result open, and
`EXACT` gives the value that a function accurate to some ulp is measured against.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from bench.exact import FUNCTIONS
from tests.language import libdevice
from tests.language.rounding import DTYPES, NAMES, from_integers, fused, round_f64, to_integers

Array = Any
F16, BF16 = DTYPES["f16"], DTYPES["bf16"]
UNSIGNED = {DTYPES[f"i{b}"]: DTYPES[f"u{b}"] for b in (8, 16, 32, 64)}


def is_float(x: Array) -> bool:
    return NAMES[x.dtype] in ("f16", "bf16", "f32", "f64")


def wide(x: Array) -> Array:
    """16-bit floats as f32, all others as they are."""
    return x.astype(np.float32) if x.dtype in (F16, BF16) else x


def _in_f32(f: Callable[..., Array]) -> Callable[..., Array]:
    """Computed in f32 for 16-bit floats and rounded once (for + - * that is one rounding of the exact result)."""
    return lambda *xs: np.asarray(f(*map(wide, xs))).astype(xs[0].dtype)


def index_wide(x: Array, y: Array) -> tuple[Array, Array]:
    """i32 beside i64 becomes i64; no other dtypes may differ."""
    if {NAMES[x.dtype], NAMES[y.dtype]} == {"i32", "i64"}:
        return x.astype(np.int64), y.astype(np.int64)
    assert x.dtype == y.dtype
    return x, y


def widening(f: Callable[[Array, Array], Array]) -> Callable[[Array, Array], Array]:
    return lambda x, y: f(*index_wide(x, y))


def magnitude(x: Array) -> Array:
    """|x| as an unsigned integer, right for the smallest too."""
    if x.dtype not in UNSIGNED:
        return x
    bits = x.view(UNSIGNED[x.dtype])
    return np.where(x < 0, np.zeros_like(bits) - bits, bits)


def floordiv(x: Array, y: Array) -> Array:
    x, y = np.broadcast_arrays(x, y)
    size, by = magnitude(x), magnitude(y)
    quotient = size // np.where(by == 0, np.ones_like(by), by)
    return np.where((x < 0) != (y < 0), np.zeros_like(quotient) - quotient, quotient).astype(size.dtype).view(x.dtype)


def mod(x: Array, y: Array) -> Array:
    x, y = np.broadcast_arrays(x, y)
    if is_float(x):
        return np.fmod(wide(x), wide(y)).astype(x.dtype)
    size, by = magnitude(x), magnitude(y)
    rest = size % np.where(by == 0, np.ones_like(by), by)
    return np.where(x < 0, np.zeros_like(rest) - rest, rest).astype(size.dtype).view(x.dtype)


def _shift(x: Array, y: Array, inside: Callable[[Array, Array], Array], beyond: Array) -> Array:
    width = x.dtype.itemsize * 8
    fits = (y >= 0) & (y < width)
    return np.where(fits, inside(x, np.where(fits, y, np.zeros_like(y))), beyond).astype(x.dtype)


def shl(x: Array, y: Array) -> Array:
    return _shift(x, y, np.left_shift, np.zeros_like(x))


def shr(x: Array, y: Array) -> Array:
    return _shift(
        x, y, np.right_shift, np.where(x < 0, -1, 0).astype(x.dtype) if x.dtype in UNSIGNED else np.zeros_like(x)
    )


def _chosen(x: Array, y: Array, larger: bool, propagate: bool) -> Array:
    x, y = np.broadcast_arrays(x, y)
    if not is_float(x):
        return np.where((x > y) if larger else (x < y), x, y)
    a, b = x.astype(np.float64), y.astype(np.float64)
    found = np.where((a > b) if larger else (a < b), x, y)
    one_nan = np.where(np.isnan(a), y, np.where(np.isnan(b), x, found))
    if not propagate:
        return one_nan.astype(x.dtype)
    return np.where(np.isnan(a), x, np.where(np.isnan(b), y, found)).astype(x.dtype)


def maximum(x: Array, y: Array, propagate_nan: bool = False) -> Array:
    return _chosen(x, y, True, propagate_nan)


def minimum(x: Array, y: Array, propagate_nan: bool = False) -> Array:
    return _chosen(x, y, False, propagate_nan)


def compared(f: Callable[[Array, Array], Array]) -> Callable[[Array, Array], Array]:
    """By value; every comparison with NaN is false but `!=`."""

    def compare(x: Array, y: Array) -> Array:
        x, y = index_wide(x, y)
        if is_float(x):
            x, y = x.astype(np.float64), y.astype(np.float64)
        return np.asarray(f(x, y))

    return compare


def neg(x: Array) -> Array:
    if is_float(x):
        return np.negative(x)
    return (np.zeros_like(x) - x).astype(x.dtype)


def absolute(x: Array) -> Array:
    if is_float(x):
        return np.where(np.signbit(x.astype(np.float64)), np.negative(x), x).astype(x.dtype)
    return magnitude(x).view(x.dtype)


def cast(x: Array, to: str) -> Array:
    """`x.to(dtype)`."""
    target, source = DTYPES[to], NAMES[x.dtype]
    if target == x.dtype:
        return x
    if to == "bool":
        return x.astype(np.float64) != 0 if is_float(x) else x != 0
    if to in ("f16", "bf16", "f32", "f64"):
        return round_f64(x.astype(np.float64), to) if is_float(x) else from_integers(x, to)
    if is_float(x):
        return to_integers(x, to)
    assert source
    return x.astype(target)


def where(c: Array, x: Array, y: Array) -> Array:
    assert x.dtype == y.dtype
    return np.where(c, x, y).astype(x.dtype)


def reduce(x: Array, axis: int | None, keep_dims: bool, join: Callable[[Array, Array], Array]) -> Array:
    """In the canonical order: 64 accumulators and a halving tree along the last axis, else rising index."""
    rank = x.ndim
    flat = x.reshape(-1) if axis is None else x
    at = 0 if axis is None else axis % rank
    lanes = np.moveaxis(flat, at, 0)
    if at == flat.ndim - 1:
        parts = [lanes[i] for i in range(min(64, len(lanes)))]
        for i in range(len(parts), len(lanes)):
            parts[i % 64] = join(parts[i % 64], lanes[i])
        while len(parts) > 1:
            half = len(parts) // 2
            parts = [join(parts[i], parts[i + half]) for i in range(half)]
        found = parts[0]
    else:
        found = lanes[0]
        for i in range(1, len(lanes)):
            found = join(found, lanes[i])
    found = np.asarray(found).astype(x.dtype)
    if not keep_dims:
        return found
    return found.reshape((1,) * rank) if axis is None else np.expand_dims(found, at)


def total(x: Array, axis: int | None = None, keep_dims: bool = False, dtype: str | None = None) -> Array:
    """`tl.sum`: of 16-bit floats in f32, rounded once."""
    x = cast(x, dtype) if dtype is not None else x
    assert NAMES[x.dtype] not in ("bool", "i8", "i16", "u8", "u16") or dtype is not None
    with np.errstate(all="ignore"):
        return reduce(wide(x), axis, keep_dims, lambda a, b: a + b).astype(x.dtype)


def largest(x: Array, axis: int | None = None, keep_dims: bool = False) -> Array:
    return reduce(x, axis, keep_dims, maximum)


def smallest(x: Array, axis: int | None = None, keep_dims: bool = False) -> Array:
    return reduce(x, axis, keep_dims, minimum)


def lowest(dtype: str) -> Array:
    target = DTYPES[dtype]
    return np.asarray(-np.inf if dtype in ("f16", "bf16", "f32", "f64") else np.iinfo(target).min).astype(target)


def highest(dtype: str) -> Array:
    target = DTYPES[dtype]
    return np.asarray(np.inf if dtype in ("f16", "bf16", "f32", "f64") else np.iinfo(target).max).astype(target)


def cdiv(x: Array, y: Array) -> Array:
    return floordiv(x + (y - y.dtype.type(1)), y)


def clamp(x: Array, low: Array, high: Array) -> Array:
    return minimum(maximum(x, low), high)


def umulhi(x: Array, y: Array) -> Array:
    x, y = np.broadcast_arrays(x, y)
    bits = 8 * x.dtype.itemsize
    high = [int(a) % (1 << bits) * (int(b) % (1 << bits)) >> bits for a, b in zip(x.ravel(), y.ravel(), strict=True)]
    return np.array(high, f"u{x.dtype.itemsize}").reshape(x.shape).view(x.dtype)


MEANING: dict[str, Callable[..., Array]] = {
    "add": widening(_in_f32(np.add)), "sub": widening(_in_f32(np.subtract)), "mul": widening(_in_f32(np.multiply)),
    "rsub": _in_f32(lambda x, y: y - x), "truediv": _in_f32(np.divide), "rtruediv": _in_f32(lambda x, y: y / x),
    "floordiv": widening(floordiv), "rfloordiv": lambda x, y: floordiv(y, x),
    "mod": widening(mod), "rmod": lambda x, y: mod(y, x), "neg": neg, "pos": lambda x: x, "abs": absolute,
    "maximum": maximum, "minimum": minimum, "fma": fused,
    "and_": np.bitwise_and, "or_": np.bitwise_or, "xor": np.bitwise_xor, "invert": np.invert,
    "shl": shl, "rshl": lambda x, y: shl(y, x), "shr": shr,
    "lt": compared(np.less), "le": compared(np.less_equal), "gt": compared(np.greater),
    "ge": compared(np.greater_equal), "eq": compared(np.equal), "ne": compared(np.not_equal),
    "where": where, "cast": cast, "sum": total, "max": largest, "min": smallest, "lowest": lowest, "highest": highest,
    "cdiv": cdiv, "clamp": clamp, "umulhi": umulhi,
    "sqrt_rn": _in_f32(np.sqrt), "div_rn": _in_f32(np.divide), "fdiv": _in_f32(np.divide),
    "sqrt": _in_f32(np.sqrt), "floor": _in_f32(np.floor), "ceil": _in_f32(np.ceil),
    **{f"libdevice.{name}": f for name, f in libdevice.MEANING.items()},
}  # fmt: skip
"""By the name of the language function; those accurate to some ulp are in `EXACT`."""

EXACT: dict[str, Callable[..., Array]] = {
    **FUNCTIONS, "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    **{f"libdevice.{name}": f for name, f in libdevice.EXACT.items()},
}  # fmt: skip
"""Elementary functions of numbers in a wider format."""


def _by_zero(x: Array, y: Array) -> Array:
    return np.broadcast_to(y == 0, np.broadcast_shapes(x.shape, y.shape))


UNSPECIFIED: dict[str, Callable[..., Array]] = {
    "floordiv": _by_zero, "mod": _by_zero,
    "rfloordiv": lambda x, y: _by_zero(y, x), "rmod": lambda x, y: _by_zero(y, x),
}  # fmt: skip
"""Where a result may be anything."""
FREE_ZERO = frozenset(("maximum", "minimum", "max", "min", "clamp", "libdevice.saturatef"))
"""Functions whose zero has either sign."""


def exact(name: str, *xs: Array) -> tuple[Array, Array]:
    """A function's value in a wide format, and its rounding to their dtype."""
    with np.errstate(all="ignore"):
        dtype = xs[0].dtype
        if dtype == np.float64:
            value = np.asarray(EXACT[name](*(x.astype(np.longdouble) for x in xs)))
            return value, value.astype(np.float64)
        value = np.asarray(EXACT[name](*(x.astype(np.float64) for x in xs)))
        return value, value.astype(np.float32).astype(dtype)


def ulp_errors(found: Array, value: Array, rounded: Array) -> Array:
    """How far `found` is from the exact value, in units in the last place; inf where one of them is no number."""
    name = NAMES[found.dtype]
    tiny = {"f16": 2.0**-24, "bf16": 2.0**-133, "f32": 2.0**-149, "f64": 2.0**-1074}[name]
    bits = {"f16": 11, "bf16": 8, "f32": 24, "f64": 53}[name]
    kind = np.longdouble if name == "f64" else np.float64
    got, want = found.astype(kind), rounded.astype(kind)
    with np.errstate(all="ignore"):
        same = (got == want) | (np.isnan(got) & np.isnan(want))
        _, exponent = np.frexp(np.where(np.isfinite(value), value, 1))
        unit = np.maximum(np.ldexp(kind(1), exponent - bits), kind(tiny))
        distance = np.abs(got - value) / unit
        return np.where(same, 0.0, np.where(np.isfinite(got) & np.isfinite(want), distance, np.inf)).astype(np.float64)
