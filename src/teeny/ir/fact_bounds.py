"""Ranges and signs of symbolic dims in the new names of a `Space`, and simplifications that need facts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import gcd
from typing import Final

from teeny.ir.fact_samples import verdicts
from teeny.ir.fact_space import Range, Space
from teeny.ir.poly import (
    POWER_BITS,
    Atom,
    Dim,
    Monomial,
    Poly,
    add,
    apply,
    build,
    degree,
    floordiv,
    int_power,
    maximum,
    minimum,
    mod,
    monomial_quotient,
    mul,
    of_atom,
    power,
    quotient,
    remainder,
    rewrite,
    sub,
    terms_of,
)

UNBOUNDED: Final[Range] = (None, None)

_LARGEST_EXPONENT: Final = 64
_SHIFTED_TERMS: Final = 10
_SHIFTED_DEGREE: Final = 4
_DEPTH: Final = 3
_STEPS: Final = 24


# Ranges


def bounds(space: Space, dim: Dim) -> Range:
    """Bounds of a dim over the new names: right, but not always the tightest."""
    if isinstance(dim, int):
        return dim, dim
    found = space.bounds.get(dim)
    if found is None:
        found = _terms_range(dim.terms, lambda atom: atom_range(space, atom))
        if _shifts(space, dim):
            found = _intersection(found, _shifted_range(space, dim))
        space.bounds[dim] = found
    return found


def _shifts(space: Space, dim: Poly) -> bool:
    """Whether a shift can show more (a product has a factor that is not just 0 or more) at a bearable cost."""
    if len(dim.terms) > _SHIFTED_TERMS or max(map(degree, dim.terms)) > _SHIFTED_DEGREE:
        return False
    return any(
        (len(monomial) > 1 or (monomial and monomial[0][1] > 1))
        and any(atom_range(space, atom)[0] for atom, _ in monomial)
        for monomial in dim.terms
    )


def _shifted_range(space: Space, dim: Poly) -> Range:
    """The range after x = lowest + x' for every atom: sees that A*B - A >= 0 for A, B >= 1."""

    def change(atom: Atom) -> Dim:
        return add(of_atom(atom), atom_range(space, atom)[0] or 0)

    def rest(atom: Atom) -> Range:
        low, high = atom_range(space, atom)
        return (low, high) if low is None else (0, None if high is None else high - low)

    return _terms_range(terms_of(rewrite(dim, change)), rest)


def _terms_range(terms: Mapping[Monomial, int], range_of: Callable[[Atom], Range]) -> Range:
    low: int | None = 0
    high: int | None = 0
    for monomial, coefficient in terms.items():
        bottom, top = _monomial_range(monomial, range_of)
        if coefficient < 0:
            bottom, top = top, bottom
        low = None if low is None or bottom is None else low + coefficient * bottom
        high = None if high is None or top is None else high + coefficient * top
    return low, high


def _monomial_range(monomial: Monomial, range_of: Callable[[Atom], Range]) -> Range:
    result: Range = (1, 1)
    for atom, exponent in monomial:
        factor = range_of(atom)
        result = _product_range(result, factor if exponent == 1 else _power_range(factor, exponent))
    return result


def _product_range(a: Range, b: Range) -> Range:
    if a == (1, 1):
        return b
    (al, ah), (bl, bh) = a, b
    if al is not None and bl is not None and al >= 0 and bl >= 0:
        return al * bl, (0 if ah == 0 or bh == 0 else None) if ah is None or bh is None else ah * bh
    if al is None or ah is None or bl is None or bh is None:
        if a == (0, 0) or b == (0, 0):
            return 0, 0
        return _half_open_product(a, b)
    ends = (al * bl, al * bh, ah * bl, ah * bh)
    return min(ends), max(ends)


def _half_open_product(a: Range, b: Range) -> Range:
    """The sign is all that is known of a product with an unbounded factor that is not known to be 0 or more."""
    for x, y in ((a, b), (b, a)):
        if x[0] is not None and x[0] >= 0 and y[1] is not None and y[1] <= 0:
            return None, 0
    if a[1] is not None and b[1] is not None and a[1] <= 0 and b[1] <= 0:
        return a[1] * b[1], None
    return UNBOUNDED


def _power_range(base: Range, exponent: int) -> Range:
    if exponent > _LARGEST_EXPONENT:
        return (0 if exponent % 2 == 0 or (base[0] is not None and base[0] >= 0) else None), None
    low, high = base
    if (low is not None and low >= 0) or exponent % 2:
        return None if low is None else low**exponent, None if high is None else high**exponent
    top = None if low is None or high is None else max(-low, high) ** exponent
    return (0 if high is None or high >= 0 else high**exponent), top


def _intersection(a: Range, b: Range) -> Range:
    low = a[0] if b[0] is None else b[0] if a[0] is None else max(a[0], b[0])
    high = a[1] if b[1] is None else b[1] if a[1] is None else min(a[1], b[1])
    return low, high


def atom_range(space: Space, atom: Atom) -> Range:
    """Bounds of one atom."""
    if atom.kind == "symbol":
        return space.symbol_range(atom.text)
    dim = of_atom(atom)
    found = space.bounds.get(dim)
    if found is None:
        found = space.bounds[dim] = _operation_range(atom, [bounds(space, arg) for arg in atom.args])
    return found


def _operation_range(atom: Atom, args: list[Range]) -> Range:
    match atom.kind:
        case "//":
            return _quotient_range(*args)
        case "%":
            return _remainder_range(*args)
        case "cdiv":
            (low, high), divisor = args
            bottom, top = _quotient_range((_negated(high), _negated(low)), divisor)
            return _negated(top), _negated(bottom)
        case "**":
            return _exponential_range(*args)
        case "min":
            highs = [high for _, high in args if high is not None]
            lows = [low for low, _ in args if low is not None]
            return min(lows) if len(lows) == len(args) else None, min(highs) if highs else None
        case "max":
            highs = [high for _, high in args if high is not None]
            lows = [low for low, _ in args if low is not None]
            return max(lows) if lows else None, max(highs) if len(highs) == len(args) else None
        case "symbol":
            return UNBOUNDED


def _negated(value: int | None) -> int | None:
    return None if value is None else -value


def _quotient_range(a: Range, b: Range) -> Range:
    (al, ah), (bl, bh) = a, b
    if bl is not None and bl >= 1:
        low = None if al is None else al // bl if al < 0 else 0 if bh is None else al // bh
        high = None if ah is None else ah // bl if ah >= 0 else -1 if bh is None else ah // bh
        return low, high
    if al is None or ah is None:
        return UNBOUNDED
    most = max(abs(al), abs(ah))
    return -most, most


def _remainder_range(a: Range, b: Range) -> Range:
    (al, ah), (bl, bh) = a, b
    low = None if bl is None else min(0, bl + 1)
    high = None if bh is None else max(0, bh - 1)
    if bl is not None and bl >= 1 and al is not None and al >= 0 and ah is not None:
        high = ah if high is None else min(high, ah)
    return low, high


def _exponential_range(base: Range, exponent: Range) -> Range:
    (bl, bh), (el, eh) = base, exponent
    if bl is None or bl < 0:
        return UNBOUNDED
    low = 0 if bl == 0 else _bounded_power(bl, max(el or 0, 0))
    high = None if bh is None or eh is None else _bounded_power(max(bh, 1), max(eh, 0))
    return (0 if low is None else low), high


def _bounded_power(base: int, exponent: int) -> int | None:
    return int_power(base, exponent) if base.bit_length() * exponent <= POWER_BITS else None


# Signs


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
    known = [*space.inequalities]
    atoms = {atom for monomial in terms_of(dim) for atom, _ in monomial if atom.kind != "symbol"}
    for atom in sorted(atoms, key=lambda atom: atom.order):
        known += [fact for fact in _atom_inequalities(space, atom) if isinstance(fact, Poly)]
    return bool(known) and _Search(space, known).proves(dim, _DEPTH)


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
    """A bounded search for a sum of known inequalities."""

    def __init__(self, space: Space, known: list[Poly]) -> None:
        self.space = space
        self.known = known
        self.left = _STEPS
        self.tried: set[Dim] = set()

    def proves(self, dim: Dim, depth: int) -> bool:
        low = bounds(self.space, dim)[0]
        if low is not None and low >= 0:
            return True
        if depth == 0 or dim in self.tried:
            return False
        self.tried.add(dim)
        for monomial, coefficient in terms_of(dim).items():
            if coefficient < 0:
                for fact in self.known:
                    for reduced in self.cancelled(dim, monomial, -coefficient, fact):
                        self.left -= 1
                        if self.left < 0:
                            return False
                        if self.proves(reduced, depth - 1):
                            return True
        return False

    def cancelled(self, dim: Dim, monomial: Monomial, count: int, fact: Poly) -> list[Dim]:
        """k*dim - n*m*fact (k, n > 0; m never negative) without the term in `monomial`."""
        results: list[Dim] = []
        for term, coefficient in fact.terms.items():
            ratio = monomial_quotient(monomial, term) if coefficient < 0 else None
            low = None if ratio is None else _monomial_range(ratio, lambda atom: atom_range(self.space, atom))[0]
            if ratio is not None and low is not None and low >= 0:
                common = gcd(count, coefficient)
                taken = mul(build({ratio: count // common}), fact)
                results.append(sub(mul(-coefficient // common, dim), taken))
        return results


# Simplification


def refine(space: Space, dim: Dim) -> Dim:
    """The dim with its operations simplified by what is known of their operands."""
    if isinstance(dim, int) or dim.plain:
        return dim
    return rewrite(dim, lambda atom: _refined_atom(space, atom))


def _refined_atom(space: Space, atom: Atom) -> Dim:
    if atom.kind == "symbol":
        return of_atom(atom)
    found = space.refined.get(atom)
    if found is None:
        found = space.refined[atom] = _refined_operation(space, atom)
    return found


def _refined_operation(space: Space, atom: Atom) -> Dim:
    args = tuple(refine(space, arg) for arg in atom.args)
    match atom.kind:
        case "//" if nonzero(space, args[1]):
            return rewrite(quotient(*args), lambda inner: _small_division(space, inner))
        case "%" if nonzero(space, args[1]):
            return rewrite(remainder(*args), lambda inner: _small_division(space, inner))
        case "cdiv" if nonneg(space, sub(args[1], 1)):
            raised = add(args[0], sub(args[1], 1))
            return rewrite(quotient(raised, args[1]), lambda inner: _small_division(space, inner))
        case "**":
            return _split_exponent(space, *args)
        case "min" | "max":
            return _without_dominated(space, atom.kind == "min", args)
        case _:
            return apply(atom.kind, args)


def nonzero(space: Space, dim: Dim) -> bool:
    """Whether the dim is certainly positive or certainly negative."""
    if isinstance(dim, int):
        return dim != 0
    return nonneg(space, sub(dim, 1)) is True or nonneg(space, sub(-1, dim)) is True


def _small_division(space: Space, atom: Atom) -> Dim:
    """a // b and a % b for -b <= a < b."""
    if atom.kind not in ("//", "%"):
        return of_atom(atom)
    a, b = atom.args
    if nonneg(space, a) and nonneg(space, sub(sub(b, a), 1)):
        return 0 if atom.kind == "//" else a
    if nonneg(space, sub(-1, a)) and nonneg(space, add(a, b)):
        return -1 if atom.kind == "//" else add(a, b)
    return of_atom(atom)


def _split_exponent(space: Space, base: Dim, exponent: Dim) -> Dim:
    """n**(a + b) is n**a * n**b where neither a nor b is negative."""
    if isinstance(exponent, int) or not isinstance(base, int):
        return power(base, exponent)
    parts = [build({monomial: coefficient}) for monomial, coefficient in exponent.terms.items()]
    if not all(nonneg(space, part) for part in parts):
        return power(base, exponent)
    result: Dim = 1
    for part in parts:
        result = mul(result, power(base, part))
    return result


def _without_dominated(space: Space, least: bool, args: tuple[Dim, ...]) -> Dim:
    kept: list[Dim] = []
    for arg in args:
        if any(nonneg(space, sub(arg, other) if least else sub(other, arg)) for other in kept):
            continue
        kept = [other for other in kept if not nonneg(space, sub(other, arg) if least else sub(arg, other))]
        kept.append(arg)
    result = kept[0]
    for arg in kept[1:]:
        result = minimum(result, arg) if least else maximum(result, arg)
    return result


def without_remainders(space: Space, dim: Dim) -> Dim:
    """The dim with a % b written as a - b*(a // b), so that both cancel."""

    def change(atom: Atom) -> Dim:
        if atom.kind != "%":
            return of_atom(atom)
        a, b = (without_remainders(space, arg) for arg in atom.args)
        whole = quotient(a, b) if nonzero(space, b) else floordiv(a, b)
        return sub(a, mul(b, whole))

    return rewrite(dim, change)


def remainder_of(space: Space, a: Dim, b: Dim) -> Dim:
    """a % b, simplified; b is known to be nonzero."""
    rest = remainder(a, b) if isinstance(b, Poly) else mod(a, b)
    return rewrite(rest, lambda inner: _small_division(space, inner))
