"""Scans, in the canonical order (`teeny.ops.scan`): each element joins the result before it.

The operands are computed into buffers, whose vectors run along another axis than the scanned one: many rows are scanned
at a time, each in its own order. A single row is scanned element by element.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from teeny.backends.cpu.lower.combine import Combiner
from teeny.backends.cpu.lower.elements import Indices, get, over, put
from teeny.backends.cpu.lower.nest import Carried, counted
from teeny.backends.cpu.lower.state import Buffer, State
from teeny.backends.cpu.lower.store import Output, full_width, materialise
from teeny.backends.cpu.lower.transpose import laid_out
from teeny.backends.cpu.lower.values import shape, size

if TYPE_CHECKING:
    from teeny.backends.cpu.lower.combine import LowerBlock
    from teeny.ir.core import Op, Value
    from teeny.ir.lanes import Lane

__all__ = ["scan"]

ROWS = 4
"""The least number of rows whose elements are worth turning to lie side by side."""
AT_ONCE = 4
"""Vectors scanned in one loop: each waits for the result before it, so that others can run meanwhile."""


def scan(state: State, op: Op, lower_block: LowerBlock) -> None:
    """Lower a `tt.scan` and bind its results."""
    dims, axis = shape(op.operands[0]), int(str(op.attrs["axis"]))
    combine = Combiner(state, op, lower_block)
    vector = None if combine.scalar else _vector(dims, axis)
    sources, results, computed = _buffers(state, op, len(dims) - 1 if vector is None else vector)
    if computed:
        materialise(state, computed)
    _Job(state, op, combine, dims, vector, sources, results).emit()
    state.bound.update(zip(op.results, results, strict=True))


def _vector(dims: tuple[int, ...], axis: int) -> int | None:
    """The axis along which vectors run; None where there are too few rows."""
    last = len(dims) - 1
    if axis != last and dims[last] > 1:
        return last
    best = max((a for a in range(len(dims)) if a != axis), key=lambda a: dims[a], default=None)
    return None if best is None or dims[best] < ROWS else best


def _buffers(state: State, op: Op, axis: int) -> tuple[list[Buffer], list[Buffer], list[Output]]:
    """Buffers of operands and results, contiguous along `axis`, and which are to be filled.

    An operand that lies in such a buffer is read there, since others may read it later; else the result's own buffer
    takes it first.
    """
    sources: list[Buffer] = []
    results: list[Buffer] = []
    computed: list[tuple[Value, Buffer]] = []
    for operand, result in zip(op.operands, op.results, strict=True):
        target = laid_out(state, result, axis)
        found = state.bound.get(state.plan.source(operand))
        if not isinstance(found, Buffer) or found.strides[axis] != 1:
            computed.append((operand, target))
            found = target
        sources.append(found)
        results.append(target)
    return sources, results, computed


class _Job:
    def __init__(
        self, state: State, op: Op, combine: Combiner, dims: tuple[int, ...], vector: int | None,
        sources: list[Buffer], results: list[Buffer],
    ) -> None:  # fmt: skip
        self.b = state.b
        self.combine = combine
        self.dims = dims
        self.axis = int(str(op.attrs["axis"]))
        self.reverse = bool(op.attrs["reverse"])
        self.vector = vector
        self.sources = sources
        self.results = results
        self.width = 1 if vector is None else min(full_width(state), dims[vector])
        blocks = 1 if vector is None else dims[vector] // self.width
        self.at_once = min(blocks, max(1, AT_ONCE // len(sources)))
        state.cost += state.trips * (5 + size(dims) / self.width * 0.7 * combine.work)

    def emit(self) -> None:
        """Run over all rows."""
        axes = [a for a, dim in enumerate(self.dims) if dim > 1 and a != self.axis]
        if self.vector is not None:
            axes = [*(a for a in axes if a != self.vector), self.vector]
        steps = {} if self.vector is None else {self.vector: self.width * self.at_once}
        over(self.b, self.dims, axes, steps, self._rows)

    def _rows(self, at: Indices) -> None:
        b, count = self.b, self.dims[self.axis]
        places = [at]
        if self.vector is not None:
            first = at[self.vector]
            places = [{**at, self.vector: b.add(first, b.const("i64", k * self.width))} for k in range(self.at_once)]
        operands = len(self.sources)

        def index(number: Lane) -> Lane:
            return b.sub(b.const("i64", count - 1), number) if self.reverse else number

        def step(number: Lane, carried: Carried) -> Carried:
            here = index(number)
            values = [self._get({**p, self.axis: here}) for p in places]
            made: list[Lane] = []
            for k, value in enumerate(values):
                made += self.combine(carried[operands * k : operands * (k + 1)], value)
            made = [b.splat(lane, self.width) for lane in made]
            for k, p in enumerate(places):
                self._put({**p, self.axis: here}, made[operands * k : operands * (k + 1)])
            return made

        start = index(b.const("i64", 0))
        carried: list[Lane] = []
        for p in places:
            values = self._get({**p, self.axis: start})
            self._put({**p, self.axis: start}, values)
            carried += values
        counted(b, b.const("i64", 1), b.const("i64", count), 1, carried, step)

    def _get(self, at: Indices) -> list[Lane]:
        return [get(self.b, source, at, self.width) for source in self.sources]

    def _put(self, at: Indices, values: Sequence[Lane]) -> None:
        for result, value in zip(self.results, values, strict=True):
            put(self.b, result, at, value)
