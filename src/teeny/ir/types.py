"""Types of IR values: a scalar is its `DType`, then pointers and ranked tensors of either.

Interned: equal means identical.

Shapes hold ints, and in generic IR symbolic dims (`ir.poly`).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from teeny.ir.dtype import DType

if TYPE_CHECKING:
    from teeny.ir.poly import Dim


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PointerType:
    """A pointer to elements of `pointee`."""

    pointee: DType | PointerType

    def __repr__(self) -> str:
        return _pointer_text(self)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class TensorType:
    """A tile of `shape` (rank one or more)."""

    shape: tuple[Dim, ...]
    element: DType | PointerType

    def __repr__(self) -> str:
        return _tensor_text(self)


@cache
def _pointer_text(type_: PointerType) -> str:
    return f"!tt.ptr<{type_.pointee.mlir if isinstance(type_.pointee, DType) else type_.pointee}>"


@cache
def _tensor_text(type_: TensorType) -> str:
    dims = "".join(f"{d}x" for d in type_.shape)
    return f"tensor<{dims}{type_.element.mlir if isinstance(type_.element, DType) else type_.element}>"


Element = DType | PointerType
Type = DType | PointerType | TensorType

_pointers: dict[Element, PointerType] = {}
_tensors: dict[tuple[tuple[Dim, ...], Element], TensorType] = {}


def pointer(pointee: Element) -> PointerType:
    found = _pointers.get(pointee)
    if found is None:
        found = _pointers[pointee] = PointerType(pointee)
    return found


def typed(shape: tuple[Dim, ...], element: Element) -> Type:
    """The type of a tile of `shape`; rank 0 is the scalar type itself."""
    if not shape:
        return element
    key = (shape, element)
    found = _tensors.get(key)
    if found is None:
        found = _tensors[key] = TensorType(shape, element)
    return found


def shape_of(type_: Type) -> tuple[Dim, ...]:
    return type_.shape if isinstance(type_, TensorType) else ()


def element_of(type_: Type) -> Element:
    return type_.element if isinstance(type_, TensorType) else type_


def with_element(type_: Type, element: Element) -> Type:
    return typed(shape_of(type_), element)


def text(type_: Type) -> str:
    """The type as the Triton dialect writes it."""
    return type_.mlir if isinstance(type_, DType) else repr(type_)
