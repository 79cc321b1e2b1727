"""Functions of elements written on whole tiles: `tt.map_elementwise` goes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from teeny.frontend.lift import Lift
from teeny.ir.builder import Builder
from teeny.ir.core import Block, Function, Op
from teeny.ir.types import element_of, shape_of, typed
from teeny.ops.join import join_, split_
from teeny.ops.shape import reshape_
from teeny.passes.copy import copy_op

if TYPE_CHECKING:
    from teeny.ir.core import Value
    from teeny.passes.copy import Values

__all__ = ["lift_maps"]


def lift_maps(function: Function) -> None:
    """Edit a structured function in place."""
    _block(function.entry)


def _block(block: Block) -> None:
    for op in block.ops:
        for region in op.regions:
            for inner in region.blocks:
                _block(inner)
    if not any(op.name == "tt.map_elementwise" for op in block.ops):
        return
    ops, block.ops = block.ops, []
    values: Values = {}
    for op in ops:
        if op.name == "tt.map_elementwise":
            found = _lifted(Builder(block, op.loc), op, tuple(values.get(v, v) for v in op.operands))
            values.update(zip(op.results, found, strict=True))
        elif values:
            copy_op(op, block, values)
        else:
            block.append(op)


def _lifted(b: Builder, op: Op, operands: tuple[Value, ...]) -> tuple[Value, ...]:
    """The results of a map: its function on the tiles of every `pack`th element."""
    pack = int(str(op.attrs["pack"]))
    body = op.regions[0].block
    parts = [part for x in operands for part in _apart(b, x, pack)]
    lift = Lift(b, shape_of(parts[0].type), dict(zip(body.args, parts, strict=True)))
    given = [lift.tile(v) for v in lift.block(body)]
    return tuple(_together(b, given[at : at + pack]) for at in range(0, len(given), pack))


def _apart(b: Builder, x: Value, pack: int) -> list[Value]:
    """For each place among `pack` neighbours along the last axis, the tile of the elements there."""
    if pack == 1:
        return [x]
    *rest, last = shape_of(x.type)
    pairs = typed((*rest, last // 2, 2), element_of(x.type))
    even, odd = b.op(split_, (b.create(reshape_, x, type=pairs),)).results
    return [part for pair in zip(_apart(b, even, pack // 2), _apart(b, odd, pack // 2), strict=True) for part in pair]


def _together(b: Builder, parts: list[Value]) -> Value:
    """The inverse of `_apart`."""
    if len(parts) == 1:
        return parts[0]
    even, odd = _together(b, parts[::2]), _together(b, parts[1::2])
    joined = b.create(join_, even, odd)
    *rest, last, _ = shape_of(joined.type)
    return b.create(reshape_, joined, type=typed((*rest, last * 2), element_of(joined.type)))
