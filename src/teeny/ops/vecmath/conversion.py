"""Floats as integers as CUDA converts them, and what kind of number a float is."""

from __future__ import annotations

from typing import Literal

from teeny.ir.lanes import Lane, LaneBuilder
from teeny.ops.vecmath.formats import format_of
from teeny.ops.vecmath.number import Number, choose
from teeny.ops.vecmath.signs import copy_sign
from teeny.ops.vecmath.whole import rint, round, trunc

__all__ = [
    "finite", "ilogb", "isinf", "isnan", "logb", "rcp64h", "remainder", "rsqrt_rn", "saturate",
    "signbit", "to_integer",
]  # fmt: skip

Rounding = Literal["rn", "rz", "rd", "ru", "away"]
_INF = float("inf")


def to_integer(b: LaneBuilder, x: Lane, signed: bool, to: str, mode: Rounding) -> Lane:
    """A float rounded to an integer; saturates.

    NaN gives 0 from f32 to 32 bits, else the highest bit alone (the PTX ISA, `cvt`).
    """
    whole = {"rn": rint, "rz": trunc, "away": round}.get(mode)
    rounded = whole(b, x) if whole is not None else (b.ffloor if mode == "rd" else b.fceil)(x)
    made = (b.fptosi if signed else b.fptoui)(rounded, to)
    if b.type_of(x) == "f32" and to == "i32":
        return made
    return b.select(b.fcmp("uno", x, x), b.const(to, 1 << (int(to[1:]) - 1)), made)


def _count(b: LaneBuilder, condition: Lane) -> Lane:
    return b.zext(condition, "i32")


def isnan(b: LaneBuilder, x: Lane) -> Lane:
    """1 for NaN, else 0, as i32."""
    return _count(b, b.fcmp("uno", x, x))


def isinf(b: LaneBuilder, x: Lane) -> Lane:
    """1 for an infinity, else 0, as i32."""
    return _count(b, b.fcmp("oeq", b.fabs(x), b.const(b.type_of(x), _INF)))


def finite(b: LaneBuilder, x: Lane) -> Lane:
    """1 for what is neither infinite nor NaN, else 0, as i32."""
    return _count(b, b.fcmp("olt", b.fabs(x), b.const(b.type_of(x), _INF)))


def signbit(b: LaneBuilder, x: Lane) -> Lane:
    """The bit of the sign as i32."""
    width = b.type_of(x)[1:]
    bit = b.lshr(b.bitcast(x, f"i{width}"), b.const(f"i{width}", int(width) - 1))
    return b.trunc(bit, "i32") if width == "64" else bit


def saturate(b: LaneBuilder, x: Lane) -> Lane:
    """x held between 0 and 1; NaN gives 0."""
    zero, one = b.const("f32", 0.0), b.const("f32", 1.0)
    return b.select(b.fcmp("ogt", x, zero), b.select(b.fcmp("olt", x, one), x, one), zero)


def rsqrt_rn(b: LaneBuilder, x: Lane) -> Lane:
    """1 / sqrt(x) of an f32, rounded correctly (found right for every f32)."""
    return b.fptrunc(b.fdiv(b.const("f64", 1.0), b.fsqrt(b.fpext(x, "f64"))), "f32")


def _exponent(b: LaneBuilder, x: Lane) -> Number:
    """The exponent of a positive finite float as i32."""
    number = abs(Number(b, x))
    form = format_of(number)
    small = number < form.smallest_normal
    biased = choose(small, number * 2.0 ** (form.mantissa + 1), number).bits() >> form.mantissa
    narrow = biased if number.dtype == "f32" else biased.low()
    return narrow - choose(small, narrow.constant(form.bias + form.mantissa + 1), form.bias)


def ilogb(b: LaneBuilder, x: Lane) -> Lane:
    """The exponent as i32: the least i32 for 0 and NaN, the largest for infinities."""
    size = abs(Number(b, x))
    exponent = _exponent(b, x)
    low, high = exponent.constant(-(1 << 31)), exponent.constant((1 << 31) - 1)
    found = choose(size.equals(_INF), high, choose(size < _INF, exponent, low))
    return choose(size.equals(0.0), low, found).lane


def logb(b: LaneBuilder, x: Lane) -> Lane:
    """The exponent as a float: -inf for 0, inf for infinities, NaN stays."""
    size = abs(Number(b, x))
    found = choose(size < _INF, _exponent(b, x).to(size.dtype), size)
    return choose(size.equals(0.0), size.constant(-_INF), found).lane


def remainder(b: LaneBuilder, x: Lane, y: Lane) -> Lane:
    """x less the multiple of y next to it, of two the even one: exact. NaN for infinite x and for y = 0."""
    size, step = abs(Number(b, x)), abs(Number(b, y))
    # Up to 3/2 of the step is left: the doubled step may be infinite, and size below it.
    rest = Number(b, b.frem(size.lane, (step + step).lane))
    once = rest - step
    twice = once - step
    more = choose((once + once) < step, once, choose(step < _INF, twice, once))
    found = choose((rest + rest) > step, more, rest)
    found = choose(step.equals(0.0), step.constant(float("nan")), choose(step.is_nan, step, found))
    negative = copy_sign(found.constant(1.0), Number(b, x))
    return (found * negative).lane


def rcp64h(b: LaneBuilder, x: Lane) -> Lane:
    """1 / x of the high 32 bits, subnormals taken for 0, rounded to the high 32 bits."""
    high = -(1 << 32)
    number = (Number(b, x).bits() & high).from_bits()
    tiny = 2.0**-1022
    number = choose(abs(number) < tiny, copy_sign(number.constant(0.0), number), number)
    exact = 1.0 / number
    bits = exact.bits()
    odd = (bits >> 32) & 1
    rounded = ((bits + (odd + 0x7FFFFFFF)) & high).from_bits()
    found = choose(abs(exact) < tiny, copy_sign(exact.constant(0.0), exact), rounded)
    return choose(abs(exact) < _INF, found, exact).lane
