"""Symbolic evaluation over a whole domain: accesses, bounds, and what has to hold for the fast version of a nest.

Emits only scalar code, in the scope in which the nest is going to stand.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from teeny.backends.cpu.lower.evaluate import Axes, address_form, depends, lanewise, ring, term, through_view
from teeny.backends.cpu.lower.forms import Coefficient, Form, Linear, Pointer, Term, Uniform, Unknown, within
from teeny.backends.cpu.lower.partial import unknown
from teeny.backends.cpu.lower.state import Buffer, State
from teeny.backends.cpu.lower.values import BYTES, axes_of, is_tile, kind_of, memory_name, pointee_name
from teeny.diag.errors import InternalError
from teeny.ir.lanes import Lane

if TYPE_CHECKING:
    from teeny.ir.core import Op, Value

__all__ = ["Access", "Analysis"]

TURNED = 4
"""Both axes of a tile have at least this size where it is worth turning."""


@dataclass(frozen=True, slots=True, eq=False)
class Access:
    """A place of memory that the nest touches at each point. `strides`: elements a step of each axis that matters.

    A stride is None where it is not known; `pointer` is None for a buffer. `value` is what is read, None for a write.
    """

    strides: dict[int, int | None]
    pointer: Value | None
    axes: Axes
    form: Form
    size: int
    value: Value | None

    @property
    def write(self) -> bool:
        return self.value is None

    def along(self, vector: int, dims: tuple[int, ...]) -> int | None:
        """Another axis along which what is read lies contiguously, where it does not along `vector`: worth turning."""
        if self.write or vector not in self.strides or self.strides[vector] == 1 or vector not in self.axes:
            return None
        for axis, stride in self.strides.items():
            if stride == 1 and axis in self.axes and min(dims[axis], dims[vector]) >= TURNED:
                return axis
        return None


class Analysis:
    """One domain; see `Form` for what `at` gives.

    `conditions`: scalars (i1) that must all be true for the forms to hold. After `freeze` nothing is added to it.
    """

    __slots__ = ("accesses", "conditions", "dims", "forms", "frozen", "state", "terms", "work")

    def __init__(self, state: State, dims: tuple[int, ...]) -> None:
        self.state = state
        self.dims = dims
        self.forms: dict[tuple[Value, Axes], Form] = {}
        self.terms: dict[tuple[int, str], Term] = {}
        self.accesses: list[Access] = []
        self.conditions: list[Lane] = []
        self.work = 0.0
        """Cost of the arithmetic at one point."""
        self.frozen = False

    def prove(self, form: Linear, low: int, high: int) -> bool:
        """Take a range for granted, and note the test that shows it."""
        test = within(self.state.b, form, self.dims, low, high)
        if test is None or (test.const is not None and not test.const):
            return False
        if test.const is None:
            if self.frozen:
                return False
            self.conditions.append(test)
        return True

    def at(self, value: Value, axes: Axes) -> Form:
        """The form of a value all over the domain."""
        value = self.state.plan.source(value)
        key = (value, axes)
        found = self.forms.get(key)
        if found is None:
            if self.frozen:
                return Unknown(frozenset(range(len(self.dims))))
            found = self.forms[key] = self._form(value, axes)
        return found

    def _form(self, value: Value, axes: Axes) -> Form:
        state = self.state
        b = state.b
        bound = state.bound.get(value)
        if isinstance(bound, Lane):
            return Uniform(bound)
        if isinstance(bound, Buffer):
            return self._buffer(bound, axes, value)
        op = value.op
        if op is None:
            raise InternalError(f"the value {value!r} is read before it is made")
        match kind_of(op):
            case "view":
                return self.at(*through_view(op, axes))
            case "range":
                start = int(str(op.attrs["start"]))
                return self._range(start, axes[0])
            case "address":
                pointer, offset = self.at(op.operands[0], axes), self.at(op.operands[1], axes)
                found = address_form(b, op, pointer, offset, self.prove)
                return found or unknown(op, [pointer, offset], depends(pointer) | depends(offset))
            case "load":
                return self._load(op, axes)
            case "":
                return self._lanewise(op, axes)
            case _:
                raise InternalError(f"the result of {op.name} is read before it is made", op.loc)

    def _range(self, start: int, axis: int | None) -> Form:
        b = self.state.b
        if axis is None:
            return Uniform(b.const("i32", start))
        return Linear(b.const("i64", start), {axis: Coefficient(b.const("i64", 1), 1)}, "i32", abs(start))

    def _lanewise(self, op: Op, axes: Axes) -> Form:
        b = self.state.b
        forms = [self.at(x, axes if is_tile(x) else ()) for x in op.operands]
        if op.name == "arith.cmpi":
            found = term(b, op, forms, self.prove)
            if found is not None:
                if not found.term.negated:
                    self.terms.setdefault(found.term.key, found.term)
                return found
        found = ring(b, op, forms, self.prove)
        if found is not None:
            return found
        lanes = [f.lane for f in forms if isinstance(f, Uniform)]
        if len(lanes) == len(forms):
            return Uniform(lanewise(b, op, lanes))
        self.work += op.schema.cost
        return unknown(op, forms, frozenset(axis for form in forms for axis in depends(form)))

    def _buffer(self, buffer: Buffer, axes: Axes, value: Value | None) -> Form:
        strides: dict[int, int | None] = {
            axis: step for axis, step in zip(axes, buffer.strides, strict=True) if axis is not None
        }
        form, bytes_ = Unknown(frozenset(strides)), BYTES[memory_name(buffer.dtype)]
        self.accesses.append(Access(strides, None, axes, form, bytes_, value))
        return form

    def _load(self, op: Op, axes: Axes) -> Form:
        axes_read: frozenset[int] = frozenset()
        for operand in op.operands[1:]:
            axes_read |= depends(self.at(operand, axes))
        form = self.at(op.operands[0], axes)
        self.access(op.operands[0], axes, form, op.results[0])
        return Unknown(axes_read | depends(form))

    def write(self, buffer: Buffer, axes: Axes) -> None:
        """Note that the nest fills a buffer."""
        self._buffer(buffer, axes, None)

    def access(self, pointer: Value, axes: Axes, form: Form, value: Value | None) -> None:
        """Note an access through a tile of pointers; `value` is what is read, None for a store."""
        strides: dict[int, int | None] = {}
        if isinstance(form, Pointer):
            for axis, c in form.coefficients.items():
                strides[axis] = None if c.lane.const is None else int(c.lane.const)
        elif isinstance(form, Unknown):
            strides.update({axis: form.steps.get(axis) for axis in form.axes})
        bytes_ = BYTES[memory_name(pointee_name(pointer.type))]
        self.accesses.append(Access(strides, self.state.plan.source(pointer), axes, form, bytes_, value))

    def identity(self) -> Axes:
        """The axes of a value of the domain's own shape."""
        return axes_of(self.dims)

    def freeze(self) -> Lane:
        """End the analysis: the conjunction of the conditions."""
        b = self.state.b
        self.frozen = True
        ok = b.const("i1", 1)
        for condition in self.conditions:
            ok = b.and_(ok, condition)
        return ok
