"""Sine, cosine and tangent of every finite number, and of multiples of pi."""

from __future__ import annotations

from teeny.ir.lanes import Lane, LaneBuilder
from teeny.ops.vecmath.formats import format_of, in_f64, rule
from teeny.ops.vecmath.number import Number, choose, fma, polynomial
from teeny.ops.vecmath.quadrant import exact_quarter_turns, quarter_turns
from teeny.ops.vecmath.signs import flip_sign, sign_bit

__all__ = ["cos", "cospi", "half_turns", "near_cos", "near_sin", "sin", "sinpi", "tan"]

_PI, _PI_LOW = 3.141592653589793, 1.2246467991473532e-16
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


def tan(b: LaneBuilder, x: Lane) -> Lane:
    """The tangent: tan(-0.0) is -0.0, NaN at the infinities."""
    return rule(_tan, b, x)


def sinpi(b: LaneBuilder, x: Lane) -> Lane:
    """The sine of pi * x, exact at halves: zeros at whole numbers have the sign of x, NaN at the infinities."""
    return rule(in_f64(_sinpi), b, x)


def cospi(b: LaneBuilder, x: Lane) -> Lane:
    """The cosine of pi * x, exact at halves; NaN at the infinities."""
    return rule(in_f64(_cospi), b, x)


def _tan(x: Number) -> Number:
    size = abs(x)
    if x.dtype == "f32":
        n, r = exact_quarter_turns(size)
        low = None
    else:
        n, r, low = quarter_turns(size)
    z = r * r
    sine, cosine = near_sin(r, low, z), near_cos(r, low, z)
    odd = (n & 1).equals(1)
    result = choose(odd, cosine, sine) / choose(odd, -sine, cosine)
    result = flip_sign(result.to(x.dtype) if x.dtype == "f32" else result, sign_bit(x))
    return choose(size < float("inf"), result, float("nan"))


def _sinpi(x: Number) -> Number:
    size = abs(x)
    found = choose(size < 2.0**-900, size * _PI, half_turns(size, 0.0))
    return flip_sign(found, sign_bit(x))


def _cospi(x: Number) -> Number:
    return half_turns(abs(x), 1.0)


def half_turns(size: Number, ahead: float) -> Number:
    """The sine of pi * size and `ahead` quarter turns more."""
    turns = size * 0.5
    part = (turns - turns.floor()) * 4.0  # quarter turns in [0, 4), exactly
    n = (part + 0.5).floor()
    rest = (part - n) * 0.5
    r = rest * _PI
    low = fma(rest, _PI_LOW, fma(rest, _PI, -r))
    n = n + ahead
    z = r * r
    sine, cosine = near_sin(r, low, z), near_cos(r, low, z)
    half = n * 0.5
    odd = (half - half.floor()) > 0.0
    back = (n * 0.25 - (n * 0.25).floor()) > 0.4
    found = choose(odd, cosine, sine)
    # -0.0 is no sine of a whole number.
    found = choose(found.equals(0.0), found.constant(0.0), choose(back, -found, found))
    return choose(size < float("inf"), found, float("nan"))


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
    result = choose(odd, near_cos(r, low, z), near_sin(r, low, z))
    half_turn = n & 2
    if x.dtype == "f64":
        half_turn = half_turn.widened()
    sign = half_turn << (form.mantissa + (7 if x.dtype == "f32" else 10))
    result = flip_sign(result, sign if ahead else sign ^ sign_bit(x))
    return choose(size < float("inf"), result, float("nan"))


def near_sin(r: Number, low: Number | None, z: Number) -> Number:
    tail = r * z * polynomial(z, _SIN[r.dtype])
    if low is not None:
        tail = fma(low, fma(z, -0.5, 1.0), tail)
    return r + tail


def near_cos(r: Number, low: Number | None, z: Number) -> Number:
    rest = (z * z) * polynomial(z, _COS[r.dtype])
    if low is not None:
        rest = fma(r, -low, rest)
    half = z * 0.5
    main = 1.0 - half
    return main + (((1.0 - main) - half) + rest)
