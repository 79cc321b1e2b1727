"""The hyperbolic functions and their inverses; all but the tangent compute f32 in f64."""

from __future__ import annotations

from teeny.ir.lanes import Lane, LaneBuilder
from teeny.ops.vecmath.exponential import exponential, half_exponential, less_one
from teeny.ops.vecmath.formats import in_f64, rule
from teeny.ops.vecmath.logarithm import more_one
from teeny.ops.vecmath.number import Number, choose, fma, polynomial
from teeny.ops.vecmath.signs import copy_sign

__all__ = ["acosh", "asinh", "atanh", "cosh", "sinh", "tanh"]

_BEND = 0.5493061443340549
"""(ln 3) / 2, where tanh is 1/2."""
# tanh x = x + x**3 * p(x**2) below that.
_TANH = {
    "f32": (
        -0.33333317559558784,
        0.1333258613598785,
        -0.05385230964800378,
        0.02107167788908854,
        -0.006274237759734374,
    ),
    "f64": (
        -0.333333333333333,
        0.13333333333326622,
        -0.05396825396376068,
        0.021869488385857963,
        -0.008863232601475379,
        0.003592092030769945,
        -0.0014555428478394813,
        0.0005884444945630194,
        -0.0002333815859590598,
        8.331647615416037e-05,
        -1.9494704643029205e-05,
    ),
}


_LARGE = 22.0
"""From here on e**-x is lost beside e**x."""
_SQUARE = 1e150
"""The square of what is smaller is finite."""
_LN2 = 0.6931471805599453


def sinh(b: LaneBuilder, x: Lane) -> Lane:
    """The hyperbolic sine: sinh(-0.0) is -0.0, infinities and NaN stay."""
    return rule(in_f64(_sinh), b, x)


def cosh(b: LaneBuilder, x: Lane) -> Lane:
    """The hyperbolic cosine: inf at both infinities, NaN stays."""
    return rule(in_f64(_cosh), b, x)


def asinh(b: LaneBuilder, x: Lane) -> Lane:
    """The inverse hyperbolic sine: asinh(-0.0) is -0.0, infinities and NaN stay."""
    return rule(in_f64(_asinh), b, x)


def acosh(b: LaneBuilder, x: Lane) -> Lane:
    """The inverse hyperbolic cosine: 0 at 1, inf at inf, NaN below 1."""
    return rule(in_f64(_acosh), b, x)


def atanh(b: LaneBuilder, x: Lane) -> Lane:
    """The inverse hyperbolic tangent: infinite at -1 and 1, NaN beyond."""
    return rule(in_f64(_atanh), b, x)


def _root(x: Number) -> Number:
    return Number(x.b, x.b.fsqrt(x.lane))


def _sinh(x: Number) -> Number:
    size = abs(x)
    less = less_one(size)
    near = (less + less / (less + 1.0)) * 0.5
    return copy_sign(choose(size > _LARGE, half_exponential(size), near), x)


def _cosh(x: Number) -> Number:
    half = half_exponential(abs(x))
    return half + 0.25 / half


def _asinh(x: Number) -> Number:
    size = abs(x)
    large = size > _SQUARE
    square = size * size
    more = more_one(choose(large, size, size + square / (_root(square + 1.0) + 1.0)))
    return copy_sign(choose(large, more + _LN2, more), x)


def _acosh(x: Number) -> Number:
    large = x > _SQUARE
    beyond = x - 1.0
    more = more_one(choose(large, x, beyond + _root(beyond * (x + 1.0))))
    return choose(x < 1.0, x.constant(float("nan")), choose(large, more + _LN2, more))


def _atanh(x: Number) -> Number:
    size = abs(x)
    return copy_sign(more_one((size + size) / (1.0 - size)) * 0.5, x)


def tanh(b: LaneBuilder, x: Lane) -> Lane:
    """The hyperbolic tangent: -1 and 1 at the infinities, tanh(-0.0) is -0.0, NaN stays."""
    return rule(_tanh, b, x)


def _tanh(x: Number) -> Number:
    size = abs(x)
    z = x * x
    near = fma(size * z, polynomial(z, _TANH[x.dtype]), size)
    # exp(2|x|) may be infinite, and the quotient 0.
    far = 1.0 - 2.0 / (exponential(size + size) + 1.0)
    return copy_sign(choose(size < _BEND, near, far), x)
