"""Operations that Triton's dialect lacks, written in terms of others; for its text and its compiler alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from teeny.ir.builder import Builder
from teeny.ir.core import Block, Function, Module, Op, Region, Value, walk_function

Rule = Callable[[Builder, Op, tuple[Value, ...]], Value | None]
"""`(b, op, operands) -> result`: what stands for `op` of those operands, appended through b; None where `op` stays."""


def by_schema(b: Builder, op: Op, operands: tuple[Value, ...]) -> Value | None:
    """What the operation's schema says."""
    return None if op.schema.expand is None else op.schema.expand(b, *operands, **op.attrs)


def _has_expansion(op: Op) -> bool:
    return op.schema.expand is not None


def expand(module: Module, rule: Rule = by_schema, concerns: Callable[[Op], bool] = _has_expansion) -> Module:
    """The module itself where the rule concerns no operation of it, else a copy."""
    if not any(concerns(op) for f in module.functions for op in walk_function(f)):
        return module
    return Module([_function(f, rule) for f in module.functions])


def _function(function: Function, rule: Rule) -> Function:
    values: dict[Value, Value] = {}
    return replace(function, body=_region(function.body, values, rule), attrs=dict(function.attrs))


def _region(region: Region, values: dict[Value, Value], rule: Rule) -> Region:
    return Region([_block(block, values, rule) for block in region.blocks])


def _block(source: Block, values: dict[Value, Value], rule: Rule) -> Block:
    """A copy; `values` says what stands for each value of the original, and learns more."""
    made = Block(tuple(a.type for a in source.args), tuple(a.name for a in source.args))
    values.update(zip(source.args, made.args, strict=True))
    for op in source.ops:
        operands = tuple(values[v] for v in op.operands)
        found = rule(Builder(made, op.loc), op, operands)
        results = (found,) if found is not None else _copied(op, operands, made, values, rule)
        for old, new in zip(op.results, results, strict=True):
            new.name = old.name or new.name
            values[old] = new
    return made


def _copied(
    op: Op, operands: tuple[Value, ...], block: Block, values: dict[Value, Value], rule: Rule
) -> tuple[Value, ...]:
    regions = tuple(_region(region, values, rule) for region in op.regions)
    types = tuple(r.type for r in op.results)
    return block.append(Op(op.schema, operands, types, dict(op.attrs), regions, op.loc)).results
