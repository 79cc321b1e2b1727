"""Picked elements in the check of fills: an index may pick any lane along its axis."""

from __future__ import annotations

from typing import TYPE_CHECKING

from teeny.checks.fill.state import Entry, States
from teeny.ir.rules import COMPUTED

if TYPE_CHECKING:
    from teeny.checks.fill.analysis import Analysis
    from teeny.ir.core import Op

EVERYWHERE = -1
"""The condition that never holds: all lanes are outside of it."""


def gather_(a: Analysis, op: Op) -> None:
    """What undefined places give is undefined, and undefined lanes along the axis may be picked by any.

    Lanes outside a condition on another axis stay where they are.
    """
    src, index = op.operands
    axis = int(str(op.attrs["axis"]))
    made: States = {}
    for key, entry in a.of(src).items():
        if not a.keys.atoms.varies(key, axis):
            made[key] = entry
        elif entry.undefined:
            made[EVERYWHERE] = entry
    for key, entry in a.of(index).items():
        made.setdefault(key, entry if entry.undefined else Entry(COMPUTED, entry.load, entry.guard))
        if entry.undefined:
            made[key] = entry
    a.states[op.results[0]] = made
