"""A few assignments that satisfy all facts: where they disagree, nothing can be proved and no search is needed."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Final

from teeny.ir.fact_space import Space
from teeny.ir.poly import Dim, Poly, evaluate
from teeny.ir.predicate import Op, compare, evaluate_predicate

_TRIED: Final = 24
_KEPT: Final = 8
_SMALL: Final = (0, 1, 2, 5, 3, 17, 8, 64)
_ANY: Final = (0, 1, -1, 3, -7, 2, 16)


def verdicts(space: Space, op: Op, dim: Dim, other: Dim = 0) -> set[bool]:
    """The values of `dim op other` over the samples where it is defined: none, one or both."""
    seen: set[bool] = set()
    for number, row in enumerate(samples(space)):
        values = {**row, **_values_of_free_names(row, number, dim, other)}
        try:
            seen.add(compare(op, evaluate(dim, values), evaluate(other, values)))
        except ArithmeticError:
            continue
        if len(seen) == 2:
            break
    return seen


def _values_of_free_names(row: dict[str, int], number: int, *dims: Dim) -> dict[str, int]:
    free = sorted({name for dim in dims if isinstance(dim, Poly) for name in dim.names if name not in row})
    return {name: _ANY[(number + 3 * index) % len(_ANY)] for index, name in enumerate(free)}


def samples(space: Space) -> list[dict[str, int]]:
    """Values of the new names that occur in facts."""
    if not space.samples:
        used = sorted(space.bounded.union(*(predicate.names for predicate in space.kept)))
        satisfying = (row for row in _rows(space, used) if _satisfies(space, row))
        space.samples.append(list(islice(satisfying, _KEPT)))
    return space.samples[0]


def _rows(space: Space, used: list[str]) -> Iterator[dict[str, int]]:
    """The lowest values, the highest, then ends and small numbers in an order that is the same in every run."""
    yield {name: _value(space, name, 0) for name in used}
    yield {name: _value(space, name, 1) for name in used}
    state = 1
    for _ in range(_TRIED - 2):
        row: dict[str, int] = {}
        for name in used:
            state = state * 1103515245 + 12345 & 0x7FFFFFFF
            row[name] = _value(space, name, state >> 16)
        yield row


def _value(space: Space, name: str, choice: int) -> int:
    """The lowest value for 0, the highest (or a large one) for 1, one of a few others for larger numbers."""
    if name not in space.bounded:
        return _ANY[choice % len(_ANY)]
    _, high = space.symbol_range(name)
    if name in space.powers:
        limit = 20 if high is None else high.bit_length() - 1
        return 1 << (limit * choice if choice < 2 else choice % (limit + 1))
    value = (20 if high is None else high) * choice if choice < 2 else _SMALL[choice % len(_SMALL)]
    return value if high is None else min(value, high)


def _satisfies(space: Space, row: dict[str, int]) -> bool:
    try:
        return all(evaluate_predicate(fact.op, fact.a, fact.b, row) for fact in space.kept)
    except ArithmeticError:
        return False
