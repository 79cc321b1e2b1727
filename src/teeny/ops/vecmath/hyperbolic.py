"""The hyperbolic tangent."""

from __future__ import annotations

from teeny.ir.lanes import Lane, LaneBuilder
from teeny.ops.vecmath.exponential import exponential
from teeny.ops.vecmath.formats import rule
from teeny.ops.vecmath.number import Number, choose, fma, polynomial
from teeny.ops.vecmath.signs import copy_sign

__all__ = ["tanh"]

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
