"""The two steps in which accesses through views become accesses through pointers.

First a view is unpacked, and what is read or written through it has its parts as operands; then, when loops carry no
more of the parts than they change, each access is written out.
"""

from __future__ import annotations

from collections.abc import Callable

from teeny.ir.builder import Builder
from teeny.ir.core import Block, Module, Op, Value
from teeny.ir.types import ViewType
from teeny.passes.unpack import Parts

VIEW = "view"
"""Between the steps the type of the view is an attribute of this name."""
Write = Callable[[Builder, Op, ViewType], tuple[Value, ...]]
"""Writes an access, whose operands begin with the parts of a view; gives what stands for its results."""


def held(b: Builder, op: Op, operands: tuple[Parts, ...]) -> Parts:
    """The rule of an access for the first step."""
    flat = tuple([v for one in operands for v in one])
    types = tuple([r.type for r in op.results])
    return b.op(op.schema, flat, {**op.attrs, VIEW: op.operands[0].type}, types=types).results


def write_accesses(module: Module, write: Write) -> None:
    """The second step, in place."""
    for function in module.functions:
        replaced: dict[Value, Value] = {}
        for block in function.body.blocks:
            _block(block, write, replaced)


def _block(block: Block, write: Write, replaced: dict[Value, Value]) -> None:
    """Write the accesses of a block, which keeps its operations until all are written: offsets are traced in them."""
    written = Block()
    for op in block.ops:
        op.operands = tuple([replaced.get(v, v) for v in op.operands])
        type_ = op.attrs.get(VIEW)
        if isinstance(type_, ViewType):
            b = Builder(written, op.loc)
            b.guard = op.guard
            made = write(b, op, type_)
            for old, new in zip(op.results, made, strict=True):
                new.name = old.name
                replaced[old] = new
            continue
        written.ops.append(op)
        for region in op.regions:
            for inner in region.blocks:
                _block(inner, write, replaced)
    block.ops = []
    for op in written.ops:
        block.append(op)
