"""Moves along axes of size two, in terms of operations that every GPU backend has.

An element's neighbour along such an axis is the exclusive or of the pair without the element itself: a reduction that
stays inside a warp where the layout allows it. The idea is that of Triton's own `flip` and `sort`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from teeny.ir.dtype import BOOL, I8, I16, I32, I64, DType
from teeny.ir.schema import dtype_of
from teeny.ir.types import Type, shape_of
from teeny.ops.bitcast import reinterpret
from teeny.ops.bits import xori
from teeny.ops.reduce import combined, joining, reduce_, reduce_return
from teeny.ops.shape import broadcast, expand_dims_, reshaped

if TYPE_CHECKING:
    from teeny.ir.builder import Builder
    from teeny.ir.core import Value

_INTEGERS: dict[int, DType] = {8: I8, 16: I16, 32: I32, 64: I64}


def sizes(type_: Type) -> tuple[int, ...]:
    """The sizes of a concrete tile."""
    return tuple([int(str(n)) for n in shape_of(type_)])


def as_integers(b: Builder, value: Value) -> Value:
    """The bits of a tile; integers and bools are their own."""
    dtype = dtype_of(value.type)
    return value if dtype is BOOL else reinterpret(b, value, _INTEGERS[dtype.bits])


def neighbours(b: Builder, value: Value, axis: int) -> Value:
    """A tile of integers or bools, its two halves along an axis of size two exchanged."""
    (both,) = combined(b, reduce_, reduce_return, (value,), {"axis": axis}, joining(xori))
    if not shape_of(both.type):
        both = reshaped(b, both, (1,))
    else:
        both = b.create(expand_dims_, both, axis=axis)
    return b.create(xori, value, b.create(broadcast, both, type=value.type))


def cut(b: Builder, value: Value, axis: int) -> tuple[Value, int]:
    """A tile with one axis cut into axes of size two, and their number."""
    shape = sizes(value.type)
    steps = shape[axis].bit_length() - 1
    return reshaped(b, value, (*shape[:axis], *(2,) * steps, *shape[axis + 1 :])), steps
