"""Which loops of a kernel spin on memory that other programs change, and whether they wait for more than a lock."""

from __future__ import annotations

from typing import TYPE_CHECKING

from teeny.ir.core import Op, walk_function
from teeny.ops.constant import constant_

if TYPE_CHECKING:
    from collections.abc import Iterator

    from teeny.ir.core import Block, Function, Value

__all__ = ["spinning", "waits"]


def spinning(function: Function) -> dict[Op, list[Op]]:
    """The `while` loops that end by what atomic operations (or volatile loads) in them find, with those."""
    loops = (op for op in walk_function(function) if op.name == "scf.while")
    return {loop: found for loop in loops if (found := _deciding(loop))}


def waits(function: Function) -> bool:
    """Whether a program may wait for what another one does, which must then run beside it.

    An operation that may itself bring about what the loop waits for (taking a lock that is free, drawing the next
    number) needs no other program but the holder of the lock, which has begun before.
    """
    polls = any(op.name == "tt.atomic_poll" for op in walk_function(function))
    return polls or any(not _moves(op) for found in spinning(function).values() for op in found)


def _deciding(loop: Op) -> list[Op]:
    """The operations on memory inside a loop on whose results its condition depends."""
    inside = {op for region in loop.regions for block in region.blocks for op in _all(block)}
    before, after = (region.block for region in loop.regions)
    carried = dict(zip(before.args, after.ops[-1].operands, strict=True))
    carried |= dict(zip(after.args, before.ops[-1].operands[1:], strict=True))
    stack: list[Value] = [before.ops[-1].operands[0]]
    seen: set[Value] = set()
    found: list[Op] = []
    while stack:
        value = stack.pop()
        if value in seen:
            continue
        seen.add(value)
        op = value.op
        if op is None:
            if value in carried:
                stack.append(carried[value])
        elif op in inside:
            if _shared(op):
                found.append(op)
            else:
                stack += op.operands
                stack += [v for region in op.regions for block in region.blocks for v in block.ops[-1].operands]
    return found


def _all(block: Block) -> Iterator[Op]:
    for op in block.ops:
        yield op
        for region in op.regions:
            for inner in region.blocks:
                yield from _all(inner)


def _shared(op: Op) -> bool:
    """Whether an operation reads memory anew each time."""
    return op.schema.group == "atomic" or (op.schema.group == "load" and bool(op.attrs.get("isVolatile")))


def _moves(op: Op) -> bool:
    """Whether an operation can change what it reads so that the next one finds something else."""
    if op.name == "tt.atomic_cas":
        expected, value = (_number(v) for v in op.operands[1:3])
        return expected is not None and value is not None and expected != value
    if op.name != "tt.atomic_rmw":
        return False
    number = _number(op.operands[1])
    return op.attrs["atomic_rmw_op"] in ("add", "fadd", "exch", "or") and number is not None and number != 0


def _number(value: Value) -> float | None:
    while value.op is not None and value.op.name == "tt.splat":
        value = value.op.operands[0]
    if value.op is None or value.op.schema is not constant_:
        return None
    number = value.op.attrs["value"]
    return number if isinstance(number, int | float) else None
