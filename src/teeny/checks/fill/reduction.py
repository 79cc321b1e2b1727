"""Which fills leave a reduction as it is."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

from teeny.checks.fill.interval import interval_of
from teeny.checks.fill.lanewise import is_uniform
from teeny.checks.fill.state import same_number
from teeny.ir.dtype import F32, UNSIGNED, DType
from teeny.ir.rules import Beyond, LaneState, Number
from teeny.ir.types import element_of
from teeny.ops.arith import MAX, MIN
from teeny.ops.compare import CORE
from teeny.ops.reduce import combiner

if TYPE_CHECKING:
    from teeny.ir.core import Op, Value

_BEATING_NAN = frozenset((MAX.pick(F32).name, MIN.pick(F32).name, MAX.generic.name, MIN.generic.name))
"""Combiners in which a NaN loses against any number."""
SENTINEL = 1e4
"""Float fills at or beyond this, such as -1e9, are meant as infinite."""


def group_of(op: Op) -> str | None:
    """What a reduction does: the group of its combiner; argmax and argmin count as "max" and "min"; else None.

    A sort is like a maximum or minimum: what comes last in its order is neutral to it.
    """
    if op.schema.group == "sort":
        return "max" if op.attrs["descending"] else "min"
    if not op.regions:
        return None
    block, count = op.regions[0].block, len(op.operands)
    if count == 1:
        return combiner(op)
    left, right = block.args[0], block.args[count]
    for inner in block.ops:
        if inner.schema.group == "cmp" and set(inner.operands) == {left, right}:
            direction = CORE.get(str(inner.attrs["predicate"]), "")
            if direction in ("lt", "le", "gt", "ge"):
                first = "min" if direction in ("lt", "le") else "max"
                return first if inner.operands[0] is left else {"min": "max", "max": "min"}[first]
    return None


def identity_of(op: Op) -> float | None:
    """The identity of a reduction's combiner, None where it is not known."""
    element = element_of(op.operands[0].type)
    if not isinstance(element, DType):
        return None
    if op.schema.group == "sort" and (op.attrs["unsigned"] or (element.is_variable and element.within(UNSIGNED))):
        return 0 if group_of(op) == "max" else -1
    if len(op.operands) > 1 or not op.regions:
        family = {"max": MAX, "min": MIN}.get(group_of(op) or "")
        return family.generic.identity(element) if family is not None and family.generic.identity is not None else None
    if combiner(op) is None:
        return None
    schema = op.regions[0].block.ops[0].schema
    if schema.identity is None:
        return None
    if schema.group == "max" and element.is_variable and element.within(UNSIGNED):
        return 0
    if schema.name.endswith(("maxui", "minui")):
        return 0 if schema.group == "max" else -1
    return schema.identity(element)


def meant(value: Value, fill: float) -> float:
    """The number that a fill of `value` stands for."""
    element = element_of(value.type)
    if isinstance(element, DType) and element.kind in ("float", "variable") and abs(fill) >= SENTINEL:
        return math.copysign(math.inf, fill)
    return fill


def harmless(op: Op, value: Value, fill: float) -> bool:
    """Whether lanes that hold `fill` leave the reduction of `value` as it is."""
    identity = identity_of(op)
    if value is not op.operands[0] or identity is None or same_number(identity, fill):
        return True
    if op.schema.group == "sort":
        return not op.attrs["unsigned"] and within(group_of(op) or "", value, fill)
    name = op.regions[0].block.ops[0].schema.name
    if math.isnan(fill):
        return name in _BEATING_NAN
    unsigned = name.endswith("ui")
    return not unsigned and within(group_of(op) or "", value, fill)


def beats_nan(op: Op) -> bool:
    """Whether a reduction is one in which a NaN loses against any number."""
    return bool(op.regions) and op.regions[0].block.ops[0].schema.name in _BEATING_NAN


def within(group: str, value: Value, fill: float) -> bool:
    """Whether a maximum or minimum with `fill` leaves every lane of `value`, taken with a sign, as it is."""
    if not group.startswith(("max", "min")) or math.isnan(fill):
        return False
    low, high = interval_of(value)
    return fill <= low if group.startswith("max") else fill >= high


def so_far(op: Op, states: tuple[LaneState, ...], start: Callable[[Value], Value]) -> LaneState:
    """The lanes of a maximum or minimum of two tiles, one of which has a fill that changes it; None where none has.

    `start`: what a value that a loop carries was before the loop; one that begins beyond the fill is not changed by it.
    """
    group = op.schema.group[:3]
    element = element_of(op.results[0].type)
    if group not in ("max", "min") or not isinstance(element, DType) or op.schema.identity is None:
        return None
    unsigned = op.schema.name.endswith("ui") or (element.is_variable and element.within(UNSIGNED))
    neutral = (0 if group == "max" else -1) if unsigned else op.schema.identity(element)
    found: list[float] = []
    for value, other, state in zip(op.operands, reversed(op.operands), states, strict=True):
        if not isinstance(state, Number | Beyond) or (isinstance(state, Beyond) and state.group != group):
            continue
        if isinstance(state, Number):
            beyond = not unsigned and (within(group, value, state.value) or within(group, start(other), state.value))
            if beyond or same_number(neutral, state.value):
                continue
        if is_uniform(other) or is_uniform(value):
            return None
        found.append(state.value)
    return Beyond(max(found) if group == "max" else min(found), group) if found else None
