"""A copy of a function with some integer arguments known: constants take their place in the body.

The arguments stay in the signature. A stride known to be 1 lets a compiler see that memory is contiguous.
"""

from __future__ import annotations

from collections.abc import Mapping

from teeny.ir.builder import Builder
from teeny.ir.core import Block, Function, Op, Region, Value
from teeny.ops.constant import constant


def bind(function: Function, known: Mapping[int, int]) -> Function:
    """A copy of a structured function; `known` gives values for arguments by number. The original is left alone."""
    entry = function.entry
    block = Block(tuple(a.type for a in entry.args), tuple(a.name for a in entry.args))
    values: dict[Value, Value] = dict(zip(entry.args, block.args, strict=True))
    b = Builder(block, function.loc)
    for number, value in known.items():
        argument = entry.args[number]
        values[argument] = constant(b, argument.type, value)
    _copy(entry, block, values)
    return Function(
        function.name,
        Region([block]),
        function.result_types,
        function.public,
        function.arg_attrs,
        dict(function.attrs),
        function.loc,
    )


def _copy(source: Block, target: Block, values: dict[Value, Value]) -> None:
    """Copy the operations of a block; `values` says what stands for each value of the original, and learns more."""
    for op in source.ops:
        regions = tuple(_region(region, values) for region in op.regions)
        operands = tuple(values[v] for v in op.operands)
        types = tuple(r.type for r in op.results)
        made = target.append(Op(op.schema, operands, types, dict(op.attrs), regions, op.loc))
        for old, new in zip(op.results, made.results, strict=True):
            new.name = old.name
            values[old] = new


def _region(region: Region, values: dict[Value, Value]) -> Region:
    block = Block(tuple(a.type for a in region.block.args), tuple(a.name for a in region.block.args))
    values.update(zip(region.block.args, block.args, strict=True))
    _copy(region.block, block, values)
    return Region([block])
