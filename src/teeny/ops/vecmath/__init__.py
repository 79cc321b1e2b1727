"""Elementary functions as inline polynomials, for f32 and f64; f16 and bf16 compute in f32 and round once.

Functions of a `LaneBuilder` and lanes. Errors are below 2 ulp of the exact value (the tests measure them). Special
values are exact, subnormal results are kept, and no result depends on the vector width or the instruction set.
Coefficients are minimax fits by Remez' algorithm, of the relative error of the function, made for this package.
"""

from teeny.ops.vecmath.circular import cos, sin
from teeny.ops.vecmath.error_function import erf
from teeny.ops.vecmath.exponential import exp, exp2, expm1
from teeny.ops.vecmath.hyperbolic import tanh
from teeny.ops.vecmath.logarithm import log, log1p, log2
from teeny.ops.vecmath.power import pow
from teeny.ops.vecmath.root import rsqrt

__all__ = ["cos", "erf", "exp", "exp2", "expm1", "log", "log1p", "log2", "pow", "rsqrt", "sin", "tanh"]
