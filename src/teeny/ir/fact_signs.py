"""Whether a symbolic dim is negative, from its range and from known inequalities."""

from __future__ import annotations

from heapq import heappop, heappush
from math import gcd
from typing import Final

from teeny.ir.fact_bounds import atom_range, bounds, monomial_range
from teeny.ir.fact_samples import verdicts
from teeny.ir.fact_space import Space
from teeny.ir.monomial import degree, monomial_order, monomial_quotient
from teeny.ir.poly import Atom, Dim, Monomial, Poly, build, mul, of_atom, sub

_STEPS: Final = 24
_CANDIDATES: Final = 120
"""How many polynomials one search examines, and how many it forms for that."""


def nonneg(space: Space, dim: Dim) -> bool | None:
    """Whether the dim is 0 or more: always, never, or not known."""
    if isinstance(dim, int):
        return dim >= 0
    low, high = bounds(space, dim)
    if low is not None and low >= 0:
        return True
    if high is not None and high < 0:
        return False
    if space.inequalities or not dim.plain:
        seen = verdicts(space, "ge", dim)
        if False not in seen and proves(space, dim):
            return True
        if True not in seen and proves(space, sub(-1, dim)):
            return False
    return None


def proves(space: Space, dim: Dim) -> bool:
    """Whether dim >= 0 follows by taking known inequalities, times what is not negative, from it."""
    if isinstance(dim, int):
        return dim >= 0
    known = [*space.inequalities]
    atoms = {atom for monomial in dim.terms for atom, _ in monomial if atom.kind != "symbol"}
    for atom in sorted(atoms, key=lambda atom: atom.order):
        known += [fact for fact in _atom_inequalities(space, atom) if isinstance(fact, Poly)]
    return bool(known) and _Search(space, known).proves(dim)


def _atom_inequalities(space: Space, atom: Atom) -> list[Dim]:
    """Polynomials that the meaning of the operation makes 0 or more."""
    whole = of_atom(atom)
    match atom.kind:
        case "min":
            return [sub(arg, whole) for arg in atom.args]
        case "max":
            return [sub(whole, arg) for arg in atom.args]
        case "//" | "%" | "cdiv":
            a, b = atom.args
            low = bounds(space, b)[0]
            if low is None or low < 1:
                return []
            if atom.kind == "%":
                below = sub(sub(b, whole), 1)
                return [below, sub(a, whole)] if nonneg(space, a) else [below]
            rest = sub(a, mul(b, whole)) if atom.kind == "//" else sub(mul(b, whole), a)
            return [rest, sub(sub(b, 1), rest)]
        case "symbol" | "**":
            return []


class _Search:
    """A bounded search for a sum of known inequalities, the simplest remainders first."""

    def __init__(self, space: Space, known: list[Poly]) -> None:
        self.space = space
        self.known = known
        self.waiting: list[tuple[int, int, int, Poly]] = []
        self.seen: set[Poly] = set()
        self.formed = 0

    def proves(self, dim: Poly) -> bool:
        most = degree_of(dim)
        if self.settles(dim, most):
            return True
        while self.waiting and len(self.seen) < _STEPS and self.formed < _CANDIDATES:
            current = heappop(self.waiting)[3]
            for monomial in sorted(current.terms, key=monomial_order):
                if current.terms[monomial] < 0 and any(
                    self.settles(reduced, most)
                    for fact in self.known
                    for reduced in self.cancelled(current, monomial, fact)
                ):
                    return True
        return False

    def settles(self, dim: Dim, most: int) -> bool:
        """Whether the dim is 0 or more by its range; if that may still be shown, it waits for its turn."""
        self.formed += 1
        if isinstance(dim, int):
            return dim >= 0
        if dim in self.seen or degree_of(dim) > most or len(self.seen) >= _STEPS:
            return False
        self.seen.add(dim)
        if False in verdicts(self.space, "ge", dim):
            return False
        low = bounds(self.space, dim)[0]
        if low is not None and low >= 0:
            return True
        heappush(self.waiting, (len(dim.terms), degree_of(dim), len(self.seen), dim))
        return False

    def cancelled(self, dim: Poly, monomial: Monomial, fact: Poly) -> list[Dim]:
        """k*dim - n*m*fact (k, n > 0; m never negative) without the negative term in `monomial`."""
        results: list[Dim] = []
        count = -dim.terms[monomial]
        for term in sorted(fact.terms, key=monomial_order):
            coefficient = fact.terms[term]
            ratio = monomial_quotient(monomial, term) if coefficient < 0 else None
            low = None if ratio is None else monomial_range(ratio, lambda atom: atom_range(self.space, atom))[0]
            if ratio is not None and low is not None and low >= 0:
                common = gcd(count, coefficient)
                taken = mul(build({ratio: count // common}), fact)
                results.append(sub(mul(-coefficient // common, dim), taken))
        return results


def degree_of(dim: Poly) -> int:
    """The largest degree of a term."""
    return max(map(degree, dim.terms))
