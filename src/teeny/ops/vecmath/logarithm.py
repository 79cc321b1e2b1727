"""Logarithms: reduction to [sqrt 1/2, sqrt 2).

log(1 + f) = f - f**2/2 + f**3 * p(f) in f32; in f64 with s = f / (2 + f) the series of 2 atanh s as W. J. Cody and
W. Waite describe it (Software Manual for the Elementary Functions, 1980).
"""

from __future__ import annotations

from teeny.ir.lanes import Lane, LaneBuilder
from teeny.ops.vecmath.exponential import ldexp
from teeny.ops.vecmath.formats import format_of, rule
from teeny.ops.vecmath.number import Number, choose, fma, polynomial, two_product

__all__ = ["binary_logarithm", "log", "log1p", "log2", "log_specials", "more_one", "natural_logarithm", "split"]

_LOG = {
    "f32": (0.333333317, -0.25000821, 0.200012269, -0.166233575, 0.14201758, -0.131601805, 0.127615773, -0.0763450291),
    "f64": (
        0.6666666666666735,
        0.39999999999411073,
        0.285714287432665,
        0.22222198475643723,
        0.1818356975576648,
        0.15313902873835566,
        0.14797511160891025,
    ),
}
_SQRT_HALF_BITS = {"f32": 0x3F3504F3, "f64": 0x3FE6A09E667F3BCD}


def log(b: LaneBuilder, x: Lane) -> Lane:
    """The natural logarithm: log(0) is -inf, log(inf) is inf, NaN below zero."""
    return rule(natural_logarithm, b, x)


def log2(b: LaneBuilder, x: Lane) -> Lane:
    """The logarithm to base 2, exact for powers of two: log2(0) is -inf, log2(inf) is inf, NaN below zero."""
    return rule(binary_logarithm, b, x)


def log1p(b: LaneBuilder, x: Lane) -> Lane:
    """log(1 + x), accurate near 0: log1p(-1) is -inf, log1p(inf) is inf, log1p(-0.0) is -0.0, NaN below -1."""
    return rule(more_one, b, x)


def split(x: Number) -> tuple[Number, Number]:
    """(e, f) with x = 2**e * (1 + f), 1 + f in [sqrt 1/2, sqrt 2), both exact, for positive finite x."""
    form = format_of(x)
    small = x < form.smallest_normal
    bits = choose(small, x * 2.0 ** (form.mantissa + 1), x).bits()
    biased = (bits + ((form.bias << form.mantissa) - _SQRT_HALF_BITS[x.dtype])) >> form.mantissa
    significand = bits - ((biased - form.bias) << form.mantissa)
    exponent = biased if x.dtype == "f32" else biased.low()
    shift = choose(small, exponent.constant(form.bias + form.mantissa + 1), form.bias)
    return (exponent - shift).to(x.dtype), significand.from_bits() - 1.0


def log_specials(x: Number, result: Number) -> Number:
    """`result` for positive finite x; -inf at 0, inf at inf, else NaN."""
    form, infinity = format_of(x), x.constant(float("inf"))
    special = choose(x.equals(infinity), infinity, float("nan"))
    special = choose(x.equals(0.0), -infinity, special)
    # As unsigned integers: above +0 and below infinity; a sign bit makes the number too large.
    usual = (x.bits() - 1) < ((2 * form.bias + 1) << form.mantissa) - 1
    return choose(usual, result, special)


def _parts(f: Number) -> tuple[Number, Number]:
    """log(1 + f) as (high, low): an unevaluated sum, high by far the larger."""
    square = f * f
    if f.dtype == "f32":
        return f, fma(square * f, polynomial(f, _LOG["f32"]), square * -0.5)
    half = square * 0.5
    s = f / (f + 2.0)
    z = s * s
    series = z * polynomial(z, _LOG["f64"])
    high = f - half
    lost = (f - high) - half
    return high, fma(s, half + series, lost)


def natural_logarithm(x: Number) -> Number:
    """log x."""
    form = format_of(x)
    e, f = split(x)
    high, low = _parts(f)
    low = fma(e, form.ln2_low, low)
    return log_specials(x, fma(e, form.ln2_high, high + low))


def binary_logarithm(x: Number) -> Number:
    """log2(x)."""
    form = format_of(x)
    e, f = split(x)
    high, low = _parts(f)
    factor = high.constant(form.log2e_high)
    product, rest = two_product(high, factor)
    rest = fma(high, form.log2e_low, fma(low, factor, rest))
    total = e + product
    # |e| >= 1 > |product| or e = 0: the error of the sum is found exactly.
    rest = ((e - total) + product) + rest
    return log_specials(x, total + rest)


def more_one(x: Number) -> Number:
    """log(1 + x)."""
    form = format_of(x)
    one = x + 1.0
    # What the sum lost, exactly: the larger operand is subtracted first.
    large = x > 1.0
    lost = choose(large, 1.0 - (one - x), x - (one - 1.0))
    e, f = split(one)
    high, low = _parts(f)
    # log(u + lost) = log u + lost / u: the lost part scaled as f is, over 1 + f to a few bits.
    lost = lost * ldexp(e.constant(1.0), -e)
    low = fma(lost, fma(f, f - 1.0, 1.0), low)
    low = fma(e, form.ln2_low, low)
    result = log_specials(one, fma(e, form.ln2_high, high + low))
    return choose(abs(x) < form.tiny, x, result)
