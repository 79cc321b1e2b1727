"""The unknowns that conditions are made of.

An atom is a symbol of `ir.poly` whose name no Const can have. It stands for a scalar or a tile; `axes` says along which
axes of the value at hand it varies, so that expanding and transposing only rename it. Lanes of `arange` are atoms by
their length and axis: two ranges of one length on one axis are the same.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import gcd

from teeny.ir.facts import Facts, decide
from teeny.ir.poly import Dim, Poly, build, mul, names, sub, substitute, symbol, terms_of

FALSE = -1
"""The condition that never holds."""
Axes = tuple[int, ...]
AxisMap = tuple[Axes, ...]
"""For each axis of a value the axes of another that it becomes; several where a reshape mixes it with others."""


@dataclass(frozen=True, slots=True)
class Atom:
    """`base` tells atoms apart that vary along the same axes; `size` is the length of a range, else None."""

    base: str
    axes: Axes
    size: Dim | None = None

    @property
    def name(self) -> str:
        return f"{self.base}@{','.join(map(str, self.axes))}"


@dataclass(slots=True)
class Atoms:
    """The atoms of one function by name, and the arithmetic on conditions over them."""

    facts: Facts
    table: dict[str, Atom] = field(default_factory=dict[str, Atom])
    _moved: dict[tuple[Dim, AxisMap, str], Dim] = field(default_factory=dict["tuple[Dim, AxisMap, str]", "Dim"])

    def poly(self, atom: Atom) -> Poly:
        self.table.setdefault(atom.name, atom)
        return symbol(atom.name)

    def lane(self, size: Dim, axis: int = 0) -> Dim:
        return 0 if size == 1 else self.poly(Atom(f"lane[{size}]", (axis,), size))

    def of(self, dim: Dim) -> list[Atom]:
        """The atoms in a polynomial; Consts are none."""
        return [self.table[n] for n in sorted(names(dim)) if n in self.table]

    def varies(self, dim: Dim, axis: int) -> bool:
        return any(axis in atom.axes for atom in self.of(dim))

    def slope(self, dim: Dim, axis: int) -> int:
        """Whether a dim rises (1) or falls (-1) with the index along an axis; 0 where that is not known."""
        found = [atom for atom in self.of(dim) if axis in atom.axes]
        if len(found) != 1 or found[0].size is None or isinstance(dim, int):
            return 0
        return _sign(dim, found[0].name)

    def moved(self, dim: Dim, axes: AxisMap, tag: str = "") -> Dim:
        """A polynomial over a value's lanes as one over the lanes of the value that it was moved into."""
        key = dim, axes, tag
        found = self._moved.get(key)
        if found is None:
            found = self._moved[key] = self._move(dim, axes, tag)
        return found

    def _move(self, dim: Dim, axes: AxisMap, tag: str) -> Dim:
        values: dict[str, Dim] = {}
        for atom in self.of(dim):
            if not atom.axes:
                continue
            to = [axes[a] for a in atom.axes]
            if all(len(t) == 1 for t in to):
                new = Atom(atom.base, tuple(t[0] for t in to), atom.size)
            else:
                mixed = tuple(sorted({a for t in to for a in t}))
                new = Atom(f"{atom.base}>{atom.axes}{tag}", mixed)
            if new != atom:
                values[atom.name] = self.poly(new)
        return substitute(dim, values) if values else dim

    def flipped(self, dim: Dim, axis: int) -> Dim:
        """A polynomial over a value's lanes as one over those of the value flipped along an axis."""
        values: dict[str, Dim] = {}
        for atom in self.of(dim):
            if axis in atom.axes:
                whole = atom.size is not None and atom.axes == (axis,)
                other = Atom(f"{atom.base}<{axis}", atom.axes)
                values[atom.name] = sub(sub(atom.size or 0, 1), self.poly(atom)) if whole else self.poly(other)
        return substitute(dim, values) if values else dim

    def condition(self, dim: Dim) -> Dim | None:
        """The normal form of dim >= 0: None where it always holds, FALSE where it never does."""
        if isinstance(dim, int):
            return None if dim >= 0 else FALSE
        factor = gcd(*(c for monomial, c in dim.terms.items() if monomial))
        if factor > 1:
            dim_terms = {monomial: c // factor for monomial, c in dim.terms.items()}
            dim = build({monomial: c for monomial, c in dim_terms.items() if c})
        return None if self.nonnegative(dim) else dim

    def nonnegative(self, dim: Dim) -> bool:
        """Whether the dim is 0 or more in every lane, whatever scalars and Consts are."""
        if isinstance(dim, int):
            return dim >= 0
        lowest: dict[str, Dim] = {}
        for atom in self.of(dim):
            sign = _sign(dim, atom.name)
            if atom.size is None or sign == 0:
                return False
            lowest[atom.name] = 0 if sign > 0 else atom.size - 1
        rest = substitute(dim, lowest) if lowest else dim
        return rest >= 0 if isinstance(rest, int) else decide(self.facts, "ge", rest, 0) is True


def _sign(dim: Poly, name: str) -> int:
    """The sign of the number that a symbol is multiplied with; 0 where it occurs in any other way."""
    sign = 0
    for monomial, coefficient in terms_of(dim).items():
        pairs = [(atom, exponent) for atom, exponent in monomial if name in atom.names]
        if pairs:
            if len(monomial) > 1 or pairs[0][1] > 1 or pairs[0][0].kind != "symbol":
                return 0
            sign = 1 if coefficient > 0 else -1
    return sign


def mixed(old: tuple[Dim, ...], new: tuple[Dim, ...]) -> AxisMap:
    """How a reshape moves axes: one that stays whole is renamed, those joined or split become all that they give."""
    left = [i for i, n in enumerate(old) if n != 1]
    right = [i for i, n in enumerate(new) if n != 1]
    found: list[Axes] = [()] * len(old)
    i = j = 0
    while i < len(left) and j < len(right):
        first, begin = i, j
        x, y = old[left[i]], new[right[j]]
        while x != y:
            if j + 1 < len(right) and (i + 1 == len(left) or (isinstance(x, int) and isinstance(y, int) and y < x)):
                j += 1
                y = mul(y, new[right[j]])
            elif i + 1 < len(left):
                i += 1
                x = mul(x, old[left[i]])
            else:
                break
        i, j = i + 1, j + 1
        for axis in left[first:i]:
            found[axis] = tuple(right[begin:j])
    return tuple(found)
