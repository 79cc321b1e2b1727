"""Ranges of symbolic dims in the new names of a `Space`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from teeny.ir.fact_space import Range, Space
from teeny.ir.int_ops import POWER_BITS, int_power
from teeny.ir.monomial import degree
from teeny.ir.poly import Atom, Dim, Monomial, Poly, add, of_atom, rewrite, terms_of

UNBOUNDED: Final[Range] = (None, None)

_LARGEST_EXPONENT: Final = 64
_SHIFTED_TERMS: Final = 10
_SHIFTED_DEGREE: Final = 4


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
        bottom, top = monomial_range(monomial, range_of)
        if coefficient < 0:
            bottom, top = top, bottom
        low = None if low is None or bottom is None else low + coefficient * bottom
        high = None if high is None or top is None else high + coefficient * top
    return low, high


def monomial_range(monomial: Monomial, range_of: Callable[[Atom], Range]) -> Range:
    """Bounds of a product of atoms with these ranges."""
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
