"""Elementary functions that Triton has in libdevice alone: angles, hyperbolas, roots, powers of ten, erfc.

16-bit floats compute in f32 and round once (a pass inserts the conversions).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from teeny.ir.dtype import FLOAT
from teeny.ir.rules import Interval, monotone
from teeny.ir.schema import OpDef, Ulp
from teeny.ops import vecmath
from teeny.ops.function import Operand, language
from teeny.ops.math import domain, unary, wide, wider
from teeny.ops.vocabulary import IntervalRule, elementwise

if TYPE_CHECKING:
    from teeny.ir.builder import Builder
    from teeny.ir.core import Value
    from teeny.ir.dtype import DType
    from teeny.language.typing import F, Tensor

__all__ = [
    "acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cbrt", "cosh", "cospi", "erfc", "exp10", "hypot",
    "log10", "rcbrt", "sinh", "sinpi", "tan",
]  # fmt: skip

_DIFFERS = "Triton takes f32 and f64 alone."


def _two(name: str) -> Callable[[Any, Any, Any], Any]:
    return lambda np, x, y: getattr(np, name)(wider(np, x), wider(np, y)).astype(x.dtype)


def _half_turns(np: Any, x: Any, ahead: int) -> Any:
    """The sine of pi x and `ahead` quarter turns, for x >= 0, by way of the nearest half."""
    size = wider(np, x)
    size = np.where(size < 2.0**62, np.fmod(size, 2), np.where(np.isfinite(size), size * 0, size))
    n = np.rint(2 * size)
    angle = (size - n / 2) * size.dtype.type(np.longdouble("3.14159265358979323846264338327950288"))
    n = n + ahead
    found = np.where(np.fmod(n, 2) == 1, np.cos(angle), np.sin(angle))
    return np.where(np.fmod(n, 4) >= 2, 0 - found, found + 0).astype(x.dtype)


def _sinpi(np: Any, x: Any) -> Any:
    found = _half_turns(np, np.abs(x), 0)
    return np.where(np.signbit(x), -found, found).astype(x.dtype)


def _erfc(np: Any, x: Any) -> Any:
    return np.vectorize(math.erfc, otypes=[np.float64])(x.astype(np.float64)).astype(x.dtype)


def _exp10(np: Any, x: Any) -> Any:
    x = np.asarray(x)
    found = wider(np, x)
    return np.power(found.dtype.type(10), found).astype(x.dtype)


def _cosh_interval(x: Interval) -> Interval:
    far = max(abs(x[0]), abs(x[1]))
    return (1.0, math.cosh(far) if far < 700 else math.inf)


def _within(low: float, high: float) -> IntervalRule:
    return lambda x: (low, high)


def _function(
    name: str,
    numpy: Callable[[Any, Any], Any],
    cpu: Callable[[Any, Any], Any],
    fold: Callable[[float], float],
    ulp: Ulp,
    interval: IntervalRule | None = None,
    cost: float = 40.0,
) -> OpDef:
    """A function of one number; `name` is that of its symbols too."""
    group = name.rpartition(".")[2]
    more: dict[str, Any] = {} if interval is None else {"interval": interval}
    return elementwise(
        name, FLOAT, 1, numpy, cpu, group=group, fold=domain(fold), ulp=ulp, cost=cost, wide=True,
        symbols=(f"__nv_{group}f", f"__nv_{group}"), **more,
    )  # fmt: skip


tan_ = _function("math.tan", wide("tan"), vecmath.tan, math.tan, Ulp(2.1, 4.0, 2.0), cost=70.0)
sinh_ = _function("math.sinh", wide("sinh"), vecmath.sinh, math.sinh, Ulp(2.4, 3.0, 2.0), monotone(math.sinh))
cosh_ = _function("math.cosh", wide("cosh"), vecmath.cosh, math.cosh, Ulp(1.6, 2.0, 1.5), _cosh_interval)
asin_ = _function(
    "math.asin", wide("arcsin"), vecmath.asin, math.asin, Ulp(2.8, 4.0, 2.0), _within(-math.pi / 2, math.pi / 2)
)
acos_ = _function("math.acos", wide("arccos"), vecmath.acos, math.acos, Ulp(2.4, 3.0, 2.0), _within(0.0, math.pi))
atan_ = _function("math.atan", wide("arctan"), vecmath.atan, math.atan, Ulp(2.0, 2.0, 2.0), monotone(math.atan))
asinh_ = _function("math.asinh", wide("arcsinh"), vecmath.asinh, math.asinh, Ulp(2.0, 3.0, 3.0), monotone(math.asinh))
acosh_ = _function("math.acosh", wide("arccosh"), vecmath.acosh, math.acosh, Ulp(2.4, 4.0, 3.0))
atanh_ = _function("math.atanh", wide("arctanh"), vecmath.atanh, math.atanh, Ulp(2.0, 3.0, 2.5))
log10_ = _function("math.log10", wide("log10"), vecmath.log10, math.log10, Ulp(0.6, 2.0, 1.5), cost=60.0)
exp10_ = _function("libdevice.exp10", _exp10, vecmath.exp10, lambda x: 10.0**x, Ulp(1.5, 2.0, 1.5))
cbrt_ = _function("math.cbrt", wide("cbrt"), vecmath.cbrt, lambda x: x ** (1 / 3), Ulp(0.6, 1.5, 1.5))
rcbrt_ = _function(
    "libdevice.rcbrt", lambda np, x: (1 / np.cbrt(wider(np, x))).astype(x.dtype), vecmath.rcbrt,
    lambda x: x ** (-1 / 3), Ulp(1.6, 2.0, 1.5),
)  # fmt: skip
erfc_ = _function("math.erfc", _erfc, vecmath.erfc, math.erfc, Ulp(3.6, 4.0, 5.0), _within(0.0, 2.0), cost=70.0)
sinpi_ = _function(
    "libdevice.sinpi", _sinpi, vecmath.sinpi, lambda x: math.sin(math.pi * x), Ulp(1.2, 2.0, 2.0), _within(-1.0, 1.0)
)
cospi_ = _function(
    "libdevice.cospi", lambda np, x: _half_turns(np, np.abs(x), 1), vecmath.cospi,
    lambda x: math.cos(math.pi * x), Ulp(1.0, 2.0, 2.0), _within(-1.0, 1.0),
)  # fmt: skip
atan2_ = elementwise(
    "math.atan2", FLOAT, 2, _two("arctan2"), vecmath.atan2, group="atan2", fold=domain(math.atan2),
    interval=lambda y, x: (-math.pi, math.pi), ulp=Ulp(1.6, 3.0, 2.0), cost=60.0, wide=True,
    symbols=("__nv_atan2f", "__nv_atan2"),
)  # fmt: skip
hypot_ = elementwise(
    "libdevice.hypot", FLOAT, 2, _two("hypot"), vecmath.hypot, group="hypot", fold=domain(math.hypot),
    ulp=Ulp(1.0, 3.0, 2.0), cost=20.0, wide=True, symbols=("__nv_hypotf", "__nv_hypot"),
)  # fmt: skip


def binary(schema: OpDef) -> Callable[..., Value]:
    """Emit one operation of two operands."""

    def emit(b: Builder, shape: Any, dtype: DType, x: Operand, y: Operand) -> Value:
        return b.create(schema, x.value, y.value)

    return emit


def _emit_atan2(b: Builder, shape: Any, dtype: DType, y: Operand, x: Operand) -> Value:
    return b.create(atan2_, y.value, x.value)


@language(unary(tan_), elementwise=True, home="libdevice", differs=_DIFFERS)
def tan(x: Tensor[F]) -> Tensor[F]:
    """The tangent of an angle of any size in radians; NaN at the infinities."""
    ...


@language(unary(sinh_), elementwise=True, home="libdevice", differs=_DIFFERS)
def sinh(x: Tensor[F]) -> Tensor[F]:
    """The hyperbolic sine."""
    ...


@language(unary(cosh_), elementwise=True, home="libdevice", differs=_DIFFERS)
def cosh(x: Tensor[F]) -> Tensor[F]:
    """The hyperbolic cosine."""
    ...


@language(unary(asin_), elementwise=True, home="libdevice", differs=_DIFFERS)
def asin(x: Tensor[F]) -> Tensor[F]:
    """The inverse sine, in radians; NaN beyond 1."""
    ...


@language(unary(acos_), elementwise=True, home="libdevice", differs=_DIFFERS)
def acos(x: Tensor[F]) -> Tensor[F]:
    """The inverse cosine, in radians; NaN beyond 1."""
    ...


@language(unary(atan_), elementwise=True, home="libdevice", differs=_DIFFERS)
def atan(x: Tensor[F]) -> Tensor[F]:
    """The inverse tangent, in radians."""
    ...


@language(_emit_atan2, elementwise=True, home="libdevice", differs=_DIFFERS)
def atan2(y: Tensor[F], x: Tensor[F] | float) -> Tensor[F]:
    """The angle of the point (x, y) in radians, from -pi to pi, with the special cases of C."""
    ...


@language(unary(asinh_), elementwise=True, home="libdevice", differs=_DIFFERS)
def asinh(x: Tensor[F]) -> Tensor[F]:
    """The inverse hyperbolic sine."""
    ...


@language(unary(acosh_), elementwise=True, home="libdevice", differs=_DIFFERS)
def acosh(x: Tensor[F]) -> Tensor[F]:
    """The inverse hyperbolic cosine; NaN below 1."""
    ...


@language(unary(atanh_), elementwise=True, home="libdevice", differs=_DIFFERS)
def atanh(x: Tensor[F]) -> Tensor[F]:
    """The inverse hyperbolic tangent; infinite at -1 and 1, NaN beyond."""
    ...


@language(unary(log10_), elementwise=True, home="libdevice", differs=_DIFFERS)
def log10(x: Tensor[F]) -> Tensor[F]:
    """The logarithm to base 10; -inf at 0, NaN below."""
    ...


@language(unary(exp10_), elementwise=True, home="libdevice", differs=_DIFFERS)
def exp10(x: Tensor[F]) -> Tensor[F]:
    """10 to the power x. exp10(-inf) is exactly 0."""
    ...


@language(unary(cbrt_), elementwise=True, home="libdevice", differs=_DIFFERS)
def cbrt(x: Tensor[F]) -> Tensor[F]:
    """The cube root, of negative numbers too."""
    ...


@language(unary(rcbrt_), elementwise=True, home="libdevice", differs=_DIFFERS)
def rcbrt(x: Tensor[F]) -> Tensor[F]:
    """1 over the cube root; infinite at zeros, with their signs."""
    ...


@language(binary(hypot_), elementwise=True, home="libdevice", differs=_DIFFERS)
def hypot(x: Tensor[F], y: Tensor[F] | float) -> Tensor[F]:
    """sqrt(x**2 + y**2) without overflow on the way; inf where either is infinite, even beside a NaN."""
    ...


@language(unary(erfc_), elementwise=True, home="libdevice", differs=_DIFFERS)
def erfc(x: Tensor[F]) -> Tensor[F]:
    """1 - erf(x), accurate where that is small."""
    ...


@language(unary(sinpi_), elementwise=True, home="libdevice", differs=_DIFFERS)
def sinpi(x: Tensor[F]) -> Tensor[F]:
    """The sine of pi * x, exact at halves; NaN at the infinities."""
    ...


@language(unary(cospi_), elementwise=True, home="libdevice", differs=_DIFFERS)
def cospi(x: Tensor[F]) -> Tensor[F]:
    """The cosine of pi * x, exact at halves; NaN at the infinities."""
    ...
