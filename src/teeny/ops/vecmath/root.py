"""The reciprocal square root, the cube root, and the length of a vector."""

from __future__ import annotations

from teeny.ir.lanes import Lane, LaneBuilder
from teeny.ops.vecmath.exponential import power_of_two
from teeny.ops.vecmath.formats import in_f64, rule
from teeny.ops.vecmath.logarithm import binary_logarithm
from teeny.ops.vecmath.number import Number, both, choose, fma
from teeny.ops.vecmath.signs import copy_sign

__all__ = ["cbrt", "hypot", "rcbrt", "rsqrt"]


def rsqrt(b: LaneBuilder, x: Lane) -> Lane:
    """1 / sqrt(x), each step correctly rounded: rsqrt(0) is inf, rsqrt(-0.0) is -inf, NaN below zero."""
    return rule(_rsqrt, b, x)


def _rsqrt(x: Number) -> Number:
    return 1.0 / Number(x.b, x.b.fsqrt(x.lane))


def cbrt(b: LaneBuilder, x: Lane) -> Lane:
    """The cube root, of negative numbers too: zeros and infinities stay, with their signs."""
    return rule(in_f64(_cbrt), b, x)


def rcbrt(b: LaneBuilder, x: Lane) -> Lane:
    """1 / cbrt(x): infinite at zeros, 0 at infinities, with their signs."""
    return rule(in_f64(_rcbrt), b, x)


def hypot(b: LaneBuilder, x: Lane, y: Lane) -> Lane:
    """sqrt(x**2 + y**2) without overflow on the way: inf where either is infinite, even beside a NaN."""
    return rule(in_f64(_hypot), b, x, y)


def _rcbrt(x: Number) -> Number:
    return 1.0 / _cbrt(x)


def _cbrt(x: Number) -> Number:
    size = abs(x)
    small = size < 2.0**-900
    scaled = choose(small, size * 2.0**108, size)
    near = power_of_two(binary_logarithm(scaled) * (1 / 3))
    # One step of Newton's, with the error of the cube in full.
    square = near * near
    lost = fma(near, near, -square)
    error = fma(square, near, -scaled) + lost * near
    root = near - error / (square * 3.0)
    usual = both(size > 0.0, size < float("inf"))
    return copy_sign(choose(usual, choose(small, root * 2.0**-36, root), size), x)


def _hypot(x: Number, y: Number) -> Number:
    along, up = abs(x), abs(y)
    swap = up > along
    most, least = choose(swap, up, along), choose(swap, along, up)
    large, small = most > 2.0**500, most < 2.0**-500
    scale = choose(large, most.constant(2.0**-600), choose(small, most.constant(2.0**600), 1.0))
    back = choose(large, most.constant(2.0**600), choose(small, most.constant(2.0**-600), 1.0))
    most, least = most * scale, least * scale
    total = fma(most, most, least * least)
    length = Number(x.b, x.b.fsqrt(total.lane)) * back
    infinity = x.constant(float("inf"))
    return choose(along.equals(infinity), infinity, choose(up.equals(infinity), infinity, length))
