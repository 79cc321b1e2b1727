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
from teeny.backends.cpu.lower.values import BYTES, axes_of, dtype_name, is_tile, shape, size
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
    result = op.results[0]
    if not is_tile(result):
        state.cost += state.trips * NANOSECONDS
        state.bound[result] = _guarded(state, op, [state.scalar(x) for x in op.operands])
        return
    dims = shape(result)
    axes = axes_of(dims)
    read = op not in state.plan.unread
    buffer = state.buffer(dims, dtype_name(result.type)) if read else None

    def look(analysis: Analysis) -> None:
        for value in op.operands:
            analysis.at(value, axes)
        if buffer is not None:
            analysis.write(buffer, axes)

    last = [a for a, dim in enumerate(dims) if dim > 1][-1:]

    def fill(value: Value, target: Buffer) -> None:
        materialise(state, [(value, target)])

    with prepared(state, dims, last, look, fill) as (analysis, vector):
        _nest(analysis, vector, op, buffer)
    if buffer is not None:
        state.bound[result] = buffer


def _nest(analysis: Analysis, vector: int | None, op: Op, buffer: Buffer | None) -> None:
    state, dims = analysis.state, analysis.dims
    width = 1 if vector is None else min(full_width(state), dims[vector])
    account(analysis, width)
    state.cost += state.trips * NANOSECONDS * size(dims)
    bounds, _ = bounds_of(analysis, named(op, "mask"), analysis.identity())
    required = bounds if buffer is None else frozenset[tuple[int, str]]()

    def make(exact: bool) -> tuple[Lane, ...]:
        wide = 1 if exact else width
        nest = Nest(analysis, None if exact else vector, wide, 1, required, exact=exact)
        job = _Steps(state, op, analysis.identity(), wide, buffer)

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

    def at(self, point: Point) -> None:
        """Do the steps of one vector, and keep what they give."""
        b = self.state.b
        given = named(self.op, "mask")
        holds = b.const("i1", 1) if given is None else point.value(given, self.axes)
        zero = b.const(dtype_name(self.op.results[0].type), 0)
        if holds.const is not None and not holds.const:
            found = zero
        else:
            lanes = [point.value(x, self.axes) for x in self.op.operands]
            found = _guarded(self.state, self.op, lanes) if self.width == 1 else self._all(lanes)
        if self.buffer is not None:
            point.write(self.buffer, self.axes, found)

    def _all(self, lanes: Sequence[Lane]) -> Lane:
        b, width = self.state.b, self.width
        places = [self._put(lane) for lane in lanes]
        dtype = dtype_name(self.op.results[0].type)
        kept = b.slot(BYTES[dtype] * width, 64)
        zero, one = b.const("i64", 0), b.const("i64", 1)
        with b.loop(zero, b.const("i64", width), one, runs=True) as loop:
            scalars = [self._get(lane, place, loop.index) for lane, place in zip(lanes, places, strict=True)]
            found = _guarded(self.state, self.op, scalars)
            if self.buffer is not None:
                b.store(b.offset(kept, loop.index, dtype), found)
        b.epoch += 1
        if self.buffer is None:
            return b.const(dtype, 0)
        # Not `load`, which would move out of the loops around it.
        return b.effect(f"load {llvm_type(dtype, width)}, ptr {kept.text}, align 64", dtype, width)

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


def _guarded(state: State, op: Op, lanes: Sequence[Lane]) -> Lane:
    """The step of one lane where its mask holds; else 0, and memory is not touched."""
    b = state.b
    given = named(op, "mask")
    holds = b.const("i1", 1) if given is None else lanes[list(op.operands).index(given)]
    if holds.const is not None:
        return _step(state, op, lanes) if holds.const else b.const(dtype_name(op.results[0].type), 0)
    with b.if_(holds) as branch:
        branch.yield_([_step(state, op, lanes)])
        branch.otherwise()
        branch.yield_([b.const(dtype_name(op.results[0].type), 0)])
    return branch.results[0]


def _step(state: State, op: Op, lanes: Sequence[Lane]) -> Lane:
    b, sem = state.b, str(op.attrs["sem"])
    if op.name == "tt.atomic_cas":
        return atomics.compare_and_swap(b, lanes[0], lanes[1], lanes[2], sem)
    return atomics.rmw(b, str(op.attrs["atomic_rmw_op"]), lanes[0], lanes[1], sem)
