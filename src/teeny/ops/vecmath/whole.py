"""Whole numbers near a float, and the float beside it."""

from __future__ import annotations

from teeny.ir.lanes import Lane, LaneBuilder
from teeny.ops.vecmath.exponential import ldexp
from teeny.ops.vecmath.formats import format_of, rule
from teeny.ops.vecmath.logarithm import split
from teeny.ops.vecmath.number import Number, both, choose
from teeny.ops.vecmath.signs import copy_sign

__all__ = ["copysign", "fdim", "nextafter", "rint", "round", "scaled", "trunc"]


def trunc(b: LaneBuilder, x: Lane) -> Lane:
    """The whole number next to x toward zero, with the sign of x."""
    return rule(_trunc, b, x)


def rint(b: LaneBuilder, x: Lane) -> Lane:
    """The nearest whole number, of two the even one, with the sign of x."""
    return rule(_rint, b, x)


def round(b: LaneBuilder, x: Lane) -> Lane:
    """The nearest whole number, of two the one further from zero, with the sign of x."""
    return rule(_round, b, x)


def copysign(b: LaneBuilder, x: Lane, y: Lane) -> Lane:
    """The size of x with the sign of y."""
    return rule(_copysign, b, x, y)


def fdim(b: LaneBuilder, x: Lane, y: Lane) -> Lane:
    """x - y where that is positive, 0 where it is not, NaN where either is."""
    return rule(_fdim, b, x, y)


def scaled(b: LaneBuilder, x: Lane, n: Lane) -> Lane:
    """x * 2**n for an i32 n, rounded once: f32 in f64, f64 by its significand and the sum of the exponents."""
    reach = b.const("i32", 4000)
    held = b.smax(b.smin(n, reach), b.const("i32", -4000))
    wide = x if b.type_of(x) == "f64" else b.fpext(x, "f64")
    made = _scaled(Number(b, wide), Number(b, b.sitofp(held, "f64"))).lane
    return made if b.type_of(x) == "f64" else b.fptrunc(made, "f32")


def nextafter(b: LaneBuilder, x: Lane, y: Lane) -> Lane:
    """The float beside x in the direction of y; y itself where they are equal, NaN where either is."""
    if b.type_of(x) not in ("f32", "f64"):
        return _narrow_next(b, x, y)
    return _next(Number(b, x), Number(b, y)).lane


def _trunc(x: Number) -> Number:
    return copy_sign(abs(x).floor(), x)


def _rint(x: Number) -> Number:
    size = abs(x)
    limit = 2.0 ** format_of(x).mantissa
    return copy_sign(choose(size < limit, (size + limit) - limit, size), x)


def _round(x: Number) -> Number:
    size = abs(x)
    below = size.floor()
    return copy_sign(choose((size - below) < 0.5, below, choose(size < float("inf"), below + 1.0, size)), x)


def _copysign(x: Number, y: Number) -> Number:
    return copy_sign(abs(x), y)


def _fdim(x: Number, y: Number) -> Number:
    below = choose(x < y, x.constant(1.0), choose(x.equals(y), x.constant(1.0), 0.0)) > 0.0
    return choose(below, x.constant(0.0), x - y)


def _scaled(x: Number, n: Number) -> Number:
    size = abs(x)
    e, f = split(size)
    total = e + n
    total = choose(total > 1100.0, total.constant(1100.0), choose(total < -1200.0, total.constant(-1200.0), total))
    result = ldexp(f + 1.0, total)
    usual = both(size > 0.0, size < float("inf"))
    return choose(usual, copy_sign(result, x), x)


def _next(x: Number, y: Number) -> Number:
    bits = x.bits()
    grows = choose(x > 0.0, y > x, x > y)
    moved = choose(grows, bits + 1, bits - 1).from_bits()
    first = copy_sign(bits.constant(1).from_bits(), y)
    moved = choose(x.equals(0.0), first, moved)
    result = choose(x.equals(y), y, moved)
    clear = both(x.equals(x), y.equals(y))
    return choose(clear, result, float("nan"))


def _narrow_next(b: LaneBuilder, x: Lane, y: Lane) -> Lane:
    """The same of 16-bit floats, compared in f32."""
    dtype = b.type_of(x)
    start, end = Number(b, b.fpext(x, "f32")), Number(b, b.fpext(y, "f32"))
    bits, toward = Number(b, b.bitcast(x, "i16")), Number(b, b.bitcast(y, "i16"))
    moved = choose(choose(start > 0.0, end > start, start > end), bits + 1, bits - 1)
    moved = choose(start.equals(0.0), (toward & 0x8000) | 1, moved)
    moved = choose(start.equals(end), toward, moved)
    moved = choose(both(start.equals(start), end.equals(end)), moved, 0x7E00 if dtype == "f16" else 0x7FC0)
    return b.bitcast(moved.lane, dtype)
