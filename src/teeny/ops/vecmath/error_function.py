"""The error function: x + x * p(x**2) near 0, else 1 - 2**q(x) with q the logarithm of erfc."""

from __future__ import annotations

from teeny.ir.lanes import Lane, LaneBuilder
from teeny.ops.vecmath.exponential import power_of_two
from teeny.ops.vecmath.formats import rule
from teeny.ops.vecmath.number import Number, choose, fma, polynomial
from teeny.ops.vecmath.signs import copy_sign

__all__ = ["erf", "error_function"]

_BEND = 0.9
_ONE = {"f32": 3.95, "f64": 6.0}
"""From here on erf rounds to 1."""
_NEAR = {
    "f32": (
        0.12837916676447117,
        -0.37612634980208637,
        0.1128371503534097,
        -0.02686050852318266,
        0.005203859199331919,
        -0.000817563898327712,
        8.513100708759518e-05,
    ),
    "f64": (
        0.1283791670955126,
        -0.37612638903183726,
        0.11283791670953705,
        -0.026866170644806675,
        0.005223977621603492,
        -0.0008548326754931915,
        0.00012055321042560559,
        -1.4925299746786967e-05,
        1.6455214027442928e-06,
        -1.6275476900545086e-07,
        1.4046050971562222e-08,
        -8.481857344677284e-10,
    ),
}
# log2(erfc(x)) from the bend on; the error counts as that of erf.
_FAR = {
    "f32": (
        -0.00024018284205722004,
        -1.6270672590508035,
        -0.9189626688956286,
        -0.1502038654145104,
        0.03219382097021164,
        -0.004422504685230715,
        0.00028596338726026116,
    ),
    "f64": (
        5.270075189785995e-09,
        -1.6279071371772547,
        -0.9184472884906155,
        -0.148273846306058,
        0.027610429436950072,
        0.0002693397428837852,
        -0.002389613027973913,
        0.0007717644042612592,
        5.0472618130465616e-05,
        -0.000171034524993056,
        9.884206726834588e-05,
        -3.713643137397144e-05,
        1.0446631087979055e-05,
        -2.2844890925571793e-06,
        3.9006032618089146e-07,
        -5.125123661660691e-08,
        5.01620342961057e-09,
        -3.447300516578292e-10,
        1.484332801368474e-11,
        -3.0119496613560055e-13,
    ),
}


def erf(b: LaneBuilder, x: Lane) -> Lane:
    """The error function: -1 and 1 at the infinities, erf(-0.0) is -0.0, NaN stays."""
    return rule(error_function, b, x)


def error_function(x: Number) -> Number:
    """erf x."""
    size = abs(x)
    near = fma(size, polynomial(x * x, _NEAR[x.dtype]), size)
    last = x.constant(_ONE[x.dtype])
    far = 1.0 - power_of_two(polynomial(choose(size > last, last, size), _FAR[x.dtype]))
    return copy_sign(choose(size < _BEND, near, far), x)
