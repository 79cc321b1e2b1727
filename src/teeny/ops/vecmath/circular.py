"""Sine and cosine of every finite number."""

from __future__ import annotations

from teeny.ir.lanes import Lane, LaneBuilder
from teeny.ops.vecmath.formats import format_of, rule
from teeny.ops.vecmath.number import Number, choose, fma, polynomial
from teeny.ops.vecmath.quadrant import quarter_turns
from teeny.ops.vecmath.signs import flip_sign, sign_bit

__all__ = ["cos", "sin"]

# sin r = r + r**3 * p(r**2) and cos r = 1 - r**2/2 + r**4 * q(r**2) for |r| <= pi/4.
_SIN = {
    "f32": (-0.16666654605945966, 0.008332160528958169, -0.00019515250881760492),
    "f64": (
        -0.1666666666666663,
        0.008333333333322113,
        -0.00019841269829585018,
        2.7557313619745058e-06,
        -2.505074749582726e-08,
        1.589621413863901e-10,
    ),
}
_COS = {
    "f32": (0.04166664567640985, -0.001388731592859812, 2.44331191593388e-05),
    "f64": (
        0.041666666666666595,
        -0.001388888888887305,
        2.4801587288846527e-05,
        -2.7557314177764463e-07,
        2.0875700628807106e-09,
        -1.1358525236797186e-11,
    ),
}


def sin(b: LaneBuilder, x: Lane) -> Lane:
    """The sine: sin(-0.0) is -0.0, NaN at the infinities."""
    return rule(_sin, b, x)


def cos(b: LaneBuilder, x: Lane) -> Lane:
    """The cosine; NaN at the infinities."""
    return rule(_cos, b, x)


def _sin(x: Number) -> Number:
    return _wave(x, 0)


def _cos(x: Number) -> Number:
    return _wave(x, 1)


def _wave(x: Number, ahead: int) -> Number:
    """The sine of x and `ahead` (0 or 1) quarter turns."""
    form = format_of(x)
    size = abs(x)
    n, r, low = quarter_turns(size)
    if ahead:
        n = n + ahead
    z = r * r
    odd = (n & 1).equals(1)
    result = choose(odd, _near_cos(r, low, z), _near_sin(r, low, z))
    half_turn = n & 2
    if x.dtype == "f64":
        half_turn = half_turn.widened()
    sign = half_turn << (form.mantissa + (7 if x.dtype == "f32" else 10))
    result = flip_sign(result, sign if ahead else sign ^ sign_bit(x))
    return choose(size < float("inf"), result, float("nan"))


def _near_sin(r: Number, low: Number | None, z: Number) -> Number:
    tail = r * z * polynomial(z, _SIN[r.dtype])
    if low is not None:
        tail = fma(low, fma(z, -0.5, 1.0), tail)
    return r + tail


def _near_cos(r: Number, low: Number | None, z: Number) -> Number:
    rest = (z * z) * polynomial(z, _COS[r.dtype])
    if low is not None:
        rest = fma(r, -low, rest)
    half = z * 0.5
    main = 1.0 - half
    return main + (((1.0 - main) - half) + rest)
