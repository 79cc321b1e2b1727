"""Reductions, in the canonical order (`teeny.ops.reduce`): the same bits at every vector width.

Along the last axis element i belongs to accumulator i mod 64: a step takes 64 elements as vectors, each joined to its
own accumulator, and a halving tree ends it. Accumulators stay in registers where they are few, else in a buffer.
Along another axis vectors run along the results, and the elements of each come in rising order.
Accumulators start with an identity that changes no bit of the first element, or with the first step's elements.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from teeny.backends.cpu.lower.analysis import Analysis
from teeny.backends.cpu.lower.combine import Combiner
from teeny.backends.cpu.lower.evaluate import Axes
from teeny.backends.cpu.lower.nest import Carried, Nest, choose_axis, counted, versions
from teeny.backends.cpu.lower.point import Entry, Known, Point
from teeny.backends.cpu.lower.state import Buffer, State
from teeny.backends.cpu.lower.store import Output, account, full_width, scalar_axes
from teeny.backends.cpu.lower.values import BYTES, axes_of, dtype_name, memory_name, shape
from teeny.backends.cpu.lower.varies import varies
from teeny.ops.reduce import ACCUMULATORS

if TYPE_CHECKING:
    from teeny.ir.core import Op
    from teeny.ir.lanes import Lane

__all__ = ["reduce"]

REGISTERS = 8
"""Accumulators of this many vectors stay in registers."""


def reduce(state: State, op: Op, outputs: Sequence[Output]) -> None:
    """Lower a `tt.reduce` and bind its results; `outputs` are its by-products."""
    dims = shape(op.operands[0])
    axis = int(str(op.attrs["axis"]))
    analysis = Analysis(state, dims)
    axes = analysis.identity()
    for value in (*op.operands, *(v for v, _ in outputs)):
        analysis.at(value, axes)
    last = axis == len(dims) - 1
    free = [a for a in range(len(dims)) if a != axis]
    vector = (axis if dims[axis] > 1 else None) if last else choose_axis(analysis, free, full_width(state))
    width = 1 if vector is None else min(full_width(state), dims[vector])
    account(analysis, width)
    kept = tuple(dims[a] for a in free)
    buffers = [state.buffer(kept, dtype_name(r.type)) for r in op.results] if kept else []
    job = _Job(state, analysis, op, axis, axes, list(outputs), buffers)

    def make(exact: bool) -> Sequence[Lane]:
        nest = Nest(analysis, None if exact and not last else vector, 1 if exact else width, 4, exact=exact)
        return job.along_last(nest) if last else job.along_other(nest)

    results = versions(analysis, analysis.freeze(), make)
    for number, result in enumerate(op.results):
        state.bound[result] = buffers[number] if kept else results[number]


class _Job:
    def __init__(
        self,
        state: State,
        analysis: Analysis,
        op: Op,
        axis: int,
        axes: Axes,
        outputs: list[Output],
        buffers: list[Buffer],
    ) -> None:
        self.state = state
        self.b = state.b
        self.analysis = analysis
        self.op = op
        self.axis = axis
        self.axes = axes
        self.outputs = outputs
        self.buffers = buffers
        self.combine = Combiner(state, op)
        self.identity = self.combine.identity()

    # Shared

    def _values(self, point: Point) -> list[Lane]:
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
                        values = self._values(nest.point(here | {self.axis: Entry(index)}, inner))
                        made.extend(self.combine(carried[operands * k : operands * (k + 1)], values))
                    return self._wide(made, nest.width)

                if self.identity is not None:
                    start = self._wide([x for _ in heres for x in self.identity], nest.width)
                    totals = nest.over(self.axis, facts, start, row) if self._rows > 1 else row(b.const("i64", 0), facts, start)
                else:
                    zero = b.const("i64", 0)
                    first = [v for here in heres for v in self._values(nest.point(here | {self.axis: Entry(zero)}, facts))]
                    end = b.const("i64", self._rows)
                    totals = counted(
                        b, b.const("i64", 1), end, 1, self._wide(first, nest.width), lambda i, c: row(i, facts, c)
                    )
                for k, here in enumerate(heres):
                    self._finish(nest, here, facts, totals[operands * k : operands * (k + 1)])

            nest.vectors(known, body)

        nest.outer(scalar_axes(nest, self.analysis.dims, leave=self.axis), inside)
        return ()

    @property
    def _rows(self) -> int:
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
            return self._values(nest.point(entries, known))
        block = min(ACCUMULATORS, self._rows)
        vectors = block // nest.width
        if nest.exact or vectors > REGISTERS:
            return _InMemory(self, nest, entries, block).run(known)
        return _InRegisters(self, nest, entries, block).run(known)


class _Ranges:
    """The ranges of the reduced axis in steps of one block of accumulators."""

    def __init__(self, job: _Job, nest: Nest, entries: dict[int, Entry], block: int) -> None:
        self.job = job
        self.b = job.b
        self.nest = nest
        self.entries = entries
        self.block = block
        self.vectors = block // nest.width
        self.operands = len(job.op.operands)

    def values(self, index: Lane, known: Known) -> list[Lane]:
        point = self.nest.point(self.entries | {self.job.axis: Entry(index, vector=True)}, known)
        return [self.b.splat(v, self.nest.width) for v in self.job._values(point)]

    def ranges(
        self, known: Known, carried: Carried, step: Callable[[Lane, Known, Carried], Carried], start: int
    ) -> Carried:
        """Run `step` on each block from `start` on: full ones, those with bounds inside, those beyond all bounds."""
        b, nest, job = self.b, self.nest, self.job
        low, end = b.const("i64", start), b.const("i64", job._rows)
        terms = nest.terms(job.axis)
        if not terms:
            return counted(b, low, end, self.block, carried, lambda i, c: step(i, known, c))
        full = b.smax(b.and_(nest.end(terms), b.const("i64", -self.block)), low)
        hull = b.smax(nest.rounded(nest.end(terms, last=True), self.block), low)
        inside, beyond = known | {t.key: True for t in terms}, known | {t.key: False for t in terms}
        carried = counted(b, low, full, self.block, carried, lambda i, c: step(i, inside, c))
        carried = counted(b, full, hull, self.block, carried, lambda i, c: step(i, known, c))
        stop = b.smin(b.add(hull, b.const("i64", self.block)), end) if self._once(beyond) else end
        return counted(b, hull, stop, self.block, carried, lambda i, c: step(i, beyond, c))

    def _once(self, beyond: Known) -> bool:
        """Whether what lies beyond all bounds need be joined in only once."""
        job = self.job
        if job.outputs or any(varies(job.analysis, x, job.axes, job.axis, beyond) for x in job.op.operands):
            return False
        entry = Entry(self.b.const("i64", 0), vector=True)
        point = self.nest.point(self.entries | {job.axis: entry}, beyond)
        return job.combine.once([point.value(x, job.axes) for x in job.op.operands])


class _InRegisters(_Ranges):
    def run(self, known: Known) -> Sequence[Lane]:
        b, job, operands = self.b, self.job, self.operands

        def elements(index: Lane, facts: Known) -> list[list[Lane]]:
            return [self.values(b.add(index, b.const("i64", k * self.nest.width)), facts) for k in range(self.vectors)]

        def step(index: Lane, facts: Known, carried: Carried) -> Carried:
            made: list[Lane] = []
            for k, values in enumerate(elements(index, facts)):
                made.extend(job.combine(carried[operands * k : operands * (k + 1)], values))
            return made

        if job.identity is not None:
            begin = 0
            start: Carried = [b.splat(x, self.nest.width) for _ in range(self.vectors) for x in job.identity]
        else:
            begin = self.block
            start = [x for values in elements(b.const("i64", 0), known) for x in values]
        flat = self.ranges(known, start, step, begin)
        lanes = [list(flat[operands * k : operands * (k + 1)]) for k in range(self.vectors)]
        return self._tree(lanes)

    def _tree(self, lanes: list[list[Lane]]) -> Sequence[Lane]:
        b, combine = self.b, self.job.combine
        while len(lanes) > 1:
            half = len(lanes) // 2
            lanes = [combine(lanes[i], lanes[i + half]) for i in range(half)]
        total = lanes[0]
        while total[0].width > 1:
            half = total[0].width // 2
            low = [b.shuffle(x, x, range(half)) for x in total]
            high = [b.shuffle(x, x, range(half, 2 * half)) for x in total]
            total = combine(low, high)
        return total


class _InMemory(_Ranges):
    """The same with the accumulators in a buffer: little code where vectors are narrow."""

    def run(self, known: Known) -> Sequence[Lane]:
        b, job = self.b, self.job
        buffers = [job.state.buffer((self.block,), dtype) for dtype in job.combine.dtypes]
        inner = b.const("i64", self.block)
        zero = b.const("i64", 0)

        def fill(index: Lane, facts: Known, carried: Carried) -> Carried:
            def one(j: Lane, c: Carried) -> Carried:
                self._put(buffers, j, self.values(b.add(index, j), facts), self.nest.width)
                return c

            return counted(b, zero, inner, self.nest.width, carried, one)

        def step(index: Lane, facts: Known, carried: Carried) -> Carried:
            def one(j: Lane, c: Carried) -> Carried:
                values = self.values(b.add(index, j), facts)
                self._put(buffers, j, job.combine(self._get(buffers, j, self.nest.width), values), self.nest.width)
                return c

            return counted(b, zero, inner, self.nest.width, carried, one)

        fill(zero, known, ())
        self.ranges(known, (), step, self.block)
        half = self.block // 2
        while half:
            width = min(half, self.nest.width)

            def join(j: Lane, c: Carried, half: int = half, width: int = width) -> Carried:
                left = self._get(buffers, j, width)
                right = self._get(buffers, b.add(j, b.const("i64", half)), width)
                self._put(buffers, j, job.combine(left, right), width)
                return c

            counted(b, zero, b.const("i64", half), width, (), join)
            half //= 2
        return self._get(buffers, zero, 1)

    def _get(self, buffers: list[Buffer], at: Lane, width: int) -> list[Lane]:
        b = self.b
        self.b.epoch += 1
        found: list[Lane] = []
        for buffer in buffers:
            memory = memory_name(buffer.dtype)
            block = b.scopes[-1]
            kept, block.region = block.region, None
            lane = b.load(b.offset(buffer.at, at, memory), memory, width, align=BYTES[memory])
            block.region = kept
            found.append(b.icmp("ne", lane, b.const("i8", 0)) if buffer.dtype == "i1" else lane)
        return found

    def _put(self, buffers: list[Buffer], at: Lane, values: Sequence[Lane], width: int) -> None:
        b = self.b
        for buffer, value in zip(buffers, values, strict=True):
            memory = memory_name(buffer.dtype)
            lane = b.zext(value, memory) if buffer.dtype == "i1" else value
            b.store(b.offset(buffer.at, at, memory), b.splat(lane, width), align=BYTES[memory], kills=False)


def result_axes(dims: tuple[int, ...]) -> Axes:
    return axes_of(dims)
