"""Copying operations from block to block, with other values in the place of some."""

from __future__ import annotations

from typing import TYPE_CHECKING

from teeny.ir.core import Block, Op, Region

if TYPE_CHECKING:
    from collections.abc import Callable

    from teeny.diag.span import Location
    from teeny.ir.core import Value

    Values = dict[Value, Value]
    Place = Callable[[Location | None], Location | None]


def copy_op(op: Op, target: Block, values: Values, place: Place | None = None) -> Op:
    """Append a copy of `op` to `target`; `values` says what stands for each value of the original, and learns more.

    `place` gives the location of a copy from that of the original.
    """
    regions = tuple([copy_region(region, values, place) for region in op.regions])
    operands = tuple([values.get(v, v) for v in op.operands])
    types = tuple([r.type for r in op.results])
    made = Op(op.schema, operands, types, dict(op.attrs), regions, place(op.loc) if place is not None else op.loc)
    for old, new in zip(op.results, made.results, strict=True):
        new.name = old.name
        values[old] = new
    return target.append(made)


def copy_region(region: Region, values: Values, place: Place | None = None) -> Region:
    """A copy of a region of one block."""
    source = region.block
    block = Block(tuple([a.type for a in source.args]), tuple([a.name for a in source.args]))
    values.update(zip(source.args, block.args, strict=True))
    for op in source.ops:
        copy_op(op, block, values, place)
    return Region([block])
