"""Tensor descriptors written as plain pointers and masks, where there is no hardware for them.

A descriptor becomes its base, sizes, strides and padding; an access checks the bounds along every axis.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from typing import Any

from teeny.ir.builder import Builder
from teeny.ir.core import Module, Op, Value, walk_function
from teeny.ir.dtype import BOOL, I64, DType
from teeny.ir.types import Type, ViewKind, ViewType, element_of, shape_of, typed, view
from teeny.ops.address import addptr_
from teeny.ops.arith import muli
from teeny.ops.atomic import atomic_rmw, kind_of
from teeny.ops.bits import andi
from teeny.ops.cast import convert, trunci
from teeny.ops.compare import compare, select
from teeny.ops.constant import constant
from teeny.ops.memory import load_, store_
from teeny.ops.shape import reshape_, splat
from teeny.ops.views import NAN, ZERO
from teeny.passes.accesses import held, write_accesses
from teeny.passes.carried import carried
from teeny.passes.copy import copy_region
from teeny.passes.tile_access import Tile, along, bounds, fill, lane, number, pointers, wide
from teeny.passes.unpack import Parts, Unpacker


def descriptors(module: Module) -> Module:
    """The module itself where it has no tensor descriptors, else a copy without; generic or concrete."""
    if not any(is_descriptor(v.type) for f in module.functions for op in walk_function(f) for v in op.results):
        return module
    return _without(module, "descriptor")


def some_descriptors(module: Module, chosen: Iterable[Value]) -> Module:
    """A copy of a concrete module of one function, without some of its tensor descriptors.

    `chosen` has with each of them all that it may be: what loops carry, what branches give, what is selected.
    """
    kernel, values = module.kernel, dict[Value, Value]()
    copy = replace(kernel, body=copy_region(kernel.body, values), attrs=dict(kernel.attrs))
    for value in chosen:
        type_ = value.type
        assert isinstance(type_, ViewType)
        values[value].type = view("array", type_.shape, type_.element)
    return _without(Module([copy]), "array")


def _without(module: Module, kind: ViewKind) -> Module:
    made = Unpacker(partial(_split, kind), _RULES).module(module)
    carried(made)
    write_accesses(made, _written)
    return made


def is_descriptor(type_: Type) -> bool:
    return isinstance(type_, ViewType) and type_.kind == "descriptor"


def _split(kind: ViewKind, type_: Type) -> tuple[tuple[str, Type], ...] | None:
    if not isinstance(type_, ViewType) or type_.kind != kind:
        return None
    words = (f"{word}{axis}" for word in ("size", "stride") for axis in range(len(type_.shape)))
    return (("base", element_of(type_)), *((word, I64) for word in words), ("nan", BOOL))


def _make(b: Builder, op: Op, operands: tuple[Parts, ...]) -> Parts:
    base, *numbers = [one[0] for one in operands]
    nan = constant(b, BOOL, op.attrs.get("padding") == NAN)
    return (base, *[wide(b, n) for n in numbers], nan)


def _size(b: Builder, op: Op, operands: tuple[Parts, ...]) -> Parts:
    at = int(str(op.attrs["number"]))
    found = operands[0][1 + at]
    type_ = op.results[0].type
    return (found if found.type is type_ else b.create(trunci, found, type=type_),)


_RULES = {
    "teeny.descriptor_size": _size,
    "tt.make_tensor_descriptor": _make,
    **dict.fromkeys([f"tt.descriptor_{name}" for name in ("load", "store", "reduce", "gather", "scatter")], held),
}


def _written(b: Builder, op: Op, type_: ViewType) -> Parts:
    """An access as one through plain pointers."""
    rank = len(type_.shape)
    base, *numbers = op.operands[: 2 * rank + 1]
    nan, *rest = op.operands[2 * rank + 1 :]
    array = _Array(type_, base, tuple(numbers[:rank]), tuple(numbers[rank:]), nan)
    return _WRITERS[op.name](b, op, array, rest)


class _Array:
    """What a descriptor describes."""

    __slots__ = ("base", "nan", "sizes", "strides", "type")

    def __init__(
        self, type_: ViewType, base: Value, sizes: tuple[Value, ...], strides: tuple[Value, ...], nan: Value
    ) -> None:
        self.type = type_
        self.base = base
        self.sizes = sizes
        self.strides = strides
        self.nan = nan

    def place(self, b: Builder, offsets: list[Value]) -> tuple[Value, Value]:
        """The addresses of a tile, and which of its elements the array has."""
        where = tuple([wide(b, v) for v in offsets])
        tile = Tile(self.type.shape, self.base, self.sizes, self.strides, where)
        return pointers(b, tile), bounds(b, tile, range(len(where)))

    def rows(self, b: Builder, rows: Value, column: Value, columns: Any) -> tuple[Value, Value]:
        """The addresses of rows from a column on, and which of their elements the array has."""
        shape = (*shape_of(rows.type), columns)
        one = typed(shape[:1], I64)
        dtype = element_of(rows.type)
        assert isinstance(dtype, DType)
        index = convert(b, rows, dtype, I64)
        inside = b.create(
            andi,
            compare(b, "ge", I64, index, constant(b, one, 0)),
            compare(b, "lt", I64, index, b.create(splat, self.sizes[0], type=one)),
        )
        steps = b.create(muli, index, b.create(splat, self.strides[0], type=one))
        tile = Tile((1, columns), self.base, self.sizes, self.strides, (constant(b, I64, 0), wide(b, column)))
        first = b.create(
            splat, b.create(addptr_, self.base, tile.offsets[1]), type=typed(shape, element_of(tile.base.type))
        )
        found = b.create(addptr_, first, along(b, steps, 0, shape))
        lanes = lane(b, columns)
        if lanes is not None:
            found = b.create(addptr_, found, along(b, lanes, 1, shape))
        row = bounds(b, Tile((columns,), self.base, self.sizes[1:], self.strides[1:], tile.offsets[1:]), (0,))
        return found, b.create(andi, along(b, inside, 0, shape), along(b, row, 1, shape))

    def padding(self, b: Builder, type_: Type) -> Value:
        """What a load gives outside of the array."""
        known = number(self.nan)
        if known is not None:
            return fill(b, type_, NAN if known else ZERO)
        return b.create(
            select,
            b.create(splat, self.nan, type=typed(shape_of(type_), BOOL)),
            fill(b, type_, NAN),
            fill(b, type_, ZERO),
        )


def _load(b: Builder, op: Op, array: _Array, rest: list[Value]) -> Parts:
    where, mask = array.place(b, rest)
    whole = array.type.tile
    made = b.op(load_, (where, mask, array.padding(b, whole)))
    wanted = op.results[0].type
    return made.results if wanted is whole else b.op(reshape_, made.results, {}, types=(wanted,)).results


def _tile(b: Builder, value: Value, array: _Array) -> Value:
    return value if value.type is array.type.tile else b.create(reshape_, value, type=array.type.tile)


def _store(b: Builder, op: Op, array: _Array, rest: list[Value]) -> Parts:
    value, *offsets = rest
    where, mask = array.place(b, offsets)
    return b.op(store_, (where, _tile(b, value, array), mask)).results


def _reduce(b: Builder, op: Op, array: _Array, rest: list[Value]) -> Parts:
    value, *offsets = rest
    where, mask = array.place(b, offsets)
    kind = kind_of(str(op.attrs["kind"]), array.type.element)
    attrs = {"atomic_rmw_op": kind, "sem": "relaxed", "scope": "gpu"}
    b.op(atomic_rmw, (where, _tile(b, value, array), mask), attrs)
    return ()


def _gather(b: Builder, op: Op, array: _Array, rest: list[Value]) -> Parts:
    type_ = op.results[0].type
    where, mask = array.rows(b, rest[0], rest[1], array.type.shape[1])
    return b.op(load_, (where, mask, array.padding(b, type_))).results


def _scatter(b: Builder, op: Op, array: _Array, rest: list[Value]) -> Parts:
    rows, column, value = rest
    where, mask = array.rows(b, rows, column, array.type.shape[1])
    return b.op(store_, (where, value, mask)).results


_WRITERS: dict[str, Callable[[Builder, Op, _Array, list[Value]], Parts]] = {
    "tt.descriptor_load": _load, "tt.descriptor_store": _store, "tt.descriptor_reduce": _reduce,
    "tt.descriptor_gather": _gather, "tt.descriptor_scatter": _scatter,
}  # fmt: skip
