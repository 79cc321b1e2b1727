"""Reductions, in the canonical order (`teeny.ops.reduce`): the same bits at every vector width.

Along the last axis element i belongs to accumulator i mod 64: a step takes 64 elements as vectors, each joined to its
own accumulator, and a halving tree ends it. Accumulators stay in registers where they are few, else in a buffer.
Along another axis vectors run along the results, and the elements of each come in rising order.
Accumulators start with an identity that changes no bit of the first element, or with the first step's elements.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from teeny.backends.cpu.lower.analysis import Analysis
from teeny.backends.cpu.lower.combine import Combiner
from teeny.backends.cpu.lower.evaluate import Axes
from teeny.backends.cpu.lower.nest import Carried, Nest, counted, versions
from teeny.backends.cpu.lower.point import Entry, Known, Point
from teeny.backends.cpu.lower.row import Row
from teeny.backends.cpu.lower.state import Buffer, State
from teeny.backends.cpu.lower.store import Output, account, full_width, materialise, scalar_axes
from teeny.backends.cpu.lower.transpose import prepared
from teeny.backends.cpu.lower.values import axes_of, dtype_name, shape
from teeny.ops.reduce import ACCUMULATORS

if TYPE_CHECKING:
    from teeny.backends.cpu.lower.combine import LowerBlock
    from teeny.ir.core import Op, Value
    from teeny.ir.lanes import Lane

__all__ = ["reduce"]

REGISTERS = 8
"""Accumulators of this many vectors stay in registers."""


def reduce(state: State, op: Op, outputs: Sequence[Output], lower_block: LowerBlock) -> None:
    """Lower a `tt.reduce` and bind its results; `outputs` are its by-products."""
    combine = Combiner(state, op, lower_block)
    dims = shape(op.operands[0])
    axis = int(str(op.attrs["axis"]))
    axes = axes_of(dims)
    last = axis == len(dims) - 1
    free = [a for a in range(len(dims)) if a != axis]

    def look(analysis: Analysis) -> None:
        for value in (*op.operands, *(v for v, _ in outputs)):
            analysis.at(value, axes)

    def fill(value: Value, buffer: Buffer) -> None:
        materialise(state, [(value, buffer)])

    with prepared(state, dims, (axis,) if last else free, look, fill) as (analysis, vector):
        _emit(analysis, vector, op, outputs, combine)


def _emit(analysis: Analysis, vector: int | None, op: Op, outputs: Sequence[Output], combine: Combiner) -> None:
    state, dims = analysis.state, analysis.dims
    axes = analysis.identity()
    axis = int(str(op.attrs["axis"]))
    last = axis == len(dims) - 1
    free = [a for a in range(len(dims)) if a != axis]
    width = 1 if vector is None or combine.scalar else min(full_width(state), dims[vector])
    account(analysis, width)
    kept = tuple(dims[a] for a in free)
    buffers = [state.buffer(kept, dtype_name(r.type)) for r in op.results] if kept else []
    job = Job(state, analysis, op, axis, axes, list(outputs), buffers, combine)

    def make(exact: bool) -> Sequence[Lane]:
        nest = Nest(analysis, None if exact and not last else vector, 1 if exact else width, 4, exact=exact)
        return job.along_last(nest) if last else job.along_other(nest)

    results = versions(analysis, analysis.freeze(), make)
    for number, result in enumerate(op.results):
        state.bound[result] = buffers[number] if kept else results[number]


class Job:
    def __init__(
        self,
        state: State,
        analysis: Analysis,
        op: Op,
        axis: int,
        axes: Axes,
        outputs: list[Output],
        buffers: list[Buffer],
        combine: Combiner,
    ) -> None:
        self.state = state
        self.b = state.b
        self.analysis = analysis
        self.op = op
        self.axis = axis
        self.axes = axes
        self.outputs = outputs
        self.buffers = buffers
        self.combine = combine
        self.identity = self.combine.identity()

    # Shared

    def values(self, point: Point) -> list[Lane]:
        """The operands at a point; by-products are stored on the way."""
        values = [point.value(x, self.axes) for x in self.op.operands]
        for value, buffer in self.outputs:
            point.write(buffer, self.axes, point.value(value, self.axes))
        return values

    def _finish(self, nest: Nest, entries: dict[int, Entry], known: Known, totals: Sequence[Lane]) -> None:
        """Store results of a reduction that gives a tile."""
        point = nest.point(entries, known)
        free = tuple(a for a in range(len(self.analysis.dims)) if a != self.axis)
        axes = tuple(None if self.analysis.dims[a] == 1 else a for a in free)
        for buffer, total in zip(self.buffers, totals, strict=True):
            point.write(buffer, axes, total)

    # Along another axis than the last

    def along_other(self, nest: Nest) -> tuple[Lane, ...]:
        b, operands = self.b, len(self.op.operands)

        def inside(entries: dict[int, Entry], known: Known) -> None:
            def body(indices: list[Lane | None], facts: Known) -> None:
                heres = [p.entries for p in nest.points(entries, indices, facts)]

                def row(index: Lane, inner: Known, carried: Carried) -> Carried:
                    made: list[Lane] = []
                    for k, here in enumerate(heres):
                        values = self.values(nest.point(here | {self.axis: Entry(index)}, inner))
                        made.extend(self.combine(carried[operands * k : operands * (k + 1)], values))
                    return self._wide(made, nest.width)

                if self.identity is not None:
                    start = self._wide([x for _ in heres for x in self.identity], nest.width)
                    totals = (
                        nest.over(self.axis, facts, start, row)
                        if self.rows > 1
                        else row(b.const("i64", 0), facts, start)
                    )
                else:
                    zero = b.const("i64", 0)
                    first = [
                        v for here in heres for v in self.values(nest.point(here | {self.axis: Entry(zero)}, facts))
                    ]
                    end = b.const("i64", self.rows)
                    totals = counted(
                        b, b.const("i64", 1), end, 1, self._wide(first, nest.width), lambda i, c: row(i, facts, c)
                    )
                for k, here in enumerate(heres):
                    self._finish(nest, here, facts, totals[operands * k : operands * (k + 1)])

            nest.vectors(known, body)

        nest.outer(scalar_axes(nest, self.analysis.dims, leave=self.axis), inside)
        return ()

    @property
    def rows(self) -> int:
        return self.analysis.dims[self.axis]

    def _wide(self, lanes: Sequence[Lane], width: int) -> tuple[Lane, ...]:
        return tuple(self.b.splat(lane, width) for lane in lanes)

    # Along the last axis

    def along_last(self, nest: Nest) -> Sequence[Lane]:
        found: list[Sequence[Lane]] = []

        def row(entries: dict[int, Entry], known: Known) -> None:
            totals = self._row(nest, entries, known)
            if self.buffers:
                self._finish(nest, entries, known, totals)
            else:
                found.append(totals)

        nest.outer(scalar_axes(nest, self.analysis.dims, leave=self.axis), row)
        return found[0] if found else ()

    def _row(self, nest: Nest, entries: dict[int, Entry], known: Known) -> Sequence[Lane]:
        if nest.vector is None:  # an axis of size one
            return self.values(nest.point(entries, known))
        block = min(ACCUMULATORS, self.rows)
        row = Row(self, nest, entries, block)
        if nest.exact or self.identity is None or block // nest.width > REGISTERS:
            return row.in_memory(known)
        return row.in_registers(known, self.identity)
