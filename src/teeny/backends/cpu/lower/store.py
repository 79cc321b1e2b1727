"""Stores, and tiles computed into buffers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from teeny.backends.cpu.lower.alias import add_tests
from teeny.backends.cpu.lower.analysis import Analysis
from teeny.backends.cpu.lower.evaluate import Axes, through_view
from teeny.backends.cpu.lower.forms import Mask, Uniform
from teeny.backends.cpu.lower.nest import Nest, versions
from teeny.backends.cpu.lower.point import Entry, Known
from teeny.backends.cpu.lower.state import Buffer, State
from teeny.backends.cpu.lower.stream import streams
from teeny.backends.cpu.lower.transpose import prepared
from teeny.backends.cpu.lower.values import (
    axes_of,
    dtype_name,
    is_tile,
    kind_of,
    memory_name,
    operand,
    pointee_name,
    shape,
    size,
)

if TYPE_CHECKING:
    from teeny.ir.core import Op, Value
    from teeny.ir.lanes import Lane

__all__ = ["Output", "materialise", "store", "unrolled"]

Output = tuple["Value", Buffer]
"""A value and where its elements go."""


def unrolled(analysis: Analysis) -> int:
    """How many vectors a step of a nest without reduction takes: fewer where each is much work."""
    return 4 if analysis.work <= 4 else 2 if analysis.work <= 16 else 1


def account(analysis: Analysis, width: int) -> None:
    """Add a nest's rough time to the program's."""
    state = analysis.state
    points = size(analysis.dims) / width
    state.cost += state.trips * (5 + points * (0.3 * analysis.work + 0.5 * len(analysis.accesses)))


def lanes(analysis: Analysis, vector: int | None) -> int:
    """Lanes of a nest that stores: half a register of 64 bytes where memory decides, as accesses cross fewer lines."""
    if vector is None:
        return 1
    state = analysis.state
    width = full_width(state)
    if state.options.width is None and width == 16 and analysis.work <= 4:
        width = 8
    return min(width, analysis.dims[vector])


def full_width(state: State) -> int:
    """Lanes of a vector."""
    return state.options.width or state.b.features.lanes


def materialise(state: State, outputs: Sequence[Output]) -> None:
    """Compute tiles of one shape into buffers: at each point all are read before any is written."""
    dims = outputs[0][1].shape
    axes = axes_of(dims)

    def look(analysis: Analysis) -> None:
        for value, buffer in outputs:
            analysis.at(value, axes)
            analysis.write(buffer, axes)

    with prepared(state, dims, range(len(dims)), look, _alone(state)) as (analysis, vector):
        _fill(analysis, vector, outputs)


def _alone(state: State) -> Callable[[Value, Buffer], None]:
    return lambda value, buffer: materialise(state, [(value, buffer)])


def _fill(analysis: Analysis, vector: int | None, outputs: Sequence[Output]) -> None:
    dims = analysis.dims
    axes = analysis.identity()
    width = lanes(analysis, vector)
    account(analysis, width)

    def make(exact: bool) -> tuple[Lane, ...]:
        nest = Nest(analysis, None if exact else vector, 1 if exact else width, unrolled(analysis), exact=exact)

        def inside(entries: dict[int, Entry], known: Known) -> None:
            def body(indices: list[Lane | None], facts: Known) -> None:
                for point in nest.points(entries, indices, facts):
                    lanes = [point.value(value, axes) for value, _ in outputs]
                    for lane, (_, buffer) in zip(lanes, outputs, strict=True):
                        point.write(buffer, axes, lane)

            nest.vectors(known, body)

        nest.outer(scalar_axes(nest, dims), inside)
        return ()

    versions(analysis, analysis.freeze(), make)


def scalar_axes(nest: Nest, dims: tuple[int, ...], leave: int | None = None) -> list[int]:
    """The axes that a nest runs over one by one."""
    return [a for a, dim in enumerate(dims) if dim > 1 and a != nest.vector and a != leave]


def conjuncts(state: State, value: Value, axes: Axes) -> Iterator[tuple[Value, Axes]]:
    """The parts of a mask, all of which must hold."""
    value = state.plan.source(value)
    op = value.op
    if value in state.bound or op is None:
        yield value, axes
    elif op.name == "arith.andi":
        for operand in op.operands:
            yield from conjuncts(state, operand, axes)
    elif kind_of(op) == "view":
        yield from conjuncts(state, *through_view(op, axes))
    else:
        yield value, axes


def bounds_of(analysis: Analysis, mask: Value | None, axes: Axes) -> tuple[frozenset[tuple[int, str]], list[Lane]]:
    """The bounds outside of which a mask is false everywhere, and the scalars without which it is."""
    required: set[tuple[int, str]] = set()
    guards: list[Lane] = []
    if mask is not None:
        for part, at in conjuncts(analysis.state, mask, axes):
            form = analysis.at(part, at)
            if isinstance(form, Mask) and not form.term.negated:
                required.add(form.term.key)
            elif isinstance(form, Uniform) and form.lane.const is None:
                guards.append(form.lane)
    return frozenset(required), guards


def store(state: State, op: Op) -> None:
    """Lower a `tt.store`."""
    if not is_tile(op.operands[0]):
        _store_scalar(state, op)
        return
    pointer = op.operands[0]
    dims = shape(pointer)
    axes = axes_of(dims)

    def look(analysis: Analysis) -> None:
        analysis.access(pointer, axes, analysis.at(pointer, axes), None)
        for value in op.operands[1:]:
            analysis.at(value, axes)

    with prepared(state, dims, range(len(dims)), look, _alone(state)) as (analysis, vector):
        _store_tile(analysis, vector, op)


def _store_tile(analysis: Analysis, vector: int | None, op: Op) -> None:
    state, dims = analysis.state, analysis.dims
    axes = analysis.identity()
    pointer, value = op.operands[:2]
    mask = operand(op, 2)
    required, guards = bounds_of(analysis, mask, axes)
    width = lanes(analysis, vector)
    account(analysis, width)
    known: Known = {(-1, g.text): True for g in guards}
    nest = Nest(analysis, vector, width, unrolled(analysis), required, known=known)
    add_tests(analysis, _last(nest))
    name = pointee_name(pointer.type)

    def make(exact: bool) -> tuple[Lane, ...]:
        if exact:
            _staged(analysis, op, axes)
            return ()

        large = streams(nest, op)
        if large is None:
            fill(stream=False)
            return ()
        state.streamed = True
        with state.b.if_(large) as branch:
            fill(stream=True)
            branch.otherwise()
            fill(stream=False)
        return ()

    def fill(*, stream: bool) -> None:
        def inside(entries: dict[int, Entry], facts: Known) -> None:
            def body(indices: list[Lane | None], facts: Known) -> None:
                for point in nest.points(entries, indices, facts):
                    holds = state.b.const("i1", 1) if mask is None else point.value(mask, axes)
                    if holds.const is not None and not holds.const:
                        continue
                    lane = point.value(value, axes)
                    point.put(point.at(pointer, axes), name, lane, holds, stream=stream)

            nest.vectors(facts, body)

        nest.outer(scalar_axes(nest, dims), inside)

    def guarded() -> None:
        versions(analysis, ok, make)

    ok = analysis.freeze()
    holds = state.b.const("i1", 1)
    for guard in guards:
        holds = state.b.and_(holds, guard)
    if holds.const is not None:
        guarded()
    else:
        with state.b.if_(holds):
            guarded()


def _last(nest: Nest) -> dict[int, Lane]:
    """For each axis the last index at which the nest does anything."""
    b = nest.b
    found: dict[int, Lane] = {}
    for axis, dim in enumerate(nest.analysis.dims):
        required = [t for t in nest.terms(axis) if t.key in nest.required]
        end = nest.end(required) if required else b.const("i64", dim)
        found[axis] = b.sub(b.smax(end, b.const("i64", 1)), b.const("i64", 1))
    return found


def _staged(analysis: Analysis, op: Op, axes: Axes) -> None:
    """The general version: all values first, then all stores, one by one."""
    state = analysis.state
    pointer, value = op.operands[:2]
    dims = analysis.dims
    name = pointee_name(pointer.type)
    staged = state.buffer(dims, memory_name(dtype_name(value.type)))
    for second in (False, True):
        nest = Nest(analysis, None, 1, exact=True)

        def body(entries: dict[int, Entry], known: Known, nest: Nest = nest, second: bool = second) -> None:
            point = nest.point(entries, known)
            if not second:
                lane = point.value(value, axes)
                point.write(staged, axes, state.b.zext(lane, "i8") if lane.dtype == "i1" else lane)
                return
            mask = operand(op, 2)
            holds = state.b.const("i1", 1) if mask is None else point.value(mask, axes)
            lane = point.read(staged, axes)
            if name == "i1":
                lane = state.b.icmp("ne", lane, state.b.const("i8", 0))
            point.put(point.at(pointer, axes), name, lane, holds)

        nest.outer(scalar_axes(nest, dims), body)
        state.b.epoch += 1


def _store_scalar(state: State, op: Op) -> None:
    b = state.b
    name = pointee_name(op.operands[0].type)
    lane = state.scalar(op.operands[1])
    if name == "i1":
        lane = b.zext(lane, "i8")
    given = operand(op, 2)
    mask = b.const("i1", 1) if given is None else state.scalar(given)
    b.masked_store(state.scalar(op.operands[0]), lane, mask, align=1)
