"""Deciding by enumeration: where names have few values, all cases together are a proof."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from math import prod
from operator import add, mul
from typing import Final

from teeny.ir.fact_space import Space
from teeny.ir.int_ops import compute, monomial_power
from teeny.ir.poly import Atom, Dim, names
from teeny.ir.predicate import Op, compare, evaluate_predicate

CASE_LIMIT: Final = 441
"""Two names that are powers of two up to 2**20."""

Columns = dict[str, list[int]]
"""Of every name its value in each case."""


def decide_by_cases(space: Space, op: Op, a: Dim, b: Dim) -> bool | None:
    """The verdict over all values of the new names, None where they are too many, differ or have no value."""
    wanted = names(a) | names(b)
    linked = wanted.union(*(fact.names for fact in space.kept if not fact.names.isdisjoint(wanted)))
    columns = cases(space, linked)
    if columns is None and linked != wanted:
        columns = cases(space, wanted)
    if columns is None:
        return None
    count = len(next(iter(columns.values()), ()))
    if count == 0:
        return True
    try:
        few = {evaluate_predicate(op, a, b, _case(columns, row)) for row in (0, count // 2, count - 1)}
        if len(few) == 2:
            return None
        verdicts = _verdicts(op, a, b, columns, count)
    except ArithmeticError:
        return None
    return verdicts.pop() if len(verdicts) == 1 else None


def _verdicts(op: Op, a: Dim, b: Dim, columns: Columns, count: int) -> set[bool]:
    left, right = column(a, columns, count), column(b, columns, count)
    return {compare(op, x, y) for x, y in set(zip(left, right, strict=True))}


def _case(columns: Columns, row: int) -> dict[str, int]:
    return {name: values[row] for name, values in columns.items()}


def cases(space: Space, wanted: frozenset[str]) -> Columns | None:
    """All assignments of these names that the facts about them allow, or None where they are too many."""
    if wanted not in space.cases:
        space.cases[wanted] = _cases(space, sorted(wanted))
    return space.cases[wanted]


def _cases(space: Space, wanted: list[str]) -> Columns | None:
    domains: list[Sequence[int]] = []
    for name in wanted:
        if name not in space.high:
            return None
        last = space.high[name]
        domains.append([1 << n for n in range(last.bit_length())] if name in space.powers else range(last + 1))
    if prod(map(len, domains)) > CASE_LIMIT:
        return None
    columns = dict(zip(wanted, map(list, zip(*product(*domains), strict=True)), strict=True))
    for predicate in space.kept:
        if predicate.names <= columns.keys():
            columns = _filtered(columns, predicate.op, predicate.a, predicate.b)
    return columns


def _filtered(columns: Columns, op: Op, a: Dim, b: Dim) -> Columns:
    """The cases in which the predicate holds; all of them where it is undefined in one."""
    count = len(next(iter(columns.values())))
    try:
        left, right = column(a, columns, count), column(b, columns, count)
    except ArithmeticError:
        return columns
    rows = [row for row in range(count) if compare(op, left[row], right[row])]
    return {name: [values[row] for row in rows] for name, values in columns.items()}


def column(dim: Dim, columns: Columns, count: int) -> list[int]:
    """The dim in each of `count` cases. Raises ArithmeticError where it is undefined in one."""
    if isinstance(dim, int):
        return [dim] * count
    if dim.atom is not None:
        return _atom_column(dim.atom, columns, count)
    total: list[int] | None = None
    for monomial, coefficient in dim.terms.items():
        values: list[int] | None = None
        for atom, exponent in monomial:
            factor = _atom_column(atom, columns, count)
            if exponent != 1:
                factor = [monomial_power(value, exponent) for value in factor]
            values = factor if values is None else list(map(mul, values, factor))
        if values is None:
            values = [coefficient] * count
        elif coefficient != 1:
            values = [coefficient * value for value in values]
        total = values if total is None else list(map(add, total, values))
    return total or []


def _atom_column(atom: Atom, columns: Columns, count: int) -> list[int]:
    if atom.kind == "symbol":
        return columns[atom.text]
    args = [column(arg, columns, count) for arg in atom.args]
    if atom.kind == "//":
        return [x // y for x, y in zip(*args, strict=True)]
    if atom.kind == "%":
        return [x % y for x, y in zip(*args, strict=True)]
    return [compute(atom.kind, list(values)) for values in zip(*args, strict=True)]
