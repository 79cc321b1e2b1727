"""Which fills leave a reduction as it is."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from teeny.checks.fill.interval import interval_of
from teeny.checks.fill.state import same_number
from teeny.ir.dtype import DType
from teeny.ir.types import element_of
from teeny.ops.reduce import combiner

if TYPE_CHECKING:
    from teeny.ir.core import Op, Value

SENTINEL = 1e4
"""Float fills at or beyond this, such as -1e9, are meant as infinite."""


def identity_of(op: Op) -> float | None:
    """The identity of a reduction's combiner, None where it is no single operation."""
    if combiner(op) is None:
        return None
    schema = op.regions[0].block.ops[0].schema
    element = element_of(op.operands[0].type)
    if schema.identity is None or not isinstance(element, DType):
        return None
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
    if identity is None or same_number(identity, fill):
        return True
    group = combiner(op)
    if group not in ("max", "maximum", "min", "minimum"):
        return False
    unsigned = op.regions[0].block.ops[0].schema.name.endswith("ui")
    if unsigned or math.isnan(fill):
        return False
    sign = 1 if group.startswith("max") else -1
    low, high = interval_of(value)
    return fill <= low if sign > 0 else fill >= high
