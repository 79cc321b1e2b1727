"""Emission: the value of a tile at one point of a nest, as lanes.

A point fixes the index of each axis of the domain, one of which may be the vector axis: its lanes are the indices from
the entry's on. With `exact` nothing is taken for granted: every index is a scalar and all arithmetic is done as
declared, wrapping.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from teeny.backends.cpu.lower.evaluate import Axes, address_form, depends, lanewise, ring, through_view, wide
from teeny.backends.cpu.lower.forms import (
    Checked,
    Coefficient,
    Form,
    Linear,
    Mask,
    Pointer,
    Uniform,
    Unknown,
    Vector,
    add,
    within,
)  # fmt: skip
from teeny.backends.cpu.lower.state import Buffer
from teeny.backends.cpu.lower.values import BYTES, is_tile, kind_of, memory_name, operand, pointee_name
from teeny.backends.cpu.text import BITS
from teeny.diag.errors import InternalError
from teeny.ir.lanes import Lane

if TYPE_CHECKING:
    from teeny.backends.cpu.lower.analysis import Analysis
    from teeny.ir.core import Op, Value

__all__ = ["Entry", "Known", "Point"]

Known = dict[tuple[int, str], bool]
"""Truth of `index < bound` by axis and bound; of scalar conditions by axis -1 and their text."""


@dataclass(frozen=True, slots=True, eq=False)
class Entry:
    """An index (i64); for the vector axis that of the first lane."""

    lane: Lane
    vector: bool = False


class Point:
    """One point. `entries` has every axis of the domain whose size is not one."""

    __slots__ = ("analysis", "b", "entries", "exact", "known", "memo", "state", "width")

    def __init__(
        self, analysis: Analysis, entries: dict[int, Entry], known: Known, width: int, *, exact: bool = False
    ) -> None:
        self.analysis = analysis
        self.state = analysis.state
        self.b = analysis.state.b
        self.entries = entries
        self.known = known
        self.width = width
        self.exact = exact
        self.memo: dict[tuple[Value, Axes], Form] = {}

    def value(self, value: Value, axes: Axes) -> Lane:
        """The value as a lane: a scalar where it is the same in all lanes of the point."""
        return self.lane(self.at(value, axes))

    def at(self, value: Value, axes: Axes) -> Form:
        """The value as a form, never `Unknown`; a mask only where its truth is not known."""
        value = self.state.plan.source(value)
        key = (value, axes)
        found = self.memo.get(key)
        if found is None:
            found = self.memo[key] = self._resolved(self._form(value, axes))
        return found

    def _resolved(self, form: Form) -> Form:
        if isinstance(form, Mask):
            truth = self.known.get(form.term.key)
            if truth is not None:
                return Uniform(self.b.const("i1", truth != form.term.negated))
        elif isinstance(form, Uniform) and form.lane.dtype == "i1" and form.lane.const is None:
            truth = self.known.get((-1, form.lane.text))
            if truth is not None:
                return Uniform(self.b.const("i1", truth))
        return form

    def _form(self, value: Value, axes: Axes) -> Form:
        if not self.exact:
            found = self.analysis.at(value, axes)
            if not isinstance(found, Unknown):
                return found
        bound = self.state.bound.get(value)
        if isinstance(bound, Lane):
            return Uniform(bound)
        if isinstance(bound, Buffer):
            return self._read(bound, axes)
        op = value.op
        if op is None:
            raise InternalError(f"the value {value!r} is read before it is made")
        match kind_of(op):
            case "view":
                return self.at(*through_view(op, axes))
            case "range":
                return self._range(int(str(op.attrs["start"])), axes[0])
            case "address":
                return self._address(op, axes)
            case "load":
                return self._load(op, axes)
            case _ if op.name == "arith.select":
                return self._select(op, axes)
            case _:
                return self._lanewise(op, axes)

    def _range(self, start: int, axis: int | None) -> Form:
        first = self.b.const("i32", start)
        if axis is None:
            return Uniform(first)
        entry = self.entries[axis]
        if self.exact:
            return Uniform(self.b.add(self.b.trunc(entry.lane, "i32"), first))
        return Linear(self.b.const("i64", start), {axis: Coefficient(self.b.const("i64", 1), 1)}, "i32", abs(start))

    def _prove(self, form: Linear, low: int, high: int) -> bool:
        return not self.exact and self.analysis.prove(form, low, high)

    def _address(self, op: Op, axes: Axes) -> Form:
        pointer, offset = self.at(op.operands[0], axes), self.at(op.operands[1], axes)
        found = address_form(self.b, op, pointer, offset, self._prove)
        if found is not None:
            return found
        name = memory_name(pointee_name(op.results[0].type))

        def addresses() -> Lane:
            return self.b.offset(self.lane(pointer), wide(self.b, self.lane(offset)), name)

        return self._checked(pointer, offset, name, addresses) or _form_of(addresses())

    def _checked(self, pointer: Form, offset: Form, name: str, addresses: Callable[[], Lane]) -> Form | None:
        """A linear address, if a test in place shows that the offset does not wrap along the vector."""
        b = self.b
        if self.exact or not isinstance(offset, Linear) or not isinstance(pointer, Uniform | Pointer):
            return None
        inner = {a: c for a, c in offset.coefficients.items() if self.entries[a].vector}
        if not inner or self.width == 1:
            return None
        outer = {a: c for a, c in offset.coefficients.items() if a not in inner}
        dims = self.analysis.dims
        bound = offset.bound + sum(c.bound * (dims[a] - 1) for a, c in outer.items())
        row = Linear(self._scalar(offset.base, outer), inner, offset.dtype, bound)
        half = 1 << (BITS[offset.dtype] - 1)
        ok = within(b, row, dims, -half, half - 1)
        if ok is None:
            return None
        start = pointer if isinstance(pointer, Pointer) else Pointer(pointer.lane, b.const("i64", 0), {}, name)
        total = add(b, _wide(start.offset, start.coefficients), _wide(offset.base, offset.coefficients))
        if total is None or not total.coefficients:
            return None
        return Checked(Pointer(start.base, total.base, total.coefficients, name), ok, addresses)

    def _lanewise(self, op: Op, axes: Axes) -> Form:
        forms = [self.at(x, axes if is_tile(x) else ()) for x in op.operands]
        found = ring(self.b, op, forms, self._prove)
        if found is not None:
            return found
        return _form_of(lanewise(self.b, op, [self.lane(f) for f in forms]))

    def _select(self, op: Op, axes: Axes) -> Form:
        condition, yes, no = op.operands
        c = self.lane(self.at(condition, axes if is_tile(condition) else ()))
        if c.const is not None:
            return self.at(yes if c.const else no, axes)
        return _form_of(self.b.select(c, self.value(yes, axes), self.value(no, axes)))

    # Lanes of forms

    def lane(self, form: Form) -> Lane:
        """A form as a lane, computed as its type declares."""
        b = self.b
        match form:
            case Uniform() | Vector():
                return form.lane
            case Linear():
                return self._ramp(b.trunc(self._scalar(form.base, form.coefficients), form.dtype), form.coefficients)
            case Mask():
                return self._mask(form)
            case Checked():
                return form.lanes()
            case Pointer():
                at, step = self.address(form), self._step(form.coefficients)
                return at if step is None else self.spread(at, step, form.name)
            case _:
                raise InternalError("a value is unknown at emission")

    def _step(self, coefficients: dict[int, Coefficient]) -> Lane | None:
        """The coefficient along the vector axis, None where there is none or a vector has one lane."""
        for axis, c in coefficients.items():
            if self.entries[axis].vector and self.width > 1:
                return c.lane
        return None

    def _scalar(self, base: Lane, coefficients: dict[int, Coefficient]) -> Lane:
        """The sum at the first lane (i64), outermost terms first."""
        b = self.b
        for axis in sorted(coefficients, key=lambda a: self.entries[a].lane.scope.depth):
            base = b.add(base, b.mul(coefficients[axis].lane, self.entries[axis].lane))
        return base

    def _ramp(self, base: Lane, coefficients: dict[int, Coefficient]) -> Lane:
        b, step = self.b, self._step(coefficients)
        if step is None:
            return base
        if step.const is not None:
            return b.ramp(base, self.width, int(step.const))
        return b.add(base, b.mul(b.lane_ids(base.dtype, self.width), b.trunc(step, base.dtype)))

    def _mask(self, form: Mask) -> Lane:
        b, term = self.b, form.term
        entry = self.entries[term.axis]
        if not entry.vector or self.width == 1:
            return b.icmp("sge" if term.negated else "slt", entry.lane, term.bound)
        inside = b.prefix_mask(b.sub(term.bound, entry.lane), self.width)
        return b.xor(inside, b.const("i1", 1)) if term.negated else inside

    # Memory

    def address(self, pointer: Pointer) -> Lane:
        """The address at the first lane, outermost terms first."""
        b, name = self.b, pointer.name
        at = b.offset(pointer.base, pointer.offset, name)
        for axis in sorted(pointer.coefficients, key=lambda a: self.entries[a].lane.scope.depth):
            at = b.offset(at, b.mul(pointer.coefficients[axis].lane, self.entries[axis].lane), name)
        return at

    def place(self, form: Form) -> tuple[Lane, Lane | None]:
        """Address and step of an access: a step of None means that the address is scalar and the same for all lanes.

        Otherwise the address is that of the first lane and the step (i64, in elements) leads to the others; a vector
        of addresses has no step either.
        """
        if isinstance(form, Pointer):
            return self.address(form), self._step(form.coefficients)
        return self.lane(form), None

    def _load(self, op: Op, axes: Axes) -> Form:
        b = self.b
        given, otherwise = operand(op, 1), operand(op, 2)
        mask = b.const("i1", 1) if given is None else self.value(given, axes)
        name = pointee_name(op.operands[0].type)

        def other() -> Lane:
            return b.const(name, 0) if otherwise is None else self.value(otherwise, axes)

        if mask.const is not None and not mask.const:
            return _form_of(other())
        form = self.at(op.operands[0], axes)
        fill = b.const(name, 0) if mask.const is not None else other()
        # Where bounds of this nest decided a comparison in the mask or in the address, the load must stay inside their
        # loops, which may be empty.
        block = b.scopes[-1]
        kept = block.region
        if kept is not None:
            held = depends(self.analysis.at(op.operands[0], axes))
            if given is not None:
                held |= depends(self.analysis.at(given, axes))
            block.region = max(kept, *(self.entries[a].lane.scope.depth for a in held if a in self.entries), 0)
        try:
            if not isinstance(form, Checked):
                return _form_of(self._fetch(self.place(form), name, mask, fill))
            with b.if_(form.ok) as branch:
                branch.yield_([b.splat(self._fetch(self.place(form.pointer), name, mask, fill), self.width)])
                branch.otherwise()
                branch.yield_([b.splat(self._fetch((form.lanes(), None), name, mask, fill), self.width)])
            return Vector(branch.results[0])
        finally:
            block.region = kept

    def _fetch(self, place: tuple[Lane, Lane | None], name: str, mask: Lane, fill: Lane) -> Lane:
        b, (at, step) = self.b, place
        memory = memory_name(name)
        wanted = b.zext(fill, memory) if name == "i1" else fill
        if at.width > 1:
            found = b.gather(at, memory, mask, wanted)
        elif step is None and mask.width > 1:
            found = b.gather(b.splat(at, mask.width), memory, mask, wanted)
        elif step is None and wanted.width > 1:
            found = b.select(mask, b.masked_load(at, mask, b.const(memory, 0), memory, align=1), wanted)
        elif step is None:
            found = b.masked_load(at, mask, wanted, memory, align=1)
        elif step.const == 1:
            found = b.masked_load(at, mask, wanted, memory, self.width, align=1)
        else:
            found = b.gather(self.spread(at, step, memory), memory, mask, wanted)
        return b.icmp("ne", found, b.const("i8", 0)) if name == "i1" else found

    def spread(self, at: Lane, step: Lane, memory: str) -> Lane:
        """Addresses of all lanes."""
        b = self.b
        return b.offset(at, b.mul(b.lane_ids("i64", self.width), step), memory)

    def _read(self, buffer: Buffer, axes: Axes) -> Form:
        return _form_of(self.read(buffer, axes))

    def _buffer_place(self, buffer: Buffer, axes: Axes) -> tuple[Lane, Lane | None]:
        b = self.b
        coefficients = {
            axis: Coefficient(b.const("i64", step), step)
            for axis, step in zip(axes, buffer.strides, strict=True)
            if axis is not None
        }
        return self.place(Pointer(buffer.at, b.const("i64", 0), coefficients, memory_name(buffer.dtype)))

    def read(self, buffer: Buffer, axes: Axes) -> Lane:
        """The element of a buffer."""
        return self._fetch(self._buffer_place(buffer, axes), buffer.dtype, self.b.const("i1", 1), self.b.const("i1", 0))

    def write(self, buffer: Buffer, axes: Axes, value: Lane) -> None:
        """Set the element of a buffer. Nothing in the same nest may read it but at the same point, before."""
        b = self.b
        at, step = self._buffer_place(buffer, axes)
        memory = memory_name(buffer.dtype)
        value = b.zext(value, memory) if buffer.dtype == "i1" else value
        if step is None:
            b.store(at, value, align=BYTES[memory], kills=False)
        elif step.const == 1:
            b.store(at, b.splat(value, self.width), align=BYTES[memory], kills=False)
        else:
            b.scatter(self.spread(at, step, memory), b.splat(value, self.width), kills=False)

    def put(self, form: Form, name: str, value: Lane, mask: Lane, *, stream: bool = False) -> None:
        """Store to memory where the mask holds; `stream`: whole vectors, which are aligned, go past the cache."""
        b = self.b
        if isinstance(form, Checked):
            with b.if_(form.ok) as branch:
                self.put(form.pointer, name, value, mask)
                branch.otherwise()
                self.put(Vector(form.lanes()), name, value, mask)
            return
        memory = memory_name(name)
        value = b.zext(value, memory) if name == "i1" else value
        at, step = self.place(form)
        if at.width > 1:
            b.scatter(at, value, mask, kills=False)
        elif step is None:
            self._put_one(at, value, mask)
        elif step.const == 1 and stream and mask.const:
            b.store(at, b.splat(value, self.width), align=self.width * BYTES[memory], nontemporal=True, kills=False)
        elif step.const == 1:
            b.masked_store(at, b.splat(value, self.width), mask, align=1, kills=False)
        else:
            b.scatter(self.spread(at, step, memory), value, mask, kills=False)

    def _put_one(self, at: Lane, value: Lane, mask: Lane) -> None:
        """All lanes at one address: the last one whose mask holds wins."""
        b = self.b
        if value.width > 1 or mask.width > 1:
            width = max(value.width, mask.width)
            b.scatter(b.splat(at, width), b.splat(value, width), mask, kills=False)
        else:
            b.masked_store(at, value, mask, align=1, kills=False)


def _wide(base: Lane, coefficients: dict[int, Coefficient]) -> Linear:
    return Linear(base, coefficients, "i64", 1 << 63)


def _form_of(lane: Lane) -> Form:
    return Uniform(lane) if lane.width == 1 else Vector(lane)
