"""Matrix products: what lanes outside a condition do to a sum along the inner axis, and what the result holds.

A condition that varies along the inner axis ends there. An undefined lane outside it spoils sums and is an error; what
is not 0 on one side does no harm where the other side holds 0 in those lanes. All other conditions live on: rows of the
first operand are rows of the result, columns of the second its columns.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from teeny.checks.fill.state import Entry, States
from teeny.ir.rules import COMPUTED, Number
from teeny.ir.types import shape_of

if TYPE_CHECKING:
    from teeny.checks.fill.analysis import Analysis
    from teeny.ir.core import Op, Value
    from teeny.ir.poly import Dim


def dot_(a: Analysis, op: Op) -> None:
    """Findings about a `tt.dot`, and the states of its result."""
    x, y, total = op.operands
    rank = len(shape_of(x.type))
    if not any(summed(a, op, side, axis) for side, axis in ((x, rank - 1), (y, rank - 2))):
        _fills(a, op, rank)
    made: States = {}
    rows, columns = kept(a, x, rank - 1), kept(a, y, rank - 2)
    for key in dict.fromkeys((*rows, *columns, *a.of(total))):
        sides = [s[key] for s in (rows, columns) if key in s]
        entry = entry_of(sides, a.entry(total, key))
        if entry is not None:
            made[key] = entry
    a.states[op.results[0]] = made


def kept(a: Analysis, side: Value, inner: int) -> States:
    return {key: entry for key, entry in a.of(side).items() if not a.keys.atoms.varies(key, inner)}


def entry_of(sides: list[Entry], total: Entry | None) -> Entry | None:
    """A product with undefined lanes is undefined, one with zeros leaves the accumulator as it is."""
    present = [*sides, *([total] if total is not None else [])]
    guard = 0
    for one in present:
        guard |= one.guard
    for one in present:
        if one.undefined:
            return one
    load = next((e.load for e in present if e.load is not None), None)
    zero = any(isinstance(e.state, Number) and e.state.value == 0 for e in sides)
    if sides and not zero:
        return Entry(COMPUTED, load, guard)
    return total._replace(load=total.load or load) if total is not None else None


def _entries(a: Analysis, op: Op, side: Value, inner: int) -> list[tuple[Dim, Entry]]:
    """The conditions along the inner axis that the path does not imply, with what lanes outside them hold."""
    rows = a.possible if op.guard is None else a.possible & op.guard
    found = [
        (key, entry._replace(guard=entry.guard & rows))
        for key, entry in a.of(side).items()
        if a.keys.atoms.varies(key, inner) and entry.guard & rows
    ]
    return [(key, entry) for key, entry in found if not a.keys.implies(a.path, key, entry.guard)]


def summed(a: Analysis, op: Op, side: Value, inner: int) -> bool:
    """Report undefined lanes along the inner axis; whether there were any."""
    undefined = [(key, entry) for key, entry in _entries(a, op, side, inner) if entry.undefined]
    for key, entry in undefined:
        a.found("F007", op, "dot", key, entry)
    return bool(undefined)


def _fills(a: Analysis, op: Op, rank: int) -> None:
    """Report lanes that are not 0 where the other side holds no 0 to meet them; one side of a pair is enough."""
    x, y, _ = op.operands
    to_y = tuple((rank - 2 if axis == rank - 1 else axis,) for axis in range(rank))
    to_x = tuple((rank - 1 if axis == rank - 2 else axis,) for axis in range(rank))
    reported = unmet(a, op, (x, rank - 1), (y, rank - 2), to_y)
    if not reported:
        unmet(a, op, (y, rank - 2), (x, rank - 1), to_x)


def unmet(
    a: Analysis, op: Op, side: tuple[Value, int], other: tuple[Value, int], axes: tuple[tuple[int], ...] | None
) -> bool:
    """Report lanes of one side that are not 0; `axes` leads to those of the other side, None where nothing does."""
    zeros = [key for key, entry in a.of(other[0]).items() if isinstance(entry.state, Number) and entry.state.value == 0]
    reported = False
    rank = len(shape_of(side[0].type))
    outer = [axis for axis in range(rank) if axis >= rank - 2 and axis != side[1]]
    for key, entry in _entries(a, op, *side):
        number = isinstance(entry.state, Number)
        if entry.load is None or (isinstance(entry.state, Number) and entry.state.value == 0):
            continue
        finite = not isinstance(entry.state, Number) or math.isfinite(entry.state.value)  # else 0 times it is a NaN
        alone = finite and not any(a.keys.atoms.varies(key, axis) for axis in outer)
        there = a.keys.atoms.moved(key, axes) if alone and axes is not None else None
        if there is not None and any(a.keys.implies(frozenset((zero,)), there, entry.guard) for zero in zeros):
            continue
        a.found("F002" if number else "F003", op, "dot", key, entry)
        reported = True
    return reported
