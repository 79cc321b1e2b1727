"""Tests, made when a store's nest starts, that none of its loads reads what an earlier step of it has stored."""

from __future__ import annotations

from typing import TYPE_CHECKING

from teeny.backends.cpu.lower.forms import Coefficient, Pointer, Uniform, extremes
from teeny.backends.cpu.lower.structure import root_of
from teeny.ir.lanes import Lane

if TYPE_CHECKING:
    from teeny.backends.cpu.lower.analysis import Access, Analysis
    from teeny.backends.cpu.lower.state import State
    from teeny.ir.core import Value

__all__ = ["add_tests"]


Parts = tuple["Lane", "Lane", dict[int, Coefficient]]
"""An address (i64), an offset in elements, and coefficients."""


def add_tests(analysis: Analysis, last: dict[int, Lane]) -> None:
    """Add the conditions; `last` has the last index of each axis at which the nest does anything."""
    state = analysis.state
    writes = [a for a in analysis.accesses if a.write]
    reads = [a for a in analysis.accesses if not a.write and a.pointer is not None]
    done: set[tuple[int, int]] = set()
    for write in writes:
        for read in reads:
            key = (id(write.form), id(read.form))
            if key in done or (read.pointer is write.pointer and read.axes == write.axes):
                continue
            done.add(key)
            if _may_alias(state, read.pointer, write.pointer):
                analysis.conditions.append(_safe(state, read, write, last))


def _may_alias(state: State, read: Value | None, write: Value | None) -> bool:
    if not state.options.disjoint or read is None or write is None:
        return True
    source = state.plan.source
    x, y = root_of(read, source), root_of(write, source)
    return x is None or y is None or x is y


def _parts(state: State, access: Access) -> Parts | None:
    b = state.b
    match access.form:
        case Uniform():
            return b.bitcast(access.form.lane, "i64"), b.const("i64", 0), {}
        case Pointer():
            return b.bitcast(access.form.base, "i64"), access.form.offset, access.form.coefficients
        case _:
            return None


def _safe(state: State, read: Access, write: Access, last: dict[int, Lane]) -> Lane:
    """Disjoint ranges, or the same address at each point."""
    b = state.b
    x, y = _parts(state, read), _parts(state, write)
    if x is None or y is None:
        return b.const("i1", 0)
    ranges: list[tuple[Lane, Lane]] = []
    for access, (base, offset, coefficients) in ((read, x), (write, y)):
        low, high = extremes(b, offset, coefficients, last)
        each = b.const("i64", access.size)
        end = b.add(b.add(base, b.mul(high, each)), each)
        ranges.append((b.add(base, b.mul(low, each)), end))
    (low_x, high_x), (low_y, high_y) = ranges
    apart = b.or_(b.icmp("ule", high_x, low_y), b.icmp("ule", high_y, low_x))
    if read.size == write.size and _same_steps(x[2], y[2]):
        apart = b.or_(apart, b.icmp("eq", low_x, low_y))
    rows = [axis for axis in x[2] if axis in y[2] and _row(x[2][axis], y[2][axis])]
    if not rows or (apart.const is not None and apart.const):
        return apart
    with b.if_(apart) as branch:
        branch.yield_([apart])
        branch.otherwise()
        branch.yield_([_beside(state, (read, x), (write, y), rows[0], last)])
    return branch.results[0]


def _row(x: Coefficient, y: Coefficient) -> bool:
    """Whether two accesses step alike from row to row."""
    return x.lane.text == y.lane.text and x.lane.const not in (1, -1)


def _beside(
    state: State, first: tuple[Access, Parts], second: tuple[Access, Parts], axis: int, last: dict[int, Lane]
) -> Lane:
    """Whether two blocks of columns lie side by side in rows of one length, whatever their rows."""
    b = state.b
    ranges: list[tuple[Lane, Lane]] = []
    for access, (base, offset, coefficients) in (first, second):
        inner = {a: c for a, c in coefficients.items() if a != axis}
        low, high = extremes(b, offset, inner, last)
        each = b.const("i64", access.size)
        ranges.append((b.add(base, b.mul(low, each)), b.add(b.mul(b.sub(high, low), each), each)))
    (low_x, span_x), (low_y, span_y) = ranges
    length = b.mul(first[1][2][axis].lane, b.const("i64", first[0].size))
    positive = b.icmp("sgt", length, b.const("i64", 0))
    behind = b.srem(b.sub(low_y, low_x), b.select(positive, length, b.const("i64", 1)))
    distance = b.select(b.icmp("slt", behind, b.const("i64", 0)), b.add(behind, length), behind)
    fits = b.and_(b.icmp("sge", distance, span_x), b.icmp("sge", b.sub(length, distance), span_y))
    return b.and_(positive, fits)


def _same_steps(x: dict[int, Coefficient], y: dict[int, Coefficient]) -> bool:
    return x.keys() == y.keys() and all(x[axis].lane.text == y[axis].lane.text for axis in x)
