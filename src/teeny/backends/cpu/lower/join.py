"""Tiles put together and taken apart, and turned round: copies and views of buffers.

Two tiles that are joined lie one after the other, as if the new axis were the first. Where they have to lie by turns,
vectors of both are shuffled into one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, cast

from teeny.backends.cpu.lower.elements import Indices, get, over, put
from teeny.backends.cpu.lower.nest import Carried, counted
from teeny.backends.cpu.lower.state import Buffer, State, row_major
from teeny.backends.cpu.lower.store import full_width, materialise
from teeny.backends.cpu.lower.values import BYTES, dtype_name, memory_name, shape, size

if TYPE_CHECKING:
    from teeny.ir.core import Op, Value
    from teeny.ir.lanes import Lane

__all__ = ["by_turns", "cat", "flip", "is_pair", "join", "split", "unsplat", "viewed"]


def viewed(state: State, value: Value) -> Buffer | None:
    """The buffer that a value lies in, through transpositions and new axes; None where there is none."""
    value = state.plan.source(value)
    found = state.bound.get(value)
    if isinstance(found, Buffer):
        return found
    op = value.op
    if op is None or op.name not in ("tt.trans", "tt.expand_dims"):
        return None
    inner = viewed(state, op.operands[0])
    if inner is None:
        return None
    strides = list(inner.strides)
    if op.name == "tt.trans":
        strides = [strides[a] for a in cast("tuple[int, ...]", op.attrs["order"])]
    else:
        at = int(str(op.attrs["axis"]))
        strides.insert(at, strides[at] * inner.shape[at] if at < len(strides) else 1)
    return Buffer(inner.at, shape(value), inner.dtype, tuple(strides), inner.carried)


def _held(state: State, value: Value) -> Buffer:
    """A buffer that holds a value and will go on to."""
    found = viewed(state, value)
    if found is None or found.carried:
        found = state.buffer(shape(value), dtype_name(value.type))
        materialise(state, [(value, found)])
    return found


def _dense(state: State, value: Value) -> Buffer:
    """The same, in row-major order."""
    found = viewed(state, value)
    if found is not None and not found.carried and is_pair(found):
        return by_turns(state, found)
    if found is None or found.carried or found.strides != row_major(found.shape):
        found = state.buffer(shape(value), dtype_name(value.type))
        materialise(state, [(value, found)])
    return found


def _moved(state: State, buffer: Buffer, elements: int) -> Lane:
    return state.b.offset(buffer.at, state.b.const("i64", elements), memory_name(buffer.dtype))


# Pairs


def join(state: State, op: Op) -> None:
    """Lower a `tt.join`."""
    dims = shape(op.results[0])
    half, count = dims[:-1], size(dims[:-1])
    plain = state.buffer(dims, dtype_name(op.results[0].type))
    target = Buffer(plain.at, dims, plain.dtype, (*row_major(half), count))
    first = Buffer(plain.at, half, plain.dtype, row_major(half))
    second = Buffer(_moved(state, plain, count), half, plain.dtype, row_major(half))
    materialise(state, [(op.operands[0], first), (op.operands[1], second)])
    state.bound[op.results[0]] = target


def is_pair(buffer: Buffer) -> bool:
    """Whether two tiles lie one after the other for a last axis of size two."""
    half = buffer.shape[:-1]
    return buffer.shape[-1:] == (2,) and size(half) > 1 and buffer.strides == (*row_major(half), size(half))


def by_turns(state: State, pair: Buffer) -> Buffer:
    """The two tiles of a pair in row-major order: their elements by turns."""
    b = state.b
    target = state.buffer(pair.shape, pair.dtype)
    memory, count = memory_name(pair.dtype), size(pair.shape) // 2
    width = min(full_width(state), count)
    mixed = [half * width + lane for lane in range(width) for half in (0, 1)]

    def step(index: Lane, carried: Carried) -> Carried:
        x, y = (
            b.load(b.offset(at, index, memory), memory, width, align=BYTES[memory])
            for at in (pair.at, _moved(state, pair, count))
        )
        lane = b.shuffle(x, y, mixed) if width > 1 else b.pack([x, y])
        place = b.offset(target.at, b.mul(index, b.const("i64", 2)), memory)
        b.store(place, lane, align=BYTES[memory], kills=False)
        return carried

    _run(state, count, width, step)
    return target


def _run(state: State, count: int, width: int, step: Callable[[Lane, Carried], Carried]) -> None:
    b = state.b
    b.epoch += 1
    counted(b, b.const("i64", 0), b.const("i64", count), width, (), step)
    b.epoch += 1


def split(state: State, op: Op) -> None:
    """Lower a `tt.split`: views, or copies where the two tiles lie by turns."""
    found = _held(state, op.operands[0])
    half, strides = found.shape[:-1], found.strides
    if strides == row_major(found.shape) and size(half) > 1:
        parts = _apart(state, found)
    else:
        parts = [Buffer(_moved(state, found, k * strides[-1]), half, found.dtype, strides[:-1]) for k in (0, 1)]
    state.bound.update(zip(op.results, parts, strict=True))


def _apart(state: State, source: Buffer) -> list[Buffer]:
    b = state.b
    half, count = source.shape[:-1], size(source.shape) // 2
    parts = [state.buffer(half, source.dtype) for _ in (0, 1)]
    memory = memory_name(source.dtype)
    width = min(full_width(state), count)

    def step(index: Lane, carried: Carried) -> Carried:
        place = b.offset(source.at, b.mul(index, b.const("i64", 2)), memory)
        both = b.load(place, memory, 2 * width, align=BYTES[memory])
        for number, part in enumerate(parts):
            lane = b.shuffle(both, both, range(number, 2 * width, 2))
            b.store(b.offset(part.at, index, memory), lane, align=BYTES[memory], kills=False)
        return carried

    _run(state, count, width, step)
    return parts


# One after the other


def cat(state: State, op: Op) -> None:
    """Lower a `tt.cat`."""
    target = state.buffer(shape(op.results[0]), dtype_name(op.results[0].type))
    at = 0
    for value in op.operands:
        dims = shape(value)
        materialise(state, [(value, Buffer(_moved(state, target, at), dims, target.dtype, row_major(dims)))])
        at += size(dims)
    state.bound[op.results[0]] = target


def unsplat(state: State, op: Op) -> None:
    """Lower a `tt.unsplat`: the one element as a scalar."""
    state.b.epoch += 1
    state.bound[op.results[0]] = get(state.b, _held(state, op.operands[0]), {})


def flip(state: State, op: Op) -> None:
    """Lower a `teeny.flip`: a view that goes back, or along the last axis a copy."""
    axis = int(str(op.attrs["axis"]))
    dims = shape(op.results[0])
    if axis != len(dims) - 1:
        found = _held(state, op.operands[0])
        step = found.strides[axis]
        strides = tuple([-s if a == axis else s for a, s in enumerate(found.strides)])
        state.bound[op.results[0]] = Buffer(_moved(state, found, step * (dims[axis] - 1)), dims, found.dtype, strides)
        return
    source = _dense(state, op.operands[0])
    target = state.buffer(dims, source.dtype)
    b, width = state.b, min(full_width(state), dims[axis])
    back = list(reversed(range(width)))

    def body(at: Indices) -> None:
        from_ = b.sub(b.const("i64", dims[axis] - width), at[axis])
        lane = get(b, source, {**at, axis: from_}, width)
        put(b, target, at, b.shuffle(lane, lane, back) if width > 1 else lane)

    if dims[axis] > 1:
        over(b, dims, [a for a, dim in enumerate(dims) if dim > 1], {axis: width}, body)
    else:
        target = source
    state.bound[op.results[0]] = target
