"""What a tile value is at a point of a loop nest, and arithmetic on that.

A *domain* is the box of indices that a nest runs over; its axes are numbered. A form says how an element depends on
those indices:

- `Uniform`: not at all: one scalar lane.
- `Linear`: base + sum of coefficient * index, exact in i64 as long as the bounds kept beside it are below 2**63. The
  value meant is that sum modulo the width of `dtype`: intermediate wraps cancel, so only what consumes a form as
  an address or a bound has to show that no wrap is left (`within`).
- `Pointer`: a scalar address plus a linear number of elements.
- `Mask`: index < bound (or its negation) for one axis.
- `Vector`: any value, a lane an element along the vector axis.
- `Unknown`: analysis only: it depends on these axes in a way that emission has to find out.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from teeny.backends.cpu.text import BITS

if TYPE_CHECKING:
    from teeny.backends.cpu.builder import Builder
    from teeny.ir.lanes import Lane

__all__ = [
    "EXACT", "Checked", "Coefficient", "Form", "Linear", "Mask", "Pointer", "Term", "Uniform", "Unknown", "Vector",
    "add", "extremes", "linear", "scale", "within",
]  # fmt: skip

EXACT = 1 << 62
"""The sum of two i64 below this bound is exact."""


@dataclass(frozen=True, slots=True, eq=False)
class Uniform:
    lane: Lane


@dataclass(frozen=True, slots=True, eq=False)
class Vector:
    lane: Lane


@dataclass(frozen=True, slots=True, eq=False)
class Coefficient:
    """A factor (i64) of an index, and a bound on its absolute value."""

    lane: Lane
    bound: int


@dataclass(frozen=True, slots=True, eq=False)
class Linear:
    base: Lane
    coefficients: dict[int, Coefficient]
    dtype: str
    bound: int
    """A bound on the absolute value of the base."""


@dataclass(frozen=True, slots=True, eq=False)
class Pointer:
    """`base` plus `offset` elements plus the sum of coefficient * index, in elements."""

    base: Lane
    offset: Lane
    coefficients: dict[int, Coefficient]
    name: str
    """The element type, as it lies in memory."""


@dataclass(frozen=True, slots=True, eq=False)
class Term:
    """index < bound along one axis; `negated`: index >= bound."""

    axis: int
    bound: Lane
    negated: bool

    @property
    def key(self) -> tuple[int, str]:
        return self.axis, self.bound.text


@dataclass(frozen=True, slots=True, eq=False)
class Mask:
    term: Term


@dataclass(frozen=True, slots=True, eq=False)
class Unknown:
    axes: frozenset[int]
    steps: dict[int, int | None] = field(default_factory=dict[int, "int | None"])
    """Axes along which it is linear where the others stand still, with the step, None where that is not known."""


@dataclass(frozen=True, slots=True, eq=False)
class Checked:
    """Emission only: `pointer` where `ok` holds at run time; in any case `lanes()`, a vector of addresses."""

    pointer: Pointer
    ok: Lane
    lanes: Callable[[], Lane]


Form = Uniform | Vector | Linear | Pointer | Mask | Unknown | Checked


def linear(b: Builder, form: Form) -> Linear | None:
    """An integer form as a linear one, if it is that."""
    if isinstance(form, Linear):
        return form
    if not isinstance(form, Uniform) or form.lane.dtype not in ("i8", "i16", "i32", "i64"):
        return None
    lane = form.lane
    bound = abs(int(lane.const)) if lane.const is not None else 1 << (BITS[lane.dtype] - 1)
    return Linear(b.sext(lane, "i64"), {}, lane.dtype, bound)


def _exact(dtype: str, *bounds: int) -> bool:
    """Whether i64 holds such sums exactly; in i64 itself wrapping is the meaning."""
    return dtype == "i64" or all(bound < 2 * EXACT for bound in bounds)


def add(b: Builder, x: Linear, y: Linear, *, subtract: bool = False) -> Linear | None:
    """x + y or x - y; None where i64 might not hold it exactly."""
    join = b.sub if subtract else b.add
    coefficients = dict(x.coefficients)
    for axis, c in y.coefficients.items():
        old = coefficients.get(axis)
        start, bound = (old.lane, old.bound) if old is not None else (b.const("i64", 0), 0)
        coefficients[axis] = Coefficient(join(start, c.lane), bound + c.bound)
    made = Linear(join(x.base, y.base), _nonzero(coefficients), x.dtype, x.bound + y.bound)
    return made if _exact(x.dtype, made.bound, *(c.bound for c in coefficients.values())) else None


def scale(b: Builder, x: Linear, factor: Linear) -> Linear | None:
    """x times a form without coefficients; None where i64 might not hold it exactly."""
    coefficients = {
        axis: Coefficient(b.mul(c.lane, factor.base), c.bound * factor.bound) for axis, c in x.coefficients.items()
    }
    made = Linear(b.mul(x.base, factor.base), _nonzero(coefficients), x.dtype, x.bound * factor.bound)
    return made if _exact(x.dtype, made.bound, *(c.bound for c in coefficients.values())) else None


def _nonzero(coefficients: dict[int, Coefficient]) -> dict[int, Coefficient]:
    return {axis: c for axis, c in coefficients.items() if c.lane.const != 0}


def extremes(b: Builder, base: Lane, coefficients: dict[int, Coefficient], last: dict[int, Lane]) -> tuple[Lane, Lane]:
    """The smallest and largest value over a box of indices [0, last[axis]], in i64."""
    low = high = base
    zero = b.const("i64", 0)
    for axis, c in coefficients.items():
        reach = b.mul(c.lane, last[axis])
        if c.lane.const is not None:
            if c.lane.const > 0:
                high = b.add(high, reach)
            else:
                low = b.add(low, reach)
        else:
            low = b.add(low, b.smin(reach, zero))
            high = b.add(high, b.smax(reach, zero))
    return low, high


def within(b: Builder, x: Linear, dims: tuple[int, ...], low: int, high: int) -> Lane | None:
    """A test (i1) that x lies in [low, high] all over the domain; constant where known, None if undecidable."""
    reach = sum(c.bound * (dims[axis] - 1) for axis, c in x.coefficients.items())
    total = x.bound + reach
    if total <= min(-low, high):
        return b.const("i1", 1)
    small = b.const("i1", 1)
    if x.dtype == "i64" and total >= EXACT:
        if reach >= EXACT >> 1:
            return None
        small = b.icmp("ult", b.add(x.base, b.const("i64", EXACT >> 1)), b.const("i64", EXACT))
        if min(-low, high) >= EXACT:
            return small
    elif total >= 2 * EXACT:
        return None
    last = {axis: b.const("i64", dims[axis] - 1) for axis in x.coefficients}
    least, most = extremes(b, x.base, x.coefficients, last)
    return b.and_(small, b.and_(b.icmp("sge", least, b.const("i64", low)), b.icmp("sle", most, b.const("i64", high))))
