"""Values held between two bounds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

from teeny.ir.dtype import FLOAT, NUM, DType
from teeny.ir.rules import Interval, Lanewise
from teeny.ir.schema import OpDef, define, lanewise
from teeny.ops.arith import maxsi, maxui, minsi, minui
from teeny.ops.function import Operand, language
from teeny.ops.vocabulary import GENERIC_ONLY

if TYPE_CHECKING:
    from teeny.ir.builder import Builder
    from teeny.ir.core import Op, Value
    from teeny.language.typing import Const, F, N, Tensor

__all__ = ["clamp"]


def _propagates(op: Op) -> bool:
    return op.attrs["propagateNan"] == "all"


def _numpy(np: Any, op: Op, x: Any, low: Any, high: Any) -> Any:
    least, largest = (np.maximum, np.minimum) if _propagates(op) else (np.fmax, np.fmin)
    return largest(least(x, low), high)


def _cpu(b: Any, op: Op, x: Any, low: Any, high: Any) -> Any:
    if _propagates(op):
        return b.fminimum(b.fmaximum(x, low), high)
    return b.fminnum(b.fmaxnum(x, low), high)


def _fold(x: float, low: float, high: float) -> float:
    return min(max(x, low), high)


def _interval(x: Interval, low: Interval, high: Interval) -> Interval:
    return (min(max(x[0], low[0]), high[0]), min(max(x[1], low[1]), high[1]))


clampf = define(
    OpDef(
        "tt.clampf", "$x, $min, $max `,` `propagateNan` `=` $propagateNan attr-dict : type($result)",
        ("x", "min", "max"), lanewise(FLOAT), _numpy, _cpu, Lanewise(), _interval, attrs=("propagateNan",), fold=_fold,
        group="clamp", cost=2.0,
    )
)  # fmt: skip
clamp_ = define(
    OpDef(
        "num.clamp", "$x, $min, $max attr-dict : type($result)", ("x", "min", "max"), lanewise(NUM), GENERIC_ONLY,
        GENERIC_ONLY, Lanewise(), _interval, fold=_fold, group="clamp", generic=True, cost=2.0,
    )
)  # fmt: skip


def _emit(b: Builder, shape: Any, dtype: DType, x: Operand, min: Operand, max: Operand, propagate_nan: bool) -> Value:
    if dtype.is_variable:
        return b.create(clamp_, x.value, min.value, max.value)
    if dtype.kind == "float":
        return b.create(clampf, x.value, min.value, max.value, propagateNan="all" if propagate_nan else "none")
    least, largest = (maxsi, minsi) if dtype.kind == "signed" else (maxui, minui)
    return b.create(largest, b.create(least, x.value, min.value), max.value)


@overload
def clamp(
    x: Tensor[N], min: Tensor[N] | int, max: Tensor[N] | int, propagate_nan: Const[bool] = False
) -> Tensor[N]: ...
@overload
def clamp(
    x: Tensor[F], min: Tensor[F] | float, max: Tensor[F] | float, propagate_nan: Const[bool] = False
) -> Tensor[F]: ...
@language(
    _emit,
    elementwise=True,
    differs="Triton takes floats alone. `propagate_nan` is a `tl.PropagateNan` there, which here stands for a bool.",
)
def clamp(x: Any, min: Any, max: Any, propagate_nan: Any = False) -> Any:
    """x held between `min` and `max`: `minimum(maximum(x, min), max)`.

    A NaN in x becomes `min`, unless `propagate_nan`. The sign of a zero result is unspecified. Where `min` is above
    `max` or a bound is NaN, Triton leaves the result open.
    """
    ...
