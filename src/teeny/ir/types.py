"""Types of IR values: a scalar is its `DType`, then pointers and ranked tensors of either, and views of memory.

Interned: equal means identical.

Shapes hold ints, and in generic IR symbolic dims (`ir.poly`).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Literal

from teeny.ir.dtype import DType, storage

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


ViewKind = Literal["block pointer", "descriptor", "array"]
"""An array is a descriptor that a pass is about to write as pointers."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ViewType:
    """A strided array in memory that is read and written by tiles of `shape`.

    A block pointer stands at one of its tiles and moves; a tensor descriptor stands nowhere. The element of a
    descriptor keeps the sign of the language's dtype, since atomic operations go by it.
    """

    kind: ViewKind
    shape: tuple[Dim, ...]
    element: DType

    @property
    def tile(self) -> Type:
        """The type of a tile as a value."""
        return typed(self.shape, storage(self.element))

    def __repr__(self) -> str:
        return _view_text(self)


@cache
def _pointer_text(type_: PointerType) -> str:
    return f"!tt.ptr<{type_.pointee.mlir if isinstance(type_.pointee, DType) else type_.pointee}>"


@cache
def _tensor_text(type_: TensorType) -> str:
    dims = "".join(f"{d}x" for d in type_.shape)
    return f"tensor<{dims}{type_.element.mlir if isinstance(type_.element, DType) else type_.element}>"


@cache
def _view_text(type_: ViewType) -> str:
    if type_.kind == "block pointer":
        return f"!tt.ptr<{type_.tile!r}>"
    sign = {"unsigned": "u", "signed": "s"}.get(type_.element.kind, "")
    return f"!tt.tensordesc<{''.join(f'{d}x' for d in type_.shape)}{sign}{type_.element.mlir}>"


Element = DType | PointerType
Type = DType | PointerType | TensorType | ViewType

_pointers: dict[Element, PointerType] = {}
_tensors: dict[tuple[tuple[Dim, ...], Element], TensorType] = {}
_views: dict[tuple[ViewKind, tuple[Dim, ...], DType], ViewType] = {}


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


def view(kind: ViewKind, shape: tuple[Dim, ...], element: DType) -> ViewType:
    """The type of a block pointer or of a descriptor, by the shape of its tiles (rank one or more)."""
    key = (kind, shape, storage(element) if kind == "block pointer" else element)
    found = _views.get(key)
    if found is None:
        found = _views[key] = ViewType(*key)
    return found


def shape_of(type_: Type) -> tuple[Dim, ...]:
    return type_.shape if isinstance(type_, TensorType) else ()


def element_of(type_: Type) -> Element:
    """The dtype of the elements of a tensor, or of a scalar; a view counts as a pointer to its elements."""
    if isinstance(type_, ViewType):
        return pointer(storage(type_.element))
    return type_.element if isinstance(type_, TensorType) else type_


def with_element(type_: Type, element: Element) -> Type:
    return typed(shape_of(type_), element)


def text(type_: Type) -> str:
    """The type as the Triton dialect writes it."""
    return type_.mlir if isinstance(type_, DType) else repr(type_)
