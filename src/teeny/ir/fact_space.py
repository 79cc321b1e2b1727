"""The normal form of a set of facts.

Every name gets an expression in new names (`image`) that has its simple facts built in: equalities are solved, a
multiple of 16 becomes 16*n, a power of two from 8 on 8*n, a name from 3 on n + 3. In the new names most questions
are a matter of signs: a bounded name is 0 or more, a power of two 1 or more. What can't be built in is kept as
polynomials that are zero, not negative, not zero, powers of two, or divided by another.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from math import gcd

from teeny.ir.poly import Atom, Dim, Monomial, Poly, add, as_atom, build, mul, neg, sub, substitute, symbol
from teeny.ir.predicate import Predicate, compare

Range = tuple[int | None, int | None]
"""Lowest and highest value; None where there is no bound."""


@dataclass(frozen=True, slots=True, eq=False)
class Space:
    """Facts in normal form; see the module. `high` has the largest value of bounded names that have one.

    `kept` holds the remaining facts as predicates over the new names: eq, ge and ne against 0, pow2, divides.
    `impossible` says that no assignment satisfies the facts. The other fields are memos.
    """

    image: dict[str, Dim]
    bounded: frozenset[str]
    powers: frozenset[str]
    high: dict[str, int]
    kept: tuple[Predicate, ...]
    inequalities: tuple[Poly, ...]
    impossible: bool
    verdicts: dict[tuple[object, ...], bool | None] = field(default_factory=dict[tuple[object, ...], "bool | None"])
    bounds: dict[Poly, Range] = field(default_factory=dict["Poly", Range])
    refined: dict[Atom, Dim] = field(default_factory=dict["Atom", Dim])
    samples: list[list[dict[str, int]]] = field(default_factory=list[list[dict[str, int]]])
    cases: dict[frozenset[str], dict[str, list[int]] | None] = field(
        default_factory=dict[frozenset[str], "dict[str, list[int]] | None"]
    )

    def symbol_range(self, name: str) -> Range:
        """The range of a new name."""
        if name in self.powers:
            return 1, self.high.get(name)
        return (0, self.high.get(name)) if name in self.bounded else (None, None)


def build_space(predicates: Iterable[Predicate]) -> Space:
    """The normal form of these facts, all of which hold."""
    builder = _Builder(sorted(predicates, key=_rank))
    builder.run()
    return builder.finish()


def _rank(predicate: Predicate) -> int:
    """Bounds and powers of two come first: they decide what an equality is solved for."""
    return {"eq": 1, "ne": 2, "divides": 2}.get(predicate.op, 0)


class _Builder:
    def __init__(self, predicates: list[Predicate]) -> None:
        self.queue = predicates
        self.deferred: list[Predicate] = []
        self.kept: list[Predicate] = []
        self.image: dict[str, Dim] = {}
        self.low: dict[str, int] = {}
        self.high: dict[str, int] = {}
        self.powers: set[str] = set()
        self.impossible = False

    def run(self) -> None:
        while self.queue or self.deferred:
            if self.queue:
                self.process(self.queue.pop(0))
            else:
                self.divides_by_poly(self.deferred.pop(0))

    def process(self, predicate: Predicate) -> None:
        a, b = predicate.a, predicate.b
        match predicate.op:
            case "eq":
                self.equal(sub(a, b))
            case "ge":
                self.not_negative(sub(a, b))
            case "gt":
                self.not_negative(add(sub(a, b), -1))
            case "le":
                self.not_negative(sub(b, a))
            case "lt":
                self.not_negative(add(sub(b, a), -1))
            case "ne":
                self.not_zero(sub(a, b))
            case "pow2":
                self.power_of_two(a)
            case "divides":
                self.divides(a, b)

    def require(self, true: bool) -> None:
        if not true:
            self.impossible = True

    def keep(self, predicate: Predicate) -> None:
        if predicate not in self.kept:
            self.kept.append(predicate)

    # Kinds of facts

    def equal(self, zero: Dim) -> None:
        if isinstance(zero, int):
            self.require(zero == 0)
            return
        constant, factor = zero.terms.get((), 0), content(zero)
        if constant % factor:
            self.impossible = True
            return
        zero = divided(zero, factor)
        assert isinstance(zero, Poly)
        atom = as_atom(zero) or as_atom(neg(zero))
        if atom is not None and atom.kind == "%":
            self.queue.append(Predicate("divides", atom.args[1], atom.args[0]))
        else:
            solution = self.solved(zero)
            if solution is None:
                self.keep(Predicate("eq", zero))
            else:
                self.eliminate(*solution)

    def solved(self, zero: Poly) -> tuple[str, Dim] | None:
        """A name and its value: ordinary names before powers of two, then in the order of the alphabet."""
        found: list[tuple[bool, str, Dim]] = []
        for monomial, coefficient in zero.terms.items():
            name = lone_symbol(monomial)
            if name is not None and abs(coefficient) == 1:
                rest = sub(zero, mul(coefficient, symbol(name)))
                if isinstance(rest, int) or name not in rest.names:
                    found.append((name in self.powers, name, mul(-coefficient, rest)))
        return min(found, key=lambda item: item[:2])[1:] if found else None

    def not_negative(self, dim: Dim) -> None:
        if isinstance(dim, int):
            self.require(dim >= 0)
            return
        factor = content(dim)
        constant = dim.terms.get((), 0)
        reduced = add(divided(sub(dim, constant), factor), constant // factor)
        assert isinstance(reduced, Poly)
        linear = one_symbol(reduced)
        if linear is None:
            self.keep(Predicate("ge", reduced))
            return
        name, coefficient, offset = linear
        if coefficient > 0:
            self.raise_low(name, -(offset // coefficient))
        else:
            self.lower_high(name, offset // -coefficient)

    def raise_low(self, name: str, value: int) -> None:
        self.low[name] = max(value, self.low.get(name, value))

    def lower_high(self, name: str, value: int) -> None:
        self.high[name] = min(value, self.high.get(name, value))

    def not_zero(self, dim: Dim) -> None:
        if isinstance(dim, int):
            self.require(dim != 0)
        elif dim.terms.get((), 0) % content(dim) == 0:
            self.keep(Predicate("ne", divided(dim, content(dim))))

    def power_of_two(self, dim: Dim) -> None:
        if isinstance(dim, int):
            self.require(compare("pow2", dim, 0))
            return
        linear = one_symbol(dim)
        if linear is not None and linear[2] == 0 and linear[1] > 0:
            name, coefficient, _ = linear
            self.require(compare("pow2", coefficient, 0))
            self.powers.add(name)
            self.raise_low(name, 1)
        else:
            self.keep(Predicate("pow2", dim))
            self.queue.append(Predicate("ge", dim, 1))

    def divides(self, a: Dim, b: Dim) -> None:
        if isinstance(a, Poly):
            self.deferred.append(Predicate("divides", a, b))
            self.queue.append(Predicate("ne", a))
        elif isinstance(b, int) or a == 0:
            self.require(a != 0 and isinstance(b, int) and b % a == 0)
        else:
            linear = one_symbol(b)
            if linear is None or linear[2] != 0:
                if any(n % a for n in b.terms.values()):
                    self.keep(Predicate("divides", abs(a), b))
                return
            name, coefficient, _ = linear
            step = abs(a) // gcd(a, coefficient)
            if name in self.powers:
                self.require(compare("pow2", step, 0))
                self.raise_low(name, step)
            elif step > 1:
                self.scale(name, step)

    def scale(self, name: str, step: int) -> None:
        """The name is a multiple of the int `step`."""
        low, high = self.low.pop(name, None), self.high.pop(name, None)
        self.replace(name, mul(step, symbol(name)))
        if low is not None:
            self.low[name] = -(-low // step)
        if high is not None:
            self.high[name] = high // step

    def divides_by_poly(self, predicate: Predicate) -> None:
        """`a` divides `b`, with a symbolic a: built in where a is certainly positive and b is a name of its own."""
        a, b = predicate.a, predicate.b
        if isinstance(a, int) or isinstance(b, int):
            if isinstance(a, int):
                self.divides(a, b)
            else:
                self.keep(predicate)
            return
        atom = as_atom(b)
        if atom is None or atom.kind != "symbol" or atom.text in a.names or not self.positive(a):
            self.keep(predicate)
            return
        name = atom.text
        low, high = self.low.pop(name, None), self.high.pop(name, None)
        power = name in self.powers
        self.powers.discard(name)
        product = mul(a, symbol(name))
        self.replace(name, product)
        if low is not None and low >= 0:
            self.low[name] = min(low, 1)
            if high is not None:
                self.high[name] = high
        if low is not None and not 0 <= low <= 1:
            self.queue.append(Predicate("ge", product, low))
        if high is not None:
            self.queue.append(Predicate("ge", high, product))
        if power:
            self.powers.add(name)
            self.queue.append(Predicate("pow2", a))

    def positive(self, dim: Poly) -> bool:
        return len(dim.terms) == 1 and all(
            coefficient > 0 and all(atom.kind == "symbol" and self.low.get(atom.text, 0) >= 1 for atom, _ in monomial)
            for monomial, coefficient in dim.terms.items()
        )

    # Replacing names

    def eliminate(self, name: str, value: Dim) -> None:
        """The name is always `value`, in which it does not occur: its facts become facts of the value."""
        low, high = self.low.pop(name, None), self.high.pop(name, None)
        power = name in self.powers
        self.powers.discard(name)
        self.replace(name, value)
        if low is not None:
            self.queue.append(Predicate("ge", value, low))
        if high is not None:
            self.queue.append(Predicate("ge", high, value))
        if power:
            self.queue.append(Predicate("pow2", value))

    def replace(self, name: str, value: Dim) -> None:
        values = {name: value}
        self.image = self.changed_image(values)
        self.image.setdefault(name, value)
        changed = [predicate for predicate in self.kept if name in predicate.names]
        self.kept = [predicate for predicate in self.kept if name not in predicate.names]
        self.queue = self.changed([*self.queue, *changed], values)
        self.deferred = self.changed(self.deferred, values)

    def changed(self, predicates: list[Predicate], values: dict[str, Dim]) -> list[Predicate]:
        """The predicates with names replaced. One that becomes undefined can't hold."""
        results: list[Predicate] = []
        for predicate in predicates:
            try:
                a, b = substitute(predicate.a, values), substitute(predicate.b, values)
            except ArithmeticError:
                self.impossible = True
                continue
            results.append(Predicate(predicate.op, a, b))
        return results

    def changed_image(self, values: dict[str, Dim]) -> dict[str, Dim]:
        """What the names stand for, with names replaced. A name can't equal what is undefined."""
        image: dict[str, Dim] = {}
        for name, dim in self.image.items():
            try:
                image[name] = substitute(dim, values)
            except ArithmeticError:
                self.impossible = True
        return image

    def finish(self) -> Space:
        self.drop_excluded_ends()
        final: dict[str, Dim] = {}
        high: dict[str, int] = {}
        powers: set[str] = set()
        bounded: set[str] = set()
        for name in self.low.keys() | self.high.keys():
            first, last = self.low.get(name), self.high.get(name)
            if name in self.powers:
                first, last = self.power_ends(name)
            if first is None:
                final[name] = sub(last or 0, symbol(name))
            elif last is not None and last <= first:
                self.require(last == first)
                final[name] = first
                continue
            elif name in self.powers:
                final[name] = mul(first, symbol(name))
                powers.add(name)
                last = None if last is None else last // first
            else:
                final[name] = add(symbol(name), first)
                last = None if last is None else last - first
            bounded.add(name)
            if first is not None and last is not None:
                high[name] = last
        image = self.changed_image(final)
        kept = [predicate for predicate in self.changed(self.kept, final) if not self.constant(predicate)]
        inequalities = [predicate.a for predicate in kept if predicate.op in ("ge", "eq")]
        inequalities += [neg(predicate.a) for predicate in kept if predicate.op == "eq"]
        return Space(
            {**final, **image},
            frozenset(bounded),
            frozenset(powers),
            high,
            tuple(kept),
            tuple(dim for dim in inequalities if isinstance(dim, Poly)),
            self.impossible,
        )

    def constant(self, predicate: Predicate) -> bool:
        if isinstance(predicate.a, int) and isinstance(predicate.b, int):
            self.require(compare(predicate.op, predicate.a, predicate.b))
            return True
        return False

    def power_ends(self, name: str) -> tuple[int, int | None]:
        first = 1 << (max(self.low[name], 1) - 1).bit_length()
        last = self.high.get(name)
        return first, None if last is None else (1 << max(last, 0).bit_length()) >> 1

    def drop_excluded_ends(self) -> None:
        """x >= 0 with x != 0 is x >= 1."""
        excluded: dict[str, set[int]] = {}
        for predicate in self.kept:
            linear = one_symbol(predicate.a) if predicate.op == "ne" and isinstance(predicate.a, Poly) else None
            if linear is not None and linear[2] % linear[1] == 0:
                excluded.setdefault(linear[0], set()).add(-linear[2] // linear[1])
        for name, values in excluded.items():
            for value in sorted(values):
                if self.low.get(name) == value:
                    self.low[name] = value + 1
            for value in sorted(values, reverse=True):
                if self.high.get(name) == value:
                    self.high[name] = value - 1


def content(dim: Poly) -> int:
    """The greatest common divisor of all coefficients but the constant."""
    return gcd(*(coefficient for monomial, coefficient in dim.terms.items() if monomial))


def divided(dim: Dim, factor: int) -> Dim:
    """dim / factor, where factor divides every coefficient."""
    if isinstance(dim, int):
        return dim // factor
    return dim if factor == 1 else build({m: coefficient // factor for m, coefficient in dim.terms.items()})


def lone_symbol(monomial: Monomial) -> str | None:
    """The name where the monomial is just one symbol."""
    if len(monomial) == 1 and monomial[0][1] == 1 and monomial[0][0].kind == "symbol":
        return monomial[0][0].text
    return None


def one_symbol(dim: Poly) -> tuple[str, int, int] | None:
    """(x, c, k) where the dim is c*x + k."""
    offset = dim.terms.get((), 0)
    if len(dim.terms) != (2 if offset else 1):
        return None
    for monomial, coefficient in dim.terms.items():
        name = lone_symbol(monomial)
        if name is not None:
            return name, coefficient, offset
    return None
