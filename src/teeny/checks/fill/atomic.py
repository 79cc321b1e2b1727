"""Atomic operations in the check of fills: they store, and what they give outside their mask is undefined."""

from __future__ import annotations

from typing import TYPE_CHECKING

from teeny.checks.fill.state import Entry, States
from teeny.ir.rules import Undefined
from teeny.ir.schema import named

if TYPE_CHECKING:
    from teeny.checks.fill.analysis import Analysis
    from teeny.ir.core import Op


def atomic_(a: Analysis, op: Op) -> None:
    """Undefined lanes that are written, or compared with; and the lanes of the result that took no part."""
    mask = named(op, "mask")
    have = a.address(op, mask)
    for name in ("expected", "value"):
        value = named(op, name)
        if value is not None and have is not None:
            a.demand("F004", op, "stored", value, have)
    if not op.results or mask is None:
        return
    rows = a.possible if op.guard is None else op.guard
    made: States = {key: Entry(Undefined(op), op, rows) for key in a.keys.exact(mask)}
    a.states[op.results[0]] = made
