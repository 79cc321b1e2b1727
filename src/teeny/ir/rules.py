"""The vocabulary in which operations state their transfer rules.

Interval: a pair `(low, high)` of Python numbers, `-inf` and `inf` allowed, that holds every lane's value.

Masked-lane value: what the lanes *outside one mask conjunct* hold. `None`: nothing special, the same as any other lane;
`Number(v)`: the constant v; `COMPUTED`: something computed from such lanes; `Beyond(v, "max")`: v or something larger;
`Undefined(op)`: the result of the masked load `op`, which had no `other`. Undefined wins over all (unless an operation
discards the lane).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from teeny.ir.core import Op

Interval = tuple[float, float]
EVERYTHING: Interval = (-math.inf, math.inf)


@dataclass(frozen=True, slots=True)
class Number:
    value: float


@dataclass(frozen=True, slots=True)
class Computed:
    pass


@dataclass(frozen=True, slots=True)
class Undefined:
    source: Op


@dataclass(frozen=True, slots=True)
class Beyond:
    """The larger (`group` "max") or smaller ("min") of `value`, a fill, and something else: a maximum so far."""

    value: float
    group: str


COMPUTED = Computed()
LaneState = Number | Computed | Beyond | Undefined | None
Absorb = Callable[[tuple[LaneState, ...]], LaneState]
"""Given the operands' states (none undefined): the result where one operand alone decides it, else None."""


@dataclass(frozen=True, slots=True)
class Lanewise:
    """Lane i of the result depends on lane i of the operands alone. Numbers fold through the schema's `fold`."""

    absorb: Absorb | None = None


@dataclass(frozen=True, slots=True)
class Structural:
    """Handled by the named rule of each consumer (an index expression, a region, memory): not lane by lane."""

    kind: str


@dataclass(frozen=True, slots=True)
class Absent:
    """The slot is empty, and why."""

    reason: str


def neutral(*values: float) -> Absorb:
    """A binary operation of which either operand may be one of `values`: the other operand passes through."""

    def rule(states: tuple[LaneState, ...]) -> LaneState:
        x, y = states
        if isinstance(x, Number) and x.value in values:
            return y
        if isinstance(y, Number) and y.value in values:
            return x
        return None

    return rule


def absorbing(*values: float) -> Absorb:
    """A binary operation that gives the operand itself wherever it is one of `values`."""

    def rule(states: tuple[LaneState, ...]) -> LaneState:
        for state in states:
            if isinstance(state, Number) and state.value in values:
                return state
        return None

    return rule


def either(*rules: Absorb) -> Absorb:
    """The first rule that decides."""

    def rule(states: tuple[LaneState, ...]) -> LaneState:
        for one in rules:
            found = one(states)
            if found is not None:
                return found
        return None

    return rule


def unchanged(x: Interval) -> Interval:
    """The interval rule of an operation that keeps values as they are, or rounds within the same bounds."""
    return x


def monotone(f: Callable[[float], float]) -> Callable[[Interval], Interval]:
    """The interval rule of a rising function."""

    def rule(x: Interval) -> Interval:
        return _safe(f, x[0], -math.inf), _safe(f, x[1], math.inf)

    return rule


def _safe(f: Callable[[float], float], x: float, default: float) -> float:
    try:
        return f(x)
    except (ValueError, OverflowError):
        return default
