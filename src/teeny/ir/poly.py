"""Symbolic dims: integers and integer polynomials over the names of Consts.

A `Dim` is an int or a `Poly`. Polynomials are normalised and interned: two that are the same object are equal, and
most that are equal are the same object (`teeny.ir.facts.decide` settles the rest). A polynomial that has become
constant is always an int. `//`, `%`, `**`, `min`, `max` and `cdiv` that do not cancel stay in a polynomial as
opaque atoms, keyed by their structure.

The meaning is Python's integer arithmetic (`//` rounds down, `%` takes the sign of the divisor). Wherever an expression
is defined, its normal form has the same value. Undefined are division by zero and negative exponents: constructors and
`evaluate` raise ArithmeticError for them. Powers of more than `POWER_BITS` bits and coefficients far beyond that
may raise OverflowError, which is an ArithmeticError.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from math import gcd
from typing import Final, Literal, TypeAlias

from teeny.ir.int_ops import EXPANDED_POWER, POWER_BITS, Kind, compute, int_power, monomial_power
from teeny.ir.monomial import make_monomial, monomial_order, monomial_product, monomial_quotient
from teeny.ir.poly_text import operation_text, poly_text

Dim: TypeAlias = "int | Poly"
Monomial: TypeAlias = "tuple[tuple[Atom, int], ...]"
"""Atoms with their exponents (1 or more), in the order of `Atom.order`; () is the constant term."""

_MEMO: Final = 1 << 14
_NO_NAMES: Final[frozenset[str]] = frozenset()


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Atom:
    """A symbol (`text` is its name) or an operation that does not cancel. Interned: compare with `is`."""

    kind: Kind
    args: tuple[Dim, ...]
    text: str
    names: frozenset[str]
    order: tuple[bool, str]

    def __repr__(self) -> str:
        return f"Atom({self.text})"

    def __reduce__(self) -> tuple[object, ...]:
        return (_symbol_atom, (self.text,)) if self.kind == "symbol" else (_operation, (self.kind, self.args))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Poly:
    """An integer polynomial that is not constant. Interned: `==` is identity. `terms` must not be changed.

    `plain` says that every atom is a symbol; `atom` is the atom where the polynomial is no more than that.
    """

    terms: Mapping[Monomial, int]
    names: frozenset[str]
    plain: bool
    atom: Atom | None

    def __add__(self, other: Dim) -> Dim:
        return add(self, other)

    def __radd__(self, other: int) -> Dim:
        return add(other, self)

    def __sub__(self, other: Dim) -> Dim:
        return sub(self, other)

    def __rsub__(self, other: int) -> Dim:
        return sub(other, self)

    def __mul__(self, other: Dim) -> Dim:
        return mul(self, other)

    def __rmul__(self, other: int) -> Dim:
        return mul(other, self)

    def __neg__(self) -> Dim:
        return neg(self)

    def __floordiv__(self, other: Dim) -> Dim:
        return floordiv(self, other)

    def __rfloordiv__(self, other: int) -> Dim:
        return floordiv(other, self)

    def __mod__(self, other: Dim) -> Dim:
        return mod(self, other)

    def __rmod__(self, other: int) -> Dim:
        return mod(other, self)

    def __pow__(self, other: Dim) -> Dim:
        return power(self, other)

    def __rpow__(self, other: int) -> Dim:
        return power(other, self)

    def __str__(self) -> str:
        return poly_text(self.terms)

    def __repr__(self) -> str:
        return f"Poly({self})"

    def __reduce__(self) -> tuple[object, ...]:
        return (build, (dict(self.terms),))


_atoms: dict[tuple[str, object], Atom] = {}
_polys: dict[frozenset[tuple[Monomial, int]], Poly] = {}


def build(terms: Mapping[Monomial, int]) -> Dim:
    """The interned dim with these terms; no coefficient may be 0. The mapping is kept."""
    if not terms:
        return 0
    if len(terms) == 1 and () in terms:
        return terms[()]
    key = frozenset(terms.items())
    found = _polys.get(key)
    if found is None:
        _check_size(terms.values())
        atoms = {atom for monomial in terms for atom, _ in monomial}
        used = _NO_NAMES.union(*(atom.names for atom in atoms))
        plain = all(atom.kind == "symbol" for atom in atoms)
        found = _polys.setdefault(key, Poly(terms, used, plain, _only_atom(terms)))
    return found


def _check_size(numbers: Iterable[int]) -> None:
    if any(number.bit_length() > 4 * POWER_BITS for number in numbers):
        raise OverflowError("a number too large for a dim")


def _only_atom(terms: Mapping[Monomial, int]) -> Atom | None:
    if len(terms) == 1:
        ((monomial, coefficient),) = terms.items()
        if coefficient == 1 and len(monomial) == 1 and monomial[0][1] == 1:
            return monomial[0][0]
    return None


def terms_of(dim: Dim) -> Mapping[Monomial, int]:
    """The terms of a dim; an int has the constant term alone, 0 has none."""
    if isinstance(dim, Poly):
        return dim.terms
    return {(): int(dim)} if dim else {}


def of_atom(atom: Atom) -> Poly:
    """The polynomial that is just this atom."""
    poly = build({((atom, 1),): 1})
    assert isinstance(poly, Poly)
    return poly


def as_atom(dim: Dim) -> Atom | None:
    """The atom that this dim just is, if it is one."""
    return dim.atom if isinstance(dim, Poly) else None


def _symbol_atom(name: str) -> Atom:
    found = _atoms.get(("symbol", name))
    if found is None:
        made = Atom("symbol", (), name, frozenset((name,)), (False, name))
        found = _atoms.setdefault(("symbol", name), made)
    return found


def _operation(kind: Kind, args: tuple[Dim, ...]) -> Atom:
    found = _atoms.get((kind, args))
    if found is None:
        _check_size(arg for arg in args if isinstance(arg, int))
        text = operation_text(kind, args)
        made = Atom(kind, args, text, _NO_NAMES.union(*map(names, args)), (True, text))
        found = _atoms.setdefault((kind, args), made)
    return found


def symbol(name: str) -> Poly:
    """The dim that a Const of this name stands for."""
    return of_atom(_symbol_atom(name))


# Sums and products


def add(a: Dim, b: Dim) -> Dim:
    """a + b"""
    if isinstance(a, int) and isinstance(b, int):
        return a + b
    return _linear(a, b, 1)


def sub(a: Dim, b: Dim) -> Dim:
    """a - b"""
    if isinstance(a, int) and isinstance(b, int):
        return a - b
    return 0 if a is b else _linear(a, b, -1)


def neg(a: Dim) -> Dim:
    """-a"""
    return -a if isinstance(a, int) else _linear(0, a, -1)


@lru_cache(maxsize=_MEMO)
def _linear(a: Dim, b: Dim, factor: int) -> Dim:
    terms = dict(terms_of(a))
    _accumulate(terms, terms_of(b), factor)
    return build(terms)


def _accumulate(terms: dict[Monomial, int], more: Mapping[Monomial, int], factor: int) -> None:
    for monomial, coefficient in more.items():
        total = terms.get(monomial, 0) + factor * coefficient
        if total:
            terms[monomial] = total
        else:
            del terms[monomial]


def mul(a: Dim, b: Dim) -> Dim:
    """a * b"""
    if isinstance(a, int) and isinstance(b, int):
        return a * b
    return _product(a, b)


@lru_cache(maxsize=_MEMO)
def _product(a: Dim, b: Dim) -> Dim:
    return build(_times(terms_of(a), terms_of(b)))


def _times(a: Mapping[Monomial, int], b: Mapping[Monomial, int]) -> dict[Monomial, int]:
    terms: dict[Monomial, int] = {}
    for left, x in a.items():
        _accumulate(terms, {monomial_product(left, right): y for right, y in b.items()}, x)
    return terms


# Division


def floordiv(a: Dim, b: Dim) -> Dim:
    """a // b, rounded down. Raises ZeroDivisionError for the int 0."""
    if isinstance(a, int) and isinstance(b, int):
        return a // b
    return _floordiv(a, b)


def mod(a: Dim, b: Dim) -> Dim:
    """a % b, with the sign of b. Raises ZeroDivisionError for the int 0."""
    if isinstance(a, int) and isinstance(b, int):
        return a % b
    return _mod(a, b)


def cdiv(a: Dim, b: Dim) -> Dim:
    """a / b rounded up, which is -(-a // b). Raises ZeroDivisionError for the int 0."""
    if isinstance(b, int):
        return cdiv(neg(a), -b) if b < 0 else floordiv(add(a, b - 1), b)
    if not never_zero(b):
        return of_atom(_operation("cdiv", (a, b)))
    whole, rest = split(a, b)
    return add(whole, of_atom(_operation("cdiv", (rest, b)))) if rest != 0 else whole


@lru_cache(maxsize=_MEMO)
def _floordiv(a: Dim, b: Dim) -> Dim:
    if isinstance(b, int):
        return _floordiv_int(neg(a), -b) if b < 0 else _floordiv_int(a, b)
    return quotient(a, b) if never_zero(b) else of_atom(_operation("//", (a, b)))


@lru_cache(maxsize=_MEMO)
def _mod(a: Dim, b: Dim) -> Dim:
    if isinstance(b, int):
        return neg(_mod_int(neg(a), -b)) if b < 0 else _mod_int(a, b)
    return remainder(a, b) if never_zero(b) else of_atom(_operation("%", (a, b)))


def never_zero(dim: Dim) -> bool:
    """Whether the dim is nonzero wherever it is defined, whatever the names are (a power of two, a max with 1)."""
    if isinstance(dim, int):
        return dim != 0
    if len(dim.terms) != 1:
        return False
    return all(_nonzero_atom(atom) for monomial in dim.terms for atom, _ in monomial)


def _nonzero_atom(atom: Atom) -> bool:
    if atom.kind == "**":
        return never_zero(atom.args[0])
    return atom.kind == "max" and any(isinstance(arg, int) and arg > 0 for arg in atom.args)


def quotient(a: Dim, b: Dim) -> Dim:
    """a // b where the caller knows that b is not zero: whole multiples and common factors of b cancel."""
    if isinstance(b, int):
        return floordiv(a, b)
    whole, rest = split(a, b)
    _, rest, divisor = _cancel(rest, b)
    if rest == 0:
        return whole
    if isinstance(divisor, int):
        return add(whole, floordiv(rest, divisor))
    return add(whole, of_atom(_operation("//", (rest, divisor))))


def remainder(a: Dim, b: Dim) -> Dim:
    """a % b where the caller knows that b is not zero: whole multiples and common factors of b cancel."""
    if isinstance(b, int):
        return mod(a, b)
    factor, rest, divisor = _cancel(split(a, b)[1], b)
    if rest == 0:
        return 0
    if isinstance(divisor, int):
        return mul(factor, mod(rest, divisor))
    return mul(factor, of_atom(_operation("%", (rest, divisor))))


def split(a: Dim, b: Poly) -> tuple[Dim, Dim]:
    """(q, r) with a = q*b + r for all values of the names; q takes what the leading term of b divides."""
    lead = max(b.terms, key=monomial_order)
    scale = b.terms[lead]
    whole: Dim = 0
    for _ in range(8):
        found: dict[Monomial, int] = {}
        for monomial, coefficient in terms_of(a).items():
            ratio = monomial_quotient(monomial, lead)
            count = 0 if ratio is None else _balanced(coefficient, abs(scale))[0] * (1 if scale > 0 else -1)
            if ratio is not None and count:
                found[ratio] = count
        if not found:
            break
        step = build(found)
        whole, a = add(whole, step), sub(a, mul(step, b))
    return whole, a


def _cancel(a: Dim, b: Poly) -> tuple[Dim, Dim, Dim]:
    """(g, a / g, b / g) with g the largest term that divides every term of both."""
    every = [*terms_of(a).items(), *b.terms.items()]
    number = gcd(*(coefficient for _, coefficient in every))
    shared = dict(every[0][0])
    for monomial, _ in every[1:]:
        exponents = dict(monomial)
        shared = {atom: min(n, exponents[atom]) for atom, n in shared.items() if atom in exponents}
    common = make_monomial(shared.items())
    if number == 1 and not common:
        return 1, a, b
    return build({common: number}), _over(a, common, number), _over(b, common, number)


def _over(dim: Dim, monomial: Monomial, number: int) -> Dim:
    divided: dict[Monomial, int] = {}
    for term, coefficient in terms_of(dim).items():
        ratio = monomial_quotient(term, monomial)
        assert ratio is not None
        divided[ratio] = coefficient // number
    return build(divided)


def _balanced(value: int, divisor: int) -> tuple[int, int]:
    """(q, r) with value = q*divisor + r and -divisor < 2*r <= divisor: keeps `-n // 128` as it is."""
    q, r = divmod(value, divisor)
    return (q + 1, r - divisor) if 2 * r > divisor else (q, r)


def _reduce(a: Dim, divisor: int) -> tuple[Dim, Dim, int, int]:
    """(q, p, g, k): a = divisor*q + g*p + k, where g divides divisor and 0 <= k < g; p is in normal form."""
    whole: dict[Monomial, int] = {}
    rest: dict[Monomial, int] = {}
    for monomial, coefficient in terms_of(a).items():
        q, r = _balanced(coefficient, divisor) if monomial else divmod(coefficient, divisor)
        if q:
            whole[monomial] = q
        if r:
            rest[monomial] = r
    constant = rest.pop((), 0)
    factor = gcd(divisor, *rest.values())
    part = {monomial: coefficient // factor for monomial, coefficient in rest.items()}
    if constant >= factor:
        part[()] = constant // factor
    return build(whole), build(part), factor, constant % factor


def _floordiv_int(a: Dim, divisor: int) -> Dim:
    if divisor == 0:
        raise ZeroDivisionError(f"{a} // 0")
    whole, part, factor, _ = _reduce(a, divisor)
    divisor //= factor
    if divisor == 1 or isinstance(part, int):
        return add(whole, floordiv(part, divisor))
    offset = part.terms.get((), 0)
    inner = as_atom(sub(part, offset))
    if inner is not None and inner.kind == "//":
        top, bottom = inner.args
        return add(whole, floordiv(add(top, mul(bottom, offset)), mul(bottom, divisor)))
    return add(whole, of_atom(_operation("//", (part, divisor))))


def _mod_int(a: Dim, divisor: int) -> Dim:
    if divisor == 0:
        raise ZeroDivisionError(f"{a} % 0")
    _, part, factor, rest = _reduce(a, divisor)
    divisor //= factor
    if divisor == 1:
        return rest
    if not isinstance(part, int):
        unwrapped = _unwrap_mod(part, divisor)
        if unwrapped is not part:
            return add(mul(mod(unwrapped, divisor), factor), rest)
    inner = part % divisor if isinstance(part, int) else of_atom(_operation("%", (part, divisor)))
    return add(mul(inner, factor), rest)


def _unwrap_mod(part: Poly, divisor: int) -> Dim:
    """Replaces `x % m` by x in terms where that changes the value by a multiple of the divisor only."""
    total: Dim = part
    for monomial, coefficient in part.terms.items():
        if len(monomial) == 1 and monomial[0][1] == 1 and monomial[0][0].kind == "%":
            atom = monomial[0][0]
            top, bottom = atom.args
            if all(coefficient * n % divisor == 0 for n in terms_of(bottom).values()):
                total = add(total, mul(coefficient, sub(top, of_atom(atom))))
    return total


# Powers, minimum, maximum


def power(a: Dim, b: Dim) -> Dim:
    """a ** b. Raises ArithmeticError for an int b below 0 and for powers past POWER_BITS."""
    if isinstance(b, int):
        if isinstance(a, int) or b < 0:
            return int_power(a if isinstance(a, int) else 0, b)
        if b <= EXPANDED_POWER or len(a.terms) == 1:
            return _power_int(a, b)
    elif isinstance(a, int) and a > 1:
        if a > 2 and a & (a - 1) == 0:
            return power(2, mul(b, a.bit_length() - 1))
        factor = gcd(*b.terms.values())
        if factor > 1:
            return power(power(a, _over(b, (), factor)), factor)
    return of_atom(_operation("**", (a, b)))


def _power_int(a: Poly, exponent: int) -> Dim:
    if len(a.terms) == 1:
        ((monomial, coefficient),) = a.terms.items()
        if exponent == 0:
            return 1
        return build({tuple((atom, n * exponent) for atom, n in monomial): int_power(coefficient, exponent)})
    result: Dim = 1
    for _ in range(exponent):
        result = mul(result, a)
    return result


def minimum(a: Dim, b: Dim) -> Dim:
    """min(a, b)"""
    return min(a, b) if isinstance(a, int) and isinstance(b, int) else _extreme("min", a, b)


def maximum(a: Dim, b: Dim) -> Dim:
    """max(a, b)"""
    return max(a, b) if isinstance(a, int) and isinstance(b, int) else _extreme("max", a, b)


@lru_cache(maxsize=_MEMO)
def _extreme(kind: Literal["min", "max"], a: Dim, b: Dim) -> Dim:
    kept: list[Dim] = []
    for dim in (a, b):
        atom = as_atom(dim)
        for candidate in atom.args if atom is not None and atom.kind == kind else (dim,):
            _keep_extreme(kind, kept, candidate)
    if len(kept) == 1:
        return kept[0]
    kept.sort(key=lambda dim: (isinstance(dim, int), str(dim)))
    return of_atom(_operation(kind, tuple(kept)))


def _keep_extreme(kind: Literal["min", "max"], kept: list[Dim], candidate: Dim) -> None:
    for index, other in enumerate(kept):
        difference = sub(candidate, other)
        if isinstance(difference, int):
            if (difference < 0) == (kind == "min"):
                kept[index] = candidate
            return
    kept.append(candidate)


# Rewriting and evaluation


def apply(kind: Kind, args: tuple[Dim, ...]) -> Dim:
    """The operation of an opaque atom on other operands."""
    match kind:
        case "//":
            return floordiv(args[0], args[1])
        case "%":
            return mod(args[0], args[1])
        case "**":
            return power(args[0], args[1])
        case "cdiv":
            return cdiv(args[0], args[1])
        case "min" | "max":
            combine = minimum if kind == "min" else maximum
            result = args[0]
            for arg in args[1:]:
                result = combine(result, arg)
            return result
        case "symbol":
            raise TypeError("a symbol has no operands")


def rewrite(dim: Dim, change: Callable[[Atom], Dim]) -> Dim:
    """The dim with every atom of its terms replaced by what `change` makes of it."""
    if isinstance(dim, int):
        return dim
    total: dict[Monomial, int] = {}
    for monomial, coefficient in dim.terms.items():
        product: Mapping[Monomial, int] = {(): coefficient}
        for atom, exponent in monomial:
            product = _times(product, terms_of(power(change(atom), exponent)))
        _accumulate(total, product, 1)
    return build(total)


def substitute(dim: Dim, values: Mapping[str, Dim]) -> Dim:
    """The dim with names replaced, all at once. Raises ArithmeticError where that makes it undefined."""
    if isinstance(dim, int) or dim.names.isdisjoint(values):
        return dim
    if dim.atom is not None and dim.atom.kind == "symbol":
        return values[dim.atom.text]
    known = {name: value for name in dim.names if isinstance(value := values.get(name), int)}
    if len(known) == len(dim.names):
        return evaluate(dim, known)

    def change(atom: Atom) -> Dim:
        if atom.kind == "symbol":
            value = values.get(atom.text)
            return of_atom(atom) if value is None else value
        if atom.names.isdisjoint(values):
            return of_atom(atom)
        return apply(atom.kind, tuple(substitute(arg, values) for arg in atom.args))

    return rewrite(dim, change)


def evaluate(dim: Dim, values: Mapping[str, int]) -> int:
    """The value for these names. Raises KeyError for a missing name, ArithmeticError where undefined."""
    if isinstance(dim, int):
        return dim
    total = 0
    for monomial, coefficient in dim.terms.items():
        for atom, exponent in monomial:
            if atom.kind == "symbol":
                value = values[atom.text]
            else:
                value = compute(atom.kind, [evaluate(arg, values) for arg in atom.args])
            coefficient *= value if exponent == 1 else monomial_power(value, exponent)
        total += coefficient
    return total


def names(dim: Dim) -> frozenset[str]:
    """The names that the dim depends on."""
    return dim.names if isinstance(dim, Poly) else _NO_NAMES
