"""The inverse tangent of a number and of a quotient, and what follows from it. f32 computes in f64.

The argument is brought to [0, tan pi/8] by atan x = pi/4 + atan((x - 1) / (x + 1)) and atan x = pi/2 - atan(1/x).
"""

from __future__ import annotations

from teeny.ir.lanes import Lane, LaneBuilder
from teeny.ops.vecmath.formats import in_f64, rule
from teeny.ops.vecmath.number import Number, both, choose, polynomial
from teeny.ops.vecmath.signs import copy_sign, sign_bit

__all__ = ["acos", "asin", "atan", "atan2"]

_BEND = 0.41421356237309503
"""tan(pi/8)"""
_HALF_PI, _HALF_PI_LOW = 1.5707963267948966, 6.123233995736766e-17
_QUARTER_PI, _QUARTER_PI_LOW = 0.7853981633974483, 3.061616997868383e-17
_THREE_QUARTERS_PI, _THREE_QUARTERS_PI_LOW = 2.356194490192345, 9.184850993605148e-17
_PI, _PI_LOW = 3.141592653589793, 1.2246467991473532e-16
# atan t = t + t**3 * p(t**2) for |t| <= tan(pi/8).
_ATAN = (
    -0.33333333333333326,
    0.19999999999997695,
    -0.1428571428539107,
    0.11111111088369299,
    -0.09090908151459018,
    0.07692282915803209,
    -0.06666229083690617,
    0.058770446295479666,
    -0.052185516629546354,
    0.04504149423341729,
    -0.03348845080436685,
    0.015209390540114685,
)


def atan(b: LaneBuilder, x: Lane) -> Lane:
    """The inverse tangent: pi/2 at infinity, atan(-0.0) is -0.0, NaN stays."""
    return rule(in_f64(_atan), b, x)


def atan2(b: LaneBuilder, y: Lane, x: Lane) -> Lane:
    """The angle of the point (x, y), with the special cases of C: zeros and infinities have their quadrants."""
    return rule(in_f64(_atan2), b, y, x)


def asin(b: LaneBuilder, x: Lane) -> Lane:
    """The inverse sine; NaN beyond 1."""
    return rule(in_f64(_asin), b, x)


def acos(b: LaneBuilder, x: Lane) -> Lane:
    """The inverse cosine; NaN beyond 1."""
    return rule(in_f64(_acos), b, x)


def _series(t: Number, high: Number, low: Number) -> Number:
    """high + low + atan t."""
    z = t * t
    return high + (t + (t * z * polynomial(z, _ATAN) + low))


def _atan(x: Number) -> Number:
    size = abs(x)
    large, middle = size > 1 / _BEND, size > _BEND
    top = choose(large, x.constant(-1.0), choose(middle, size - 1.0, size))
    bottom = choose(large, size, choose(middle, size + 1.0, 1.0))
    high = choose(large, x.constant(_HALF_PI), choose(middle, x.constant(_QUARTER_PI), 0.0))
    low = choose(large, x.constant(_HALF_PI_LOW), choose(middle, x.constant(_QUARTER_PI_LOW), 0.0))
    return copy_sign(_series(top / bottom, high, low), x)


def _atan2(y: Number, x: Number) -> Number:
    along, up = abs(x), abs(y)
    steep = up > along
    least, most = choose(steep, along, up), choose(steep, up, along)
    # Of two infinities and of two zeros the quotient is chosen; near the largest numbers a sum would be infinite.
    infinite = both(least.equals(float("inf")), most.equals(float("inf")))
    least, most = (choose(infinite, side.constant(1.0), side) for side in (least, most))
    most = choose(most.equals(0.0), most.constant(1.0), most)
    scale = choose(most > 2.0**1020, most.constant(0.25), 1.0)
    least, most = least * scale, most * scale
    middle = least > most * _BEND
    t = choose(middle, least - most, least) / choose(middle, least + most, most)
    # The angle is k * pi/4 + t or k * pi/4 - t.
    left = (sign_bit(x) >> 63).equals(1)
    flat = choose(middle, t.constant(1.0), 0.0)
    eighths = choose(steep, 2.0 - flat, flat)
    eighths = choose(left, 4.0 - eighths, eighths)
    t = choose(steep, -t, t)
    t = choose(left, -t, t)
    high, low = t.constant(0.0), t.constant(0.0)
    for k, (near, rest) in enumerate(_EIGHTHS, 1):
        here = eighths.equals(float(k))
        high, low = choose(here, high.constant(near), high), choose(here, low.constant(rest), low)
    return copy_sign(abs(_series(t, high, low)), y)


_EIGHTHS = (
    (_QUARTER_PI, _QUARTER_PI_LOW),
    (_HALF_PI, _HALF_PI_LOW),
    (_THREE_QUARTERS_PI, _THREE_QUARTERS_PI_LOW),
    (_PI, _PI_LOW),
)


def _beside(x: Number) -> Number:
    """The other side of a right triangle with one side x and the long side 1."""
    product = (1.0 - x) * (x + 1.0)
    return Number(x.b, x.b.fsqrt(product.lane))


def _asin(x: Number) -> Number:
    return _atan2(x, _beside(x))


def _acos(x: Number) -> Number:
    return _atan2(_beside(x), x)
