"""Pointers moved, their distance, their types."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

from teeny.ir.dtype import I32, I64, DType, integer_range
from teeny.ir.poly import Dim, Poly, neg
from teeny.ir.types import PointerType, element_of, with_element
from teeny.ops.address import addptr_, address
from teeny.ops.arith import subi
from teeny.ops.bits import shrsi
from teeny.ops.cast import convert
from teeny.ops.constant import constant, constant_
from teeny.ops.function import Operand, language
from teeny.ops.shape import splat

if TYPE_CHECKING:
    from teeny.ir.builder import Builder
    from teeny.ir.core import Value
    from teeny.language.typing import Const, I, Ptr, Tensor, X, i64

__all__ = ["pointer_type"]


def _emit_addptr(b: Builder, shape: tuple[Dim, ...], dtype: Any, ptr: Operand, offset: Operand) -> Value:
    value, kind = offset.value, offset.dtype
    if isinstance(kind, DType) and kind.kind == "unsigned" and kind.bits < 64:
        value = convert(b, value, kind, I64)  # `tt.addptr` reads offsets with a sign
    return b.create(addptr_, ptr.value, value)


def _negated(b: Builder, value: Value, dtype: DType) -> Value:
    """Minus an offset, in 64 bits: a narrower one has its smallest number no negative. Constants stay constants."""
    op = value.op
    if op is not None and op.schema is constant_:
        number: Any = op.attrs["value"]
        minus = neg(number) if isinstance(number, Poly) else -number
        narrow = isinstance(minus, Poly) or minus <= integer_range(I32)[1]
        return constant(b, with_element(value.type, I32 if narrow else I64), minus)
    if op is not None and op.schema is splat:
        return b.create(splat, _negated(b, op.operands[0], dtype), type=with_element(value.type, I64))
    wide = convert(b, value, dtype, I64)
    return b.create(subi, constant(b, wide.type, 0), wide)


def _emit_subptr(b: Builder, shape: tuple[Dim, ...], dtype: Any, ptr: Operand, offset: Operand) -> Value:
    if isinstance(offset.dtype, PointerType):
        return _distance(b, ptr, offset)
    return b.create(addptr_, ptr.value, _negated(b, offset.value, offset.dtype))


def _distance(b: Builder, x: Operand, y: Operand) -> Value:
    """From y to x in elements: the distance in bytes by their size."""
    bytes_ = b.create(subi, address(b, x.value), address(b, y.value))
    pointee = element_of(x.type)
    assert isinstance(pointee, PointerType)
    size = pointee.pointee.bytes if isinstance(pointee.pointee, DType) else 8
    return bytes_ if size <= 1 else b.create(shrsi, bytes_, constant(b, bytes_.type, size.bit_length() - 1))


@language(_emit_addptr, elementwise=True, symbol="+")
def addptr(ptr: Ptr[X], offset: Tensor[I] | int) -> Ptr[X]:
    """A pointer moved by `offset` elements (not bytes), an integer (T005). Shapes broadcast."""
    ...


@overload
def subptr(ptr: Ptr[X], offset: Tensor[I] | int) -> Ptr[X]: ...
@overload
def subptr(ptr: Ptr[X], offset: Ptr[X]) -> Tensor[i64]: ...
@language(_emit_subptr, elementwise=True, symbol="-", differs="Triton has no difference of two pointers.")
def subptr(ptr: Any, offset: Any) -> Any:
    """A pointer moved back by `offset` elements (not bytes), an integer (T005); or the distance of two pointers.

    The distance from `offset` to `ptr` is in elements, an i64. Shapes broadcast.
    """
    ...


@language(construct="pointer_type", triton="pointer_type")
def pointer_type(element_ty: type[X], address_space: Const[int] = 1) -> type[Ptr[X]]:
    """The type of a pointer to elements of a dtype, also written `tl.Ptr[tl.f32]`: `x.to(tl.pointer_type(tl.f32))`."""
    ...
