"""Operations that Triton's dialect lacks, written in terms of others; for its text and its compiler alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from teeny.ir.builder import Builder
from teeny.ir.core import Block, Function, Module, Op, Region, Value, walk_function
from teeny.ir.dtype import I8, LEAVES
from teeny.ir.types import element_of, with_element
from teeny.ops.bitcast import reinterpret

_JOINING = ("tt.reduce", "tt.scan")
FORMATS = tuple(leaf for leaf in LEAVES.values() if leaf.kind == "float8")
Rule = Callable[[Builder, Op, tuple[Value, ...]], Value | tuple[Value, ...] | None]
"""`(b, op, operands) -> result`: what stands for `op` of those operands, appended through b; None where `op` stays.

A tuple where the operation has not one result.
"""


def by_schema(b: Builder, op: Op, operands: tuple[Value, ...]) -> Value | None:
    """What the operation's schema says."""
    return None if op.schema.expand is None else op.schema.expand(b, *operands, **op.attrs)


def _has_expansion(op: Op) -> bool:
    return op.schema.expand is not None


def expand(module: Module, rule: Rule = by_schema, concerns: Callable[[Op], bool] = _has_expansion) -> Module:
    """The module itself where the rule concerns no operation of it, else a copy."""
    if not any(concerns(op) or joins_float8(op) for f in module.functions for op in walk_function(f)):
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
        if joins_float8(op):
            results = _through_bytes(op, operands, Builder(made, op.loc), values, rule)
        else:
            results = _made(op, operands, made, values, rule)
        for old, new in zip(op.results, results, strict=True):
            new.name = old.name or new.name
            values[old] = new
    return made


def _made(
    op: Op, operands: tuple[Value, ...], block: Block, values: dict[Value, Value], rule: Rule
) -> tuple[Value, ...]:
    """The results of what stands for an operation: what the rule says, else a copy."""
    found = rule(Builder(block, op.loc), op, operands)
    if found is None:
        return _copied(op, operands, block, values, rule)
    return found if isinstance(found, tuple) else (found,)


def _copied(
    op: Op, operands: tuple[Value, ...], block: Block, values: dict[Value, Value], rule: Rule
) -> tuple[Value, ...]:
    regions = tuple(_region(region, values, rule) for region in op.regions)
    types = tuple(r.type for r in op.results)
    return block.append(Op(op.schema, operands, types, dict(op.attrs), regions, op.loc)).results


def joins_float8(op: Op) -> bool:
    """Whether a region of the operation joins elements that are 8-bit floats: Triton's compiler takes bytes alone."""
    return op.name in _JOINING and any(element_of(v.type) in FORMATS for v in op.operands)


def _through_bytes(
    op: Op, operands: tuple[Value, ...], b: Builder, values: dict[Value, Value], rule: Rule
) -> tuple[Value, ...]:
    """The operation on bytes; its region reads them as the floats that they are, and gives bytes."""
    source = op.regions[0].block
    stored = [reinterpret(b, v, I8) if element_of(v.type) in FORMATS else v for v in operands]
    types = tuple(element_of(v.type) for v in stored)
    body = Block((*types, *types), tuple(a.name for a in source.args))
    inner = Builder(body, op.loc)
    for old, new in zip(source.args, body.args, strict=True):
        values[old] = reinterpret(inner, new, element_of(old.type))
    *rest, end = source.ops
    for one in rest:
        given = tuple(values[v] for v in one.operands)
        results = _made(one, given, body, values, rule)
        values.update(zip(one.results, results, strict=True))
    results = [values[v] for v in end.operands]
    ended = tuple(reinterpret(inner, v, I8) if element_of(v.type) in FORMATS else v for v in results)
    body.append(Op(end.schema, ended, (), dict(end.attrs), (), end.loc))
    shapes = tuple(with_element(r.type, element) for r, element in zip(op.results, types, strict=True))
    made = b.block.append(Op(op.schema, tuple(stored), shapes, dict(op.attrs), (Region([body]),), op.loc))
    return tuple(reinterpret(b, new, element_of(old.type)) for old, new in zip(op.results, made.results, strict=True))
