"""Bessel functions of orders 0 and 1.

J + i Y is a modulus with a phase from 3 on (G. N. Watson, "A Treatise on the Theory of Bessel Functions", 1922, 13.75),
where zeros keep their places since the phase is reduced in two parts; below, polynomials of x**2 with the first zero
taken out. Y has log(x / z) J besides, with z its first zero. I grows as e**x / sqrt x, from 8 on times a polynomial of
1 / x.
"""

from __future__ import annotations

from teeny.ir.lanes import Lane, LaneBuilder
from teeny.ops.vecmath.circular import near_cos, near_sin
from teeny.ops.vecmath.exponential import exponential
from teeny.ops.vecmath.formats import in_f64, rule
from teeny.ops.vecmath.logarithm import more_one, natural_logarithm
from teeny.ops.vecmath.number import Number, both, choose, fast_two_sum, fma
from teeny.ops.vecmath.pieces import tabled
from teeny.ops.vecmath.quadrant import quarter_turns
from teeny.ops.vecmath.signs import copy_sign

__all__ = ["cyl_bessel_i0", "cyl_bessel_i1", "j0", "j1", "y0", "y1"]

_INF, _NAN = float("inf"), float("nan")
_BEND = 3.0
_QUARTER_PI, _QUARTER_PI_LOW = 0.7853981633974483, 3.061616997868383e-17
_TWO_OVER_PI = 0.6366197723675814
_J0_ZERO = (2.404825557695773, -1.176691651530894e-16)
_Y_ZEROS = ((0.8935769662791675, 2.6596231539720385e-17), (2.197141326031017, -4.8259835876454966e-17))
_LOG_ZEROS = (-0.11252280788079412, 0.7871571181569951)
_E50 = 5.184705528587072e21


def j0(b: LaneBuilder, x: Lane) -> Lane:
    """The Bessel function of the first kind of order 0: 0 at the infinities, NaN stays."""
    return rule(in_f64(_j0), b, x)


def j1(b: LaneBuilder, x: Lane) -> Lane:
    """The same of order 1: odd, zeros at the infinities."""
    return rule(in_f64(_j1), b, x)


def y0(b: LaneBuilder, x: Lane) -> Lane:
    """The Bessel function of the second kind of order 0: -inf at 0, NaN below, 0 at inf."""
    return rule(in_f64(_y0), b, x)


def y1(b: LaneBuilder, x: Lane) -> Lane:
    """The same of order 1."""
    return rule(in_f64(_y1), b, x)


def cyl_bessel_i0(b: LaneBuilder, x: Lane) -> Lane:
    """The modified Bessel function of the first kind of order 0: inf at both infinities, NaN stays."""
    return rule(in_f64(_i0), b, x)


def cyl_bessel_i1(b: LaneBuilder, x: Lane) -> Lane:
    """The same of order 1: odd."""
    return rule(in_f64(_i1), b, x)


def _far(order: int, size: Number, turns: int) -> Number:
    """J (`turns` 0) or Y (`turns` -1, a quarter turn back) for x >= 3."""
    u = 1.0 / size
    u_low = fma(-u, size, 1.0) * u
    square = u * u
    factor = (4 * order * order - 1) / 8
    lead = u * factor
    lead_low = fma(u_low, factor, fma(u, factor, -lead))
    rest = tabled(f"phase{order}", square) * (square * u)
    n, r, s = quarter_turns(size)
    assert s is not None
    # The angle in two parts, pi/4 less or more, so that its size is at most pi/4.
    below = (r + lead) < 0.0
    shift = choose(below, r.constant(_QUARTER_PI), -_QUARTER_PI)
    shift_low = choose(below, r.constant(_QUARTER_PI_LOW), -_QUARTER_PI_LOW)
    high, low = fast_two_sum(shift, r)
    low = low + (s + shift_low)
    high, more = _sum(high, lead)
    low = low + (more + (lead_low + rest))
    high, low = fast_two_sum(high, low)
    n = n - choose(below, n.constant(1), 0) - order + turns
    z = high * high
    wave = choose((n & 1).equals(1), near_sin(high, low, z), near_cos(high, low, z))
    wave = choose(((n + 1) & 2).equals(2), -wave, wave)
    root = Number(u.b, u.b.fsqrt((_TWO_OVER_PI / size).lane))
    found = tabled(f"modulus{order}", square) * root * wave
    return choose(size < _INF, found, 0.0)


def _sum(x: Number, y: Number) -> tuple[Number, Number]:
    total = x + y
    back = total - x
    return total, (x - (total - back)) + (y - back)


def _near_zero(x: Number, zero: tuple[float, float]) -> Number:
    """x**2 - z**2, right near z too."""
    return ((x - zero[0]) - zero[1]) * (x + zero[0])


def _small_j(order: int, x: Number) -> Number:
    square = x * x
    if order:
        return x * tabled("j1", square)
    return _near_zero(x, _J0_ZERO) * tabled("j0", square)


def _j(order: int, x: Number) -> tuple[Number, Number]:
    """J of the size, and the size."""
    size = abs(x)
    small = size < _BEND
    near = _small_j(order, choose(small, size, 0.0))
    return choose(small, near, _far(order, choose(small, size.constant(_BEND), size), 0)), size


def _j0(x: Number) -> Number:
    found, _ = _j(0, x)
    return choose(x.is_nan, x, found)


def _j1(x: Number) -> Number:
    found, size = _j(1, x)
    found = choose(size < 2.0**-500, size * 0.5, found)
    found = choose(x < 0.0, -found, found)
    return choose(size.equals(0.0), x, choose(size.equals(_INF), copy_sign(found, x), choose(x.is_nan, x, found)))


def _y0(x: Number) -> Number:
    return _y(0, x)


def _y1(x: Number) -> Number:
    return _y(1, x)


def _y(order: int, x: Number) -> Number:
    small = x < _BEND
    held = choose(small, choose(x > 0.0, x, 1.0), 1.0)
    zero, low = _Y_ZEROS[order]
    # log(x / z), of the difference where x is near z.
    near = both(held > zero * 0.5, held < zero * 2.0)
    beside = more_one(choose(near, ((held - zero) - low) / zero, 0.0))
    logarithm = choose(near, beside, natural_logarithm(held) - _LOG_ZEROS[order])
    rest = _near_zero(held, (zero, low)) * tabled(f"y{order}", held * held)
    if order:
        rest = rest / held
    found = fma(logarithm * _small_j(order, held), _TWO_OVER_PI, rest)
    found = choose(small, found, _far(order, choose(small, x.constant(_BEND), x), -1))
    found = choose(x < 0.0, found.constant(_NAN), choose(x.equals(0.0), found.constant(-_INF), found))
    return choose(x.is_nan, x, found)


def _i(order: int, x: Number) -> Number:
    """I of a size."""
    small = x < 8.0
    near = tabled(f"i{order}", choose(small, x * x, 0.0))
    if order:
        near = near * x
    held = choose(small, x.constant(8.0), x)
    late = held > 700.0
    rising = exponential(choose(late, held - 50.0, held))
    far = rising * (tabled(f"large_i{order}", 1.0 / held) / Number(x.b, x.b.fsqrt(held.lane)))
    far = choose(late, far * _E50, far)
    return choose(small, near, choose(x < _INF, far, x))


def _i0(x: Number) -> Number:
    return _i(0, abs(x))


def _i1(x: Number) -> Number:
    return copy_sign(_i(1, abs(x)), x)
