"""Values of the special functions by mpmath, with those at zeros, poles and infinities as C has them."""

from __future__ import annotations

import math
from collections.abc import Callable
from importlib import import_module
from typing import Any


class _Mpmath:
    """mpmath where it is first needed: environments of older Triton may lack it."""

    def __getattr__(self, name: str) -> Any:
        return getattr(import_module("mpmath"), name)


mp: Any = _Mpmath()
_INF, _NAN = math.inf, math.nan
_BITS = 160


def _lgamma(x: float) -> Any:
    if math.isinf(x) or x == 0 or (x < 0 and x == math.floor(x)):
        return _INF
    return mp.log(abs(mp.gamma(x))) if x < 0 and x > -1e6 else mp.re(mp.loggamma(x))


def _tgamma(x: float) -> Any:
    if x == 0:
        return math.copysign(_INF, x)
    if x == -_INF or (x < 0 and x == math.floor(x)):
        return _NAN
    if x < -400 or x > 400:
        sign = -1.0 if x < 0 and math.floor(x) % 2 else 1.0
        return sign * (0.0 if x < 0 else _INF)
    return mp.gamma(x)


def _inverse_erfc(q: Any) -> Any:
    q = mp.mpf(q)
    if q < 0 or q > 2:
        return _NAN
    if q == 0 or q == 2:
        return _INF if q == 0 else -_INF
    if q > 1:
        return -_inverse_erfc(2 - q)
    if q > 0.3:
        return mp.erfinv(1 - q)
    u = mp.sqrt(-mp.log(q))
    y = u * 0.9
    for _ in range(60):
        value = mp.erfc(y)
        y += (mp.log(value) + u * u) * value / (2 / mp.sqrt(mp.pi) * mp.exp(-y * y))
    return y


def _erfinv(x: float) -> Any:
    return _NAN if abs(x) > 1 else math.copysign(_INF, x) if abs(x) == 1 else mp.erfinv(x) if x else x


def _erfcx(x: float) -> Any:
    if x < -30:
        return _INF
    if x > 1e4:
        square = mp.mpf(x) ** -2 if x < _INF else mp.mpf(0)
        return (1 - square / 2 + 3 * square**2 / 4 - 15 * square**3 / 8) / (x * mp.sqrt(mp.pi))
    return mp.exp(mp.mpf(x) ** 2) * mp.erfc(x)


def _normcdf(x: float) -> Any:
    return 0.0 if x < -1e3 else 1.0 if x > 1e3 else mp.erfc(-mp.mpf(x) / mp.sqrt(2)) / 2


def _normcdfinv(p: float) -> Any:
    return -mp.sqrt(2) * _inverse_erfc(2 * mp.mpf(p)) if 0 <= p <= 1 else _NAN


def _hankel(order: int, x: Any, turn: int) -> Any:
    """Of large x: the asymptotic series, the angle with the bits that it needs."""
    p, q, term = mp.mpf(0), mp.mpf(0), mp.mpf(1)
    for k in range(24):
        sign = (-1) ** (k // 2)
        p, q = (p, q + sign * term) if k % 2 else (p + sign * term, q)
        term *= mp.mpf(4 * order * order - (2 * k + 1) ** 2) / ((k + 1) * 8 * x)
    with mp.workprec(1300):
        angle = x - (2 * order + 1) * mp.pi / 4
        cosine, sine = mp.cos(angle), mp.sin(angle)
    wave = p * cosine - q * sine if turn == 0 else p * sine + q * cosine
    return mp.sqrt(2 / (mp.pi * x)) * wave


def _j(order: int, x: float) -> Any:
    if order < 0:
        return _NAN
    if math.isinf(x) or (x == 0 and order):
        return math.copysign(0.0, x) if order % 2 else 0.0
    if abs(x) > 1e4:
        found = _hankel(order, mp.mpf(abs(x)), 0)
        return -found if x < 0 and order % 2 else found
    return mp.besselj(order, x)


def _y(order: int, x: float) -> Any:
    if order < 0 or x < 0:
        return _NAN
    if x == 0:
        return -_INF
    if x == _INF:
        return mp.mpf(0)
    return _hankel(order, mp.mpf(x), 1) if x > 1e4 else mp.bessely(order, x)


def _i(order: int, x: float) -> Any:
    if abs(x) > 800:
        return math.copysign(_INF, x) if order else _INF
    return mp.besseli(order, x) if x or not order else x


def _length(*x: float) -> Any:
    if any(map(math.isinf, x)):
        return _INF
    return _NAN if any(map(math.isnan, x)) else mp.sqrt(mp.fsum(mp.mpf(v) ** 2 for v in x))


def _inverse_length(*x: float) -> Any:
    length = _length(*x)
    return 0.0 if length == _INF else _INF if length == 0 else 1 / length


def _of_number(f: Callable[[float], Any]) -> Callable[[float], Any]:
    return lambda x: x if math.isnan(x) else f(x)


def _of(function: Callable[[int, Any], Any], order: int) -> Callable[[float], Any]:
    return lambda x: function(order, x)


def _of_order(function: Callable[[int, Any], Any]) -> Callable[[int, float], Any]:
    return lambda n, x: _NAN if math.isnan(x) else function(n, x)


_ONE: dict[str, Callable[[float], Any]] = {
    "lgamma": _lgamma, "tgamma": _tgamma, "erfinv": _erfinv, "erfcinv": _inverse_erfc, "erfcx": _erfcx,
    "normcdf": _normcdf, "normcdfinv": _normcdfinv, "j0": _of(_j, 0), "j1": _of(_j, 1), "y0": _of(_y, 0),
    "y1": _of(_y, 1), "cyl_bessel_i0": _of(_i, 0), "cyl_bessel_i1": _of(_i, 1),
}  # fmt: skip
FUNCTIONS: dict[str, Callable[..., Any]] = {
    **{name: _of_number(f) for name, f in _ONE.items()}, "jn": _of_order(_j), "yn": _of_order(_y),
    **dict.fromkeys(("norm3d", "norm4d"), _length), **dict.fromkeys(("rhypot", "rnorm3d", "rnorm4d"), _inverse_length),
}  # fmt: skip
"""By symbol without `__nv_` and the `f` of f32."""
ONE = tuple(_ONE)
"""Those of one number."""


def wide(name: str, x: Any) -> Any:
    """Values of a function of one number in the format of an array: of long double the bits that it has."""
    np: Any = import_module("numpy")
    mp.mp.prec = _BITS
    kind = x.dtype.type
    found = [_parts(FUNCTIONS[name](float(v)), kind, np) for v in x.ravel()]
    return np.array(found, kind).reshape(x.shape)


def _parts(value: Any, kind: Any, np: Any) -> Any:
    if not mp.isfinite(value) or value == 0:
        return kind(float(value))
    fraction, exponent = mp.frexp(mp.mpf(value))
    high = float(fraction)
    return np.ldexp(kind(high) + kind(float(fraction - high)), max(min(int(exponent), 16000), -16000))


def apart(name: str, x: Any) -> Any:
    """The arguments without those beside the zeros of `lgamma`, where an error counts in all and not in ulp."""
    np: Any = import_module("numpy")
    return np.where((x > -12) & (x < -2), -x, x) if name == "lgamma" and x.dtype == np.float64 else x


def error(name: str, precision: int, low: int, found: float, *x: Any) -> float:
    """How far a result is from the exact value in units of its last place; `low` is the exponent of subnormals."""
    mp.mp.prec = _BITS
    value = FUNCTIONS[name](*x)
    if math.isnan(found) or value != value or value in (_INF, -_INF):
        return 0.0 if (math.isnan(found) and value != value) or found == value else _INF
    if math.isinf(found):
        found = math.copysign(2.0**128, found) if precision == 24 else math.copysign(_INF, found)
    if math.isinf(found):
        return 0.0 if abs(value) > mp.mpf(2) ** 1024 * (1 - mp.mpf(2) ** -52) and (value > 0) == (found > 0) else _INF
    exponent = max(int(mp.frexp(value)[1]) if value else low, low)
    if precision == 24 and abs(value) >= mp.mpf(2) ** 128:
        return 0.0 if abs(found) == 2.0**128 and (value > 0) == (found > 0) else _INF
    return float(abs(found - mp.mpf(value)) / mp.mpf(2) ** (exponent - precision))
