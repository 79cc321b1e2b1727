"""Elementary functions of floats. 16-bit floats compute in f32 and round once (a pass inserts the conversions)."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from teeny.ir.dtype import FLOAT, DType
from teeny.ir.rules import Interval, monotone
from teeny.ir.schema import OpDef
from teeny.ops import vecmath
from teeny.ops.function import Operand, language
from teeny.ops.vocabulary import elementwise

if TYPE_CHECKING:
    from teeny.ir.builder import Builder
    from teeny.ir.core import Value
    from teeny.language.typing import F, Tensor

__all__ = ["ceil", "exp", "exp2", "floor", "log", "log2", "rsqrt", "sqrt"]


def _wide(name: str) -> Callable[[Any, Any], Any]:
    """The NumPy function in f64, rounded to the operand's dtype (f64 itself: as the C library has it)."""
    return lambda np, x: getattr(np, name)(x.astype(np.float64)).astype(x.dtype)


def _domain(f: Callable[[float], float]) -> Callable[[float], float | None]:
    """`f` as a fold: nothing where Python raises."""

    def fold(x: float) -> float | None:
        try:
            return f(x)
        except (ValueError, OverflowError):
            return None

    return fold


def _exp(x: float) -> float:
    return 0.0 if x == -math.inf else math.exp(x)


def _exp2(x: float) -> float:
    return 0.0 if x == -math.inf else math.exp2(x)


def _log_of(f: Callable[[float], float]) -> Callable[[float], float | None]:
    return lambda x: -math.inf if x == 0 else _domain(f)(x)


def _root(x: Interval) -> Interval:
    return (math.sqrt(max(x[0], 0.0)), math.sqrt(max(x[1], 0.0)))


exp_ = elementwise(
    "math.exp",
    FLOAT,
    1,
    _wide("exp"),
    vecmath.exp,
    group="exp",
    fold=_domain(_exp),
    interval=monotone(_exp),
    ulp=2.0,
    cost=12.0,
)
exp2_ = elementwise(
    "math.exp2", FLOAT, 1, _wide("exp2"), vecmath.exp2,
    group="exp2", fold=_domain(_exp2), interval=monotone(_exp2), ulp=2.0, cost=12.0,
)  # fmt: skip
log_ = elementwise(
    "math.log", FLOAT, 1, _wide("log"), vecmath.log, group="log", fold=_log_of(math.log), ulp=2.0, cost=20.0
)
log2_ = elementwise(
    "math.log2", FLOAT, 1, _wide("log2"), vecmath.log2, group="log2", fold=_log_of(math.log2), ulp=2.0, cost=20.0
)
sqrt_ = elementwise(
    "math.sqrt", FLOAT, 1, lambda np, x: np.sqrt(x), lambda b, x: b.fsqrt(x),
    group="sqrt", fold=_domain(math.sqrt), interval=_root, cost=8.0,
)  # fmt: skip
rsqrt_ = elementwise(
    "math.rsqrt", FLOAT, 1, lambda np, x: (1 / np.sqrt(x.astype(np.float64))).astype(x.dtype), vecmath.rsqrt,
    group="rsqrt", fold=lambda x: 1 / math.sqrt(x) if x > 0 else None, ulp=2.0, cost=14.0,
)  # fmt: skip
floor_ = elementwise(
    "math.floor", FLOAT, 1, lambda np, x: np.floor(x), lambda b, x: b.ffloor(x),
    group="floor", fold=lambda x: math.floor(x) if math.isfinite(x) else x, interval=monotone(math.floor),
)  # fmt: skip
ceil_ = elementwise(
    "math.ceil", FLOAT, 1, lambda np, x: np.ceil(x), lambda b, x: b.fceil(x),
    group="ceil", fold=lambda x: math.ceil(x) if math.isfinite(x) else x, interval=monotone(math.ceil),
)  # fmt: skip


def unary(schema: OpDef) -> Callable[..., Value]:
    """Emit one operation of one operand."""

    def emit(b: Builder, shape: Any, dtype: DType, x: Operand) -> Value:
        return b.create(schema, x.value)

    return emit


@language(unary(exp_), elementwise=True)
def exp(x: Tensor[F]) -> Tensor[F]:
    """e to the power x. exp(-inf) is exactly 0."""
    ...


@language(unary(exp2_), elementwise=True)
def exp2(x: Tensor[F]) -> Tensor[F]:
    """2 to the power x, exact for whole x. exp2(-inf) is exactly 0."""
    ...


@language(unary(log_), elementwise=True)
def log(x: Tensor[F]) -> Tensor[F]:
    """The natural logarithm; -inf at 0, NaN below."""
    ...


@language(unary(log2_), elementwise=True)
def log2(x: Tensor[F]) -> Tensor[F]:
    """The logarithm to base 2; -inf at 0, NaN below."""
    ...


@language(unary(sqrt_), elementwise=True)
def sqrt(x: Tensor[F]) -> Tensor[F]:
    """The square root, rounded correctly on the CPU; NaN below 0."""
    ...


@language(unary(rsqrt_), elementwise=True)
def rsqrt(x: Tensor[F]) -> Tensor[F]:
    """1 / sqrt(x); inf at 0, NaN below."""
    ...


@language(unary(floor_), elementwise=True)
def floor(x: Tensor[F]) -> Tensor[F]:
    """The largest whole number not above x, as a float."""
    ...


@language(unary(ceil_), elementwise=True)
def ceil(x: Tensor[F]) -> Tensor[F]:
    """The smallest whole number not below x, as a float."""
    ...
