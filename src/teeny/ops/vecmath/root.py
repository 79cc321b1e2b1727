"""The reciprocal square root."""

from __future__ import annotations

from teeny.ir.lanes import Lane, LaneBuilder
from teeny.ops.vecmath.formats import rule
from teeny.ops.vecmath.number import Number

__all__ = ["rsqrt"]


def rsqrt(b: LaneBuilder, x: Lane) -> Lane:
    """1 / sqrt(x), each step correctly rounded: rsqrt(0) is inf, rsqrt(-0.0) is -inf, NaN below zero."""
    return rule(_rsqrt, b, x)


def _rsqrt(x: Number) -> Number:
    return 1.0 / Number(x.b, x.b.fsqrt(x.lane))
