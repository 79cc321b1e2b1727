"""What loads, stores and atomic operations have in common: masks, shapes, values made to fit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from teeny.ir.dtype import BOOL, DType, storage
from teeny.ir.poly import Dim
from teeny.ir.schema import dtype_of, expect, same_shape
from teeny.ir.types import Type, typed
from teeny.ops.constant import constant
from teeny.ops.function import Operand, Shapes
from teeny.ops.shape import broadcast_value

if TYPE_CHECKING:
    from teeny.ir.builder import Builder
    from teeny.ir.core import Value


def check_mask(ptr: Type, mask: Type | None) -> None:
    """A mask is a block of bools of the pointers' shape. Raises SchemaError."""
    if mask is not None:
        same_shape(ptr, mask)
        expect(dtype_of(mask) is BOOL, f"a mask is i1, found {mask}")


def with_mask(s: Shapes, ptr: Operand, mask: Any) -> tuple[Dim, ...]:
    """The shape of an access: that of the pointer and the mask together."""
    if not isinstance(mask, Operand):
        return ptr.shape
    if not ptr.shape and mask.shape:
        s.fault(
            "S006",
            "the mask is a block and the pointer a scalar",
            "index the pointer with the block, or use a scalar mask",
        )
        return ptr.shape
    return s.broadcast(ptr.shape, mask.shape)


def fits(s: Shapes, what: str, found: tuple[Dim, ...], needed: tuple[Dim, ...]) -> None:
    """Demand that a value broadcasts to the shape of an access."""
    if len(found) > len(needed):
        s.fault("S006", f"{what} has rank {len(found)} and the pointer rank {len(needed)}")
    elif any(n == 1 != f for f, n in zip(s.broadcast(found, needed), needed, strict=True)):
        s.fault("S006", f"{what} is larger than the block of pointers")


def filled(b: Builder, given: Any, shape: tuple[Dim, ...], dtype: DType) -> Value:
    """An argument as a tile of `shape`: a tensor is broadcast, a literal becomes a constant."""
    if isinstance(given, Operand):
        return broadcast_value(b, given.value, shape)
    return constant(b, typed(shape, storage(dtype)), given)
