"""Functions given by the polynomials of `tables`."""

from __future__ import annotations

from functools import reduce

from teeny.ops.vecmath.number import Number, choose, fma, polynomial
from teeny.ops.vecmath.tables import TABLES, Piece

__all__ = ["tabled"]


def tabled(name: str, x: Number) -> Number:
    """The function `name` of an f64 within its range."""
    first, *others = TABLES[name]
    return reduce(lambda found, piece: choose(x < piece[0], found, _on(piece, x)), others, _on(first, x))


def _on(piece: Piece, x: Number) -> Number:
    low, high, coefficients = piece
    middle, half = (low + high) / 2, (high - low) / 2
    return polynomial(fma(x, 1 / half, -middle / half), coefficients)
