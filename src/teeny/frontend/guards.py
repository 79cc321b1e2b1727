"""Compile-time bools as guards."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from teeny.frontend.values import Comparison, Condition
from teeny.ir.facts import Facts, decide
from teeny.ir.guard import TRUE
from teeny.ir.predicate import NEGATED, Predicate

if TYPE_CHECKING:
    from teeny.frontend.context import Context


def guard_of(c: Context, value: Any) -> int | None:
    """The guard of a compile-time bool; None for other values, and where the table of conditions is full."""
    if isinstance(value, Condition):
        return value.guard
    if isinstance(value, bool):
        return TRUE if value else 0
    if isinstance(value, Comparison):
        guard = c.table.atom(value.predicate, value.text)
        if guard is not None and guard not in c.predicates:
            c.predicates[guard] = value.predicate
            _relate(c, guard, value.predicate)
        return guard
    return None


def _relate(c: Context, guard: int, new: Predicate) -> None:
    """Exclude the rows in which a new comparison contradicts an earlier one of the same two sides."""
    for atom, old in c.predicates.items():
        if atom == guard or old.op not in NEGATED or not (old.names & new.names):
            continue
        for side, a in ((guard, new), (TRUE ^ guard, Predicate(NEGATED[new.op], new.a, new.b))):
            verdict = decide(Facts((a,)), old.op, old.a, old.b)
            if verdict is not None:
                c.table.exclude(side & (TRUE ^ atom if verdict else atom))
