"""Elementary functions as inline polynomials, for f32 and f64; f16 and bf16 compute in f32 and round once.

Functions of a `LaneBuilder` and lanes. Errors are below 2 ulp of the exact value (the tests measure them). Special
values are exact, subnormal results are kept, and no result depends on the vector width or the instruction set.
Coefficients are minimax fits by Remez' algorithm, of the relative error of the function, made for this package.
"""

from teeny.ops.vecmath.bits import brev, clz, ffs, popc
from teeny.ops.vecmath.circular import cos, cospi, sin, sinpi, tan
from teeny.ops.vecmath.complement import erfc
from teeny.ops.vecmath.error_function import erf
from teeny.ops.vecmath.exponential import exp, exp2, exp10, expm1
from teeny.ops.vecmath.hyperbolic import acosh, asinh, atanh, cosh, sinh, tanh
from teeny.ops.vecmath.inverse import acos, asin, atan, atan2
from teeny.ops.vecmath.logarithm import log, log1p, log2
from teeny.ops.vecmath.power import log10, pow
from teeny.ops.vecmath.root import cbrt, hypot, rcbrt, rsqrt
from teeny.ops.vecmath.whole import copysign, fdim, nextafter, rint, round, scaled, trunc

__all__ = [
    "acos",
    "acosh",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "brev",
    "cbrt",
    "clz",
    "copysign",
    "cos",
    "cosh",
    "cospi",
    "erf",
    "erfc",
    "exp",
    "exp2",
    "exp10",
    "expm1",
    "fdim",
    "ffs",
    "hypot",
    "log",
    "log1p",
    "log2",
    "log10",
    "nextafter",
    "popc",
    "pow",
    "rcbrt",
    "rint",
    "round",
    "rsqrt",
    "scaled",
    "sin",
    "sinh",
    "sinpi",
    "tan",
    "tanh",
    "trunc",
]  # fmt: skip
