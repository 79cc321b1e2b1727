"""Arithmetic on 16-bit floats made explicit: what the language computes in f32 is written with the conversions.

Division, remainder and the elementary functions extend to f32 and round the result once. `+ - * min max fma abs` stay:
each rounds to the dtype itself. Sums and products of many elements are made with their conversions (`ops/reduce`).
"""

from __future__ import annotations

from teeny.ir.builder import Builder
from teeny.ir.core import Block, Module, Op, Value
from teeny.ir.dtype import BF16, F16, F32
from teeny.ir.types import Type, element_of, with_element
from teeny.ops.cast import extf, truncf


def widen(module: Module) -> None:
    """Change the module in place. A second run changes nothing."""
    for function in module.functions:
        replaced: dict[Value, Value] = {}
        for block in function.body.blocks:
            _widen_block(block, replaced)


def _widen_block(block: Block, replaced: dict[Value, Value]) -> None:
    before, block.ops = block.ops, []
    for op in before:
        op.operands = tuple([replaced.get(v, v) for v in op.operands])
        if _is_wide_function(op):
            _widen_function(op, block, replaced)
        else:
            block.append(op)
            for region in op.regions:
                for inner in region.blocks:
                    _widen_block(inner, replaced)


def _is_narrow(type_: Type) -> bool:
    return element_of(type_) in (F16, BF16)


def _is_wide_function(op: Op) -> bool:
    return op.schema.wide and len(op.results) == 1 and _is_narrow(op.results[0].type)


def _widen_function(op: Op, block: Block, replaced: dict[Value, Value]) -> None:
    b = _builder(op, block)
    found = b.op(op.schema, tuple([_extended(b, x) for x in op.operands]), dict(op.attrs)).result
    _round(b, op, found, replaced)


def _builder(op: Op, block: Block) -> Builder:
    b = Builder(block, op.loc)
    b.guard = op.guard
    return b


def _extended(b: Builder, value: Value) -> Value:
    return b.create(extf, value, type=with_element(value.type, F32))


def _round(b: Builder, op: Op, found: Value, replaced: dict[Value, Value]) -> None:
    old = op.results[0]
    rounded = b.create(truncf, found, type=old.type)
    rounded.name = old.name
    replaced[old] = rounded
