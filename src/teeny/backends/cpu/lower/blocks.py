"""Blocks of operations in program order, and control flow.

Scalars are emitted at once; tiles are lazy until an anchor needs them. Tiles that a loop carries, or that a branch
gives, live in buffers; what a block yields is assigned in parallel.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from teeny.backends.cpu.atomics import relax
from teeny.backends.cpu.lower.atomic import atomic
from teeny.backends.cpu.lower.carry import assign
from teeny.backends.cpu.lower.dot import dot
from teeny.backends.cpu.lower.evaluate import lanewise, wide
from teeny.backends.cpu.lower.gather import gather
from teeny.backends.cpu.lower.histogram import histogram
from teeny.backends.cpu.lower.join import by_turns, cat, flip, is_pair, join, split, unsplat, viewed
from teeny.backends.cpu.lower.reduce import reduce
from teeny.backends.cpu.lower.report import assert_, print_
from teeny.backends.cpu.lower.scaled import dot_scaled
from teeny.backends.cpu.lower.scan import scan
from teeny.backends.cpu.lower.shifts import Shift
from teeny.backends.cpu.lower.sort import sort
from teeny.backends.cpu.lower.state import Buffer, State, row_major
from teeny.backends.cpu.lower.store import Output, materialise, store
from teeny.backends.cpu.lower.structure import is_lazy
from teeny.backends.cpu.lower.values import (
    cannot,
    dtype_name,
    is_tile,
    kind_of,
    memory_name,
    operand,
    pointee_name,
    shape,
)
from teeny.diag.errors import InternalError

if TYPE_CHECKING:
    from teeny.ir.core import Block, Op, Value
    from teeny.ir.lanes import Lane

__all__ = ["lower_block"]

_MOVES: dict[str, Callable[[State, Op], None]] = {
    "join": join, "split": split, "cat": cat, "unsplat": unsplat, "flip": flip, "sort": sort, "histogram": histogram,
}  # fmt: skip

GUESSED_TRIPS = 8.0


def lower_block(state: State, block: Block) -> Op:
    """Lower the operations of a block; gives its terminator."""
    for op in block.ops:
        if op.schema.terminator:
            return op
        _lower(state, op)
    raise InternalError("a block does not end in a terminator")


def _lower(state: State, op: Op) -> None:
    if is_lazy(op):
        if op in state.plan.early:
            _compute(state, op, op.results[0])
        return
    match kind_of(op):
        case "contract" | "nothing":
            return
        case "print":
            print_(state, op)
        case "assert":
            assert_(state, op)
        case "store":
            store(state, op)
        case "atomic":
            atomic(state, op)
        case "gather":
            gather(state, op)
        case "reduce":
            outputs = _hosted(state, op)
            reduce(state, op, outputs, lower_block)
            state.bound.update(outputs)
        case "scan":
            scan(state, op, lower_block)
        case "join" | "split" | "cat" | "unsplat" | "flip" | "sort" | "histogram" as kind:
            _MOVES[kind](state, op)
        case "dot":
            dot(state, op)
        case "dot_scaled":
            dot_scaled(state, op)
        case "reshape":
            if state.plan.sites.get(op.results[0]) or is_tile(op.results[0]):
                _reshape(state, op)
        case "for":
            _for(state, op)
        case "if":
            _if(state, op)
        case "while":
            _while(state, op)
        case _ if len(op.results) == 1 and not is_tile(op.results[0]):
            _scalar(state, op)
        case _:
            raise cannot(op)


def _scalar(state: State, op: Op) -> None:
    b = state.b
    result = op.results[0]
    match kind_of(op):
        case "program":
            axis = int(str(op.attrs["axis"]))
            lane = (state.program if op.schema.group == "program_id" else state.grid)[axis]
        case "address":
            pointer, offset = map(state.scalar, op.operands)
            lane = b.offset(pointer, wide(b, offset), memory_name(pointee_name(result.type)))
        case "load":
            lane = _load(state, op)
        case "":
            lane = lanewise(b, op, [state.scalar(x) for x in op.operands])
        case _:
            raise cannot(op)
    state.bound[result] = lane


def _load(state: State, op: Op) -> Lane:
    b = state.b
    name = pointee_name(op.operands[0].type)
    memory = memory_name(name)
    given, other = operand(op, 1), operand(op, 2)
    mask = b.const("i1", 1) if given is None else state.scalar(given)
    fill = b.const(name, 0) if other is None else state.scalar(other)
    fill = b.zext(fill, memory) if name == "i1" else fill
    read = b.volatile_load if op.attrs.get("isVolatile") else b.masked_load
    lane = read(state.scalar(op.operands[0]), mask, fill, memory, align=1)
    return b.icmp("ne", lane, b.const("i8", 0)) if name == "i1" else lane


def new_buffer(state: State, value: Value, *, carried: bool = False) -> Buffer:
    """A buffer for a tile."""
    return state.buffer(shape(value), dtype_name(value.type), carried=carried)


def _hosted(state: State, anchor: Op) -> list[Output]:
    return [(v, new_buffer(state, v)) for v in state.plan.hosts.get(anchor, ())]


def _compute(state: State, anchor: Op, value: Value) -> Buffer:
    """A tile into a buffer, with the by-products of that nest."""
    outputs = [(value, new_buffer(state, value)), *_hosted(state, anchor)]
    materialise(state, outputs)
    state.bound.update(outputs)
    return outputs[0][1]


def _reshape(state: State, op: Op) -> None:
    """Row-major order is kept, so the operand's buffer serves, read with another shape."""
    x, result = state.plan.source(op.operands[0]), op.results[0]
    found = viewed(state, x)
    if found is not None and is_pair(found):
        found = by_turns(state, found)
    if found is None or found.carried or found.strides != row_major(found.shape):
        outputs = [(x, new_buffer(state, x)), *_hosted(state, op)]
        materialise(state, outputs)
        state.bound.update(outputs[1:])
        found = outputs[0][1]
    state.bound[result] = Buffer(found.at, shape(result), found.dtype, row_major(shape(result)))


# Control flow


def _arm(state: State, block: Block, targets: Sequence[Buffer | None]) -> list[Lane]:
    """A block that yields: tiles go into their targets, scalars are returned."""
    top = state.arena.top
    end = lower_block(state, block)
    assign(state, [(v, t) for v, t in zip(end.operands, targets, strict=True) if t is not None])
    state.arena.top = top
    return [state.scalar(v) for v, t in zip(end.operands, targets, strict=True) if t is None]


def _bind(state: State, values: Sequence[Value], targets: Sequence[Buffer | None], lanes: Sequence[Lane]) -> None:
    scalars = iter(lanes)
    for value, target in zip(values, targets, strict=True):
        state.bound[value] = target if target is not None else next(scalars)


def _if(state: State, op: Op) -> None:
    b = state.b
    targets = [new_buffer(state, r) if is_tile(r) else None for r in op.results]
    otherwise = op.regions[1].blocks
    with b.if_(state.scalar(op.operands[0])) as branch:
        lanes = _arm(state, op.regions[0].block, targets)
        if otherwise:
            branch.yield_(lanes)
            branch.otherwise()
            branch.yield_(_arm(state, op.regions[1].block, targets))
    _bind(state, op.results, targets, branch.results)


def _for(state: State, op: Op) -> None:
    b = state.b
    body = op.regions[0].block
    shifts = state.plan.shifts.get(op, {})
    count = len(op.results)
    buffers: list[Buffer | None] = [
        new_buffer(state, r, carried=True) if is_tile(r) and k not in shifts else None for k, r in enumerate(op.results)
    ]
    inits = op.operands[3:]
    assign(state, [(v, t) for v, t in zip(inits, buffers, strict=True) if t is not None])
    moved: list[tuple[int, Shift]] = [(k, s) for k, s in shifts.items() if s is not None]
    scalars = [k for k in range(count) if not is_tile(op.results[k])]
    carried = [state.scalar(inits[k]) for k in scalars] + [b.const(s.dtype.mlir, 0) for _, s in moved]
    low, high, step = (state.scalar(x) for x in op.operands[:3])
    index = op.operands[0].type
    first, last, advance = _counter(state, low, high, step)
    trips, state.trips = state.trips, state.trips * GUESSED_TRIPS
    top = state.arena.top
    with b.loop(first, last, advance, carried) as loop:
        state.bound[body.args[0]] = _index(state, loop.index, low, step, dtype_name(index))
        for k, lane in zip(scalars, loop.carried, strict=False):
            state.bound[body.args[k + 1]] = lane
        for k, buffer in enumerate(buffers):
            if buffer is not None:
                state.bound[body.args[k + 1]] = buffer
        for (_, shift), lane in zip(moved, loop.carried[len(scalars) :], strict=True):
            state.bound[shift.inside] = lane
        end = lower_block(state, body)
        assign(state, [(v, t) for v, t in zip(end.operands, buffers, strict=True) if t is not None])
        following = [state.scalar(end.operands[k]) for k in scalars]
        loop.yield_(following + [_advanced(state, s, state.scalar(s.inside)) for _, s in moved])
    state.arena.top = top
    state.trips = trips
    for k, lane in zip(scalars, loop.results, strict=False):
        state.bound[op.results[k]] = lane
    for k, buffer in enumerate(buffers):
        if buffer is not None:
            state.bound[op.results[k]] = replace(buffer, carried=False)
    for (_, shift), lane in zip(moved, loop.results[len(scalars) :], strict=True):
        state.bound[shift.after] = lane


def _counter(state: State, low: Lane, high: Lane, step: Lane) -> tuple[Lane, Lane, Lane]:
    """Start, end and step of the loop that is emitted, in i64: the loop's own where the step is known, else counts."""
    b = state.b
    lo, hi, by = (b.sext(x, "i64") for x in (low, high, step))
    if by.const is not None and by.const != 0 and low.dtype != "i64":
        return lo, hi, by
    zero, one = b.const("i64", 0), b.const("i64", 1)
    up = b.icmp("sgt", by, zero)
    distance = b.select(up, b.sub(hi, lo), b.sub(lo, hi))
    stride = b.select(up, by, b.sub(zero, by))
    runs = b.select(up, b.icmp("slt", lo, hi), b.and_(b.icmp("slt", by, zero), b.icmp("sgt", lo, hi)))
    # The distance, read as unsigned, is right even where it does not fit a signed number.
    trips = b.add(b.udiv(b.sub(distance, one), stride), one)
    return zero, b.select(runs, trips, zero), one


def _index(state: State, index: Lane, low: Lane, step: Lane, dtype: str) -> Lane:
    b = state.b
    if step.const is not None and step.const != 0 and low.dtype != "i64":
        return b.trunc(index, dtype)
    return b.trunc(b.add(b.sext(low, "i64"), b.mul(index, b.sext(step, "i64"))), dtype)


def _advanced(state: State, shift: Shift, lane: Lane) -> Lane:
    b = state.b
    dtype = shift.dtype.mlir
    step = b.const(dtype, shift.step) if isinstance(shift.step, int) else b.sext(state.scalar(shift.step), dtype)
    return b.add(lane, step)


def _while(state: State, op: Op) -> None:
    b = state.b
    before, after = op.regions[0].block, op.regions[1].block
    inits = op.operands
    buffers = [new_buffer(state, v, carried=True) if is_tile(v) else None for v in inits]
    assign(state, [(v, t) for v, t in zip(inits, buffers, strict=True) if t is not None])
    forwarded = [new_buffer(state, r, carried=True) if is_tile(r) else None for r in op.results]
    carried = [state.scalar(v) for v in inits if not is_tile(v)]
    spins = op in state.plan.spinning
    trips, state.trips = state.trips, state.trips * GUESSED_TRIPS
    top = state.arena.top
    with b.while_([*carried, *([b.const("i32", 0)] if spins else [])]) as loop:
        _bind(state, before.args, buffers, loop.carried[: len(carried)])
        end = lower_block(state, before)
        passed = end.operands[1:]
        assign(state, [(v, t) for v, t in zip(passed, forwarded, strict=True) if t is not None])
        lanes = [state.scalar(v) for v in passed if not is_tile(v)]
        loop.condition(state.scalar(end.operands[0]), lanes)
        _bind(state, after.args, forwarded, lanes)
        end = lower_block(state, after)
        assign(state, [(v, t) for v, t in zip(end.operands, buffers, strict=True) if t is not None])
        following = [state.scalar(v) for v in end.operands if not is_tile(v)]
        loop.yield_([*following, *([relax(b, loop.carried[-1])] if spins else [])])
    state.arena.top = top
    state.trips = trips
    plain = [t if t is None else replace(t, carried=False) for t in forwarded]
    _bind(state, op.results, plain, loop.results)
