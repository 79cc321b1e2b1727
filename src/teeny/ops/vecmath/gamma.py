"""The gamma function and its logarithm: Stirling's formula in two parts, polynomials near the zeros of the logarithm
at 1 and 2, and Euler's reflection below 0. What Stirling's formula lacks is a polynomial of 1 / x.
"""

from __future__ import annotations

from teeny.ir.lanes import Lane, LaneBuilder
from teeny.ops.vecmath.circular import half_turns
from teeny.ops.vecmath.exponential import power_of_two
from teeny.ops.vecmath.formats import F64, in_f64, rule
from teeny.ops.vecmath.logarithm import natural_logarithm
from teeny.ops.vecmath.number import Number, choose, fma, two_product
from teeny.ops.vecmath.pieces import tabled
from teeny.ops.vecmath.power import logarithm_parts

__all__ = ["lgamma", "tgamma"]

_INF = float("inf")
_PI = 3.141592653589793
_ROOT, _ROOT_LOW = 2.5066282746310007, -1.8328579980459167e-16
"""The square root of 2 pi."""
_LOG_ROOT, _LOG_ROOT_LOW = 0.9189385332046728, -3.8782941580672414e-17
"""Its logarithm."""
_LARGE = 1e290
"""From here on log x - 1 is right without more terms, and products with x in bits may overflow."""


def lgamma(b: LaneBuilder, x: Lane) -> Lane:
    """log |gamma x|: inf at both infinities, at 0 and at negative whole numbers, NaN stays."""
    return rule(in_f64(_lgamma), b, x)


def tgamma(b: LaneBuilder, x: Lane) -> Lane:
    """The gamma function: infinite at zeros, with their signs, NaN at negative whole numbers and -inf."""
    return rule(in_f64(_tgamma), b, x)


def _two_sum(x: Number, y: Number) -> tuple[Number, Number]:
    total = x + y
    back = total - x
    return total, (x - (total - back)) + (y - back)


def _exponent(x: Number) -> tuple[Number, Number]:
    """(x - 1/2) log2 x - x log2 e in two parts, for x from 1/2 to 1e290."""
    high, low = logarithm_parts(x)
    less = x - 0.5
    product, lost = two_product(less, high)
    lost = fma(less, low, lost)
    other, other_lost = two_product(x, x.constant(F64.log2e_high))
    other_lost = fma(x, F64.log2e_low, other_lost)
    total, error = _two_sum(product, -other)
    return total, error + (lost - other_lost)


def _far(x: Number) -> Number:
    """lgamma x for x >= 3."""
    huge = x > _LARGE
    held = choose(huge, x.constant(_LARGE), x)
    e, low = _exponent(held)
    m, m_low = two_product(e, e.constant(F64.ln2_high))
    m_low = fma(e, F64.ln2_low, fma(low, F64.ln2_high, m_low))
    u = 1.0 / held
    total, error = _two_sum(m, m.constant(_LOG_ROOT))
    found = total + (error + (m_low + fma(tabled("binet", u * u), u, _LOG_ROOT_LOW)))
    return choose(huge, x * (natural_logarithm(x) - 1.0), found)


def _lgamma(x: Number) -> Number:
    size = abs(x)
    # Below 1/2: lgamma x = lgamma(1 + x) - log x.
    small = size < 0.5
    held = choose(size < 3.0, size, 2.5)
    near = choose(small, size, held - 1.0) * choose(small, size - 1.0, held - 2.0)
    near = near * tabled("lgamma", choose(small, size + 1.0, held))
    wave = abs(half_turns(size, 0.0))
    wave = choose(size < 2.0**-60, size, choose(small, wave, wave * size) * (1 / _PI))
    below = x < 0.0
    # One logarithm serves both signs.
    logarithm = natural_logarithm(choose(below, wave, choose(small, size, 1.0)))
    found = choose(size < 3.0, near, _far(choose(size < 3.0, size.constant(3.0), size)))
    found = choose(below, -(logarithm + found), found - logarithm)
    pole = choose(x < 0.5, size.floor().equals(size), size.equals(_INF))
    return choose(pole, size.constant(_INF), choose(x.is_nan, x, found + 0.0))


def _tgamma(x: Number) -> Number:
    size = abs(x)
    first = size < 1.0
    y = choose(first, size + 1.0, choose(size > 200.0, size.constant(200.0), size))
    e, low = _exponent(y)
    u = 1.0 / y
    more = tabled("stirling", u) * u
    factor = fma(more, _ROOT, _ROOT_LOW) + _ROOT
    above = power_of_two(e, low) * factor
    above = choose(first, above / x, above)
    # gamma(-a) = -pi / (sin(pi a) gamma(1 + a)), gamma(1 + a) = a gamma(a)
    late = e > 800.0
    falling = power_of_two(choose(late, 200.0 - e, -e), -low)
    wave = half_turns(size, 0.0) * choose(first, size.constant(1.0), size)
    below = (-_PI / (wave * factor)) * falling
    below = choose(late, below * 2.0**-200, below)
    below = choose(size.floor().equals(size), size.constant(float("nan")), below)
    found = choose(x < 0.0, below, choose(x > 172.0, x.constant(_INF), above))
    found = choose(size < 2.0**-60, 1.0 / x, found)
    return choose(x.is_nan, x, found)
