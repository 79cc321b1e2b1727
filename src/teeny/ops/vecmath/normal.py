"""The normal distribution and inverses of the error function.

The inverse near 0 is x * p(x**2), else u * q(1 / u) with u = sqrt(-log erfc y), as M. J. Wichura takes it ("Algorithm
AS 241", 1988). What is left of 1 or 2 is exact.
"""

from __future__ import annotations

from teeny.ir.lanes import Lane, LaneBuilder
from teeny.ops.vecmath.complement import SHIFT, scaled_complement
from teeny.ops.vecmath.error_function import error_function
from teeny.ops.vecmath.exponential import exponential, scaled_exponential
from teeny.ops.vecmath.formats import in_f64, rule
from teeny.ops.vecmath.logarithm import natural_logarithm
from teeny.ops.vecmath.number import Number, choose, fma, polynomial
from teeny.ops.vecmath.pieces import tabled
from teeny.ops.vecmath.signs import copy_sign

__all__ = ["erfcinv", "erfcx", "erfinv", "normcdf", "normcdfinv"]

_INF = float("inf")
_ROOT_HALF = 0.7071067811865476
_ROOT_TWO, _ROOT_TWO_LOW = 1.4142135623730951, -9.667293313452913e-17
_ROOT_PI = 0.5641895835477563
"""1 over the square root of pi."""
# e**(x**2) erfc x * x * sqrt(pi) by 1 / (2 x**2): the asymptotic series.
_SERIES = (1.0, -1.0, 3.0, -15.0, 105.0, -945.0, 10395.0)


def erfcx(b: LaneBuilder, x: Lane) -> Lane:
    """e**(x**2) erfc x: inf at -inf, 0 at inf, NaN stays."""
    return rule(in_f64(_erfcx), b, x)


def normcdf(b: LaneBuilder, x: Lane) -> Lane:
    """The share of the normal distribution below x: 0 at -inf, 1 at inf, NaN stays."""
    return rule(in_f64(_normcdf), b, x)


def erfinv(b: LaneBuilder, x: Lane) -> Lane:
    """The number whose erf is x: infinite at -1 and 1, NaN beyond, erfinv(-0.0) is -0.0."""
    return rule(in_f64(_erfinv), b, x)


def erfcinv(b: LaneBuilder, x: Lane) -> Lane:
    """The number whose erfc is x: inf at 0, -inf at 2, NaN beyond."""
    return rule(in_f64(_erfcinv), b, x)


def normcdfinv(b: LaneBuilder, x: Lane) -> Lane:
    """The number below which the share x of the normal distribution lies: -inf at 0, inf at 1, NaN beyond."""
    return rule(in_f64(_normcdfinv), b, x)


def _erfcx(x: Number) -> Number:
    size = abs(x)
    square = x * x
    lost = fma(x, x, -square)
    rising = exponential(square)
    rising = choose(rising < _INF, fma(rising, lost, rising), rising)
    near = rising * (1.0 - error_function(choose(size < 0.5, x, 0.0)))
    held = choose(size > 27.0, size.constant(27.0), size)
    inverse = 1.0 / size
    series = polynomial((inverse * inverse) * 0.5, _SERIES) * (inverse * _ROOT_PI)
    far = choose(size > 27.0, series, scaled_complement(held))
    far = choose(x < 0.0, rising * 2.0 - far, far)
    return choose(x.is_nan, x, choose(size < 0.5, near, far))


def _normcdf(x: Number) -> Number:
    size = abs(x)
    held = choose(size > 39.0, size.constant(39.0), size)
    square = held * held
    lost = fma(held, held, -square)
    half = held * _ROOT_HALF
    falling = scaled_exponential(square * -0.5, lost * -0.5, SHIFT)
    far = falling * scaled_complement(half) * 2.0 ** -(SHIFT + 1)
    far = choose(x > 0.0, 1.0 - far, far)
    near = fma(error_function(choose(half < 0.5, x * _ROOT_HALF, 0.0)), 0.5, 0.5)
    return choose(x.is_nan, x, choose(half < 0.5, near, far))


def _tail(rest: Number) -> Number:
    """erfcinv of what is at most 1/2."""
    u = Number(rest.b, rest.b.fsqrt((-natural_logarithm(rest)).lane))
    return choose(rest.equals(0.0), rest.constant(_INF), u * tabled("erfcinv", 1.0 / u))


def _middle(x: Number) -> Number:
    """erfinv of what is at most 1/2 in size."""
    return x * tabled("erfinv", x * x)


def _erfinv(x: Number) -> Number:
    size = abs(x)
    small = size < 0.5
    found = choose(small, _middle(choose(small, size, 0.0)), _tail(choose(small, size.constant(0.5), 1.0 - size)))
    return copy_sign(abs(found), x)


def _erfcinv(x: Number) -> Number:
    low, high = x < 0.5, x > 1.5
    tail = _tail(choose(low, x, choose(high, 2.0 - x, 0.5)))
    less = 1.0 - x
    middle = _middle(choose(abs(less) < 0.501, less, 0.0))
    return choose(x.is_nan, x, choose(low, tail, choose(high, -tail, middle)))


def _normcdfinv(x: Number) -> Number:
    found = -_erfcinv(x + x)
    scaled = fma(found, _ROOT_TWO_LOW, found * _ROOT_TWO)
    return choose(abs(found) < _INF, scaled, found)
