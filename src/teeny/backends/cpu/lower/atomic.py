"""Atomic operations: the lanes of a nest's vectors, one after the other, in row-major order.

What they take is evaluated a vector at a time and put down; a loop over its lanes then does the steps. Their results
are a buffer, where anybody reads them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from teeny.backends.cpu import atomics
from teeny.backends.cpu.lower.analysis import Analysis
from teeny.backends.cpu.lower.evaluate import Axes
from teeny.backends.cpu.lower.nest import Nest, versions
from teeny.backends.cpu.lower.point import Entry, Known, Point
from teeny.backends.cpu.lower.state import Buffer, State
from teeny.backends.cpu.lower.store import account, bounds_of, full_width, materialise, scalar_axes
from teeny.backends.cpu.lower.transpose import prepared
from teeny.backends.cpu.lower.values import BYTES, axes_of, cannot, dtype_name, is_tile, memory_name, shape, size
from teeny.backends.cpu.text import llvm_type
from teeny.ir.lanes import Lane
from teeny.ir.schema import named

if TYPE_CHECKING:
    from teeny.ir.core import Op, Value

__all__ = ["atomic"]

NANOSECONDS = 8.0
"""Roughly, what a lane's step takes."""


def atomic(state: State, op: Op) -> None:
    """Lower an atomic operation and bind its result."""
    deadline = _deadline(state, op)
    if not is_tile(op.operands[0]):
        state.cost += state.trips * NANOSECONDS
        found = _guarded(state, op, [state.scalar(x) for x in op.operands], deadline)
        state.bound.update((result, found) for result in op.results)
        return
    dims = shape(op.operands[0])
    axes = axes_of(dims)
    read = bool(op.results) and op not in state.plan.unread
    buffer = state.buffer(dims, _dtype(op)) if read else None

    def look(analysis: Analysis) -> None:
        for value in op.operands:
            analysis.at(value, axes if is_tile(value) else ())
        if buffer is not None:
            analysis.write(buffer, axes)

    last = [a for a, dim in enumerate(dims) if dim > 1][-1:]

    def fill(value: Value, target: Buffer) -> None:
        materialise(state, [(value, target)])

    with prepared(state, dims, last, look, fill) as (analysis, vector):
        _nest(analysis, vector, op, buffer, deadline)
    if buffer is not None:
        state.bound[op.results[0]] = buffer


def _dtype(op: Op) -> str:
    """The dtype of what an operation gives; of one without result, that of a stand-in."""
    return dtype_name(op.results[0].type) if op.results else "i32"


def _deadline(state: State, op: Op) -> Lane | None:
    """When an operation gives up waiting (i64, nanoseconds); None where it never does."""
    timeout = named(op, "timeout")
    return None if timeout is None else state.b.add(atomics.now(state.b), state.scalar(timeout))


def _nest(analysis: Analysis, vector: int | None, op: Op, buffer: Buffer | None, deadline: Lane | None) -> None:
    state, dims = analysis.state, analysis.dims
    width = 1 if vector is None else min(full_width(state), dims[vector])
    account(analysis, width)
    state.cost += state.trips * NANOSECONDS * size(dims)
    bounds, _ = bounds_of(analysis, named(op, "mask"), analysis.identity())
    required = bounds if buffer is None else frozenset[tuple[int, str]]()

    def make(exact: bool) -> tuple[Lane, ...]:
        wide = 1 if exact else width
        nest = Nest(analysis, None if exact else vector, wide, 1, required, exact=exact)
        job = _Steps(state, op, analysis.identity(), wide, buffer, deadline)

        def inside(entries: dict[int, Entry], known: Known) -> None:
            def body(indices: list[Lane | None], facts: Known) -> None:
                for point in nest.points(entries, indices, facts):
                    job.at(point)

            nest.vectors(known, body)

        nest.outer(scalar_axes(nest, dims), inside)
        return ()

    versions(analysis, analysis.freeze(), make)
    state.b.epoch += 1


@dataclass(frozen=True, slots=True)
class _Steps:
    """The steps at the points of one nest, whose vectors have `width` lanes."""

    state: State
    op: Op
    axes: Axes
    width: int
    buffer: Buffer | None
    deadline: Lane | None

    def at(self, point: Point) -> None:
        """Do the steps of one vector, and keep what they give."""
        b = self.state.b
        given = named(self.op, "mask")
        holds = b.const("i1", 1) if given is None else point.value(given, self.axes)
        zero = b.const(_dtype(self.op), 0)
        if holds.const is not None and not holds.const:
            found = zero
        else:
            lanes = [point.value(x, self.axes if is_tile(x) else ()) for x in self.op.operands]
            found = self._one(lanes) if self.width == 1 else self._all(lanes)
        if self.buffer is not None:
            point.write(self.buffer, self.axes, found)

    def _one(self, lanes: Sequence[Lane]) -> Lane:
        return _guarded(self.state, self.op, lanes, self.deadline)

    def _all(self, lanes: Sequence[Lane]) -> Lane:
        b, width = self.state.b, self.width
        places = [self._put(lane) for lane in lanes]
        dtype = _dtype(self.op)
        memory = memory_name(dtype)
        kept = b.slot(BYTES[memory] * width, 64)
        with b.loop(b.const("i64", 0), b.const("i64", width), b.const("i64", 1), runs=True) as loop:
            found = self._one([self._get(lane, at, loop.index) for lane, at in zip(lanes, places, strict=True)])
            if self.buffer is not None:
                b.store(b.offset(kept, loop.index, memory), b.zext(found, "i8") if dtype == "i1" else found)
        b.epoch += 1
        if self.buffer is None:
            return b.const(dtype, 0)
        # Not `load`, which would move out of the loops around it.
        read = b.effect(f"load {llvm_type(memory, width)}, ptr {kept.text}, align 64", memory, width)
        return b.icmp("ne", read, b.const("i8", 0)) if dtype == "i1" else read

    def _put(self, lane: Lane) -> Lane | None:
        """A vector in memory of the function's frame; None for a scalar, the same in all lanes."""
        b = self.state.b
        if lane.width == 1:
            return None
        lane = b.zext(lane, "i8") if lane.dtype == "i1" else lane
        place = b.slot(BYTES[lane.dtype] * lane.width, 64)
        b.store(place, lane, align=64)
        return place

    def _get(self, lane: Lane, place: Lane | None, index: Lane) -> Lane:
        b = self.state.b
        if place is None:
            return lane
        if lane.dtype == "i1":
            return b.icmp("ne", b.load(b.offset(place, index, "i8"), "i8"), b.const("i8", 0))
        return b.load(b.offset(place, index, lane.dtype), lane.dtype)


def _guarded(state: State, op: Op, lanes: Sequence[Lane], deadline: Lane | None) -> Lane:
    """The step of one lane where its mask holds; else 0, and memory is not touched."""
    b = state.b
    mask = next((at for at, name in enumerate(op.schema.operands) if name == "mask?"), len(lanes))
    holds = lanes[mask] if mask < len(lanes) else b.const("i1", 1)
    if holds.const is not None:
        return _step(state, op, lanes, deadline) if holds.const else b.const(_dtype(op), 0)
    with b.if_(holds) as branch:
        branch.yield_([_step(state, op, lanes, deadline)])
        branch.otherwise()
        branch.yield_([b.const(_dtype(op), 0)])
    return branch.results[0]


def _step(state: State, op: Op, lanes: Sequence[Lane], deadline: Lane | None) -> Lane:
    b, sem = state.b, str(op.attrs["sem"])
    at = lanes[0]
    match op.name:
        case "tt.atomic_rmw":
            return atomics.rmw(b, str(op.attrs["atomic_rmw_op"]), at, lanes[1], sem)
        case "tt.atomic_cas":
            return atomics.compare_and_swap(b, at, lanes[1], lanes[2], sem)
        case "tt.atomic_load":
            return atomics.load(b, at, _dtype(op), sem)
        case "tt.atomic_store":
            atomics.store(b, at, lanes[1], sem)
            return b.const(_dtype(op), 0)
        case "tt.atomic_poll":
            return atomics.poll(b, at, lanes[1], sem, deadline)
        case _:
            raise cannot(op)
