"""Powers: 2**(y * log2 x), and the logarithm to base 10. f32 computes in f64; f64 has log2 in two parts."""

from __future__ import annotations

from teeny.ir.lanes import Lane, LaneBuilder
from teeny.ops.vecmath.exponential import ldexp, power_of_two
from teeny.ops.vecmath.formats import F64, rule
from teeny.ops.vecmath.logarithm import binary_logarithm, log_specials, split
from teeny.ops.vecmath.number import Number, both, choose, clamp, fast_two_sum, fma, polynomial, two_product
from teeny.ops.vecmath.signs import flip_sign, sign_bit

__all__ = ["log10", "logarithm_parts", "pow"]

_TWO_LOG2E = 2.8853900817779268
_TWO_LOG2E_LOW = 4.0710547481862066e-17
_THIRD = 0.3333333333333333
_THIRD_LOW = 1.850371707708594e-17
# atanh s = s * (1 + z/3 + z**2 * p(z)), z = s**2, as far as f64 needs it.
_ATANH = (
    0.20000000000001128,
    0.14285714285049533,
    0.1111111126000521,
    0.09090892179870566,
    0.07693378829958003,
    0.06628405163291975,
    0.0659819782958511,
)
# The same for results in f32: log2(1 + f) = s * (2 log2 e + z * p(z)), s = f / (2 + f); 2**r = 1 + r * q(r).
_LOG2_SHORT = (0.9617966940578181, 0.577077953173508, 0.41220840368152295, 0.31993470632592774, 0.28254049492664063)
_EXP2_SHORT = (
    0.6931471807046813,
    0.24022651066986356,
    0.055504103656938926,
    0.00961803805969946,
    0.0013333935136943102,
    0.00015466781805758756,
    1.5196179044909544e-05,
)
_LOG10_2, _LOG10_2_LOW = 0.3010299956639812, -2.8037281277851704e-18
_SHORT_RANGE = (-160.0, 140.0)
_LONG_RANGE = (-1080.0, 1030.0)


def pow(b: LaneBuilder, x: Lane, y: Lane) -> Lane:
    """x**y with the special cases of C: pow(x, 0) and pow(1, y) are 1 always, NaN for x < 0 and y not whole."""
    return rule(_pow, b, x, y)


def log10(b: LaneBuilder, x: Lane) -> Lane:
    """The logarithm to base 10: log10(0) is -inf, log10(inf) is inf, NaN below zero."""
    return rule(_log10, b, x)


def _log10(x: Number) -> Number:
    if x.dtype == "f32":
        return (binary_logarithm(x.to("f64")) * _LOG10_2).to("f32")
    high, low = logarithm_parts(x)
    product, lost = two_product(high, high.constant(_LOG10_2))
    lost = fma(high, _LOG10_2_LOW, fma(low, _LOG10_2, lost))
    return log_specials(x, product + lost)


def _pow(x: Number, y: Number) -> Number:
    if x.dtype == "f32":
        x, y = x.to("f64"), y.to("f64")
        return _with_sign(x, y, _short(abs(x), y)).to("f32")
    return _with_sign(x, y, _long(abs(x), y))


def _with_sign(x: Number, y: Number, size: Number) -> Number:
    """x**y from |x|**y."""
    whole = y.floor().equals(y)
    half = y * 0.5
    odd = both(whole, (half - half.floor()) > 0.0)
    size = choose(abs(x).equals(1.0), x.constant(1.0), size)
    sign = choose(odd, sign_bit(x), 0)
    result = flip_sign(size, sign)
    negative = both(x < 0.0, abs(x) < float("inf"))
    result = choose(negative, choose(whole, result, float("nan")), result)
    # 1**NaN and NaN**0 are 1, all else of NaN is NaN.
    result = choose(both(abs(x).equals(1.0), y.is_nan), y, result)
    one = x.constant(1.0)
    return choose(x.equals(1.0), one, choose(y.equals(0.0), one, result))


def _specials(x: Number, logarithm: Number) -> Number:
    """The logarithm of a number that is not negative, where it is 0, infinite or NaN."""
    logarithm = choose(x.equals(0.0), x.constant(float("-inf")), logarithm)
    return choose(x < float("inf"), logarithm, x)


def _short(x: Number, y: Number) -> Number:
    """x**y for x >= 0, right to 2**-33."""
    e, f = split(x)
    s = f / (f + 2.0)
    z = s * s
    logarithm = fma(s, fma(z, polynomial(z, _LOG2_SHORT), _TWO_LOG2E), e)
    exponent = clamp(y * _specials(x, logarithm), _SHORT_RANGE)
    n = (exponent + F64.round) - F64.round
    r = exponent - n
    return ldexp(fma(r, polynomial(r, _EXP2_SHORT), 1.0), n)


def _long(x: Number, y: Number) -> Number:
    """x**y for x >= 0."""
    high, low = logarithm_parts(x)
    high = _specials(x, high)
    product = y * high
    low = fma(y, low, fma(y, high, -product))
    inside = abs(product) < -_LONG_RANGE[0]
    return power_of_two(product, choose(inside, low, 0.0))


def logarithm_parts(x: Number) -> tuple[Number, Number]:
    """log2 of a positive finite f64 in two parts, right to 2**-64."""
    e, f = split(x)
    t = f + 2.0
    t_low = f - (t - 2.0)
    s = f / t
    s_low = fma(s, -t_low, fma(-s, t, f)) / t
    z, z_low = two_product(s, s)
    z_low = fma(s + s, s_low, z_low)
    # u = 1/3 + z * p(z), then v = z * u, then s + s * v: each in two parts.
    third = s.constant(_THIRD)
    u, u_low = fast_two_sum(third, z * polynomial(z, _ATANH))
    u_low = u_low + _THIRD_LOW
    v, v_low = two_product(z, u)
    v_low = fma(z, u_low, fma(z_low, u, v_low))
    g, g_low = two_product(s, v)
    g_low = fma(s, v_low, fma(s_low, v, g_low))
    total, total_low = fast_two_sum(s, g)
    total_low = total_low + (s_low + g_low)
    m, m_low = two_product(total, total.constant(_TWO_LOG2E))
    m_low = fma(total, _TWO_LOG2E_LOW, fma(total_low, _TWO_LOG2E, m_low))
    high, low = fast_two_sum(e, m)
    return high, low + m_low
