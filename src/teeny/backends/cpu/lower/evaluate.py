"""From tile values to forms: the part that analysis and emission share."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, cast

from teeny.backends.cpu.lower.forms import (
    EXACT,
    Coefficient,
    Form,
    Linear,
    Mask,
    Pointer,
    Term,
    Uniform,
    Unknown,
    add,
    linear,
    scale,
)  # fmt: skip
from teeny.backends.cpu.lower.values import axes_of, dtype_name, memory_name, pointee_name, shape
from teeny.backends.cpu.text import BITS
from teeny.ops.compare import CORE

if TYPE_CHECKING:
    from teeny.backends.cpu.builder import Builder
    from teeny.ir.core import Op, Value
    from teeny.ir.lanes import Lane

__all__ = ["Axes", "Prove", "address_form", "depends", "lanewise", "normal", "ring", "term", "through_view"]

Axes = tuple[int | None, ...]
"""For each axis of a value, the axis of the domain that it follows; None where it stays at 0."""
Prove = Callable[[Linear, int, int], bool]
"""Whether a linear form may be taken to lie in a range all over the domain."""


def through_view(op: Op, axes: Axes) -> tuple[Value, Axes]:
    """The operand of an operation that only moves lanes, and its axes."""
    x = op.operands[0]
    dims = shape(x)
    match op.name:
        case "tt.splat":
            return x, axes_of((1,) * len(dims))
        case "tt.broadcast":
            return x, tuple([None if dim == 1 else axis for dim, axis in zip(dims, axes, strict=True)])
        case "tt.expand_dims":
            at = int(str(op.attrs["axis"]))
            return x, (*axes[:at], *axes[at + 1 :])
        case _:
            order = cast("tuple[int, ...]", op.attrs["order"])
            inner: list[int | None] = [None] * len(dims)
            for at, axis in zip(order, axes, strict=True):
                inner[at] = axis
            return x, tuple(inner)


def depends(form: Form) -> frozenset[int]:
    """The axes of the domain on which a form depends."""
    match form:
        case Linear() | Pointer():
            return frozenset(form.coefficients)
        case Mask():
            return frozenset((form.term.axis,))
        case Unknown():
            return form.axes
        case _:
            return frozenset()


def normal(b: Builder, form: Linear | None) -> Form | None:
    """A linear form without coefficients is uniform, wrapped to its type."""
    if form is None or form.coefficients:
        return form
    return Uniform(b.trunc(form.base, form.dtype))


def ring(b: Builder, op: Op, forms: list[Form], prove: Prove) -> Form | None:
    """The linear form of integer arithmetic on linear forms, if it has one."""
    if not any(isinstance(f, Linear) for f in forms):
        return None
    xs = [linear(b, f) for f in forms]
    x = xs[0]
    if x is None or (y := xs[-1]) is None:
        return None
    match op.name:
        case "arith.addi" | "arith.subi" | "arith.muli":
            found = _arithmetic(b, op.name, x, y)
            if found is None:
                found = _arithmetic(b, op.name, _shrunk(x, prove), _shrunk(y, prove))
            return normal(b, found)
        case "arith.shli":
            by = forms[1]
            if isinstance(by, Uniform) and by.lane.const is not None and 0 <= int(by.lane.const) < BITS[x.dtype]:
                factor = Uniform(b.const(x.dtype, 1 << int(by.lane.const)))
                return normal(b, _arithmetic(b, "arith.muli", x, linear(b, factor) or x))
        case "arith.extsi" | "arith.extui":
            low, high = -(1 << (BITS[x.dtype] - 1)), (1 << (BITS[x.dtype] - 1)) - 1
            if prove(x, low if op.name == "arith.extsi" else 0, high):
                return Linear(x.base, x.coefficients, dtype_name(op.results[0].type), x.bound)
        case "arith.trunci":
            to = dtype_name(op.results[0].type)
            if to != "i1" and max(x.bound, *(c.bound for c in x.coefficients.values())) < EXACT:
                return Linear(x.base, x.coefficients, to, x.bound)
        case _:
            return None
    return None


def _arithmetic(b: Builder, name: str, x: Linear, y: Linear) -> Linear | None:
    if name == "arith.muli":
        for factor, other in ((x, y), (y, x)):
            if not factor.coefficients:
                return scale(b, other, factor)
        return None
    return add(b, x, y, subtract=name == "arith.subi")


SMALL, STEP = 1 << 56, 1 << 40


def _shrunk(x: Linear, prove: Prove) -> Linear:
    """The same form with smaller bounds, where the base and the coefficients turn out to be small."""

    def small(lane: Lane, bound: int, limit: int) -> int:
        return limit if bound > limit and prove(Linear(lane, {}, x.dtype, bound), -limit, limit) else bound

    if x.dtype == "i64":
        return x
    coefficients = {a: Coefficient(c.lane, small(c.lane, c.bound, STEP)) for a, c in x.coefficients.items()}
    return Linear(x.base, coefficients, x.dtype, small(x.base, x.bound, SMALL))


def term(b: Builder, op: Op, forms: list[Form], prove: Prove) -> Mask | None:
    """A comparison as index < bound, if it is that."""
    x, y = linear(b, forms[0]), linear(b, forms[1])
    if x is None or y is None or not (x.coefficients or y.coefficients):
        return None
    predicate = str(op.attrs["predicate"])
    core = CORE[predicate]
    difference = add(b, x, y, subtract=True)
    if core in ("eq", "ne") or difference is None or len(difference.coefficients) != 1:
        return None
    ((axis, c),) = difference.coefficients.items()
    if c.lane.const not in (1, -1):
        return None
    for side in (x, y):
        if not _in_range(side, predicate, prove):
            return None
    edge = b.sub(y.base, x.base) if c.lane.const == 1 else b.sub(x.base, y.base)
    one = b.const("i64", 1)
    if c.lane.const == 1:
        negated = core in ("gt", "ge")
        bound = b.add(edge, one) if core in ("le", "gt") else edge
    else:
        negated = core in ("lt", "le")
        bound = b.add(edge, one) if core in ("lt", "ge") else edge
    return Mask(Term(axis, bound, negated))


def _in_range(side: Linear, predicate: str, prove: Prove) -> bool:
    unsigned = predicate[0] == "u"
    if side.dtype == "i64":
        return prove(side, 0 if unsigned else -EXACT, EXACT)
    if not side.coefficients and not unsigned:
        return True
    high = (1 << (BITS[side.dtype] - 1)) - 1
    return prove(side, 0 if unsigned else -high - 1, high)


def address_form(b: Builder, op: Op, pointer: Form, offset: Form, prove: Prove) -> Form | None:
    """The form of a pointer moved by an offset, where both are scalar or linear."""
    name = memory_name(pointee_name(op.results[0].type))
    if isinstance(pointer, Uniform):
        if isinstance(offset, Uniform):
            return Uniform(b.offset(pointer.lane, wide(b, offset.lane), name))
        pointer = Pointer(pointer.lane, b.const("i64", 0), {}, name)
    if not isinstance(pointer, Pointer):
        return None
    if isinstance(offset, Uniform):
        moved = b.offset(pointer.base, wide(b, offset.lane), name)
        return Pointer(moved, pointer.offset, pointer.coefficients, name)
    if not isinstance(offset, Linear):
        return None
    if offset.dtype != "i64":
        half = 1 << (BITS[offset.dtype] - 1)
        if not prove(offset, -half, half - 1):
            return None
    start = Linear(pointer.offset, pointer.coefficients, "i64", 1 << 63)
    total = add(b, start, Linear(offset.base, offset.coefficients, "i64", offset.bound))
    assert total is not None
    if not total.coefficients:
        return Uniform(b.offset(pointer.base, total.base, name))
    return Pointer(pointer.base, total.base, total.coefficients, name)


def wide(b: Builder, lane: Lane) -> Lane:
    """An offset as an address takes it."""
    return lane if lane.dtype in ("i32", "i64") else b.sext(lane, "i64")


def lanewise(b: Builder, op: Op, lanes: list[Lane]) -> Lane:
    """The operation's own CPU rule."""
    rule = op.schema.cpu
    assert callable(rule)
    found: Lane = rule(b, op, *lanes)
    if op.name == "arith.xori" and found.dtype == "i1" and all(x.const is not None for x in lanes):
        found = b.splat(b.const("i1", bool(lanes[0].const) != bool(lanes[1].const)), found.width)
    return found
