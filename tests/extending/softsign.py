"""softsign(x) = x / (1 + |x|), from outside the package: composed in the language, and as an operation of its own."""

from __future__ import annotations

from typing import Any

import teeny.language as tl
from teeny.language.typing import F, Tensor
from teeny.ops.extend import (
    FLOAT,
    Builder,
    DType,
    Interval,
    Lane,
    LaneBuilder,
    Operand,
    Value,
    constant,
    elementwise,
    language,
    operation,
)


def composed(x: Tensor[F]) -> Tensor[F]:
    """x / (1 + |x|), inlined where it is called."""
    return x / (1.0 + tl.abs(x))


def _numpy(np: Any, x: Any) -> Any:
    return x / (1 + np.abs(x))


def _cpu(b: LaneBuilder, x: Lane) -> Lane:
    return b.fdiv(x, b.fadd(b.const(b.type_of(x), 1.0), b.fabs(x)))


def _expand(b: Builder, x: Value) -> Value:
    size = b.create(operation("arith.addf"), constant(b, x.type, 1.0), b.create(operation("math.absf"), x))
    return b.create(operation("arith.divf"), x, size)


def _number(x: float) -> float:
    return x / (1 + abs(x))


def _interval(x: Interval) -> Interval:
    return (
        max(-1.0, _number(x[0])) if x[0] > float("-inf") else -1.0,
        min(1.0, _number(x[1])) if x[1] < float("inf") else 1.0,
    )


softsign_ = elementwise(
    "example.softsign", FLOAT, 1, _numpy, _cpu, group="softsign", fold=_number, interval=_interval, wide=True,
    expand=_expand,
)  # fmt: skip


def _emit(b: Builder, shape: Any, dtype: DType, x: Operand) -> Value:
    return b.create(softsign_, x.value)


@language(_emit, elementwise=True)
def softsign(x: Tensor[F]) -> Tensor[F]:
    """x / (1 + |x|): between -1 and 1."""
    ...
