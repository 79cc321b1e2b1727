"""Which scalars are plainly not negative, wrapping of their sums and products considered."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from teeny.ir.dtype import I64, DType, integer_range

if TYPE_CHECKING:
    from teeny.ir.core import Value
    from teeny.ir.rules import Interval

_LARGEST_GRID = (1 << 31) - 1
_LARGEST_STEP = (1 << 31) - 1
"""No loop runs so often that what it carries in 64 bits and moves up by such steps would wrap."""
_DEEPEST = 64


def nonnegative(value: Value) -> bool:
    """Whether an integer scalar is 0 or more, whatever the arguments of the kernel are."""
    return _interval(value, {}, 0)[0] >= 0


def _whole(value: Value) -> Interval:
    dtype = value.type
    assert isinstance(dtype, DType)
    return integer_range(dtype)


def _interval(value: Value, assumed: dict[Value, Interval], depth: int) -> Interval:
    """Bounds of a value, `assumed` those of what loops carry."""
    if value in assumed:
        return assumed[value]
    if depth > _DEEPEST or not isinstance(value.type, DType) or not value.type.bits:
        return -math.inf, math.inf
    found = _carried(value, assumed, depth) if value.op is None else _computed(value, assumed, depth)
    low, high = _whole(value)
    return found if found is not None and low <= found[0] and found[1] <= high else (low, high)


def _computed(value: Value, assumed: dict[Value, Interval], depth: int) -> Interval | None:
    op = value.op
    assert op is not None
    match op.schema.group:
        case "constant":
            number: Any = op.attrs["value"]
            return (number, number) if isinstance(number, int) else None
        case "program_id":
            return 0, _LARGEST_GRID - 1
        case "num_programs":
            return 1, _LARGEST_GRID
        case "add" | "sub" | "mul" | "max" | "min" if op.schema.name.endswith(("i", "si")):
            rule: Any = op.schema.interval
            found = rule(*[_interval(v, assumed, depth + 1) for v in op.operands])
            return found if all(map(math.isfinite, found)) else None
        case "cast" if op.schema.name == "arith.extsi":
            return _interval(op.operands[0], assumed, depth + 1)
        case _:
            return None


def _carried(value: Value, assumed: dict[Value, Interval], depth: int) -> Interval | None:
    """The index of a loop, or what it carries and only moves up."""
    block = value.block
    loop = block.region.op if block is not None and block.region is not None else None
    if block is None or loop is None or loop.name != "scf.for":
        return None
    if value.index == 0:
        step = _interval(loop.operands[2], assumed, depth + 1)
        first, last = (_interval(loop.operands[at], assumed, depth + 1) for at in (0, 1))
        return (first[0], max(first[0], last[1] - 1)) if step[0] > 0 else None
    init = _interval(loop.operands[value.index + 2], assumed, depth + 1)
    after = block.ops[-1].operands[value.index - 1]
    if init[0] < 0 or value.type is not I64 or not _rises(after, value, assumed, depth):
        return None
    return init[0], _whole(value)[1]


def _rises(value: Value, start: Value, assumed: dict[Value, Interval], depth: int) -> bool:
    """Whether a value is `start` plus steps that are small and not negative."""
    while value is not start:
        op = value.op
        if op is None or op.name != "arith.addi":
            return False
        x, y = op.operands
        low, high = _interval(y, assumed, depth + 1)
        if low < 0 or high > _LARGEST_STEP:
            return False
        value = x
    return True
