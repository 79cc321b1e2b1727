"""Predicates over symbolic dims: what a static_assert assumes and what an obligation asks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from teeny.ir.poly import Dim, evaluate, names

Op: TypeAlias = Literal["eq", "ne", "lt", "le", "gt", "ge", "pow2", "divides"]

NEGATED: Final[Mapping[Op, Op]] = {"eq": "ne", "ne": "eq", "lt": "ge", "ge": "lt", "le": "gt", "gt": "le"}
_SIGNS: Final[Mapping[Op, str]] = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}


@dataclass(frozen=True, slots=True)
class Predicate:
    """`a op b`. pow2: a is a power of two (b is ignored); divides: a is not 0 and divides b."""

    op: Op
    a: Dim
    b: Dim = 0

    @property
    def names(self) -> frozenset[str]:
        """The names that the predicate depends on."""
        return names(self.a) | names(self.b)

    def __str__(self) -> str:
        if self.op == "pow2":
            return f"{self.a} is a power of two"
        if self.op == "divides":
            return f"{self.a} divides {self.b}"
        return f"{self.a} {_SIGNS[self.op]} {self.b}"


def compare(op: Op, a: int, b: int) -> bool:
    """The predicate for ints."""
    match op:
        case "eq":
            return a == b
        case "ne":
            return a != b
        case "lt":
            return a < b
        case "le":
            return a <= b
        case "gt":
            return a > b
        case "ge":
            return a >= b
        case "pow2":
            return a > 0 and a & (a - 1) == 0
        case "divides":
            return a != 0 and b % a == 0


def evaluate_predicate(op: Op, a: Dim, b: Dim | None, assignment: Mapping[str, int]) -> bool:
    """The predicate for these names.

    Raises KeyError for a missing name, ArithmeticError where a side is undefined (division by zero).
    """
    return compare(op, evaluate(a, assignment), 0 if b is None else evaluate(b, assignment))
