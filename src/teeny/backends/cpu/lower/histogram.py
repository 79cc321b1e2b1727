"""Histograms: each element adds one to its own count, in turn."""

from __future__ import annotations

from typing import TYPE_CHECKING

from teeny.backends.cpu.lower.elements import get, place
from teeny.backends.cpu.lower.join import viewed
from teeny.backends.cpu.lower.nest import Carried, counted
from teeny.backends.cpu.lower.state import Buffer, State
from teeny.backends.cpu.lower.store import full_width, materialise
from teeny.backends.cpu.lower.values import dtype_name, shape

if TYPE_CHECKING:
    from teeny.ir.core import Op, Value
    from teeny.ir.lanes import Lane

__all__ = ["histogram"]

APART = 4
"""Rows of counts that elements take by turns: equal neighbours do not wait for one another."""


def histogram(state: State, op: Op) -> None:
    """Lower a `tt.histogram`. Elements that do not count are counted in a place of their own, which nobody reads."""
    b = state.b
    result = op.results[0]
    (count,), (bins,) = shape(op.operands[0]), shape(result)
    dtype = dtype_name(result.type)
    target = state.buffer((bins,), dtype)
    top = state.arena.top
    values, mask = [_row(state, v) for v in op.operands], len(op.operands) > 1
    rows = min(APART, count)
    counts = state.buffer((rows, 2 * bins), dtype)
    zero, one = b.const("i64", 0), b.const(dtype, 1)
    width = min(full_width(state), bins)
    state.cost += state.trips * (2.0 * count + rows * bins / width)

    flat = Buffer(counts.at, (rows * 2 * bins,), dtype, (1,))

    def clear(index: Lane, carried: Carried) -> Carried:
        b.store(place(b, flat, {0: index}), b.splat(b.const(dtype, 0), width))
        return carried

    def add(index: Lane, carried: Carried) -> Carried:
        for row in range(rows):
            at = b.add(index, b.const("i64", row))
            x = b.sext(get(b, values[0], {0: at}), "i64")
            inside = b.icmp("ult", x, b.const("i64", bins))
            if mask:
                inside = b.and_(inside, get(b, values[1], {0: at}))
            bin_ = b.select(inside, x, b.const("i64", bins))
            here = place(b, counts, {0: b.const("i64", row), 1: bin_})
            b.store(here, b.add(b.load(here, dtype), one))
        return carried

    def total(index: Lane, carried: Carried) -> Carried:
        found = [get(b, counts, {0: b.const("i64", row), 1: index}, width) for row in range(rows)]
        while len(found) > 1:
            found = [b.add(x, y) for x, y in zip(found[::2], found[1::2], strict=True)]
        b.store(place(b, target, {0: index}), found[0])
        return carried

    for end, step, body in ((rows * 2 * bins, width, clear), (count, rows, add), (bins, width, total)):
        b.epoch += 1
        counted(b, zero, b.const("i64", end), step, (), body)
    b.epoch += 1
    state.arena.top = top
    state.bound[result] = target


def _row(state: State, value: Value) -> Buffer:
    found = viewed(state, value)
    if found is None or found.carried:
        found = state.buffer(shape(value), dtype_name(value.type))
        materialise(state, [(value, found)])
    return found
