"""Reductions of several operands over a flattened tile, one axis after the other.

Triton lets a reshape move elements as it likes where only reductions along its one axis read it (seen in the forms that
3.6 and 3.9 make of a kernel). For a sum that is the same; a tile of indices beside it then belongs to other elements.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from teeny.ir.types import element_of, shape_of, typed
from teeny.ops.reduce import reduce_
from teeny.ops.shape import reshape_
from teeny.passes.copy import copy_region
from teeny.passes.expand import expand

if TYPE_CHECKING:
    from teeny.ir.builder import Builder
    from teeny.ir.core import Module, Op, Value
    from teeny.ir.poly import Dim

__all__ = ["flattened"]


def flattened(module: Module) -> Module:
    """The module itself where it has no such reduction, else a copy with the same meaning."""
    return expand(module, _rule, lambda op: bool(_shape(op)))


def _shape(op: Op) -> tuple[Dim, ...]:
    """The shape before flattening of what such a reduction reads; empty for other operations."""
    if op.name == "tt.reduce" and len(op.operands) > 1 and len(shape_of(op.operands[0].type)) == 1:
        for value in op.operands:
            if value.op is not None and value.op.name == "tt.reshape":
                found = shape_of(value.op.operands[0].type)
                if len(found) > 1:
                    return found
    return ()


def _rule(b: Builder, op: Op, operands: tuple[Value, ...]) -> tuple[Value, ...] | None:
    shape = _shape(op)
    return _by_axes(b, op, operands, shape) if shape else None


def _by_axes(b: Builder, op: Op, operands: tuple[Value, ...], shape: tuple[Dim, ...]) -> tuple[Value, ...]:
    """The reduction of tiles of `shape`, from the last axis to the first."""
    found = tuple(_unflattened(b, v, shape) for v in operands)
    for axis in reversed(range(len(shape))):
        regions = tuple(copy_region(region, {}) for region in op.regions)
        found = b.op(reduce_, found, {**op.attrs, "axis": axis}, regions).results
    return found


def _unflattened(b: Builder, value: Value, shape: tuple[Dim, ...]) -> Value:
    if value.op is not None and value.op.name == "tt.reshape" and shape_of(value.op.operands[0].type) == shape:
        return value.op.operands[0]
    return b.create(reshape_, value, type=typed(shape, element_of(value.type)))
