"""Guards: under which Const conditions of a kernel something is executed or defined.

A guard is a Python int, used as a truth table: bit r says whether the guard holds in row r, and bit i of r is the
value of atom i. Tables have the same 2**12 rows from the start, so a guard keeps its meaning when atoms are added;
`a & b` and `a | b` are plain int operations. Rows that facts make impossible (two dtypes at once, a failed
static_assert) are removed from all judgements by `exclude`.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Mapping
from functools import reduce
from typing import Final, TypeAlias

Guard: TypeAlias = int
Cube: TypeAlias = "tuple[tuple[int, bool], ...]"
"""A conjunction: (atom index, value) pairs in rising order of index; () is always true."""

ATOM_LIMIT: Final = 12
ROWS: Final = 1 << ATOM_LIMIT
TRUE: Final[Guard] = (1 << ROWS) - 1
FALSE: Final[Guard] = 0

_SHOWN_CASES: Final = 4
_OPERATOR: Final = r" (is not|is|not in|in|==|!=|<=|>=|<|>|and|or|if)(?= )"
_PAIRS: Final = (("is", "is not"), ("in", "not in"), ("==", "!="), ("<", ">="), (">", "<="))
_OPPOSITE: Final = {a: b for pair in _PAIRS for a, b in (pair, pair[::-1])}


def _variable(index: int) -> Guard:
    """The table of atom `index`: runs of 2**index zeros and ones in turn."""
    run = 1 << index
    return TRUE // ((1 << run) + 1) << run


VARIABLES: Final = tuple(map(_variable, range(ATOM_LIMIT)))


class AtomTable:
    """The Const conditions of one kernel and what is known about them."""

    __slots__ = ("_index", "_negated", "_possible", "_texts")

    def __init__(self) -> None:
        self._index: dict[Hashable, int] = {}
        self._texts: list[str] = []
        self._negated: list[str | None] = []
        self._possible: Guard = TRUE

    @property
    def true(self) -> Guard:
        """The guard that always holds."""
        return TRUE

    @property
    def false(self) -> Guard:
        """The guard that never holds."""
        return FALSE

    @property
    def full(self) -> bool:
        """Whether a new condition would get no atom."""
        return len(self._texts) == ATOM_LIMIT

    @property
    def keys(self) -> tuple[Hashable, ...]:
        """The keys of the atoms, in the order of their bits."""
        return tuple(self._index)

    @property
    def possible(self) -> Guard:
        """The rows that nothing excludes."""
        return self._possible

    def atom(self, key: Hashable, text: str, negated: str | None = None) -> Guard | None:
        """The guard that holds where the condition `key` does; None where the table is full.

        `text` is the condition as messages show it, `negated` its opposite (by default derived from `text`).
        """
        index = self._index.get(key)
        if index is None:
            if self.full:
                return None
            index = self._index[key] = len(self._texts)
            self._texts.append(text)
            self._negated.append(negated)
        return VARIABLES[index]

    def and_(self, *guards: Guard) -> Guard:
        """All of the guards hold."""
        return reduce(int.__and__, guards, TRUE)

    def or_(self, *guards: Guard) -> Guard:
        """At least one of the guards holds."""
        return reduce(int.__or__, guards, FALSE)

    def not_(self, guard: Guard) -> Guard:
        """The guard does not hold."""
        return TRUE ^ guard

    def implies(self, a: Guard, b: Guard) -> bool:
        """Whether b holds in every possible row where a does."""
        return not (a & ~b & self._possible)

    def is_false(self, guard: Guard) -> bool:
        """Whether the guard holds in no possible row."""
        return not (guard & self._possible)

    def is_true(self, guard: Guard) -> bool:
        """Whether the guard holds in every possible row."""
        return not (~guard & self._possible)

    def same(self, a: Guard, b: Guard) -> bool:
        """Whether a and b hold in the same possible rows."""
        return not ((a ^ b) & self._possible)

    def exclude(self, guard: Guard) -> None:
        """From now on, no row in which the guard holds is possible."""
        self._possible &= ~guard

    def assume(self, guard: Guard) -> None:
        """From now on, only rows in which the guard holds are possible."""
        self._possible &= guard

    def row(self, values: Mapping[Hashable, bool]) -> int:
        """The row of these values, for `holds`. Raises KeyError for a missing atom; keys that are none are ignored."""
        return sum(1 << index for key, index in self._index.items() if values[key])

    def evaluate(self, guard: Guard, values: Mapping[Hashable, bool]) -> bool:
        """Whether the guard holds. Raises KeyError for a missing atom that the guard depends on."""
        row = 0
        for key, index in self._index.items():
            value = values.get(key)
            if value or (value is None and _depends(guard, index) and values[key]):
                row |= 1 << index
        return holds(guard, row)

    def support(self, guard: Guard) -> tuple[Hashable, ...]:
        """The keys of the atoms that the guard depends on, in the order of their bits."""
        return tuple(key for key, index in self._index.items() if _depends(guard, index))

    def describe(self, guard: Guard) -> str:
        """A short condition that is equal to the guard in all possible rows, such as `CAUSAL and D is f32`.

        "always" and "never" where it is constant; long alternatives are cut short with "...".
        """
        if self.is_false(guard):
            return "never"
        if self.is_true(guard):
            return "always"
        cases, others = self._shortest_cover(guard), self._shortest_cover(TRUE ^ guard)
        if len(others) == 1 and len(cases) > 1:
            return f"not ({self._cube_text(others[0])})"
        cases.sort(key=lambda cube: [(index, not value) for index, value in cube])
        shown = [self._cube_text(cube) for cube in cases[:_SHOWN_CASES]]
        if len(cases) > 1:
            shown = [f"({text})" if len(cube) > 1 else text for text, cube in zip(shown, cases, strict=False)]
        return " or ".join(shown if len(cases) <= _SHOWN_CASES else [*shown, "..."])

    def _shortest_cover(self, guard: Guard) -> list[Cube]:
        """The shorter of two sums of products: one that uses the impossible rows, one that does not."""
        loose = _cover(guard & self._possible, guard | (TRUE ^ self._possible), len(self._texts))
        strict = _cover(guard, guard, len(self._texts))
        return min(strict, loose, key=lambda cubes: (len(cubes), sum(map(len, cubes))))

    def _cube_text(self, cube: Cube) -> str:
        return " and ".join(self._literal_text(index, value) for index, value in cube)

    def _literal_text(self, index: int, value: bool) -> str:
        return self._texts[index] if value else self._negated[index] or _negation(self._texts[index])


def holds(guard: Guard, row: int) -> bool:
    """Whether the guard holds in a row that `AtomTable.row` gave."""
    return bool(guard >> row & 1)


def _cofactors(guard: Guard, index: int) -> tuple[Guard, Guard]:
    """The guard with atom `index` fixed to False and to True; neither depends on it any more."""
    one = VARIABLES[index]
    run = 1 << index
    low, high = guard & ~one, guard & one
    return low | low << run, high | high >> run


def _depends(guard: Guard, index: int) -> bool:
    low, high = _cofactors(guard, index)
    return low != high


def _cover(least: Guard, most: Guard, atoms: int) -> list[Cube]:
    """An irredundant sum of products between two guards (the algorithm of Minato and Morreale)."""
    return _cover_parts(least, most, atoms - 1)[0]


def _cover_parts(least: Guard, most: Guard, index: int) -> tuple[list[Cube], Guard]:
    """The products, and the guard that they make together; atoms above `index` are settled."""
    if not least:
        return [], FALSE
    if most == TRUE:
        return [()], TRUE
    while not (_depends(least, index) or _depends(most, index)):
        index -= 1
    least_low, least_high = _cofactors(least, index)
    most_low, most_high = _cofactors(most, index)
    low, low_made = _cover_parts(least_low & ~most_high, most_low, index - 1)
    high, high_made = _cover_parts(least_high & ~most_low, most_high, index - 1)
    left = least_low & ~low_made | least_high & ~high_made
    both, both_made = _cover_parts(left, most_low & most_high, index - 1)
    one = VARIABLES[index]
    made = (low_made & ~one) | (high_made & one) | both_made
    cubes = [(*cube, (index, False)) for cube in low] + [(*cube, (index, True)) for cube in high]
    return cubes + both, made


def _negation(text: str) -> str:
    operators = re.findall(_OPERATOR, text)
    if not operators:
        plain = text.replace(".", "_").isidentifier()
        return text[4:] if text.startswith("not ") else f"not {text}" if plain else f"not ({text})"
    opposite = _OPPOSITE.get(operators[0]) if len(operators) == 1 and not text.startswith("not ") else None
    return f"not ({text})" if opposite is None else text.replace(f" {operators[0]} ", f" {opposite} ")
