"""Matrix products: a register-blocked micro-kernel over packed operands.

A block of the result, a few rows by a few vectors, stays in registers while k runs. It starts as what the accumulator
is there, so that zeros, a sum carried by a loop and `total * alpha` are all the same code; a sum that a loop carries is
updated in its buffer. Each element is a chain of multiply-adds in rising k.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from teeny.backends.cpu.lower.analysis import Analysis
from teeny.backends.cpu.lower.carry import reads_of
from teeny.backends.cpu.lower.nest import Carried, counted
from teeny.backends.cpu.lower.pack import elements, vectors
from teeny.backends.cpu.lower.point import Entry, Point
from teeny.backends.cpu.lower.scheme import scheme_of
from teeny.backends.cpu.lower.state import Buffer, State, row_major
from teeny.backends.cpu.lower.store import full_width, materialise
from teeny.backends.cpu.lower.values import BYTES, axes_of, dtype_name, shape, size
from teeny.ir.dtype import F64, LEAVES, DType
from teeny.ir.schema import dtype_of
from teeny.ops.dot import dot_unsigned_

if TYPE_CHECKING:
    from teeny.backends.cpu.lower.scheme import Scheme
    from teeny.backends.cpu.lower.strided import Strided
    from teeny.ir.core import Op, Value
    from teeny.ir.lanes import Lane

__all__ = ["dot", "product"]

UNROLL = 4
"""Steps of k in one turn of the inner loop."""
LINE = 64
"""Bytes that memory is fetched by."""
FLOPS = 60.0
"""Rough operations a nanosecond."""


def dot(state: State, op: Op) -> None:
    """Lower a `tt.dot` and bind its result."""
    a = op.operands[0]
    product(state, op, dtype_of(a.type), shape(a)[-1], lambda packed: op.operands[:2])


def product(state: State, op: Op, dtype: DType, inner: int, sides: Callable[[DType], Sequence[Value]]) -> None:
    """Lower a product of operands of a dtype, or of what it can hold, and bind its result.

    `sides` gives the operands; it may make them of the dtype that it is told, in which they are packed.
    """
    c = op.operands[2]
    dims = shape(c)
    state.cost += state.trips * 2 * size(dims) * inner / FLOPS
    target = _accumulator(state, op)
    if target is None:
        target = state.buffer(dims, dtype_name(c.type))
    top = state.arena.top
    start = _start(state, c, target)
    width = _width(state, dtype, dims[-1])
    scheme = scheme_of(state.b, dtype, inner, width, unsigned=op.schema is dot_unsigned_)
    first, second = sides(LEAVES[scheme.packed])
    left = elements(state, first, scheme)
    right = vectors(state, second, scheme)
    state.b.epoch += 1
    _Product(state, scheme, left, right, start, target, inner, width).run()
    state.b.epoch += 1
    state.arena.top = top
    state.bound[op.results[0]] = target


def _width(state: State, dtype: DType, columns: int) -> int:
    """Lanes of a vector of sums: half as many of f64."""
    lanes = full_width(state)
    return min(max(lanes // 2, 1) if dtype is F64 else lanes, columns)


def _accumulator(state: State, op: Op) -> Buffer | None:
    """The buffer of a sum that the loop carries, where the product may be added in place."""
    carried = state.plan.accumulators.get(op)
    buffer = None if carried is None else state.bound.get(carried)
    if not isinstance(buffer, Buffer) or buffer.strides != row_major(buffer.shape):
        return None
    a, b, c, *scales = (reads_of(state, [(v, buffer)]) for v in op.operands)
    at, identity = buffer.at.text, axes_of(buffer.shape)
    if any(read[0] == at for side in (a, b, *scales) for read in side):
        return None
    elsewhere = any(read[0] == at and (read[1] != identity or read[2] != buffer.shape) for read in c)
    return None if elsewhere else buffer


@dataclass(frozen=True, slots=True, eq=False)
class _Start:
    """What a sum starts as: a value that is evaluated at each point, or what the target holds already."""

    value: Value | None
    analysis: Analysis


def _start(state: State, c: Value, target: Buffer) -> _Start:
    """Evaluate the accumulator at its points if that needs no bounds and no tests; else compute it into the target."""
    dims = shape(c)
    analysis = Analysis(state, dims)
    analysis.at(c, axes_of(dims))
    plain = analysis.freeze().const == 1 and not analysis.terms and not state.options.exact
    if plain and all(a.along(len(dims) - 1, dims) is None for a in analysis.accesses):
        return _Start(c, analysis)
    if state.bound.get(state.plan.source(c)) is not target:
        materialise(state, [(c, target)])
    blank = Analysis(state, dims)
    blank.freeze()
    return _Start(None, blank)


class _Product:
    """The loops: vectors of columns, rows, k."""

    def __init__(
        self, state: State, scheme: Scheme, left: Strided, right: Buffer, start: _Start, target: Buffer, inner: int,
        width: int,
    ) -> None:  # fmt: skip
        self.state = state
        self.b = state.b
        self.scheme = scheme
        self.left = left
        self.right = right
        self.start = start
        self.target = target
        self.dims = target.shape
        self.axes = axes_of(self.dims)
        self.inner = inner
        self.steps = inner // (2 if scheme.pairs else 1)
        self.width = width
        self.rows, self.vectors = self._block()

    def _block(self) -> tuple[int, int]:
        """Rows and vectors of a block: as many sums as registers hold beside the operands."""
        lanes = self.b.features.lanes
        full = max(lanes // 2, 1) if self.scheme.total == "f64" else lanes
        registers = (16 if lanes == 16 else 8) * min(full, self.width) // self.width
        sums = max(registers, 1)
        rows, across = self.dims[-2], self.dims[-1] // self.width
        vectors = min(across, max(sums // min(rows, 4), 1))
        if rows >= 4:
            vectors = min(vectors, 4 if sums == 16 else 2)
        return min(rows, max(sums // vectors, 1)), vectors

    def run(self) -> None:
        b = self.b
        zero = b.const("i64", 0)
        rows, columns = self.dims[-2:]

        def batch(index: Lane, carried: Carried) -> Carried:
            def across(n: Lane, carried: Carried) -> Carried:
                return counted(
                    b, zero, b.const("i64", rows), self.rows, carried, lambda m, x: self._tile(index, m, n, x)
                )

            return counted(b, zero, b.const("i64", columns), self.width * self.vectors, carried, across)

        counted(b, zero, b.const("i64", self.dims[0] if len(self.dims) > 2 else 1), 1, (), batch)

    def _tile(self, batch: Lane, m: Lane, n: Lane, carried: Carried) -> Carried:
        """One block of the result."""
        b, width = self.b, self.width
        points = [
            self._point(batch, b.add(m, b.const("i64", r)), b.add(n, b.const("i64", v * width)))
            for r in range(self.rows)
            for v in range(self.vectors)
        ]
        sums = [self._extended(b.splat(self._started(point), width)) for point in points]
        for point, total in zip(points, self._sums(batch, m, n, sums), strict=True):
            point.write(self.target, self.axes, self._rounded(total))
        return carried

    def _point(self, batch: Lane, m: Lane, n: Lane) -> Point:
        last = len(self.dims) - 1
        found = {last: Entry(n, vector=True), last - 1: Entry(m)} | ({0: Entry(batch)} if last == 2 else {})
        entries = {axis: entry for axis, entry in found.items() if self.dims[axis] > 1}
        return Point(self.start.analysis, entries, {}, self.width)

    def _started(self, point: Point) -> Lane:
        if self.start.value is None:
            return point.read(self.target, self.axes)
        return point.value(self.start.value, self.axes)

    def _extended(self, lane: Lane) -> Lane:
        """A sum of f16 is added up in f32."""
        return self.b.fpext(lane, "f32") if lane.dtype == "f16" else lane

    def _rounded(self, total: Lane) -> Lane:
        return self.b.fptrunc(total, "f16") if self.target.dtype == "f16" else total

    def _sums(self, batch: Lane, m: Lane, n: Lane, sums: Sequence[Lane]) -> Sequence[Lane]:
        b, scheme, left, right = self.b, self.scheme, self.left, self.right
        place = left.base
        if len(self.dims) > 2:
            place = b.offset(place, b.mul(batch, left.strides[0]), scheme.packed)
        place = b.offset(place, b.mul(m, left.strides[-2]), scheme.packed)
        rows = [b.offset(place, b.mul(b.const("i64", r), left.strides[-2]), scheme.packed) for r in range(self.rows)]
        column = right.at
        if len(self.dims) > 2:
            column = b.offset(column, b.mul(batch, b.const("i64", right.strides[0])), scheme.lane)
        column = b.offset(column, n, scheme.lane)
        each = b.mul(left.strides[-1], b.const("i64", 2 if scheme.pairs else 1))
        across = b.const("i64", right.strides[-2])

        self._prefetch(rows)

        def step(k: Lane, carried: Carried) -> Carried:
            totals = list(carried)
            firsts = [b.offset(row, b.mul(k, each), scheme.packed) for row in rows]
            top = b.offset(column, b.mul(k, across), scheme.lane)
            for u in range(unroll):
                here = b.offset(top, b.mul(b.const("i64", u), across), scheme.lane)
                ys = [
                    b.load(
                        b.offset(here, b.const("i64", v * self.width), scheme.lane),
                        scheme.lane,
                        self.width,
                        align=4,
                    )
                    for v in range(self.vectors)
                ]
                for r, first in enumerate(firsts):
                    at = b.offset(first, b.mul(b.const("i64", u), each), scheme.packed)
                    x = b.splat(b.load(at, scheme.lane, align=1), self.width)
                    for v, y in enumerate(ys):
                        number = r * self.vectors + v
                        totals[number] = scheme.add(b, totals[number], x, y)
            return totals

        unroll = min(UNROLL, self.steps)
        return counted(b, b.const("i64", 0), b.const("i64", self.steps), unroll, sums, step)

    def _prefetch(self, rows: Sequence[Lane]) -> None:
        """Fetch what follows the rows in memory: a loop over tiles is likely to come to it next."""
        b, each = self.b, BYTES[self.scheme.packed]
        bytes_ = self.inner * each
        if self.left.strides[-1].const != 1 or bytes_ > LINE * 8:
            return
        for row in rows:
            for at in range(bytes_, 2 * bytes_, LINE):
                b.prefetch(b.offset(row, b.const("i64", at), "i8"))
