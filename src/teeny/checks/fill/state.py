"""The domain: what lanes that fail a condition hold, per value and condition."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, NamedTuple

from teeny.ir.rules import COMPUTED, LaneState, Number, Undefined

if TYPE_CHECKING:
    from teeny.ir.core import Op
    from teeny.ir.poly import Dim

ANYWHERE: Final = -1
"""The guard that always holds: every row of the truth table."""


class Entry(NamedTuple):
    """What lanes outside a condition hold, under the rows of `guard`. `load` is the masked load that they stem from."""

    state: LaneState
    load: Op | None
    guard: int = ANYWHERE

    @property
    def undefined(self) -> bool:
        return isinstance(self.state, Undefined)


States = dict["Dim", Entry]
"""By condition, a polynomial p that stands for p >= 0. A condition that is missing says: nothing special."""

NOTHING: Final[States] = {}


def same_number(x: float, y: float) -> bool:
    return x == y or (math.isnan(x) and math.isnan(y))


def joined(x: Entry | None, y: Entry | None) -> Entry | None:
    """What holds where either may: undefined wins, a number stays beside nothing special, two numbers are computed."""
    if x is None or y is None:
        return x or y
    guard, load = x.guard | y.guard, x.load or y.load
    if x.undefined or y.undefined:
        if x.undefined and y.undefined:
            return Entry(x.state, x.load, guard)
        return x if x.undefined else y
    if isinstance(x.state, Number) and isinstance(y.state, Number) and same_number(x.state.value, y.state.value):
        return Entry(x.state, load, guard)
    return Entry(COMPUTED, load, guard)


def join_all(*many: States) -> States:
    """The states of a value that is one of several."""
    found: States = {}
    for states in many:
        for key, entry in states.items():
            both = joined(found.get(key), entry)
            assert both is not None
            found[key] = both
    return found


def either(x: Entry | None, y: Entry | None) -> Entry | None:
    """What a choice that is not decided gives: nothing special beside a number is computed."""
    both = joined(x, y)
    if both is None or both.undefined or (x is not None and y is not None):
        return both
    return Entry(COMPUTED, both.load, both.guard)
