"""Prints and assertions: the values go into memory, and a function of the launch is called with their address.

It is `void hook(i64 program, i64 site, ptr values)`: the program's number in the grid, the number of the operation
(see `sites_of`), and a block of 8 bytes an operand: a scalar's bits, or where a tile's elements lie in row-major order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from teeny.backends.cpu.lower.store import materialise
from teeny.backends.cpu.lower.values import BYTES, dtype_name, is_tile, memory_name, shape, size
from teeny.diag.errors import InternalError

if TYPE_CHECKING:
    from teeny.backends.cpu.lower.state import Buffer, State
    from teeny.ir.core import Op, Value
    from teeny.ir.lanes import Lane

__all__ = ["assert_", "print_"]


def print_(state: State, op: Op) -> None:
    """Call the hook with all operands."""
    _call(state, op, [_place(state, value) for value in op.operands])


def assert_(state: State, op: Op) -> None:
    """Call the hook where a lane is false; the programs of this range that are left do not run."""
    b = state.b
    (condition,) = op.operands
    if is_tile(condition):
        place = _tile(state, condition)
        holds = _all(state, place)
        value = place.at
    else:
        holds = value = state.scalar(condition)
    if holds.const:
        return
    with b.if_(b.xor(holds, b.const("i1", 1))):
        _call(state, op, [value])
        b.leave()


def _place(state: State, value: Value) -> Lane:
    return _tile(state, value).at if is_tile(value) else state.scalar(value)


def _tile(state: State, value: Value) -> Buffer:
    buffer = state.buffer(shape(value), dtype_name(value.type))
    materialise(state, [(value, buffer)])
    return buffer


def _all(state: State, flags: Buffer) -> Lane:
    """Whether each byte is 1, read in words."""
    b = state.b
    count = size(flags.shape)
    step = min(count, 8)
    word = {1: "i8", 2: "i16", 4: "i32", 8: "i64"}[step]
    ones = b.const(word, int.from_bytes(b"\x01" * step, "little"))
    zero, end, one = b.const("i64", 0), b.const("i64", count), b.const("i64", step)
    b.epoch += 1
    with b.loop(zero, end, one, [ones], runs=True) as loop:
        found = b.load(b.offset(flags.at, loop.index, "i8"), word, align=1)
        loop.yield_([b.and_(loop.carried[0], found)])
    b.epoch += 1
    return b.icmp("eq", loop.results[0], ones)


def _call(state: State, op: Op, values: list[Lane]) -> None:
    b, hook = state.b, state.hook
    if hook is None:
        raise InternalError(f"{op.name} without a hook to call", op.loc)
    block = b.slot(max(8, 8 * len(values)), 8)
    for number, lane in enumerate(values):
        at = b.offset(block, b.const("i64", 8 * number), "i8")
        b.store(at, b.zext(lane, "i8") if lane.dtype == "i1" else lane, align=min(8, BYTES[memory_name(lane.dtype)]))
    b.epoch += 1
    b.call(hook.address, [hook.program, b.const("i64", hook.sites[op]), block])
    b.epoch += 1
