"""Scans: which lanes a fill reaches.

Lanes outside a condition that ends a row, such as `cols < n`, come last: a scan in rising order reaches them after all
others, so that they may hold anything. A scan that starts with them is like a reduction.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from teeny.checks.fill.reduction import harmless
from teeny.checks.fill.state import Entry, States, join_all
from teeny.ir.rules import COMPUTED, Number

if TYPE_CHECKING:
    from teeny.checks.fill.analysis import Analysis
    from teeny.ir.core import Op, Value
    from teeny.ir.poly import Dim


def scan_(a: Analysis, op: Op) -> None:
    """Report fills that a scan takes in before other lanes; find what its results hold."""
    together = join_all(*[_scanned(a, op, value) for value in op.operands])
    for value in op.results:
        a.states[value] = together


def _scanned(a: Analysis, op: Op, value: Value) -> States:
    rows = a.possible if op.guard is None else a.possible & op.guard
    made: States = {}
    for key, entry in a.of(value).items():
        if not a.keys.atoms.varies(key, int(str(op.attrs["axis"]))):
            made[key] = a.after(op, entry)
            continue
        found = _along(a, op, value, key, entry, entry.guard & rows)
        if found is not None:
            made[key] = found
    return made


def _along(a: Analysis, op: Op, value: Value, key: Dim, entry: Entry, guard: int) -> Entry | None:
    """What is outside a condition that varies along the axis; None where it has been reported."""
    slope = a.keys.atoms.slope(key, int(str(op.attrs["axis"])))
    comes_last = slope == (1 if op.attrs["reverse"] else -1)
    if not comes_last and guard:
        a.reduced(op, value, key, entry._replace(guard=guard))
        if entry.undefined:
            return entry if a.keys.implies(a.path, key, guard) else None
        kept = slope and isinstance(entry.state, Number) and harmless(op, value, entry.state.value)
        if kept and len(op.operands) == 1:
            return a.after(op, entry)
    return entry if entry.undefined else entry._replace(state=COMPUTED)
