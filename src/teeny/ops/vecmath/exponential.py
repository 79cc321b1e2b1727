"""Exponentials: Cody-Waite reduction with ln 2 in two parts, a minimax polynomial, and a power of two."""

from __future__ import annotations

from teeny.ir.lanes import Lane, LaneBuilder
from teeny.ops.vecmath.formats import F64, format_of, in_f64, rule
from teeny.ops.vecmath.number import Number, choose, clamp, fma, polynomial

__all__ = [
    "exp",
    "exp2",
    "exp10",
    "expm1",
    "exponential",
    "half_exponential",
    "ldexp",
    "less_one",
    "power_of_two",
    "scaled_exponential",
]  # fmt: skip

# Beyond these the result is infinity or rounds to zero; the ends themselves do so too.
_EXP_RANGE = {"f32": (-104.5, 89.0), "f64": (-746.0, 710.0)}
_EXP2_RANGE = {"f32": (-151.0, 129.0), "f64": (-1076.0, 1025.0)}
# Below these expm1 rounds to -1; at the upper ends it is infinity.
_EXPM1_RANGE = {"f32": (-18.0, 89.0), "f64": (-38.0, 710.0)}

_EXP10_RANGE = (-324.5, 308.5)
_LOG2_10 = 3.321928094887362
_LOG10_2, _LOG10_2_LOW = 0.3010299956639812, -2.8037281277851704e-18
_LN10, _LN10_LOW = 2.302585092994046, -2.1707562233822494e-16

# e**r = 1 + r + r**2 * p(r) for |r| <= ln 2 / 2: relative to e**r.
_EXP = {
    "f32": (0.499999934, 0.166665202, 0.0416684123, 0.00836877455, 0.00138130446),
    "f64": (
        0.5000000000000011,
        0.16666666666666408,
        0.041666666666529406,
        0.008333333333498477,
        0.0013888888943865425,
        0.00019841269497675407,
        2.480149282245042e-05,
        2.755759446435381e-06,
        2.7630357082627205e-07,
        2.49974668470988e-08,
    ),
}
# 2**r = 1 + r * p(r) for |r| <= 1/2.
_EXP2 = {
    "f32": (0.693147203, 0.240226479, 0.0555033247, 0.00961843736, 0.00133988744, 0.000153533618),
    "f64": (
        0.6931471805599453,
        0.2402265069591013,
        0.055504108664820084,
        0.00961812910759412,
        0.0013333558146774584,
        0.0001540353045711177,
        1.5252733493162957e-05,
        1.321543528245539e-06,
        1.0178199557072967e-07,
        7.073783225001668e-09,
        4.434773523149006e-10,
    ),
}
# As for exp, but relative to e**r - 1.
_EXPM1 = {
    "f32": (
        0.5000000053054393,
        0.166666669020975,
        0.04166632699511601,
        0.008333220117705582,
        0.0013943208419633871,
        0.0001996209520066995,
    ),
    "f64": (
        0.5000000000000001,
        0.1666666666666667,
        0.04166666666665229,
        0.008333333333326153,
        0.0013888888895597217,
        0.00019841269874765153,
        2.480157453791779e-05,
        2.7557255461782194e-06,
        2.7567927335827085e-07,
        2.510519422227151e-08,
        1.7687680267023671e-09,
    ),
}


def exp(b: LaneBuilder, x: Lane) -> Lane:
    """e**x: exp(-inf) is 0, exp(inf) is inf, NaN stays."""
    return rule(exponential, b, x)


def exp2(b: LaneBuilder, x: Lane) -> Lane:
    """2**x, exact for whole x: exp2(-inf) is 0, exp2(inf) is inf, NaN stays."""
    return rule(power_of_two, b, x)


def expm1(b: LaneBuilder, x: Lane) -> Lane:
    """e**x - 1, accurate near 0: expm1(-inf) is -1, expm1(inf) is inf, expm1(-0.0) is -0.0, NaN stays."""
    return rule(less_one, b, x)


def ldexp(x: Number, n: Number) -> Number:
    """x * 2**n; see `LaneBuilder.ldexp` for the ranges."""
    return Number(x.b, x.b.ldexp(x.lane, n.lane))


def _reduce(x: Number) -> tuple[Number, Number]:
    """(n, r) with x = n ln 2 + r, n whole."""
    form = format_of(x)
    n = fma(x, form.log2e_high, form.round) - form.round
    return n, fma(n, -form.ln2_low, fma(n, -form.ln2_high, x))


def exponential(x: Number) -> Number:
    """e**x."""
    x = clamp(x, _EXP_RANGE[x.dtype])
    n, r = _reduce(x)
    tail = fma(r * r, polynomial(r, _EXP[x.dtype]), r)
    return ldexp(tail + 1.0, n)


def half_exponential(x: Number) -> Number:
    """e**x / 2, finite as long as that is."""
    low, high = _EXP_RANGE[x.dtype]
    n, r = _reduce(clamp(x, (low, high + 1.0)))
    return ldexp(fma(r * r, polynomial(r, _EXP[x.dtype]), r) + 1.0, n - 1.0)


def scaled_exponential(x: Number, low: Number, shift: float) -> Number:
    """e**(x + low) * 2**shift, where `low` is far below 1 and x not above 0."""
    n, r = _reduce(clamp(x, _EXP_RANGE[x.dtype]))
    tail = fma(r * r, polynomial(r, _EXP[x.dtype]), r)
    return ldexp(fma(low, tail + 1.0, tail) + 1.0, n + shift)


def exp10(b: LaneBuilder, x: Lane) -> Lane:
    """10**x: exp10(-inf) is 0, exp10(inf) is inf, NaN stays."""
    return rule(in_f64(_exp10), b, x)


def _exp10(x: Number) -> Number:
    x = clamp(x, _EXP10_RANGE)
    n = fma(x, _LOG2_10, F64.round) - F64.round
    rest = fma(n, -_LOG10_2_LOW, fma(n, -_LOG10_2, x))
    r = rest * _LN10
    low = fma(rest, _LN10_LOW, fma(rest, _LN10, -r))
    tail = fma(r * r, polynomial(r, _EXP["f64"]), r) + low
    return ldexp(tail + 1.0, n)


def power_of_two(x: Number, low: Number | None = None) -> Number:
    """2**(x + low), where `low` is far below 1."""
    form = format_of(x)
    x = clamp(x, _EXP2_RANGE[x.dtype])
    n = (x + form.round) - form.round
    r = x - n
    if low is not None:
        r = r + low
    return ldexp(fma(r, polynomial(r, _EXP2[x.dtype]), 1.0), n)


def less_one(x: Number) -> Number:
    """e**x - 1."""
    form = format_of(x)
    small = abs(x) < form.tiny
    clamped = clamp(x, _EXPM1_RANGE[x.dtype])
    n, r = _reduce(clamped)
    lost = fma(n, -form.ln2_low, fma(n, -form.ln2_high, clamped) - r)
    rest = fma(r * r, polynomial(r, _EXPM1[x.dtype]), lost)
    # 2**n * (1 + r + rest) - 1, at half its size, for 2**128 is no f32.
    half = ldexp(x.constant(1.0), n - 1.0)
    result = fma(half, rest, fma(half, r, half - 0.5)) * 2.0
    return choose(small, x, choose(x.is_nan, x, result))
