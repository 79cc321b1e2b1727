"""Tiles of one element inside a combiner become scalars, so that reductions and scans apply it to plain elements.

A combiner of Triton may make its operands tiles of shape (1,) in order to mix them with other tiles.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from teeny.ir.core import Block, Function, Op, Region, walk_function
from teeny.ir.types import TensorType, element_of

if TYPE_CHECKING:
    from teeny.ir.core import Value
    from teeny.ir.types import Type

__all__ = ["scalar_regions"]

_COMBINED = frozenset(("tt.reduce", "tt.scan"))
_MOVES = frozenset(("tt.splat", "tt.broadcast", "tt.reshape", "tt.expand_dims", "tt.trans"))


def scalar_regions(function: Function) -> None:
    """Edit the combiners of a structured function in place."""
    for op in list(walk_function(function)):
        if op.name in _COMBINED:
            op.regions = tuple(_region(r) if _has_tiles(r.block) else r for r in op.regions)
            for region in op.regions:
                region.op = op


def _has_tiles(block: Block) -> bool:
    """Whether tiles occur, each of one element."""
    types = [r.type for op in block.ops for r in op.results if isinstance(r.type, TensorType)]
    return bool(types) and all(t.shape == (1,) * len(t.shape) for t in types)


def _plain(type_: Type) -> Type:
    return element_of(type_)


def _region(region: Region) -> Region:
    values: dict[Value, Value] = {}
    return _copied(region, values)


def _copied(region: Region, values: dict[Value, Value]) -> Region:
    source = region.block
    block = Block(tuple(_plain(a.type) for a in source.args), tuple(a.name for a in source.args))
    values.update(zip(source.args, block.args, strict=True))
    for op in source.ops:
        operands = tuple(values.get(v, v) for v in op.operands)
        if op.name in _MOVES:
            values[op.results[0]] = operands[0]
            continue
        regions = tuple(_copied(r, values) for r in op.regions)
        made = Op(op.schema, operands, tuple(_plain(r.type) for r in op.results), dict(op.attrs), regions, op.loc)
        block.append(made)
        for old, new in zip(op.results, made.results, strict=True):
            new.name = old.name
            values[old] = new
    return Region([block])
