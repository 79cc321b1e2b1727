"""What operations that work lane by lane make of the lanes outside one condition."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import TYPE_CHECKING

from teeny.ir.dtype import BOOL, DType, integer_range, largest
from teeny.ir.rules import COMPUTED, Computed, LaneState, Lanewise, Number, Undefined
from teeny.ir.types import element_of, shape_of
from teeny.ops.compare import CORE
from teeny.ops.float8 import FORMATS

if TYPE_CHECKING:
    from teeny.ir.core import Op, Value

TRUE, FALSE = Number(-1), Number(0)
"""A bool's numbers: all bits, so that `&` and `|` have the neutral elements that they have on integers."""
_TESTS: dict[str, Callable[[float, float], bool]] = {
    "eq": operator.eq, "ne": operator.ne, "lt": operator.lt, "le": operator.le, "gt": operator.gt, "ge": operator.ge,
}  # fmt: skip


def result_state(op: Op, states: tuple[LaneState, ...]) -> LaneState:
    """The state of the result's lanes, given those of the operands' (None: nothing special)."""
    group = op.schema.group
    for state in states:
        if isinstance(state, Undefined):
            decides = {"and": FALSE, "or": TRUE}.get(group)
            return decides if decides is not None and decides in states else state
    if all(state is None for state in states):
        return None
    if group == "cast":
        return _cast(op, states[0])
    numbers = [state.value for state in states if isinstance(state, Number)]
    if len(numbers) == len(states):
        return _folded(op, numbers)
    found = _absorbed(op, states) or _scaled(op, states)
    if found is not None:
        return found
    return None if _passes(op, states) else COMPUTED


def _absorbed(op: Op, states: tuple[LaneState, ...]) -> LaneState:
    fill = op.schema.fill
    return fill.absorb(states) if isinstance(fill, Lanewise) and fill.absorb is not None else None


def _passes(op: Op, states: tuple[LaneState, ...]) -> bool:
    """Whether a tile with nothing special in these lanes passes through: 0 + x, max(-inf, x)."""
    other = Computed()
    found = _absorbed(op, tuple([other if state is None else state for state in states]))
    return found is other and not any(s is None and is_uniform(v) for s, v in zip(states, op.operands, strict=True))


def _folded(op: Op, numbers: list[float]) -> LaneState:
    if op.schema.group == "cmp":
        test = _TESTS.get(CORE.get(str(op.attrs["predicate"]), ""))
        return COMPUTED if test is None else TRUE if test(*numbers) else FALSE
    if op.schema.fold is None:
        return COMPUTED
    try:
        value = op.schema.fold(*numbers)
    except (ArithmeticError, ValueError, TypeError):
        return COMPUTED
    return COMPUTED if value is None or math.isnan(value) else Number(value)


def _scaled(op: Op, states: tuple[LaneState, ...]) -> LaneState:
    """An infinite lane times or over a scalar keeps its sign: scales are taken to be positive."""
    if op.schema.group not in ("mul", "div"):
        return None
    x, y = states
    if isinstance(x, Number) and math.isinf(x.value) and y is None and is_uniform(op.operands[1]):
        return x
    if isinstance(y, Number) and math.isinf(y.value) and x is None and op.schema.commutative:
        return y if is_uniform(op.operands[0]) else None
    return None


def is_uniform(value: Value) -> bool:
    """Whether a value is a scalar, or a tile made by repeating one."""
    while value.op is not None and value.op.schema.group in ("splat", "broadcast", "expand_dims"):
        value = value.op.operands[0]
    return not shape_of(value.type)


def _cast(op: Op, state: LaneState) -> LaneState:
    if not isinstance(state, Number):
        return state
    source, target = element_of(op.operands[0].type), element_of(op.results[0].type)
    assert isinstance(source, DType)
    assert isinstance(target, DType)
    value = state.value
    if source is BOOL:
        return Number(abs(value)) if op.schema.name in ("arith.extui", "arith.uitofp", "num.cast") else state
    if target is BOOL:
        return TRUE if value else FALSE
    if target.kind == "float8" and abs(value) > largest(target):  # it saturates, but for infinities toward zero
        keeps = math.isinf(value) and op.attrs.get("rounding") == "rtz" and FORMATS[target.name].infinity is not None
        return state if keeps else Number(math.copysign(largest(target), value))
    if target.kind == "signed" and not math.isfinite(value):
        return Number(integer_range(target)[value > 0])
    return Number(math.trunc(value)) if target.kind == "signed" else state
