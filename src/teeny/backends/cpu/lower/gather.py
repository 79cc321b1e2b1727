"""Elements of a tile picked by an index: the tile lies in a buffer, and each vector gathers from it.

Sizes are powers of two, so a place outside of the tile is brought inside by leaving bits out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from teeny.backends.cpu.lower.analysis import Analysis
from teeny.backends.cpu.lower.forms import Coefficient, Pointer
from teeny.backends.cpu.lower.nest import Nest, versions
from teeny.backends.cpu.lower.point import Entry, Known, Point
from teeny.backends.cpu.lower.state import Buffer, State
from teeny.backends.cpu.lower.store import account, full_width, materialise, scalar_axes, unrolled
from teeny.backends.cpu.lower.transpose import prepared
from teeny.backends.cpu.lower.values import axes_of, dtype_name, memory_name, shape

if TYPE_CHECKING:
    from teeny.ir.core import Op, Value
    from teeny.ir.lanes import Lane

__all__ = ["gather"]


def gather(state: State, op: Op) -> None:
    """Lower a `tt.gather` and bind its result, a buffer."""
    src, index = op.operands
    source = state.bound.get(state.plan.source(src))
    if not isinstance(source, Buffer):
        source = state.buffer(shape(src), dtype_name(src.type))
        materialise(state, [(src, source)])
    dims = shape(index)
    axes = axes_of(dims)
    target = state.buffer(dims, dtype_name(src.type))

    def look(analysis: Analysis) -> None:
        analysis.at(index, axes)
        analysis.write(target, axes)

    def fill(value: Value, buffer: Buffer) -> None:
        materialise(state, [(value, buffer)])

    with prepared(state, dims, range(len(dims)), look, fill) as (analysis, vector):
        _nest(analysis, vector, op, source, target)
    state.bound[op.results[0]] = target


def _nest(analysis: Analysis, vector: int | None, op: Op, source: Buffer, target: Buffer) -> None:
    state, dims = analysis.state, analysis.dims
    width = 1 if vector is None else min(full_width(state), dims[vector])
    analysis.work += op.schema.cost
    account(analysis, width)
    axes = analysis.identity()

    def make(exact: bool) -> tuple[Lane, ...]:
        nest = Nest(analysis, None if exact else vector, 1 if exact else width, unrolled(analysis), exact=exact)

        def inside(entries: dict[int, Entry], known: Known) -> None:
            def body(indices: list[Lane | None], facts: Known) -> None:
                for point in nest.points(entries, indices, facts):
                    point.write(target, axes, _picked(point, op, source))

            nest.vectors(known, body)

        nest.outer(scalar_axes(nest, dims), inside)
        return ()

    versions(analysis, analysis.freeze(), make)
    state.b.epoch += 1


def _picked(point: Point, op: Op, source: Buffer) -> Lane:
    """The elements at one point."""
    b, axis = point.b, int(str(op.attrs["axis"]))
    axes = point.analysis.identity()
    memory = memory_name(source.dtype)
    at = point.value(op.operands[1], axes)
    size = source.shape[axis]
    place = b.zext(b.and_(at, b.const(at.dtype, size - 1)), "i64")
    others = {
        a: Coefficient(b.const("i64", step), step)
        for number, (a, step) in enumerate(zip(axes, source.strides, strict=True))
        if a is not None and number != axis
    }
    first, step = point.place(Pointer(source.at, b.const("i64", 0), others, memory))
    if step is not None:
        first = point.spread(first, step, memory)
    found = b.gather(b.offset(first, b.mul(place, b.const("i64", source.strides[axis])), memory), memory)
    return b.icmp("ne", found, b.const("i8", 0)) if source.dtype == "i1" else found
