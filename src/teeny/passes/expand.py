"""Operations that Triton's dialect lacks, written in terms of others; for its text and its compiler alone."""

from __future__ import annotations

from dataclasses import replace

from teeny.ir.builder import Builder
from teeny.ir.core import Block, Function, Module, Op, Region, Value, walk_function


def expand(module: Module) -> Module:
    """The module itself where there is nothing to expand, else a copy."""
    if not any(op.schema.expand is not None for f in module.functions for op in walk_function(f)):
        return module
    return Module([_function(f) for f in module.functions])


def _function(function: Function) -> Function:
    values: dict[Value, Value] = {}
    return replace(function, body=_region(function.body, values), attrs=dict(function.attrs))


def _region(region: Region, values: dict[Value, Value]) -> Region:
    return Region([_block(block, values) for block in region.blocks])


def _block(source: Block, values: dict[Value, Value]) -> Block:
    """A copy; `values` says what stands for each value of the original, and learns more."""
    made = Block(tuple(a.type for a in source.args), tuple(a.name for a in source.args))
    values.update(zip(source.args, made.args, strict=True))
    for op in source.ops:
        operands = tuple(values[v] for v in op.operands)
        results = _expanded(op, operands, made) or _copied(op, operands, made, values)
        for old, new in zip(op.results, results, strict=True):
            new.name = old.name or new.name
            values[old] = new
    return made


def _expanded(op: Op, operands: tuple[Value, ...], block: Block) -> tuple[Value, ...]:
    if op.schema.expand is None:
        return ()
    found = op.schema.expand(Builder(block, op.loc), *operands, **op.attrs)
    return () if found is None else (found,)


def _copied(op: Op, operands: tuple[Value, ...], block: Block, values: dict[Value, Value]) -> tuple[Value, ...]:
    regions = tuple(_region(region, values) for region in op.regions)
    types = tuple(r.type for r in op.results)
    return block.append(Op(op.schema, operands, types, dict(op.attrs), regions, op.loc)).results
