"""Names for the parts of IR values that the lowering asks for: element type names, shapes, constants."""

from __future__ import annotations

from typing import TYPE_CHECKING

from teeny.backends.cpu.text import BITS, BYTES
from teeny.diag.diagnostic import at, report
from teeny.diag.errors import CompileError, InternalError
from teeny.ir.dtype import storage
from teeny.ir.rules import Absent, Structural
from teeny.ir.types import PointerType, Type, element_of, shape_of

if TYPE_CHECKING:
    from teeny.ir.core import Op, Value

__all__ = [
    "BYTES",
    "axes_of",
    "cannot",
    "dtype_name",
    "is_tile",
    "kind_of",
    "memory_name",
    "operand",
    "pointee_name",
    "shape",
    "size",
]


def dtype_name(type_: Type) -> str:
    """The builder's name of a type's element: `f32`, `i1`, `ptr`."""
    element = element_of(type_)
    if isinstance(element, PointerType):
        return "ptr"
    name = "i8" if element.kind == "float8" else storage(element).mlir  # 8-bit floats travel as their bits
    if name not in BITS:
        raise CompileError([report("X008", f"the CPU has no arithmetic on {element}")])
    return name


def pointee_name(type_: Type) -> str:
    """The builder's name of what a pointer (or a tile of pointers) points at."""
    element = element_of(type_)
    if not isinstance(element, PointerType):
        raise InternalError(f"{type_} is no pointer")
    return dtype_name(element.pointee)


def memory_name(name: str) -> str:
    """How a type lies in memory: a bool takes a byte."""
    return "i8" if name == "i1" else name


def shape(value: Value) -> tuple[int, ...]:
    """The sizes of a tile's axes; empty for a scalar."""
    return tuple([int(str(d)) if not isinstance(d, int) else d for d in shape_of(value.type)])


def size(dims: tuple[int, ...]) -> int:
    total = 1
    for dim in dims:
        total *= dim
    return total


def is_tile(value: Value) -> bool:
    return bool(shape_of(value.type))


def axes_of(dims: tuple[int, ...]) -> tuple[int | None, ...]:
    """The identity map of a tile's axes onto a domain of the same shape; an axis of size one is always at 0."""
    return tuple([None if dim == 1 else axis for axis, dim in enumerate(dims)])


def kind_of(op: Op) -> str:
    """The kind of an operation whose CPU rule is structural; empty for a lanewise one."""
    rule = op.schema.cpu
    if isinstance(rule, Structural):
        return rule.kind
    if callable(rule):
        return ""
    raise cannot(op)


def cannot(op: Op) -> CompileError:
    """The error for an operation without a rule here."""
    labels = () if op.loc is None else (at(op.loc),)
    name = op.loc.name if op.loc is not None and op.loc.name else op.name
    rule = op.schema.cpu
    notes = (rule.reason,) if isinstance(rule, Absent) else ()
    return CompileError([report("X008", f"the CPU cannot run {name}", *labels, notes=notes)])


def operand(op: Op, number: int) -> Value | None:
    """An operand that may be left out."""
    operands = list(op.operands)
    return operands[number] if number < len(operands) else None
