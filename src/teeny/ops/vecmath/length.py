"""Lengths of vectors of two to four numbers, and their reciprocals."""

from __future__ import annotations

from functools import reduce

from teeny.ir.lanes import Lane, LaneBuilder
from teeny.ops.vecmath.formats import in_f64, rule
from teeny.ops.vecmath.number import Number, choose, fma

__all__ = ["norm", "rnorm"]

_INF = float("inf")


def norm(b: LaneBuilder, *x: Lane) -> Lane:
    """The root of the sum of the squares without overflow on the way: inf where one is infinite, even beside a NaN."""
    return rule(in_f64(_norm), b, *x)


def rnorm(b: LaneBuilder, *x: Lane) -> Lane:
    """1 over that: 0 where one is infinite, inf where all are 0."""
    return rule(in_f64(_rnorm), b, *x)


def _sum(x: tuple[Number, ...]) -> tuple[Number, Number, Number, Number]:
    """The root of the sum of squares of scaled numbers, the scale and its inverse, and the largest size."""
    sizes = [abs(v) for v in x]
    most = reduce(lambda a, b: choose(b > a, b, a), sizes)
    large, small = most > 2.0**500, most < 2.0**-500
    scale = choose(large, most.constant(2.0**-600), choose(small, most.constant(2.0**600), 1.0))
    back = choose(large, most.constant(2.0**600), choose(small, most.constant(2.0**-600), 1.0))
    scaled = [v * scale for v in sizes]
    total, lost = scaled[0] * scaled[0], fma(scaled[0], scaled[0], -(scaled[0] * scaled[0]))
    for v in scaled[1:]:
        square = v * v
        more = total + square
        larger = square > total
        most_, least = choose(larger, square, total), choose(larger, total, square)
        lost = lost + (least - (more - most_)) + fma(v, v, -square)
        total = more
    total = total + lost
    infinite = reduce(lambda a, b: choose(b.equals(_INF), b, a), sizes)
    return Number(total.b, total.b.fsqrt(total.lane)), scale, back, infinite


def _norm(*x: Number) -> Number:
    root, _, back, infinite = _sum(x)
    return choose(infinite.equals(_INF), infinite, root * back)


def _rnorm(*x: Number) -> Number:
    root, scale, _, infinite = _sum(x)
    return choose(infinite.equals(_INF), infinite.constant(0.0), (1.0 / root) * scale)
