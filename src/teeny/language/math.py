"""`tl.math`: elementary functions under the other name that Triton has for them."""

from teeny.ops.arith import abs, fma, umulhi
from teeny.ops.division import div_rn, fdiv
from teeny.ops.math import (
    ceil,
    cos,
    erf,
    exp,
    exp2,
    expm1,
    floor,
    log,
    log1p,
    log2,
    pow,
    rsqrt,
    sin,
    sqrt,
    sqrt_rn,
    tanh,
)

__all__ = [
    "abs",
    "ceil",
    "cos",
    "div_rn",
    "erf",
    "exp",
    "exp2",
    "expm1",
    "fdiv",
    "floor",
    "fma",
    "log",
    "log1p",
    "log2",
    "pow",
    "rsqrt",
    "sin",
    "sqrt",
    "sqrt_rn",
    "tanh",
    "umulhi",
]
