"""The text of symbolic dims: a Python expression of the same value, such as `2*BLOCK + 1`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from teeny.ir.poly import Dim, Kind, Monomial


def poly_text(terms: Mapping[Monomial, int]) -> str:
    """A sum: added terms before subtracted ones, higher degrees first, the constant at the end."""
    parts = [(c < 0, -sum(n for _, n in m), _term_text(m, c)) for m, c in terms.items() if m]
    parts.sort()
    constant = terms.get((), 0)
    if constant:
        first = constant > 0 and parts[0][0]
        parts.insert(0 if first else len(parts), (constant < 0, 0, str(abs(constant))))
    text = ("-" if parts[0][0] else "") + parts[0][2]
    return text + "".join((" - " if negative else " + ") + part for negative, _, part in parts[1:])


def _term_text(monomial: Monomial, coefficient: int) -> str:
    lone = coefficient == 1 and len(monomial) == 1 and monomial[0][1] == 1
    factors = [] if abs(coefficient) == 1 else [str(abs(coefficient))]
    for atom, exponent in monomial:
        wrap = (atom.kind in ("//", "%") and not lone) or (atom.kind == "**" and exponent > 1)
        text = f"({atom.text})" if wrap else atom.text
        factors.append(text if exponent == 1 else f"{text}**{exponent}")
    return "*".join(factors)


def operation_text(kind: Kind, args: tuple[Dim, ...]) -> str:
    """An operation that does not cancel; its operands are in brackets where needed."""
    if kind in ("min", "max", "cdiv"):
        return f"{kind}({', '.join(map(str, args))})"
    left, right = args
    if kind == "**":
        return f"{_operand_text(left)}**{_operand_text(right)}"
    return f"{str(left) if _is_product(left) else _operand_text(left)} {kind} {_operand_text(right)}"


def _is_product(dim: Dim) -> bool:
    return not isinstance(dim, int) and dim.plain and len(dim.terms) == 1 and min(dim.terms.values()) > 0


def _operand_text(dim: Dim) -> str:
    if isinstance(dim, int):
        return str(dim) if dim >= 0 else f"({dim})"
    bare = dim.atom is not None and dim.atom.kind in ("symbol", "min", "max", "cdiv")
    return str(dim) if bare else f"({dim})"
