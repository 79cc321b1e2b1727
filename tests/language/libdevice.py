"""The functions of libdevice: how they are written, of which dtypes, and what they mean in plain NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from bench.exact import FUNCTIONS
from bench.special import ONE
from tests.language.rounding import DTYPES, to_integers

Array = Any

ACCURATE = (
    "acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cbrt", "cosh", "cospi", "erfc", "exp", "exp10",
    "hypot", "log10", "rcbrt", "sinh", "sinpi", "tan", *ONE,
)  # fmt: skip
"""Those accurate to some ulp."""
FAST = {
    "fast_cosf": "math.cos", "fast_dividef": "arith.divf", "fast_exp10f": "libdevice.exp10", "fast_expf": "math.exp",
    "fast_log10f": "math.log10", "fast_log2f": "math.log2", "fast_logf": "math.log", "fast_powf": "math.powf",
    "fast_sinf": "math.sin", "fast_tanf": "math.tan", "fast_tanhf": "math.tanh",
}  # fmt: skip
"""Those of f32 alone that are others under another name, and the operation that they are."""
TWO = ("atan2", "hypot", "fast_powf", "fast_dividef", "copysign", "fdim", "fmod", "nextafter", "add_rn", "sub_rn",
       "mul_rn", "mulhi")  # fmt: skip
OF = {
    **dict.fromkeys(ACCURATE, "F"), **dict.fromkeys(FAST, "f32"),
    **dict.fromkeys(("trunc", "rint", "nearbyint", "round", "copysign", "fdim", "fmod"), "F"),
    **dict.fromkeys(("isnan", "isinf", "llrint", "llround", "signbit"), "F"), "finitef": "f32", "isfinited": "f64",
    **dict.fromkeys(("nextafter", "add_rn", "sub_rn", "mul_rn", "rcp_rn"), "V"), "saturatef": "f32",
    **dict.fromkeys(("clz", "popc", "ffs", "brev", "mulhi"), "W"),
    "float_as_int": "f32", "float_as_uint": "f32", "int_as_float": "i32", "uint_as_float": "u32",
    "double_as_longlong": "f64", "longlong_as_double": "i64",
}  # fmt: skip
"""The class of dtypes that each takes."""
GIVES = {
    **dict.fromkeys(("isnan", "isinf", "finitef", "isfinited"), "bool"), "llrint": "i64", "llround": "i64",
    **dict.fromkeys(("signbit", "clz", "popc", "ffs", "float_as_int"), "i32"), "float_as_uint": "u32",
    "int_as_float": "f32", "uint_as_float": "f32", "double_as_longlong": "i64", "longlong_as_double": "f64",
}  # fmt: skip
"""The dtype of the result, where it is not that of the operands."""


def text(name: str) -> str:
    """How a kernel writes it."""
    return f"tl.extra.libdevice.{name}({'{0}, {1}' if name in TWO else '{0}'})"


def _wide(f: Callable[..., Array]) -> Callable[..., Array]:
    """Computed in f32 for 16-bit floats and rounded once."""
    return lambda *xs: np.asarray(f(*(x.astype(np.float32) if x.dtype.itemsize == 2 else x for x in xs))).astype(
        xs[0].dtype
    )


def away(x: Array) -> Array:
    """The nearest whole number, halves away from zero."""
    size = np.abs(x.astype(np.longdouble))
    return np.copysign(np.floor(size + np.longdouble(0.5)), x).astype(x.dtype)


def _bits(f: Callable[[int, int], int], to: Any = np.int32) -> Callable[[Array], Array]:
    def meaning(x: Array) -> Array:
        width = 8 * x.dtype.itemsize
        found = [f(int(v) % (1 << width), width) for v in np.asarray(x).ravel()]
        if to is not None:
            return np.array(found, to).reshape(np.shape(x))
        return np.array(found, f"u{x.dtype.itemsize}").view(x.dtype).reshape(np.shape(x))

    return meaning


def _leading(x: int, width: int) -> int:
    return next((n for n in range(width) if x >> (width - 1 - n)), width)


def _lowest(x: int, width: int) -> int:
    return next((n + 1 for n in range(width) if x >> n & 1), 0)


def _reversed(x: int, width: int) -> int:
    return sum(1 << (width - 1 - n) for n in range(width) if x >> n & 1)


def mulhi(x: Array, y: Array) -> Array:
    """The high half of the product of the numbers as their dtype has them."""
    x, y = np.broadcast_arrays(x, y)
    bits = 8 * x.dtype.itemsize
    high = [int(a) * int(b) >> bits for a, b in zip(x.ravel(), y.ravel(), strict=True)]
    return np.array(high, x.dtype).reshape(x.shape)


def _view(dtype: str) -> Callable[[Array], Array]:
    return lambda x: np.asarray(x).view(DTYPES[dtype])


def _clear(x: Array) -> Array:
    return np.isfinite(x.astype(np.float64))


def _whole(x: Array) -> Array:
    return to_integers(x, "i64")


MEANING: dict[str, Callable[..., Array]] = {
    "trunc": _wide(np.trunc), "rint": _wide(np.rint), "nearbyint": _wide(np.rint), "round": _wide(away),
    "copysign": _wide(np.copysign), "fmod": _wide(np.fmod),
    "fdim": _wide(lambda x, y: np.where(x <= y, np.zeros_like(x + y), x - y)),
    "nextafter": np.nextafter, "add_rn": np.add, "sub_rn": np.subtract, "mul_rn": np.multiply,
    "rcp_rn": lambda x: x.dtype.type(1) / x,
    "saturatef": lambda x: np.where(np.isnan(x), 0, np.clip(x, 0, 1)).astype(x.dtype),
    "isnan": lambda x: np.isnan(x.astype(np.float64)), "isinf": lambda x: np.isinf(x.astype(np.float64)),
    "finitef": _clear, "isfinited": _clear, "signbit": lambda x: np.signbit(x.astype(np.float64)).astype(np.int32),
    "llrint": lambda x: _whole(np.rint(x.astype(np.float64))), "llround": lambda x: _whole(away(x.astype(np.float64))),
    "clz": _bits(_leading), "popc": _bits(lambda x, width: x.bit_count()), "ffs": _bits(_lowest),
    "brev": _bits(_reversed, None), "mulhi": mulhi,
    "float_as_int": _view("i32"), "float_as_uint": _view("u32"), "int_as_float": _view("f32"),
    "uint_as_float": _view("f32"), "double_as_longlong": _view("i64"), "longlong_as_double": _view("f64"),
}  # fmt: skip
_PLAIN = {
    "fast_cosf": "cos", "fast_exp10f": "exp10", "fast_expf": "exp", "fast_log10f": "log10", "fast_log2f": "log2",
    "fast_logf": "log", "fast_powf": "pow", "fast_sinf": "sin", "fast_tanf": "tan", "fast_tanhf": "tanh",
}  # fmt: skip
EXACT: dict[str, Callable[..., Array]] = {
    **{name: FUNCTIONS[name] for name in ACCURATE}, **{name: FUNCTIONS[plain] for name, plain in _PLAIN.items()},
    "fast_dividef": np.divide,
}  # fmt: skip
