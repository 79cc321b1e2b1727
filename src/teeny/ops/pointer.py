"""Moving pointers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from teeny.ir.dtype import I32, I64, DType, integer_range
from teeny.ir.poly import Dim, Poly, neg
from teeny.ir.types import with_element
from teeny.ops.address import addptr_
from teeny.ops.arith import subi
from teeny.ops.cast import convert
from teeny.ops.constant import constant, constant_
from teeny.ops.function import Operand, language
from teeny.ops.shape import splat

if TYPE_CHECKING:
    from teeny.ir.builder import Builder
    from teeny.ir.core import Value
    from teeny.language.typing import D, I, Ptr, Tensor

__all__: list[str] = []


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
    assert isinstance(offset.dtype, DType)
    return b.create(addptr_, ptr.value, _negated(b, offset.value, offset.dtype))


@language(_emit_addptr, elementwise=True, symbol="+")
def addptr(ptr: Ptr[D], offset: Tensor[I] | int) -> Ptr[D]:
    """A pointer moved by `offset` elements (not bytes), an integer (T005). Shapes broadcast."""
    ...


@language(_emit_subptr, elementwise=True, symbol="-")
def subptr(ptr: Ptr[D], offset: Tensor[I] | int) -> Ptr[D]:
    """A pointer moved back by `offset` elements (not bytes), an integer (T005). Shapes broadcast."""
    ...
