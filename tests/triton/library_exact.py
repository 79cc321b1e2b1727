"""Exact meanings of libdevice's functions: CUDA's documented behaviour on Python's integers and fractions."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

Meaning = Callable[[Any], Any] | Callable[[Any, Any], Any] | Callable[[Any, Any, Any], Any]
"""Of one to three numbers."""
KIND: dict[str, Any] = {
    "i32": np.int32, "i64": np.int64, "u32": np.uint32, "u64": np.uint64, "f32": np.float32, "f64": np.float64,
}  # fmt: skip
_PRECISION = {"f32": (24, -126, 127), "f64": (53, -1022, 1023)}
MODES = ("rn", "rz", "rd", "ru")


def _whole(q: Fraction, mode: str) -> int:
    """A number rounded to a whole one."""
    if mode == "rn":
        return round(q)
    if mode == "away":
        return int(math.copysign(math.floor(abs(q) + Fraction(1, 2)), q))
    if mode == "rz":
        return math.trunc(q)
    return math.floor(q) if mode == "rd" else math.ceil(q)


def rounded(q: Fraction, dtype: str, mode: str, zero: float = 0.0) -> float:
    """The float of a dtype for an exact number; `zero` for 0, which may have a sign."""
    if q == 0:
        return zero
    precision, low, high = _PRECISION[dtype]
    size = abs(q)
    exponent = size.numerator.bit_length() - size.denominator.bit_length()
    if Fraction(2) ** exponent > size:
        exponent -= 1
    quantum = Fraction(2) ** (max(exponent, low) - precision + 1)
    found = _whole(q / quantum, mode) * quantum
    largest = (2 - Fraction(2) ** (1 - precision)) * Fraction(2) ** high
    if abs(found) > largest:
        inward = mode == "rz" or (mode == "rd" and q > 0) or (mode == "ru" and q < 0)
        return math.copysign(float(largest) if inward else math.inf, 1 if q > 0 else -1)
    return math.copysign(float(found), 1 if q > 0 else -1)


def _negative(x: float) -> bool:
    return math.copysign(1.0, x) < 0


def arithmetic(name: str, mode: str, dtype: str) -> Meaning:
    """add, sub, mul, div, rcp, sqrt or fma rounded once."""

    def meaning(*xs: float) -> float:
        x = xs[0]
        if not all(map(math.isfinite, xs)) or (name == "div" and xs[1] == 0) or (name == "rcp" and x == 0):
            return _infinite(name, xs)
        q = [Fraction(v) for v in xs]
        if name in ("add", "sub"):
            other = q[1] if name == "add" else -q[1]
            signs = (_negative(x), _negative(xs[1]) != (name == "sub"))
            return rounded(q[0] + other, dtype, mode, _cancelled(signs, mode))
        if name == "fma":
            signs = (_negative(x) != _negative(xs[1]), _negative(xs[2]))
            return rounded(q[0] * q[1] + q[2], dtype, mode, _cancelled(signs, mode))
        if name == "mul":
            return rounded(q[0] * q[1], dtype, mode, math.copysign(0.0, x) * math.copysign(1.0, xs[1]))
        if name == "sqrt":
            return math.nan if x < 0 else x if x == 0 else _root(q[0], dtype, mode)
        if name == "rcp":
            return rounded(1 / q[0], dtype, mode)
        return rounded(q[0] / q[1], dtype, mode, math.copysign(0.0, x) * math.copysign(1.0, xs[1]))

    return meaning


def _cancelled(signs: tuple[bool, bool], mode: str) -> float:
    return -0.0 if all(signs) or (any(signs) and mode == "rd") else 0.0


def _infinite(name: str, xs: tuple[float, ...]) -> float:
    """Where an operand or the result is infinite or NaN rounding has no part."""
    wide = [np.float64(x) for x in xs]
    with np.errstate(all="ignore"):
        found = {
            "add": lambda: wide[0] + wide[1], "sub": lambda: wide[0] - wide[1], "mul": lambda: wide[0] * wide[1],
            "div": lambda: wide[0] / wide[1], "rcp": lambda: 1 / wide[0], "sqrt": lambda: np.sqrt(wide[0]),
            "fma": lambda: wide[2] if np.isfinite(wide[0]) and np.isfinite(wide[1]) else wide[0] * wide[1] + wide[2],
        }[name]()  # fmt: skip
    return float(found)


def _root(q: Fraction, dtype: str, mode: str) -> float:
    """The square root, by an integer root of far more bits with a last one that says that more follow."""
    shift = 400
    scaled = q * Fraction(4) ** (shift + 600)
    root = math.isqrt(scaled.numerator // scaled.denominator)
    exact = root * root == scaled
    return rounded((Fraction(root) + (0 if exact else Fraction(1, 2))) / Fraction(2) ** (shift + 600), dtype, mode)


def to_integer(source: str, target: str, mode: str) -> Meaning:
    """A float as an integer: saturated; NaN gives 0 from f32 to 32 bits, else the highest bit alone."""
    bits = int(target[1:])
    low, high = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if target[0] == "i" else (0, (1 << bits) - 1)

    def meaning(x: float) -> int:
        if math.isnan(x):
            return 0 if source == "f32" and bits == 32 else low or 1 << (bits - 1)
        return high if x == math.inf else low if x == -math.inf else min(max(_whole(Fraction(x), mode), low), high)

    return meaning


def narrowed(mode: str) -> Meaning:
    return lambda x: rounded(Fraction(x), "f32", mode, x) if math.isfinite(x) else x


def from_integer(target: str, mode: str) -> Meaning:
    return lambda n: rounded(Fraction(n), target, mode)


def bits(form: str, to: str) -> Callable[[Any], Any]:
    """The bits of one format read as another, by `struct`."""
    return lambda x: struct.unpack("<" + to, struct.pack("<" + form, x))[0]


def remainder(x: float, y: float) -> float:
    if math.isnan(x) or math.isnan(y) or math.isinf(x) or y == 0:
        return math.nan
    return math.copysign(math.remainder(x, y), x) if math.remainder(x, y) == 0 else math.remainder(x, y)


def _exponent(x: float) -> int:
    return math.frexp(x)[1] - 1


def ilogb(x: float) -> int:
    return -(2**31) if x == 0 or math.isnan(x) else 2**31 - 1 if math.isinf(x) else _exponent(x)


def logb(x: float) -> float:
    return -math.inf if x == 0 else abs(x) if not math.isfinite(x) else float(_exponent(x))


def byte_perm(x: int, y: int, chosen: int) -> int:
    data = struct.pack("<ii", x, y)
    return struct.unpack("<i", bytes(data[chosen >> 4 * n & 7] for n in range(4)))[0]


def _signed24(x: int) -> int:
    return (x & 0xFFFFFF) - ((x & 0x800000) << 1)


def rcp64h(x: float) -> float:
    """1 / x of the high 32 bits to the high 32 bits; subnormal numbers count as zeros."""
    high = struct.unpack("<d", struct.pack("<q", struct.unpack("<q", struct.pack("<d", x))[0] & -(1 << 32)))[0]
    if math.isnan(x) or math.isinf(x):
        return math.nan if math.isnan(high) or math.isnan(x) else math.copysign(0.0, x)
    if abs(high) < 2.0**-1022:
        return math.copysign(math.inf, x)
    q = 1 / Fraction(high)
    exponent = _exponent(float(q)) if abs(q) >= Fraction(2) ** -1022 else -1023
    if exponent < -1022:
        return math.copysign(0.0, x)
    quantum = Fraction(2) ** (exponent - 20)
    return float(round(Fraction(float(q)) / quantum) * quantum)


def _ldexp(dtype: str) -> Meaning:
    def meaning(x: float, n: int) -> float:
        if not math.isfinite(x) or x == 0:
            return x
        return rounded(Fraction(x) * Fraction(2) ** max(min(n, 3000), -3000), dtype, "rn", x)

    return meaning


EXACT: dict[str, Meaning] = {
    "abs": abs, "llabs": abs, "byte_perm": byte_perm,
    "mul24": lambda x, y: _signed24(x) * _signed24(y), "umul24": lambda x, y: (x & 0xFFFFFF) * (y & 0xFFFFFF),
    "sad": lambda x, y, z: abs(x - y) + z, "usad": lambda x, y, z: abs(x - y) + z,
    "hadd": lambda x, y: (x + y) >> 1, "uhadd": lambda x, y: (x + y) >> 1,
    "rhadd": lambda x, y: (x + y + 1) >> 1, "urhadd": lambda x, y: (x + y + 1) >> 1,
    "mulhi": lambda x, y: x * y >> 32, "umulhi": lambda x, y: x * y >> 32,
    "mul64hi": lambda x, y: x * y >> 64, "umul64hi": lambda x, y: x * y >> 64,
    "clz": lambda x: 32 - (x % 2**32).bit_length(), "clzll": lambda x: 64 - (x % 2**64).bit_length(),
    "popc": lambda x: (x % 2**32).bit_count(), "popcll": lambda x: (x % 2**64).bit_count(),
    "ffs": lambda x: (x & -x).bit_length(), "ffsll": lambda x: (x & -x).bit_length(),
    "brev": lambda x: int(f"{x % 2**32:032b}"[::-1], 2), "brevll": lambda x: int(f"{x % 2**64:064b}"[::-1], 2),
    "double2hiint": lambda x: bits("d", "q")(x) >> 32, "double2loint": bits("d", "q"),
    "hiloint2double": lambda high, low: bits("Q", "d")((high % 2**32) << 32 | low % 2**32),
    "rcp64h": rcp64h, "saturatef": lambda x: 0.0 if math.isnan(x) else min(max(x, 0.0), 1.0) + 0.0,
    "finitef": math.isfinite, "isfinited": math.isfinite, "double2float_rn": narrowed("rn"),
    "frsqrt_rn": lambda x: _infinite("rcp", (_infinite("sqrt", (x,)),)) if not 0 < x < math.inf
    else _inverse_root(Fraction(x)),
    "fast_fdividef": arithmetic("div", "rn", "f32"),
    "float_as_int": bits("f", "i"), "float_as_uint": bits("f", "i"), "int_as_float": bits("i", "f"),
    "uint_as_float": bits("I", "f"), "double_as_longlong": bits("d", "q"), "longlong_as_double": bits("q", "d"),
}  # fmt: skip
"""By symbol without `__nv_`; of numbers, one at a time. Integers wrap to the width of the result."""


def _inverse_root(q: Fraction) -> float:
    return _root(1 / q, "f32", "rn")


def _fill() -> None:
    for mode in MODES:
        for name, letter, dtype in ((n, *p) for n in ("add", "sub", "mul", "div", "rcp", "sqrt")
                                    for p in (("f", "f32"), ("d", "f64"))):  # fmt: skip
            EXACT[f"{letter}{name}_{mode}"] = arithmetic(name, mode, dtype)
        EXACT[f"fmaf_{mode}"], EXACT[f"fma_{mode}"] = (arithmetic("fma", mode, d) for d in ("f32", "f64"))
        EXACT[f"double2float_{mode}"] = narrowed(mode)
        for name, dtype in (("float", "f32"), ("double", "f64")):
            for whole, kind in (("int", "i32"), ("uint", "u32"), ("ll", "i64"), ("ull", "u64")):
                EXACT[f"{name}2{whole}_{mode}"] = to_integer(dtype, kind, mode)
                EXACT[f"{whole}2{name}_{mode}"] = from_integer(dtype, mode)
    for suffix, dtype in (("f", "f32"), ("", "f64")):
        EXACT[f"llrint{suffix}"] = to_integer(dtype, "i64", "rn")
        EXACT[f"llround{suffix}"] = to_integer(dtype, "i64", "away")
        EXACT[f"fma{suffix}"] = arithmetic("fma", "rn", dtype)
        EXACT[f"sqrt{suffix}"] = arithmetic("sqrt", "rn", dtype)
        EXACT.update({f"ldexp{suffix}": _ldexp(dtype), f"scalbn{suffix}": _ldexp(dtype)})
        EXACT.update({f"ilogb{suffix}": ilogb, f"logb{suffix}": logb, f"remainder{suffix}": remainder})
        EXACT.update({f"fabs{suffix}": abs, f"copysign{suffix}": math.copysign})
        EXACT[f"fdim{suffix}"] = _fdim(dtype)
        EXACT[f"fmod{suffix}"] = lambda x, y: float(np.fmod(np.float64(x), np.float64(y)))
        EXACT[f"nextafter{suffix}"] = _next(dtype)
        for name, mode in (("floor", "rd"), ("ceil", "ru"), ("trunc", "rz"), ("rint", "rn"), ("nearbyint", "rn"),
                           ("round", "away")):  # fmt: skip
            EXACT[name + suffix] = _integral(mode)
    for suffix in ("f", "d"):
        EXACT.update({f"isnan{suffix}": math.isnan, f"isinf{suffix}": math.isinf, f"signbit{suffix}": _negative})


def _integral(mode: str) -> Meaning:
    return lambda x: math.copysign(float(_whole(Fraction(x), mode)), x) if math.isfinite(x) else x


def _fdim(dtype: str) -> Meaning:
    less: Any = arithmetic("sub", "rn", dtype)
    return lambda x, y: math.nan if math.isnan(x) or math.isnan(y) else less(x, y) if x > y else 0.0


def _next(dtype: str) -> Meaning:
    return lambda x, y: float(np.nextafter(KIND[dtype](x), KIND[dtype](y)))


_fill()
