"""The language's operations in plain Python and NumPy, written from docs/semantics.md alone: an oracle of their own.

Values are NumPy arrays of the language's dtypes (u32 is uint32). Nothing here uses the package.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np

DTYPES: dict[str, np.dtype[Any]] = {
    "bool_": np.dtype(np.bool_),
    **{f"i{n}": np.dtype(f"int{n}") for n in (8, 16, 32, 64)},
    **{f"u{n}": np.dtype(f"uint{n}") for n in (8, 16, 32, 64)},
    "f16": np.dtype(np.float16),
    "bf16": np.dtype(ml_dtypes.bfloat16),
    "f32": np.dtype(np.float32),
    "f64": np.dtype(np.float64),
}
FLOATS = ("f16", "bf16", "f32", "f64")
INTS = ("i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64")


def is_float(dtype: np.dtype[Any]) -> bool:
    return dtype.kind not in "iub"


def wrapped(values: Any, dtype: np.dtype[Any]) -> Any:
    """Python ints (an object array) modulo the width of an integer dtype."""
    bits = dtype.itemsize * 8

    def one(x: int) -> int:
        x &= (1 << bits) - 1
        return x - (1 << bits) if dtype.kind == "i" and x >> (bits - 1) else x

    flat = [one(int(x)) for x in np.asarray(values, object).ravel()]
    return np.array(flat, dtype).reshape(np.shape(values))


def by_ints(f: Callable[[int, int], int]) -> Callable[[Any, Any], Any]:
    """An operation on Python ints, lane by lane, wrapped to the dtype of the operands."""

    def apply(x: Any, y: Any) -> Any:
        x, y = np.broadcast_arrays(x, y)
        out = np.empty(x.shape, object)
        for at in np.ndindex(x.shape):
            out[at] = f(int(x[at]), int(y[at]))
        return wrapped(out, x.dtype)

    return apply


def _quotient(x: int, y: int) -> int:
    return abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)


add, sub, mul = by_ints(lambda x, y: x + y), by_ints(lambda x, y: x - y), by_ints(lambda x, y: x * y)
floordiv = by_ints(_quotient)
mod = by_ints(lambda x, y: x - _quotient(x, y) * y)


def shifted(x: Any, count: int, left: bool) -> Any:
    bits = x.dtype.itemsize * 8
    if count >= bits:
        return np.where((x < 0) & np.bool_(not left), -1, 0).astype(x.dtype)
    return by_ints((lambda a, b: a << b) if left else (lambda a, b: a >> b))(x, np.full_like(x, count))


def arithmetic(symbol: str, x: Any, y: Any) -> Any:
    """`+ - *`: integers wrap, floats round once."""
    if not is_float(x.dtype):
        return {"+": add, "-": sub, "*": mul}[symbol](x, y)
    return {"+": np.add, "-": np.subtract, "*": np.multiply}[symbol](x, y)


def in_f32(f: Callable[..., Any]) -> Callable[..., Any]:
    """16-bit floats: compute in f32, round once."""

    def apply(x: Any, *more: Any) -> Any:
        if x.dtype.itemsize > 2:
            return f(x, *more)
        return np.asarray(f(*(a.astype(np.float32) for a in (x, *more)))).astype(x.dtype)

    return apply


def cast(x: Any, dtype: np.dtype[Any]) -> Any:
    if dtype == np.bool_:
        return x != 0
    if is_float(x.dtype) and not is_float(dtype):
        limits = np.iinfo(dtype)
        flat = [_saturated(float(v), int(limits.min), int(limits.max)) for v in x.ravel()]
        return np.array(flat, dtype).reshape(x.shape)
    if not is_float(x.dtype) and not is_float(dtype):
        return wrapped(x.astype(object), dtype)
    if not is_float(x.dtype) and dtype.itemsize == 2:
        digits = 11 if dtype == np.float16 else 8
        short = np.array([_short(int(v), digits) for v in x.ravel()], np.float64)
        return short.astype(dtype).reshape(x.shape)
    if is_float(x.dtype) and x.dtype.itemsize == dtype.itemsize == 2:
        return x.astype(np.float32).astype(dtype)
    return x.astype(dtype)


def _saturated(x: float, low: int, high: int) -> int:
    if math.isnan(x):
        return 0
    return low if x <= low else high if x >= high else int(x)


def _short(x: int, digits: int) -> float:
    """An int rounded to so many binary digits, half to even; exact in f64."""
    shift = max(abs(x).bit_length() - digits, 0)
    whole, rest = divmod(abs(x), 1 << shift)
    half = (1 << shift) >> 1
    if rest > half or (shift and rest == half and whole & 1):
        whole += 1
    return math.copysign(float(whole << shift), x)


def reduced(x: Any, axis: int, combine: Callable[[Any, Any], Any]) -> Any:
    """The canonical order, one element after the other."""
    rows = np.moveaxis(x, axis, 0)
    count = rows.shape[0]
    width = min(64, count) if axis == x.ndim - 1 else 1
    sums = [rows[j] for j in range(width)]
    for i in range(width, count):
        sums[i % width] = combine(sums[i % width], rows[i])
    while len(sums) > 1:
        half = len(sums) // 2
        sums = [combine(sums[j], sums[j + half]) for j in range(half)]
    return np.asarray(sums[0], x.dtype)


def total(x: Any, axis: int) -> Any:
    if is_float(x.dtype):
        wide = x.astype(np.float32) if x.dtype.itemsize == 2 else x
        return reduced(wide, axis, np.add).astype(x.dtype)
    return reduced(x, axis, add)
