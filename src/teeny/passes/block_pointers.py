"""Block pointers written as plain pointers, offsets of 64 bits and masks, for all that runs or checks a kernel.

A block pointer becomes its base, sizes, strides and offsets, of which a loop carries those that it changes. Where it is
read or written, one scalar address is computed for the block, and its lanes lie at `lane * stride` from there.
"""

from __future__ import annotations

from typing import Any

from teeny.ir.builder import Builder
from teeny.ir.core import Module, Op, walk_function
from teeny.ir.dtype import I64
from teeny.ir.types import Type, ViewType, element_of
from teeny.ops.memory import load_, store_
from teeny.passes.accesses import VIEW, held, write_accesses
from teeny.passes.carried import carried
from teeny.passes.steady import steady
from teeny.passes.tile_access import Tile, bounds, fill, plus, pointers, wide
from teeny.passes.unpack import Parts, Unpacker


def block_pointers(module: Module) -> Module:
    """The module itself where it has no block pointers, else a copy without; generic or concrete."""
    if not any(_is_block(v.type) for f in module.functions for op in walk_function(f) for v in op.results):
        return module
    made = Unpacker(_split, _RULES).module(module)
    carried(made)
    steady(made)
    write_accesses(made, _written)
    return made


def _is_block(type_: Type) -> bool:
    return isinstance(type_, ViewType) and type_.kind == "block pointer"


def _split(type_: Type) -> tuple[tuple[str, Type], ...] | None:
    if not isinstance(type_, ViewType) or type_.kind != "block pointer":
        return None
    words = (f"{word}{axis}" for word in ("size", "stride", "offset") for axis in range(len(type_.shape)))
    return (("base", element_of(type_)), *((word, I64) for word in words))


def _make(b: Builder, op: Op, operands: tuple[Parts, ...]) -> Parts:
    base, *numbers = [one[0] for one in operands]
    return (base, *[wide(b, n) for n in numbers])


def _advance(b: Builder, op: Op, operands: tuple[Parts, ...]) -> Parts:
    (ptr, *moves), rank = operands, len(operands) - 1
    moved = [plus(b, offset, wide(b, move[0])) for offset, move in zip(ptr[-rank:], moves, strict=True)]
    return (*ptr[:-rank], *moved)


_RULES = {"tt.make_tensor_ptr": _make, "tt.advance": _advance, "tt.load": held, "tt.store": held}


def _written(b: Builder, op: Op, type_: ViewType) -> Parts:
    """An access as one through plain pointers."""
    rank = len(type_.shape)
    base, *numbers = op.operands[: 3 * rank + 1]
    sizes, strides, offsets = (tuple(numbers[at * rank : (at + 1) * rank]) for at in range(3))
    tile = Tile(type_.shape, base, sizes, strides, offsets)
    axes: Any = op.attrs.get("boundaryCheck", ())
    padding: Any = op.attrs.get("padding")
    attrs = {name: value for name, value in op.attrs.items() if name not in (VIEW, "boundaryCheck", "padding")}
    given = [pointers(b, tile), *op.operands[3 * rank + 1 :]]
    if axes:
        given.append(bounds(b, tile, axes))
    if axes and padding and op.schema is load_:
        given.append(fill(b, op.results[0].type, padding))
    return b.op(load_ if op.schema is load_ else store_, tuple(given), attrs).results
