"""Tiles that lie across the vectors of a nest, turned in registers before it starts.

Where a nest's vectors run along one axis and a tile is contiguous along another one, each vector would be a gather.
Such a tile is copied into a buffer as it lies, and from there block by block, W x W elements in W registers, into one
that is contiguous along the nest's vectors.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from typing import TYPE_CHECKING

from teeny.backends.cpu.lower.analysis import Access, Analysis
from teeny.backends.cpu.lower.nest import Carried, choose_axis, counted
from teeny.backends.cpu.lower.state import Buffer, State, row_major
from teeny.backends.cpu.lower.values import BYTES, dtype_name, memory_name, shape
from teeny.ir.lanes import Lane

if TYPE_CHECKING:
    from teeny.ir.core import Value

__all__ = ["laid_out", "prepared", "transposed", "turn"]

Look = Callable[[Analysis], None]
"""Evaluates what a nest needs."""


@contextmanager
def prepared(
    state: State, dims: tuple[int, ...], axes: Iterable[int], look: Look, fill: Callable[[Value, Buffer], None]
) -> Generator[tuple[Analysis, int | None], None, None]:
    """The analysis of a nest and its vector axis, one of `axes`; inside, tiles that lie across it are turned.

    `fill(value, buffer)` computes a tile into a buffer.
    """
    analysis = Analysis(state, dims)
    look(analysis)
    width = state.options.width or state.b.features.lanes
    vector = choose_axis(analysis, axes, width)
    across: dict[Value, Access] = {}
    if vector is not None and width > 1 and not state.options.exact:
        for access in analysis.accesses:
            if access.value is None or access.along(vector, dims) is None:
                continue
            value = state.plan.source(access.value)
            if value not in state.turning:
                across.setdefault(value, access)
    kept = {value: state.bound.get(value) for value in across}
    for value, access in across.items():
        assert vector is not None
        state.bound[value] = _turned(state, value, access, vector, dims, fill)
    if across:
        analysis = Analysis(state, dims)
        look(analysis)
    try:
        yield analysis, vector
    finally:
        for value, before in kept.items():
            if before is None:
                del state.bound[value]
            else:
                state.bound[value] = before


def _turned(
    state: State,
    value: Value,
    access: Access,
    vector: int,
    dims: tuple[int, ...],
    fill: Callable[[Value, Buffer], None],
) -> Buffer:
    """A buffer that holds the value contiguously along the vector axis."""
    other = access.along(vector, dims)
    assert other is not None
    from_axis, to_axis = access.axes.index(other), access.axes.index(vector)
    source = state.bound.get(value)
    if not isinstance(source, Buffer):
        source = laid_out(state, value, from_axis)
        # The nest that fills it may run across the tile, too, for the sake of other tiles: it gathers this one.
        state.turning.add(value)
        fill(value, source)
        state.turning.discard(value)
    target = laid_out(state, value, to_axis)
    turn(state, source, target, from_axis, to_axis)
    return target


def laid_out(state: State, value: Value, axis: int) -> Buffer:
    """A buffer for a tile that is contiguous along one of its axes."""
    dims = shape(value)
    order = [a for a in range(len(dims)) if a != axis] + [axis]
    steps = row_major(tuple(dims[a] for a in order))
    strides = [0] * len(dims)
    for a, step in zip(order, steps, strict=True):
        strides[a] = step
    plain = state.buffer(dims, dtype_name(value.type))
    return Buffer(plain.at, dims, plain.dtype, tuple(strides))


def turn(state: State, source: Buffer, target: Buffer, from_axis: int, to_axis: int) -> None:
    """Copy a buffer that is contiguous along one axis to one that is along another."""
    b = state.b
    width = min(state.options.width or b.features.lanes, source.shape[from_axis], source.shape[to_axis])
    memory = memory_name(source.dtype)
    zero = b.const("i64", 0)
    others = [a for a, dim in enumerate(source.shape) if dim > 1 and a not in (from_axis, to_axis)]
    axes = [*others, to_axis, from_axis]

    def at(buffer: Buffer, indices: dict[int, Lane]) -> Lane:
        place = buffer.at
        for axis in axes:
            place = b.offset(place, b.mul(indices[axis], b.const("i64", buffer.strides[axis])), memory)
        return place

    def block(indices: dict[int, Lane]) -> None:
        rows = [
            b.load(
                at(source, indices | {to_axis: b.add(indices[to_axis], b.const("i64", r))}),
                memory,
                width,
                align=BYTES[memory],
            )
            for r in range(width)
        ]
        for r, lane in enumerate(transposed(state, rows)):
            here = indices | {from_axis: b.add(indices[from_axis], b.const("i64", r))}
            b.store(at(target, here), lane, align=BYTES[memory], kills=False)

    def level(number: int, indices: dict[int, Lane]) -> None:
        if number == len(axes):
            block(indices)
            return
        axis = axes[number]

        def inside(index: Lane, carried: Carried) -> Carried:
            level(number + 1, indices | {axis: index})
            return carried

        step = 1 if axis in others else width
        counted(b, zero, b.const("i64", source.shape[axis]), step, (), inside)

    with b.region():
        level(0, {})


def transposed(state: State, rows: list[Lane]) -> list[Lane]:
    """W vectors of W lanes: lane j of the result's i is lane i of the operand's j."""
    b, width = state.b, len(rows)
    step = 1
    while step < width:
        made = list(rows)
        for i in range(width):
            if not i & step:
                x, y = rows[i], rows[i + step]
                made[i] = b.shuffle(x, y, [j if not j & step else width + j - step for j in range(width)])
                made[i + step] = b.shuffle(x, y, [j + step if not j & step else width + j for j in range(width)])
        rows = made
        step *= 2
    return rows
