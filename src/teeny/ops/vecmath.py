"""Elementary functions as inline polynomials, for f32 and f64; f16 and bf16 compute in f32 and round once.

Functions of a `LaneBuilder` and a lane. Errors are below 2 ulp of the exact value (the tests measure them). Special
values are exact, subnormal results are kept, and no result depends on the vector width or the instruction set: every
step is a single correctly rounded operation, fused multiply-adds included.

Methods: Cody-Waite reduction with ln 2 in two parts for `exp`; reduction to [sqrt 1/2, sqrt 2) for the logarithms, with
log(1+f) = f - f**2/2 + f**3*p(f) in f32, and in f64 with s = f/(2+f) the series of 2 atanh s as W. J. Cody and W. Waite
describe it (Software Manual for the Elementary Functions, 1980). Coefficients are minimax fits by Remez' algorithm,
of the relative error of the function, made for this module.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from teeny.ir.lanes import Lane, LaneBuilder

__all__ = ["exp", "exp2", "log", "log2", "rsqrt"]


@dataclass(frozen=True, slots=True)
class _Format:
    """Constants of one float type. `round` added and subtracted rounds to a whole number."""

    integer: str
    mantissa: int
    bias: int
    smallest_normal: float
    round: float
    ln2_high: float
    ln2_low: float
    log2e_high: float
    log2e_low: float
    exp_range: tuple[float, float]
    exp2_range: tuple[float, float]
    exp: tuple[float, ...]
    exp2: tuple[float, ...]
    log: tuple[float, ...]
    sqrt_half: int
    """Bits of sqrt(1/2)."""


_F32 = _Format(
    integer="i32",
    mantissa=23,
    bias=127,
    smallest_normal=2.0**-126,
    round=1.5 * 2.0**23,
    ln2_high=0.6931471824645996,
    ln2_low=-1.904654299957768e-09,
    log2e_high=1.4426950216293335,
    log2e_low=1.9259629911266175e-08,
    # Beyond these the result is infinity or rounds to zero; the ends themselves do so too.
    exp_range=(-104.5, 89.0),
    exp2_range=(-151.0, 129.0),
    exp=(0.499999934, 0.166665202, 0.0416684123, 0.00836877455, 0.00138130446),
    exp2=(0.693147203, 0.240226479, 0.0555033247, 0.00961843736, 0.00133988744, 0.000153533618),
    log=(0.333333317, -0.25000821, 0.200012269, -0.166233575, 0.14201758, -0.131601805, 0.127615773, -0.0763450291),
    sqrt_half=0x3F3504F3,
)
_F64 = _Format(
    integer="i64",
    mantissa=52,
    bias=1023,
    smallest_normal=2.0**-1022,
    round=1.5 * 2.0**52,
    ln2_high=0.6931471805599453,
    ln2_low=2.3190468138462996e-17,
    log2e_high=1.4426950408889634,
    log2e_low=2.0355273740931033e-17,
    exp_range=(-746.0, 710.0),
    exp2_range=(-1076.0, 1025.0),
    exp=(
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
    exp2=(
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
    log=(
        0.6666666666666735,
        0.39999999999411073,
        0.285714287432665,
        0.22222198475643723,
        0.1818356975576648,
        0.15313902873835566,
        0.14797511160891025,
    ),
    sqrt_half=0x3FE6A09E667F3BCD,
)


def _wide(b: LaneBuilder, x: Lane, function: Callable[[LaneBuilder, Lane, _Format], Lane]) -> Lane:
    dtype = b.type_of(x)
    match dtype:
        case "f32":
            return function(b, x, _F32)
        case "f64":
            return function(b, x, _F64)
        case _:
            return b.fptrunc(function(b, b.fpext(x, "f32"), _F32), dtype)


def _polynomial(b: LaneBuilder, x: Lane, coefficients: Sequence[float]) -> Lane:
    """Horner's scheme; coefficients from the constant on."""
    dtype = b.type_of(x)
    result = b.const(dtype, coefficients[-1])
    for coefficient in reversed(coefficients[:-1]):
        result = b.fma(result, x, b.const(dtype, coefficient))
    return result


def _clamp(b: LaneBuilder, x: Lane, limits: tuple[float, float]) -> Lane:
    """`x` within the limits; a NaN stays."""
    low, high = (b.const(b.type_of(x), limit) for limit in limits)
    x = b.select(b.fcmp("olt", x, low), low, x)
    return b.select(b.fcmp("ogt", x, high), high, x)


def exp(b: LaneBuilder, x: Lane) -> Lane:
    """e**x: exp(-inf) is 0, exp(inf) is inf, NaN stays."""
    return _wide(b, x, _exp)


def _exp(b: LaneBuilder, x: Lane, form: _Format) -> Lane:
    def number(value: float) -> Lane:
        return b.const(b.type_of(x), value)

    x = _clamp(b, x, form.exp_range)
    n = b.fsub(b.fma(x, number(form.log2e_high), number(form.round)), number(form.round))
    r = b.fma(n, number(-form.ln2_high), x)
    r = b.fma(n, number(-form.ln2_low), r)
    tail = b.fma(b.fmul(r, r), _polynomial(b, r, form.exp), r)
    return b.ldexp(b.fadd(tail, number(1.0)), n)


def exp2(b: LaneBuilder, x: Lane) -> Lane:
    """2**x, exact for whole x: exp2(-inf) is 0, exp2(inf) is inf, NaN stays."""
    return _wide(b, x, _exp2)


def _exp2(b: LaneBuilder, x: Lane, form: _Format) -> Lane:
    dtype = b.type_of(x)
    x = _clamp(b, x, form.exp2_range)
    n = b.fsub(b.fadd(x, b.const(dtype, form.round)), b.const(dtype, form.round))
    r = b.fsub(x, n)
    return b.ldexp(b.fma(r, _polynomial(b, r, form.exp2), b.const(dtype, 1.0)), n)


def _split(b: LaneBuilder, x: Lane, form: _Format) -> tuple[Lane, Lane]:
    """(e, f) with x = 2**e * (1 + f), 1 + f in [sqrt 1/2, sqrt 2), both exact, for positive finite x."""
    dtype, integer = b.type_of(x), form.integer
    small = b.fcmp("olt", x, b.const(dtype, form.smallest_normal))
    raised = b.fmul(x, b.const(dtype, 2.0 ** (form.mantissa + 1)))
    bits = b.bitcast(b.select(small, raised, x), integer)
    one = form.bias << form.mantissa
    biased = b.lshr(b.add(bits, b.const(integer, one - form.sqrt_half)), b.const(integer, form.mantissa))
    significand = b.sub(bits, b.shl(b.sub(biased, b.const(integer, form.bias)), b.const(integer, form.mantissa)))
    shift = b.select(small, b.const("i32", form.bias + form.mantissa + 1), b.const("i32", form.bias))
    exponent = b.sub(biased if integer == "i32" else b.trunc(biased, "i32"), shift)
    return b.sitofp(exponent, dtype), b.fsub(b.bitcast(significand, dtype), b.const(dtype, 1.0))


def _log_specials(b: LaneBuilder, x: Lane, result: Lane, form: _Format) -> Lane:
    """`result` for positive finite x; -inf at 0, inf at inf, else NaN."""
    dtype = b.type_of(x)
    infinity, zero = b.const(dtype, float("inf")), b.const(dtype, 0.0)
    special = b.select(b.fcmp("oeq", x, infinity), infinity, b.const(dtype, float("nan")))
    special = b.select(b.fcmp("oeq", x, zero), b.const(dtype, float("-inf")), special)
    # As unsigned integers: above +0 and below infinity; a sign bit makes the number too large.
    bits, one = b.bitcast(x, form.integer), b.const(form.integer, 1)
    largest = ((2 * form.bias + 1) << form.mantissa) - 1
    usual = b.icmp("ult", b.sub(bits, one), b.const(form.integer, largest))
    return b.select(usual, result, special)


def _log_parts(b: LaneBuilder, f: Lane, form: _Format) -> tuple[Lane, Lane]:
    """log(1 + f) as (high, low): an unevaluated sum, high by far the larger."""
    dtype = b.type_of(f)
    square = b.fmul(f, f)
    if dtype == "f32":
        cube = b.fmul(square, f)
        half = b.fmul(square, b.const(dtype, -0.5))
        return f, b.fma(cube, _polynomial(b, f, form.log), half)
    half = b.fmul(square, b.const(dtype, 0.5))
    s = b.fdiv(f, b.fadd(f, b.const(dtype, 2.0)))
    z = b.fmul(s, s)
    series = b.fmul(z, _polynomial(b, z, form.log))
    high = b.fsub(f, half)
    lost = b.fsub(b.fsub(f, high), half)
    return high, b.fma(s, b.fadd(half, series), lost)


def log(b: LaneBuilder, x: Lane) -> Lane:
    """The natural logarithm: log(0) is -inf, log(inf) is inf, NaN below zero."""
    return _wide(b, x, _log)


def _log(b: LaneBuilder, x: Lane, form: _Format) -> Lane:
    dtype = b.type_of(x)
    e, f = _split(b, x, form)
    high, low = _log_parts(b, f, form)
    low = b.fma(e, b.const(dtype, form.ln2_low), low)
    result = b.fma(e, b.const(dtype, form.ln2_high), b.fadd(high, low))
    return _log_specials(b, x, result, form)


def log2(b: LaneBuilder, x: Lane) -> Lane:
    """The logarithm to base 2, exact for powers of two: log2(0) is -inf, log2(inf) is inf, NaN below zero."""
    return _wide(b, x, _log2)


def _log2(b: LaneBuilder, x: Lane, form: _Format) -> Lane:
    dtype = b.type_of(x)
    e, f = _split(b, x, form)
    high, low = _log_parts(b, f, form)
    factor = b.const(dtype, form.log2e_high)
    product = b.fmul(high, factor)
    rest = b.fma(high, factor, b.fneg(product))
    rest = b.fma(high, b.const(dtype, form.log2e_low), b.fma(low, factor, rest))
    total = b.fadd(e, product)
    # |e| >= 1 > |product| or e = 0: the error of the sum is found exactly.
    rest = b.fadd(b.fadd(b.fsub(e, total), product), rest)
    return _log_specials(b, x, b.fadd(total, rest), form)


def rsqrt(b: LaneBuilder, x: Lane) -> Lane:
    """1 / sqrt(x), each step correctly rounded: rsqrt(0) is inf, rsqrt(-0.0) is -inf, NaN below zero."""
    return _wide(b, x, _rsqrt)


def _rsqrt(b: LaneBuilder, x: Lane, form: _Format) -> Lane:
    del form
    return b.fdiv(b.const(b.type_of(x), 1.0), b.fsqrt(x))
