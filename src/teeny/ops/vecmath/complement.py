"""The complement of the error function: erfc x = e**(-x**2) * g(x), g in a form that changes little.

(1 + 2 x) e**(x**2) erfc x as a polynomial of (x - 4) / (x + 4), as M. M. Shepherd and J. G. Laframboise propose it
("Chebyshev approximation of (1 + 2x) exp(x**2) erfc x in 0 <= x < infinity", 1981).
"""

from __future__ import annotations

from teeny.ir.lanes import Lane, LaneBuilder
from teeny.ops.vecmath.error_function import error_function
from teeny.ops.vecmath.exponential import scaled_exponential
from teeny.ops.vecmath.formats import rule
from teeny.ops.vecmath.number import Number, choose, fma, polynomial

__all__ = ["SHIFT", "erfc", "scaled_complement"]

_BEND = 0.5
_LAST = 27.5
"""From here on erfc rounds to 0 in f64."""
SHIFT = 100.0
_FAR = {
    "f32": (
        1.2329951185950703,
        -0.13962111534641172,
        0.015379656674579384,
        0.06809697799612603,
        -0.10103918336141125,
        0.0937339471491019,
        -0.06632918742415622,
        0.037160515525442625,
        -0.016203582096737622,
        0.005053787417755401,
        -0.000742410995858451,
        -0.00023348546567395094,
        0.00013006273471000905,
    ),
    "f64": (
        1.2329951186255526,
        -0.1396211168405625,
        0.015379652102620016,
        0.06809705425469155,
        -0.10103906603632301,
        0.09373283499839626,
        -0.06633036581171428,
        0.03716751553663336,
        -0.016197734064826518,
        0.005031969986083345,
        -0.0007577732310273448,
        -0.0001992567380813961,
        0.0001506213822117122,
        -2.4399081977554222e-05,
        -1.1221074529834752e-05,
        5.709525236510365e-06,
        2.9182939426874006e-07,
        -8.253615844747378e-07,
        7.717174766643923e-08,
        1.10365754222513e-07,
        -1.9758100200235015e-08,
        -1.458145091526486e-08,
        2.4171050535369567e-09,
        1.4881954087824382e-09,
    ),
}


def erfc(b: LaneBuilder, x: Lane) -> Lane:
    """1 - erf(x), accurate where that is small: 2 at -inf, 0 at inf, NaN stays."""
    return rule(_erfc, b, x)


def _erfc(x: Number) -> Number:
    if x.dtype == "f32":
        return _in_f64(x.to("f64"), _FAR["f32"]).to("f32")
    return _in_f64(x, _FAR["f64"])


def scaled_complement(size: Number, table: tuple[float, ...] = _FAR["f64"]) -> Number:
    """e**(x**2) erfc x for x from 0 to 27.6."""
    return polynomial((size - 4.0) / (size + 4.0), table) / fma(size, 2.0, 1.0)


def _in_f64(x: Number, table: tuple[float, ...]) -> Number:
    size = abs(x)
    held = choose(size > _LAST, size.constant(_LAST), size)
    square = held * held
    lost = fma(held, held, -square)
    falling = scaled_exponential(-square, -lost, SHIFT)
    far = falling * scaled_complement(held, table) * 2.0**-SHIFT
    far = choose(x < 0.0, 2.0 - far, far)
    return choose(size < _BEND, 1.0 - error_function(x), choose(x.is_nan, x, far))
