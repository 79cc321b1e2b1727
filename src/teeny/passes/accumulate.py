"""Sums with a product: `x + dot(a, b)` becomes `dot(a, b, x)`, where nothing else reads the product.

The product's own accumulator is zero, so that the chain of additions starts with x instead: one rounding less.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from teeny.ir.builder import Builder
from teeny.ir.core import Block, Module, Op, Value, walk_function
from teeny.ops.constant import constant_

if TYPE_CHECKING:
    from collections.abc import Mapping

_SUMS = frozenset(("arith.addf", "arith.addi"))


def accumulate(module: Module) -> None:
    """Change the module in place. A second run changes nothing."""
    for function in module.functions:
        readers = Counter(v for op in walk_function(function) for v in op.operands)
        for block in function.body.blocks:
            _block(block, readers)


def _block(block: Block, readers: Mapping[Value, int]) -> None:
    replaced: dict[Value, Value] = {}
    dropped: set[Op] = set()
    before, block.ops = block.ops, []
    for op in before:
        op.operands = tuple([replaced.get(v, v) for v in op.operands])
        product = _product(op, block, readers)
        if product is None:
            block.append(op)
            for region in op.regions:
                for inner in region.blocks:
                    _replace(inner, replaced)
                    _block(inner, readers)
            continue
        x, y = op.operands
        b = Builder(block, product.loc)
        total = y if product.results[0] is x else x
        found = b.op(product.schema, (*product.operands[:2], total, *product.operands[3:]), dict(product.attrs)).result
        found.name = op.results[0].name
        replaced[op.results[0]] = found
        dropped.add(product)
    block.ops = [op for op in block.ops if op not in dropped]


def _replace(block: Block, replaced: Mapping[Value, Value]) -> None:
    """Values of an outer block in what a region reads."""
    for op in block.ops:
        op.operands = tuple([replaced.get(v, v) for v in op.operands])
        for region in op.regions:
            for inner in region.blocks:
                _replace(inner, replaced)


def _product(op: Op, block: Block, readers: Mapping[Value, int]) -> Op | None:
    """The product that one operand of a sum is, where it may be taken into the sum."""
    if op.name not in _SUMS:
        return None
    for value in op.operands:
        made = value.op
        if made is None or made.schema.group != "dot" or made.block is not block or readers[value] != 1:
            continue
        start = made.operands[2].op
        if start is not None and start.schema is constant_ and start.attrs["value"] == 0:
            return made
    return None
