"""Products of atoms, the terms of a symbolic dim: sorted pairs of an atom and an exponent of 1 or more."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from teeny.ir.poly import Atom, Monomial


def monomial_product(a: Monomial, b: Monomial) -> Monomial:
    """The product of two monomials."""
    if not a or not b:
        return a or b
    exponents = dict(a)
    for atom, exponent in b:
        exponents[atom] = exponents.get(atom, 0) + exponent
    return make_monomial(exponents.items())


def monomial_quotient(a: Monomial, b: Monomial) -> Monomial | None:
    """a / b, or None where b does not divide a."""
    if not b:
        return a
    exponents = dict(a)
    for atom, exponent in b:
        left = exponents.get(atom, 0) - exponent
        if left < 0:
            return None
        exponents[atom] = left
    return make_monomial(exponents.items())


def degree(monomial: Monomial) -> int:
    """The sum of the exponents."""
    return sum(exponent for _, exponent in monomial)


def monomial_order(monomial: Monomial) -> tuple[object, ...]:
    """A sort key that does not depend on what was built before."""
    return degree(monomial), [(atom.order, exponent) for atom, exponent in monomial]


def make_monomial(factors: Iterable[tuple[Atom, int]]) -> Monomial:
    """The monomial with these exponents; atoms must differ, exponents of 0 are left out."""
    return tuple(sorted((pair for pair in factors if pair[1]), key=lambda pair: pair[0].order))
