"""Addresses: pointers moved, made of integers and read as integers; what lies in memory where a type says a pointer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from teeny.ir.dtype import BOOL, I8, I64, INT, DType, storage
from teeny.ir.rules import Absent, Lanewise, Structural
from teeny.ir.schema import OpDef, define, dtype_of, expect, pointee_of, same_shape
from teeny.ir.types import Element, PointerType, Type, pointer, with_element
from teeny.ops.bitcast import reinterpret

if TYPE_CHECKING:
    from teeny.ir.builder import Builder
    from teeny.ir.core import Op, Value

_ANY = Absent("an address")


def _addptr(types: tuple[Type, ...], attrs: dict[str, Any]) -> tuple[Type, ...]:
    ptr, offset = types
    pointee_of(ptr)
    same_shape(ptr, offset)
    expect(dtype_of(offset).within(INT), f"an offset is an integer, found {offset}")
    return (ptr,)


def _int_to_ptr(types: tuple[Type, ...], attrs: dict[str, Any], results: tuple[Type, ...]) -> None:
    same_shape(types[0], results[0])
    pointee_of(results[0])
    expect(dtype_of(types[0]) is I64, f"an address is an i64, found {types[0]}")


def _ptr_to_int(types: tuple[Type, ...], attrs: dict[str, Any]) -> tuple[Type, ...]:
    pointee_of(types[0])
    return (with_element(types[0], I64),)


def _cpu_pointer(b: Any, op: Op, x: Any) -> Any:
    return b.bitcast(x, "ptr")


def _cpu_integer(b: Any, op: Op, x: Any) -> Any:
    return b.bitcast(x, "i64")


addptr_ = define(
    OpDef(
        "tt.addptr", "$ptr `,` $offset attr-dict `:` type($result) `,` type($offset)", ("ptr", "offset"), _addptr,
        Structural("address"), Structural("address"), Structural("address"), _ANY, group="addptr", cost=0.0,
    )
)  # fmt: skip
int_to_ptr = define(
    OpDef(
        "tt.int_to_ptr", "$x attr-dict `:` type($x) `->` type($result)", ("x",), _int_to_ptr,
        Structural("int_to_ptr"), _cpu_pointer, Lanewise(), _ANY, inferred=False, group="int_to_ptr", cost=0.0,
    )
)  # fmt: skip
ptr_to_int = define(
    OpDef(
        "tt.ptr_to_int", "$x attr-dict `:` type($x) `->` type($result)", ("x",), _ptr_to_int,
        Structural("ptr_to_int"), _cpu_integer, Lanewise(), _ANY, group="ptr_to_int", cost=0.0,
    )
)  # fmt: skip


def in_memory(element: Element) -> DType:
    """How an element of the language lies in memory: a bool takes a byte, a pointer is the integer of its address."""
    if isinstance(element, PointerType):
        return I64
    return I8 if element is BOOL else storage(element)


def address(b: Builder, value: Value) -> Value:
    """The addresses of pointers, as integers."""
    return b.create(ptr_to_int, value)


def pointer_at(b: Builder, value: Value, pointee: Element) -> Value:
    """Pointers to `pointee` (of the language) from addresses, i64."""
    return b.create(int_to_ptr, value, type=with_element(value.type, pointer(in_memory(pointee))))


def retyped(b: Builder, value: Value, pointee: Element) -> Value:
    """Pointers to the same places, read as elements of another type (of the language)."""
    return reinterpret(b, value, pointer(in_memory(pointee)))
