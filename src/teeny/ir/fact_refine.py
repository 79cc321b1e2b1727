"""Simplifications of symbolic dims that need facts, in the new names of a `Space`."""

from __future__ import annotations

from teeny.ir.fact_signs import nonneg
from teeny.ir.fact_space import Space
from teeny.ir.poly import (
    Atom,
    Dim,
    Poly,
    add,
    apply,
    build,
    floordiv,
    maximum,
    minimum,
    mod,
    mul,
    of_atom,
    power,
    quotient,
    remainder,
    rewrite,
    sub,
)


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
