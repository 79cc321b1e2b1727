"""What is known about Const names, and the verdicts that follow from it.

`decide` answers a question about symbolic dims with True (for every assignment that satisfies the facts), False (for
none) or None (not known: the caller makes an obligation of it, decided when the names have values). Assignments at
which a side is undefined don't count. Where facts contradict each other nothing can be wrong: the answer is True.

It tries the cheap things first: a constant difference; the sign of a polynomial after x = lowest + x'; known
inequalities and equalities; at last the enumeration of all cases, since a name that shapes a tensor is a power of
two up to 2**20.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import gcd
from typing import Final

from teeny.ir import fact_bounds
from teeny.ir.fact_cases import decide_by_cases
from teeny.ir.fact_refine import nonzero, refine, remainder_of, without_remainders
from teeny.ir.fact_samples import verdicts
from teeny.ir.fact_signs import nonneg, proves
from teeny.ir.fact_space import Range, Space, build_space, content, divided
from teeny.ir.poly import Atom, Dim, Poly, add, neg, split, sub, substitute, symbol
from teeny.ir.predicate import Op, Predicate, compare, evaluate_predicate

__all__ = ["SHAPE_LIMIT", "Facts", "Op", "Predicate", "decide", "evaluate_predicate"]

SHAPE_LIMIT: Final = 1 << 20
"""The largest extent of a tensor's axis."""


@dataclass(frozen=True, slots=True, eq=False)
class Facts:
    """Predicates that hold. Immutable: what is assumed under a guard or in a loop ends with the scope of the value."""

    predicates: tuple[Predicate, ...] = ()
    _space: list[Space] = field(default_factory=list[Space], repr=False)

    def assume(self, *predicates: Predicate) -> Facts:
        """These facts and more of them."""
        new = tuple(predicate for predicate in predicates if predicate not in self.predicates)
        return Facts(self.predicates + new) if new else self

    def at_least(self, name: str, value: int) -> Facts:
        """The name is `value` or more."""
        return self.assume(Predicate("ge", symbol(name), value))

    def at_most(self, name: str, value: int) -> Facts:
        """The name is `value` or less."""
        return self.assume(Predicate("le", symbol(name), value))

    def power_of_two(self, name: str, limit: int | None = None) -> Facts:
        """The name is a power of two, up to `limit` where there is one."""
        known = self.assume(Predicate("pow2", symbol(name)))
        return known if limit is None else known.at_most(name, limit)

    def shapes(self, name: str) -> Facts:
        """The name is the extent of an axis: a power of two up to SHAPE_LIMIT."""
        return self.power_of_two(name, SHAPE_LIMIT)

    @property
    def space(self) -> Space:
        """The normal form of the facts, made when first needed."""
        if not self._space:
            self._space.append(build_space(self.predicates))
        return self._space[0]

    @property
    def contradictory(self) -> bool:
        """Whether the facts are seen to exclude each other; False does not mean that they can be satisfied."""
        return self.space.impossible

    def bounds(self, dim: Dim) -> Range:
        """Lowest and highest value of a dim, None where no bound is known; not always the tightest."""
        try:
            return fact_bounds.bounds(self.space, refine(self.space, substitute(dim, self.space.image)))
        except ArithmeticError:
            return None, None


def decide(facts: Facts, op: Op, a: Dim, b: Dim | None = None) -> bool | None:
    """Whether `a op b` holds for all assignments that satisfy the facts (True), for none (False), or None.

    `b` is ignored for pow2 (a is a power of two); divides means that a is not 0 and divides b.
    """
    other = 0 if b is None or op == "pow2" else b
    if isinstance(a, int) and isinstance(other, int):
        return compare(op, a, other)
    if op in ("pow2", "divides"):
        return _remembered(facts, op, a, other)
    difference = sub(a, other)
    if isinstance(difference, int):
        return compare(op, difference, 0)
    if op in ("le", "gt"):
        return _remembered(facts, "ge" if op == "le" else "lt", neg(difference), 0)
    return _remembered(facts, op, difference, 0)


def _remembered(facts: Facts, op: Op, a: Dim, b: Dim) -> bool | None:
    space = facts.space
    if space.impossible:
        return True
    key = (op, a, b)
    if key not in space.verdicts:
        try:
            space.verdicts[key] = _decide(space, op, _renamed(space, a), _renamed(space, b))
        except ArithmeticError:
            space.verdicts[key] = None
    return space.verdicts[key]


def _renamed(space: Space, dim: Dim) -> Dim:
    return refine(space, substitute(dim, space.image))


def _decide(space: Space, op: Op, a: Dim, b: Dim) -> bool | None:
    if isinstance(a, int) and isinstance(b, int):
        return compare(op, a, b)
    verdict = _by_range(space, op, a)
    if verdict is None:
        if len(verdicts(space, op, a, b)) == 2:
            return None
        verdict = _by_search(space, op, a, b)
        if verdict is None:
            return decide_by_cases(space, op, a, b)
    return verdict != (op in ("ne", "lt"))


# The rules, over the new names: verdicts on eq and ge against 0 also for their opposites, ne and lt


def _by_range(space: Space, op: Op, dim: Dim) -> bool | None:
    if isinstance(dim, int) or op in ("pow2", "divides"):
        return None
    low, high = fact_bounds.bounds(space, dim)
    if op in ("ge", "lt"):
        return True if low is not None and low >= 0 else False if high is not None and high < 0 else None
    if (low is not None and low > 0) or (high is not None and high < 0) or _known_nonzero(space, dim):
        return False
    return True if low == 0 and high == 0 else None


def _by_search(space: Space, op: Op, a: Dim, b: Dim) -> bool | None:
    if op == "divides":
        return _is_divisor(space, a, b)
    if isinstance(a, int):
        return None
    if op == "pow2":
        return _is_power(space, a)
    return _is_zero(space, a) if op in ("eq", "ne") else _is_nonneg(space, a)


def _is_zero(space: Space, dim: Poly) -> bool | None:
    if dim.plain and not space.inequalities:
        return None
    seen = verdicts(space, "eq", dim)
    if True not in seen and (proves(space, sub(dim, 1)) or proves(space, sub(-1, dim))):
        return False
    if False not in seen and proves(space, dim) and proves(space, neg(dim)):
        return True
    if not dim.plain:
        plainer = refine(space, without_remainders(space, dim))
        if isinstance(plainer, int):
            return plainer == 0
    return None


def _known_nonzero(space: Space, dim: Poly) -> bool:
    if dim.terms.get((), 0) % content(dim):
        return True
    unit = divided(dim, content(dim))
    return any(fact.op == "ne" and (fact.a is unit or fact.a is neg(unit)) for fact in space.kept)


def _is_nonneg(space: Space, dim: Poly) -> bool | None:
    verdict = nonneg(space, dim)
    if verdict is not None:
        return verdict
    above = add(dim, 1)
    if isinstance(above, Poly) and _known_nonzero(space, above) and nonneg(space, above):
        return True
    if _known_nonzero(space, dim) and nonneg(space, neg(dim)):
        return False
    return None if dim.plain else nonneg(space, refine(space, without_remainders(space, dim)))


def _is_power(space: Space, dim: Poly) -> bool | None:
    """Whether the dim is a power of two."""
    high = fact_bounds.bounds(space, dim)[1]
    common = gcd(*dim.terms.values())
    odd = common // (common & -common)
    if (high is not None and high < 1) or odd > 1:
        return False
    return True if _made_of_powers(space, dim) else None


def _made_of_powers(space: Space, dim: Dim) -> bool:
    if isinstance(dim, int):
        return compare("pow2", dim, 0)
    if any(fact.op == "pow2" and fact.a is dim for fact in space.kept):
        return True
    if len(dim.terms) != 1:
        return False
    return all(
        compare("pow2", coefficient, 0) and all(_atom_is_power(space, atom) for atom, _ in monomial)
        for monomial, coefficient in dim.terms.items()
    )


def _atom_is_power(space: Space, atom: Atom) -> bool:
    match atom.kind:
        case "symbol":
            return atom.text in space.powers
        case "**":
            return _made_of_powers(space, atom.args[0])
        case "min" | "max" | "cdiv":
            return all(_made_of_powers(space, arg) for arg in atom.args)
        case "//":
            a, b = atom.args
            return all(_made_of_powers(space, arg) for arg in atom.args) and nonneg(space, sub(a, b)) is True
        case "%":
            return False


def _is_divisor(space: Space, a: Dim, b: Dim) -> bool | None:
    """Whether a is not 0 and divides b."""
    if a == 0:
        return False
    if any(_follows(fact, a, b) for fact in space.kept):
        return True
    if not nonzero(space, a):
        return None
    rest = remainder_of(space, b, a)
    if isinstance(rest, int):
        return rest == 0
    verdict = _by_range(space, "eq", rest)
    if verdict is None:
        verdict = _is_zero(space, rest)
    if verdict is None and _made_of_powers(space, a) and _made_of_powers(space, b):
        verdict = nonneg(space, sub(b, a))
    return verdict


def _follows(fact: Predicate, a: Dim, b: Dim) -> bool:
    """Whether a divides what the fact says to divide, and that divides b."""
    return fact.op == "divides" and _multiple(fact.a, a) and _multiple(b, fact.b)


def _multiple(a: Dim, b: Dim) -> bool:
    if isinstance(b, int):
        return b != 0 and (a % b == 0 if isinstance(a, int) else all(n % b == 0 for n in a.terms.values()))
    return split(a, b)[1] == 0
