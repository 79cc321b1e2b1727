"""Loop-carried tiles that only move: `p = p + step` with a uniform step is the initial tile plus a carried scalar.

Such a block argument, and the loop's result, stand for a made-up operation on the initial value, which stays lazy: no
buffer, and addresses stay linear.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from teeny.backends.cpu.lower.values import is_tile
from teeny.ir.core import Op, Value, walk_function
from teeny.ir.dtype import I64, INT, DType
from teeny.ir.types import PointerType, element_of, shape_of, typed
from teeny.ops.address import addptr_
from teeny.ops.arith import addi
from teeny.ops.shape import splat

if TYPE_CHECKING:
    from teeny.ir.core import Function

__all__ = ["Shift", "find_shifts"]


@dataclass(frozen=True, slots=True)
class Shift:
    """`inside` and `after` are the carried sum in the body and after the loop; None for a tile that stays as it is.

    `step` is a scalar value or a constant; the sum has dtype `dtype`.
    """

    inside: Value
    after: Value
    step: Value | int
    dtype: DType


def find_shifts(function: Function) -> tuple[dict[Value, Value], dict[Op, dict[int, Shift | None]], list[Op]]:
    """Aliases of block arguments and results, the shifts of each loop by number, and the operations made up."""
    alias: dict[Value, Value] = {}
    shifts: dict[Op, dict[int, Shift | None]] = {}
    made: list[Op] = []
    for op in walk_function(function):
        if op.name == "scf.for":
            for number in range(len(op.results)):
                _look(op, number, alias, shifts, made)
    return alias, shifts, made


def _look(
    op: Op, number: int, alias: dict[Value, Value], shifts: dict[Op, dict[int, Shift | None]], made: list[Op]
) -> None:
    body = op.regions[0].block
    argument, start, result = body.args[number + 1], op.operands[number + 3], op.results[number]
    following = body.ops[-1].operands[number]
    if not is_tile(argument):
        return
    if following is argument:
        alias[argument] = alias[result] = start
        shifts.setdefault(op, {})[number] = None
        return
    element = element_of(argument.type)
    step = _step(following, argument)
    if step is None:
        return
    if isinstance(element, PointerType):
        dtype = I64
    elif element.within(INT):
        dtype = element
    else:
        return
    inside, after = Value(dtype, None, None, 0, "shift"), Value(dtype, None, None, 0, "shift")
    for shift, target in ((inside, argument), (after, result)):
        tile = Op(splat, (shift,), (typed(shape_of(argument.type), dtype),))
        moved = Op(addptr_ if isinstance(element, PointerType) else addi, (start, tile.result), (argument.type,))
        made.extend((tile, moved))
        alias[target] = moved.result
    shifts.setdefault(op, {})[number] = Shift(inside, after, step, dtype)


def _step(following: Value, argument: Value) -> Value | int | None:
    op = following.op
    if op is None or op.name not in ("tt.addptr", "arith.addi") or op.operands[0] is not argument:
        return None
    by = op.operands[1].op
    if by is None:
        return None
    if by.name == "tt.splat" and not is_tile(by.operands[0]):
        return by.operands[0]
    if by.name == "arith.constant":
        return int(str(by.attrs["value"]))
    return None
