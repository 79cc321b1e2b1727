"""Loop nests over a domain: the vector axis, bounds from masks, and the two versions of a nest.

Along the vector axis a nest runs in three ranges: where all bounds hold (unrolled, no masks), up to the last bound
(masked), and beyond (all bounds false). A nest that only stores under some of the bounds ends with them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from teeny.backends.cpu.lower.forms import Term
from teeny.backends.cpu.lower.point import Entry, Known, Point
from teeny.backends.cpu.lower.values import size

if TYPE_CHECKING:
    from teeny.backends.cpu.builder import Builder
    from teeny.backends.cpu.lower.analysis import Access, Analysis
    from teeny.ir.lanes import Lane

__all__ = ["Nest", "choose_axis", "counted", "versions"]

Carried = Sequence["Lane"]
Body = Callable[["list[Lane | None]", Known], None]
"""Called with the first indices of as many vectors as are unrolled (None where there is no vector axis)."""


def counted(
    b: Builder, low: Lane, high: Lane, step: int, carried: Carried, body: Callable[[Lane, Carried], Carried]
) -> Carried:
    """A loop over range(low, high, step) that hands on values; none where it is known to run once or never."""
    if low.const is not None and high.const is not None:
        trips = -((int(low.const) - int(high.const)) // step)
        if trips <= 0:
            return carried
        if trips == 1:
            return body(low, carried)
    with b.loop(low, high, b.const("i64", step), carried) as loop:
        loop.yield_(tuple(body(loop.index, loop.carried)))
    return loop.results


def choose_axis(analysis: Analysis, candidates: Iterable[int], width: int) -> int | None:
    """The axis along which vectors run at the least cost; the last one of equals."""
    best: tuple[float, int] | None = None
    for axis in candidates:
        if analysis.dims[axis] == 1:
            continue
        cost = _cost(analysis, axis, min(width, analysis.dims[axis]))
        if best is None or cost <= best[0]:
            best = (cost, axis)
    return None if best is None else best[1]


def _cost(analysis: Analysis, axis: int, width: int) -> float:
    cost = size(analysis.dims) / width * (1 + analysis.work)
    for access in analysis.accesses:
        points = 1.0
        for a in access.strides:
            points *= analysis.dims[a]
        cost += 2 * points * _factor(access, axis, analysis.dims, width)
    return cost


def _factor(access: Access, axis: int, dims: tuple[int, ...], width: int) -> float:
    if axis not in access.strides:
        return 1.0
    if access.strides[axis] == 1:
        return 1.2 / width
    return 1.5 if access.along(axis, dims) is None else 6 / width


@dataclass(slots=True)
class Nest:
    """How to run over an analysed domain.

    `vector`: the axis of the vectors, `width` their lanes. `required`: bounds outside of which nothing needs to be
    done. `exact`: the general version, scalar and without assumptions.
    """

    analysis: Analysis
    vector: int | None
    width: int
    unroll: int = 1
    required: frozenset[tuple[int, str]] = frozenset()
    exact: bool = False
    known: Known = field(default_factory=Known)

    @property
    def b(self) -> Builder:
        return self.analysis.state.b

    def point(self, entries: dict[int, Entry], known: Known) -> Point:
        return Point(self.analysis, entries, known, self.width, exact=self.exact)

    def terms(self, axis: int) -> list[Term]:
        """The bounds along an axis."""
        return [] if self.exact else [t for t in self.analysis.terms.values() if t.axis == axis]

    def clamped(self, term: Term) -> Lane:
        b = self.b
        return b.smin(b.smax(term.bound, b.const("i64", 0)), b.const("i64", self.analysis.dims[term.axis]))

    def end(self, terms: list[Term], *, last: bool = False) -> Lane:
        """The least of some bounds, or the last of them, clamped to the domain."""
        lanes = [self.clamped(t) for t in terms]
        end = lanes[0]
        for lane in lanes[1:]:
            end = self.b.smax(end, lane) if last else self.b.smin(end, lane)
        return end

    # Scalar axes

    def over(
        self, axis: int, known: Known, carried: Carried, body: Callable[[Lane, Known, Carried], Carried]
    ) -> Carried:
        """Run over a scalar axis in rising order."""
        b = self.b
        zero, size_ = b.const("i64", 0), b.const("i64", self.analysis.dims[axis])
        terms = self.terms(axis)
        required = [t for t in terms if t.key in self.required]
        if required:
            inside = known | {t.key: True for t in required}
            return counted(b, zero, self.end(required), 1, carried, lambda i, c: body(i, inside, c))
        if len(terms) == 1:
            key = terms[0].key
            edge = self.clamped(terms[0])
            carried = counted(b, zero, edge, 1, carried, lambda i, c: body(i, known | {key: True}, c))
            return counted(b, edge, size_, 1, carried, lambda i, c: body(i, known | {key: False}, c))
        return counted(b, zero, size_, 1, carried, lambda i, c: body(i, known, c))

    def outer(self, axes: Sequence[int], body: Callable[[dict[int, Entry], Known], None]) -> None:
        """Run over several scalar axes, the first outermost."""

        def level(at: int, entries: dict[int, Entry], known: Known) -> None:
            if at == len(axes):
                body(entries, known)
                return

            def inside(index: Lane, inner: Known, carried: Carried) -> Carried:
                level(at + 1, entries | {axes[at]: Entry(index)}, inner)
                return carried

            self.over(axes[at], known, (), inside)

        level(0, {}, self.known)

    # The vector axis

    def vectors(self, known: Known, body: Body) -> None:
        """Run over the vector axis."""
        axis, b = self.vector, self.b
        if axis is None:
            body([None], known)
            return
        size_ = self.analysis.dims[axis]
        unroll = min(self.unroll, size_ // self.width)
        step = self.width * unroll
        zero, end = b.const("i64", 0), b.const("i64", size_)

        def steps(low: Lane, high: Lane, count: int, facts: Known) -> None:
            def one(index: Lane, carried: Carried) -> Carried:
                body([b.add(index, b.const("i64", k * self.width)) for k in range(count)], facts)
                return carried

            counted(b, low, high, self.width * count, (), one)

        terms = self.terms(axis)
        if not terms:
            steps(zero, end, unroll, known)
            return
        required = [t for t in terms if t.key in self.required]
        full = b.and_(self.end(terms), b.const("i64", -step))
        steps(zero, full, unroll, known | {t.key: True for t in terms})
        if required:
            steps(full, self.end(required), 1, known)
            return
        hull = self.rounded(self.end(terms, last=True), self.width)
        steps(full, hull, 1, known)
        steps(hull, end, 1, known | {t.key: False for t in terms})

    def rounded(self, count: Lane, step: int) -> Lane:
        """A non-negative count rounded up to a multiple of a power of two."""
        b = self.b
        return b.and_(b.add(count, b.const("i64", step - 1)), b.const("i64", -step))

    def points(self, entries: dict[int, Entry], indices: list[Lane | None], known: Known) -> list[Point]:
        """One point for each index along the vector axis."""
        made: list[Point] = []
        for index in indices:
            here = entries
            if index is not None and self.vector is not None:
                here = entries | {self.vector: Entry(index, vector=True)}
            made.append(self.point(here, known))
        return made


def versions(analysis: Analysis, ok: Lane, make: Callable[[bool], Sequence[Lane]]) -> Sequence[Lane]:
    """Emit `make(exact)`: the fast version where `ok` holds and the exact one elsewhere. It may give scalars."""
    b = analysis.state.b
    if analysis.state.options.exact or (ok.const is not None and not ok.const):
        with b.region():
            return make(True)
    if ok.const is not None:
        with b.region():
            return make(False)
    with b.if_(ok) as branch:
        with b.region():
            fast = make(False)
        branch.yield_(fast)
        branch.otherwise()
        with b.region():
            exact = make(True)
        branch.yield_(exact)
    return branch.results
