"""One row of a reduction along the last axis: 64 accumulators, then a halving tree.

The accumulators are vectors in registers while all bounds of the row hold, and a small buffer for what comes then: a
tail is little code and runs seldom. Where vectors are narrow or there is no identity they are in the buffer throughout.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from teeny.backends.cpu.lower.nest import Carried, Nest, counted
from teeny.backends.cpu.lower.point import Entry, Known
from teeny.backends.cpu.lower.values import BYTES, memory_name
from teeny.backends.cpu.lower.varies import varies

if TYPE_CHECKING:
    from teeny.backends.cpu.lower.reduce import Job
    from teeny.backends.cpu.lower.state import Buffer
    from teeny.ir.lanes import Lane

__all__ = ["Row"]


class Row:
    """The reduction of the elements at `entries` and all indices of the reduced axis; `block` accumulators."""

    def __init__(self, job: Job, nest: Nest, entries: dict[int, Entry], block: int) -> None:
        self.job = job
        self.b = job.b
        self.nest = nest
        self.entries = entries
        self.block = block
        self.width = nest.width
        self.terms = nest.terms(job.axis)
        self.end = self.b.const("i64", job.rows)
        self.zero = self.b.const("i64", 0)

    def values(self, index: Lane, known: Known) -> list[Lane]:
        """The elements from `index` on, a vector an operand."""
        point = self.nest.point(self.entries | {self.job.axis: Entry(index, vector=True)}, known)
        return [self.b.splat(v, self.width) for v in self.job.values(point)]

    def bounds(self, low: Lane) -> tuple[Lane, Lane]:
        """From where on not all bounds hold, and from where on none does, in whole blocks and not before `low`."""
        b, nest = self.b, self.nest
        full = b.smax(b.and_(nest.end(self.terms), b.const("i64", -self.block)), low)
        return full, b.smax(nest.rounded(nest.end(self.terms, last=True), self.block), low)

    # In registers

    def in_registers(self, known: Known, identity: list[Lane]) -> Sequence[Lane]:
        """The totals, for one operand and a combiner that has an identity."""
        b, job = self.b, self.job
        vectors = self.block // self.width
        start = [b.splat(identity[0], self.width)] * vectors

        def run(low: Lane, high: Lane, facts: Known) -> Carried:
            def step(index: Lane, carried: Carried) -> Carried:
                made: list[Lane] = []
                for k, total in enumerate(carried):
                    made += job.combine([total], self.values(b.add(index, b.const("i64", k * self.width)), facts))
                return made

            return counted(b, low, high, self.block, start, step)

        if not self.terms:
            return self._tree(run(self.zero, self.end, known))
        full, hull = self.bounds(self.zero)
        lanes = run(self.zero, full, known | {t.key: True for t in self.terms})
        with b.if_(b.icmp("slt", full, self.end)) as branch:
            buffers = self.buffers()
            for k, lane in enumerate(lanes):
                self._put(buffers, b.const("i64", k * self.width), [lane])
            self._tail(buffers, full, hull, known)
            after = [self._get(buffers, b.const("i64", k * self.width), self.width)[0] for k in range(vectors)]
            branch.yield_(after)
            branch.otherwise()
            branch.yield_(lanes)
        return self._tree(branch.results)

    def _tree(self, lanes: Sequence[Lane]) -> Sequence[Lane]:
        return [self.b.reduce(lambda x, y: self.job.combine([x], [y])[0], lanes)]

    # In memory

    def buffers(self) -> list[Buffer]:
        return [self.job.state.buffer((self.block,), dtype) for dtype in self.job.combine.dtypes]

    def in_memory(self, known: Known) -> Sequence[Lane]:
        """The totals, in every case."""
        b, job = self.b, self.job
        buffers = self.buffers()
        self._block(buffers, self.zero, known, first=True)
        low = b.const("i64", self.block)
        if not self.terms:
            self._run(buffers, low, self.end, known)
        else:
            full, hull = self.bounds(low)
            self._run(buffers, low, full, known | {t.key: True for t in self.terms})
            self._tail(buffers, full, hull, known)
        half = self.block // 2
        while half:
            width = min(half, self.width)

            def join(j: Lane, carried: Carried, half: int = half, width: int = width) -> Carried:
                left = self._get(buffers, j, width)
                right = self._get(buffers, b.add(j, b.const("i64", half)), width)
                self._put(buffers, j, job.combine(left, right))
                return carried

            counted(b, self.zero, b.const("i64", half), width, (), join)
            half //= 2
        return self._get(buffers, self.zero, 1)

    def _tail(self, buffers: list[Buffer], full: Lane, hull: Lane, known: Known) -> None:
        b = self.b
        self._run(buffers, full, hull, known)
        beyond = known | {t.key: False for t in self.terms}
        stop = b.smin(b.add(hull, b.const("i64", self.block)), self.end) if self._once(beyond) else self.end
        self._run(buffers, hull, stop, beyond)

    def _run(self, buffers: list[Buffer], low: Lane, high: Lane, known: Known) -> None:
        def step(index: Lane, carried: Carried) -> Carried:
            self._block(buffers, index, known, first=False)
            return carried

        counted(self.b, low, high, self.block, (), step)

    def _block(self, buffers: list[Buffer], index: Lane, known: Known, *, first: bool) -> None:
        """Join one block of elements to the accumulators, or begin with it."""
        b = self.b

        def one(j: Lane, carried: Carried) -> Carried:
            values = self.values(b.add(index, j), known)
            if not first:
                values = self.job.combine(self._get(buffers, j, self.width), values)
            self._put(buffers, j, values)
            return carried

        counted(b, self.zero, b.const("i64", self.block), self.width, (), one)

    def _once(self, beyond: Known) -> bool:
        """Whether what lies beyond all bounds need be joined in only once."""
        job = self.job
        if job.outputs or any(varies(job.analysis, x, job.axes, job.axis, beyond) for x in job.op.operands):
            return False
        point = self.nest.point(self.entries | {job.axis: Entry(self.zero, vector=True)}, beyond)
        return job.combine.once([point.value(x, job.axes) for x in job.op.operands])

    def _get(self, buffers: list[Buffer], at: Lane, width: int) -> list[Lane]:
        b = self.b
        b.epoch += 1
        found: list[Lane] = []
        block = b.scopes[-1]
        kept, block.region = block.region, None
        for buffer in buffers:
            memory = memory_name(buffer.dtype)
            lane = b.load(b.offset(buffer.at, at, memory), memory, width, align=BYTES[memory])
            found.append(b.icmp("ne", lane, b.const("i8", 0)) if buffer.dtype == "i1" else lane)
        block.region = kept
        return found

    def _put(self, buffers: list[Buffer], at: Lane, values: Sequence[Lane]) -> None:
        b = self.b
        for buffer, value in zip(buffers, values, strict=True):
            memory = memory_name(buffer.dtype)
            lane = b.zext(value, memory) if buffer.dtype == "i1" else value
            b.store(b.offset(buffer.at, at, memory), lane, align=BYTES[memory], kills=False)
