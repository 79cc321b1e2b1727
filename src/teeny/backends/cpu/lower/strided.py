"""Tiles that lie in memory as they are: an address and a stride for each axis, no mask that leaves anything out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from teeny.backends.cpu.lower.analysis import Analysis
from teeny.backends.cpu.lower.evaluate import through_view
from teeny.backends.cpu.lower.forms import Mask, Pointer, Uniform
from teeny.backends.cpu.lower.state import Buffer, State
from teeny.backends.cpu.lower.store import conjuncts
from teeny.backends.cpu.lower.values import axes_of, kind_of, operand, shape

if TYPE_CHECKING:
    from teeny.backends.cpu.lower.evaluate import Axes
    from teeny.ir.core import Op, Value
    from teeny.ir.lanes import Lane

__all__ = ["Strided", "of_buffer", "strided"]


@dataclass(frozen=True, slots=True, eq=False)
class Strided:
    """Element (i, j, ...) is `strides[0] * i + strides[1] * j + ...` elements behind `base`, if `holds` (an i1)."""

    base: Lane
    strides: tuple[Lane, ...]
    holds: Lane


def of_buffer(state: State, buffer: Buffer) -> Strided:
    b = state.b
    return Strided(buffer.at, tuple([b.const("i64", s) for s in buffer.strides]), b.const("i1", 1))


def strided(state: State, value: Value) -> Strided | None:
    """How a tile lies in memory, as far as a test made here says so; None where it is no plain load or buffer."""
    if state.options.exact:
        return None
    dims = shape(value)
    value, axes = _inner(state, value, axes_of(dims))
    bound, b = state.bound.get(value), state.b
    if isinstance(bound, Buffer):
        zero = [b.const("i64", 0)] * len(dims)
        for axis, step in zip(axes, bound.strides, strict=True):
            if axis is not None:
                zero[axis] = b.const("i64", step)
        return Strided(bound.at, tuple(zero), b.const("i1", 1))
    op = value.op
    if op is None or op.name != "tt.load":
        return None
    return _loaded(state, op, axes, dims)


def _inner(state: State, value: Value, axes: Axes) -> tuple[Value, Axes]:
    value = state.plan.source(value)
    while value not in state.bound and value.op is not None and kind_of(value.op) == "view":
        value, axes = through_view(value.op, axes)
        value = state.plan.source(value)
    return value, axes


def _loaded(state: State, op: Op, axes: Axes, dims: tuple[int, ...]) -> Strided | None:
    b = state.b
    analysis = Analysis(state, dims)
    form = analysis.at(op.operands[0], axes)
    holds = b.const("i1", 1)
    mask = operand(op, 1)
    for part, at in conjuncts(state, mask, axes) if mask is not None else ():
        found = analysis.at(part, at)
        if isinstance(found, Uniform):
            holds = b.and_(holds, found.lane)
        elif isinstance(found, Mask) and not found.term.negated:
            holds = b.and_(holds, b.icmp("sge", found.term.bound, b.const("i64", dims[found.term.axis])))
        else:
            return None
    holds = b.and_(holds, analysis.freeze())
    if not isinstance(form, Pointer) or (holds.const is not None and not holds.const):
        return None
    strides = [b.const("i64", 0)] * len(dims)
    for axis, c in form.coefficients.items():
        strides[axis] = c.lane
    return Strided(b.offset(form.base, form.offset, form.name), tuple(strides), holds)
