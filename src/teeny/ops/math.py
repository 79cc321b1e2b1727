"""Elementary functions of floats. 16-bit floats compute in f32 and round once (a pass inserts the conversions)."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, overload

from teeny.ir.dtype import F64, FLOAT, DType
from teeny.ir.rules import Interval, monotone
from teeny.ir.schema import OpDef, Ulp
from teeny.ops import vecmath
from teeny.ops.function import Operand, language
from teeny.ops.vocabulary import elementwise

if TYPE_CHECKING:
    from teeny.ir.builder import Builder
    from teeny.ir.core import Value
    from teeny.language.typing import F, Tensor

__all__ = [
    "ceil", "cos", "erf", "exp", "exp2", "expm1", "floor", "log", "log1p", "log2", "pow", "rsqrt", "sin", "sqrt",
    "sqrt_rn", "tanh",
]  # fmt: skip

WAVE: Interval = (-1.0, 1.0)


def wider(np: Any, x: Any) -> Any:
    """The operand in the format that the meaning computes in: f64, for f64 itself the C compiler's long double."""
    return x.astype(np.longdouble if x.dtype == np.float64 else np.float64)


def wide(name: str) -> Callable[[Any, Any], Any]:
    """The NumPy function in a wider format, rounded to the operand's dtype."""
    return lambda np, x: getattr(np, name)(wider(np, x)).astype(x.dtype)


def _erf(np: Any, x: Any) -> Any:
    return np.vectorize(math.erf, otypes=[np.float64])(x.astype(np.float64)).astype(x.dtype)


def _pow(np: Any, x: Any, y: Any) -> Any:
    return np.power(wider(np, x), wider(np, y)).astype(x.dtype)


def domain(f: Callable[..., float]) -> Callable[..., float | None]:
    """`f` as a fold: nothing where Python raises."""

    def fold(*numbers: float) -> float | None:
        try:
            return f(*numbers)
        except (ValueError, OverflowError):
            return None

    return fold


def _exp(x: float) -> float:
    return 0.0 if x == -math.inf else math.exp(x)


def _exp2(x: float) -> float:
    return 0.0 if x == -math.inf else math.exp2(x)


def _log_of(f: Callable[[float], float]) -> Callable[[float], float | None]:
    return lambda x: -math.inf if x == 0 else domain(f)(x)


def _root(x: Interval) -> Interval:
    return (math.sqrt(max(x[0], 0.0)), math.sqrt(max(x[1], 0.0)))


def _rsqrt(np: Any, x: Any) -> Any:
    return (1 / np.sqrt(wider(np, x))).astype(x.dtype)


exp_ = elementwise(
    "math.exp", FLOAT, 1, wide("exp"), vecmath.exp, group="exp", fold=domain(_exp), interval=monotone(_exp),
    ulp=Ulp(1.1, 70.0, 1.0), cost=12.0, wide=True,
)  # fmt: skip
exp2_ = elementwise(
    "math.exp2", FLOAT, 1, wide("exp2"), vecmath.exp2, group="exp2", fold=domain(_exp2), interval=monotone(_exp2),
    ulp=Ulp(1.0, 2.5, 1.0), cost=12.0, wide=True,
)  # fmt: skip
expm1_ = elementwise(
    "math.expm1", FLOAT, 1, wide("expm1"), vecmath.expm1, group="expm1", fold=domain(math.expm1),
    interval=monotone(math.expm1), ulp=Ulp(1.4, 1.5, 1.5), cost=14.0, wide=True,
    symbols=("__nv_expm1f", "__nv_expm1"),
)  # fmt: skip
log_ = elementwise(
    "math.log", FLOAT, 1, wide("log"), vecmath.log, group="log", fold=_log_of(math.log), ulp=Ulp(0.9, 1.0, 1.0),
    cost=20.0, wide=True,
)  # fmt: skip
log2_ = elementwise(
    "math.log2", FLOAT, 1, wide("log2"), vecmath.log2, group="log2", fold=_log_of(math.log2),
    ulp=Ulp(1.1, 1.0, 1.5), cost=20.0, wide=True,
)  # fmt: skip
log1p_ = elementwise(
    "math.log1p", FLOAT, 1, wide("log1p"), vecmath.log1p, group="log1p", fold=domain(math.log1p),
    ulp=Ulp(1.0, 1.0, 2.0), cost=24.0, wide=True, symbols=("__nv_log1pf", "__nv_log1p"),
)  # fmt: skip
sin_ = elementwise(
    "math.sin", FLOAT, 1, wide("sin"), vecmath.sin, group="sin", fold=domain(math.sin), interval=lambda x: WAVE,
    ulp=Ulp(1.6, 2.0, 2.0), cost=60.0, wide=True,
)  # fmt: skip
cos_ = elementwise(
    "math.cos", FLOAT, 1, wide("cos"), vecmath.cos, group="cos", fold=domain(math.cos), interval=lambda x: WAVE,
    ulp=Ulp(1.6, 2.0, 2.0), cost=60.0, wide=True,
)  # fmt: skip
tanh_ = elementwise(
    "math.tanh", FLOAT, 1, wide("tanh"), vecmath.tanh, group="tanh", fold=math.tanh, interval=monotone(math.tanh),
    ulp=Ulp(1.6, 2.0, 2.0), cost=24.0, wide=True, symbols=("__nv_tanhf", "__nv_tanh"),
)  # fmt: skip
erf_ = elementwise(
    "math.erf", FLOAT, 1, _erf, vecmath.erf, group="erf", fold=math.erf, interval=monotone(math.erf),
    ulp=Ulp(1.5, 1.5, 2.0), cost=30.0, wide=True,
)  # fmt: skip
pow_ = elementwise(
    "math.powf", FLOAT, 2, _pow, vecmath.pow, group="pow", fold=domain(math.pow), ulp=Ulp(1.1, None, 2.0),
    cost=60.0, wide=True, symbols=("__nv_powf", "__nv_pow"),
)  # fmt: skip
sqrt_ = elementwise(
    "math.sqrt", FLOAT, 1, lambda np, x: np.sqrt(x), lambda b, x: b.fsqrt(x),
    group="sqrt", fold=domain(math.sqrt), interval=_root, ulp=Ulp(0.0, 1.0, 0.0), cost=8.0, wide=True,
)  # fmt: skip
sqrt_rn_ = elementwise(
    "tt.precise_sqrt", FLOAT, 1, lambda np, x: np.sqrt(x), lambda b, x: b.fsqrt(x),
    group="sqrt", fold=domain(math.sqrt), interval=_root, cost=8.0, wide=True,
)  # fmt: skip
rsqrt_ = elementwise(
    "math.rsqrt", FLOAT, 1, _rsqrt, vecmath.rsqrt, group="rsqrt", fold=lambda x: 1 / math.sqrt(x) if x > 0 else None,
    ulp=Ulp(1.5, 2.0, 1.0), cost=14.0, wide=True,
)  # fmt: skip
floor_ = elementwise(
    "math.floor", FLOAT, 1, lambda np, x: np.floor(x), lambda b, x: b.ffloor(x),
    group="floor", fold=lambda x: math.floor(x) if math.isfinite(x) else x, interval=monotone(math.floor), wide=True,
)  # fmt: skip
ceil_ = elementwise(
    "math.ceil", FLOAT, 1, lambda np, x: np.ceil(x), lambda b, x: b.fceil(x),
    group="ceil", fold=lambda x: math.ceil(x) if math.isfinite(x) else x, interval=monotone(math.ceil), wide=True,
)  # fmt: skip


def unary(schema: OpDef) -> Callable[..., Value]:
    """Emit one operation of one operand."""

    def emit(b: Builder, shape: Any, dtype: DType, x: Operand) -> Value:
        return b.create(schema, x.value)

    return emit


def _emit_pow(b: Builder, shape: Any, dtype: DType, x: Operand, y: Operand) -> Value:
    return b.create(pow_, x.value, y.value)


def _emit_sqrt_rn(b: Builder, shape: Any, dtype: DType, x: Operand) -> Value:
    return b.create(sqrt_ if dtype is F64 else sqrt_rn_, x.value)


@language(
    unary(exp_),
    elementwise=True,
    differs="Triton takes f32 and f64 alone.",
)
def exp(x: Tensor[F]) -> Tensor[F]:
    """e to the power x. exp(-inf) is exactly 0."""
    ...


@language(
    unary(exp2_),
    elementwise=True,
    differs="Triton takes f32 and f64 alone.",
)
def exp2(x: Tensor[F]) -> Tensor[F]:
    """2 to the power x, exact for whole x. exp2(-inf) is exactly 0."""
    ...


@language(
    unary(log_),
    elementwise=True,
    differs="Triton takes f32 and f64 alone.",
)
def log(x: Tensor[F]) -> Tensor[F]:
    """The natural logarithm; -inf at 0, NaN below."""
    ...


@language(
    unary(log2_),
    elementwise=True,
    differs="Triton takes f32 and f64 alone.",
)
def log2(x: Tensor[F]) -> Tensor[F]:
    """The logarithm to base 2; -inf at 0, NaN below."""
    ...


@language(
    unary(expm1_),
    elementwise=True,
    triton="libdevice.expm1",
    differs="Triton takes f32 and f64 alone.",
)
def expm1(x: Tensor[F]) -> Tensor[F]:
    """e to the power x, less 1: accurate near 0, and exactly -1 at -inf. Triton has it in libdevice."""
    ...


@language(
    unary(log1p_),
    elementwise=True,
    triton="libdevice.log1p",
    differs="Triton takes f32 and f64 alone.",
)
def log1p(x: Tensor[F]) -> Tensor[F]:
    """The natural logarithm of 1 + x, accurate near 0; -inf at -1, NaN below. Triton has it in libdevice."""
    ...


@overload
def pow(x: Tensor[F], y: Tensor[F] | float) -> Tensor[F]: ...
@overload
def pow(x: float, y: Tensor[F]) -> Tensor[F]: ...
@language(
    _emit_pow,
    elementwise=True,
    triton="libdevice.pow",
    differs="Triton takes f32 and f64 alone.",
)
def pow(x: Any, y: Any) -> Any:
    """x to the power y, with C's special cases: 1 for y = 0 and for x = 1 even beside a NaN; NaN for x < 0 unless y is
    whole. Triton has it in libdevice."""
    ...


@language(
    unary(sin_),
    elementwise=True,
    differs="Triton takes f32 and f64 alone.",
)
def sin(x: Tensor[F]) -> Tensor[F]:
    """The sine of an angle of any size in radians; NaN at the infinities."""
    ...


@language(
    unary(cos_),
    elementwise=True,
    differs="Triton takes f32 and f64 alone.",
)
def cos(x: Tensor[F]) -> Tensor[F]:
    """The cosine of an angle of any size in radians; NaN at the infinities."""
    ...


@language(
    unary(tanh_),
    elementwise=True,
    triton="libdevice.tanh",
    differs="Triton takes f32 and f64 alone.",
)
def tanh(x: Tensor[F]) -> Tensor[F]:
    """The hyperbolic tangent. Triton has it in libdevice."""
    ...


@language(
    unary(erf_),
    elementwise=True,
    differs="Triton takes f32 and f64 alone.",
)
def erf(x: Tensor[F]) -> Tensor[F]:
    """The error function: 2/sqrt(pi) times the integral of exp(-t**2) from 0 to x."""
    ...


@language(
    _emit_sqrt_rn,
    elementwise=True,
    differs="Triton takes f32 alone.",
)
def sqrt_rn(x: Tensor[F]) -> Tensor[F]:
    """The square root, rounded correctly on GPUs too; NaN below 0."""
    ...


@language(
    unary(sqrt_),
    elementwise=True,
    differs="Triton takes f32 and f64 alone.",
)
def sqrt(x: Tensor[F]) -> Tensor[F]:
    """The square root, rounded correctly on the CPU; NaN below 0."""
    ...


@language(
    unary(rsqrt_),
    elementwise=True,
    differs="Triton takes f32 and f64 alone.",
)
def rsqrt(x: Tensor[F]) -> Tensor[F]:
    """1 / sqrt(x); inf at 0, NaN below."""
    ...


@language(
    unary(floor_),
    elementwise=True,
    differs="Triton takes f32 and f64 alone.",
)
def floor(x: Tensor[F]) -> Tensor[F]:
    """The largest whole number not above x, as a float."""
    ...


@language(
    unary(ceil_),
    elementwise=True,
    differs="Triton takes f32 and f64 alone.",
)
def ceil(x: Tensor[F]) -> Tensor[F]:
    """The smallest whole number not below x, as a float."""
    ...
