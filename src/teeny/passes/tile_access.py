"""Where the elements of a tile of a strided array lie, and which of them the array has.

The address of the tile is one scalar; that of a lane adds `lane * stride` for each axis, which is the same in every
iteration of a loop that moves the tile. All numbers are of 64 bits.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from teeny.ir.dtype import I32, I64, DType
from teeny.ir.types import Type, element_of, typed
from teeny.ops.address import addptr_
from teeny.ops.arith import addi, muli
from teeny.ops.bits import andi
from teeny.ops.cast import convert
from teeny.ops.compare import compare
from teeny.ops.constant import constant, constant_
from teeny.ops.program import make_range
from teeny.ops.shape import broadcast, expand_dims_, splat
from teeny.ops.views import NAN
from teeny.passes.signs import nonnegative

if TYPE_CHECKING:
    from collections.abc import Iterable

    from teeny.ir.builder import Builder
    from teeny.ir.core import Value
    from teeny.ir.poly import Dim


class Tile(NamedTuple):
    """A tile of `shape` at `offsets` of an array of `sizes` elements, `strides` elements apart, from `base` on."""

    shape: tuple[Dim, ...]
    base: Value
    sizes: tuple[Value, ...]
    strides: tuple[Value, ...]
    offsets: tuple[Value, ...]


def wide(b: Builder, value: Value) -> Value:
    """An integer scalar in 64 bits."""
    known = number(value)
    dtype = value.type
    assert isinstance(dtype, DType)
    return convert(b, value, dtype, I64) if known is None else constant(b, I64, known)


def number(value: Value) -> object:
    """The number that a constant is, else None."""
    return value.op.attrs["value"] if value.op is not None and value.op.schema is constant_ else None


def plus(b: Builder, x: Value, y: Value) -> Value:
    """x + y of two scalars."""
    a, c = number(x), number(y)
    if a == 0 or c == 0:
        return y if a == 0 else x
    return constant(b, I64, a + c) if isinstance(a, int) and isinstance(c, int) else b.create(addi, x, y)


def times(b: Builder, x: Value, y: Value) -> Value:
    """x * y of two scalars."""
    a, c = number(x), number(y)
    if a == 1 or c == 1:
        return y if a == 1 else x
    return constant(b, I64, a * c) if isinstance(a, int) and isinstance(c, int) else b.create(muli, x, y)


def pointers(b: Builder, tile: Tile) -> Value:
    """The addresses of the tile's elements."""
    total: Value | None = None
    for offset, stride in zip(tile.offsets, tile.strides, strict=True):
        if number(offset) == 0 or number(stride) == 0:
            continue
        step = times(b, offset, stride)
        total = step if total is None else plus(b, total, step)
    start = tile.base if total is None else b.create(addptr_, tile.base, total)
    found = b.create(splat, start, type=typed(tile.shape, element_of(start.type)))
    for axis, stride in enumerate(tile.strides):
        lanes = lane(b, tile.shape[axis])
        if lanes is None or number(stride) == 0:
            continue
        steps = lanes if number(stride) == 1 else b.create(muli, lanes, b.create(splat, stride, type=lanes.type))
        found = b.create(addptr_, found, along(b, steps, axis, tile.shape))
    return found


def lane(b: Builder, size: Dim) -> Value | None:
    """0, 1, ... along an axis, in 64 bits; None where that is 0 alone."""
    if size == 1:
        return None
    return convert(b, b.create(make_range, start=0, end=size), I32, I64)


def along(b: Builder, values: Value, axis: int, shape: tuple[Dim, ...]) -> Value:
    """Values along one axis, repeated along the others of `shape`."""
    for at in range(len(shape)):
        if at != axis:
            values = b.create(expand_dims_, values, axis=at)
    wanted = typed(shape, element_of(values.type))
    return values if values.type is wanted else b.create(broadcast, values, type=wanted)


def bounds(b: Builder, tile: Tile, axes: Iterable[int]) -> Value:
    """Which elements of the tile the array has along some axes: 0 <= index < size."""
    found: Value | None = None
    for axis in axes:
        here = along(b, _within(b, tile, axis), axis, tile.shape)
        found = here if found is None else b.create(andi, found, here)
    assert found is not None
    return found


def _within(b: Builder, tile: Tile, axis: int) -> Value:
    """0 <= index < size, along one axis."""
    offset, size = tile.offsets[axis], tile.sizes[axis]
    one = typed((tile.shape[axis],), I64)
    lanes, start = lane(b, tile.shape[axis]), number(offset)
    index = b.create(splat, offset, type=one) if lanes is None or start != 0 else lanes
    if lanes is not None and start != 0:
        index = b.create(addi, index, lanes)
    below = compare(b, "lt", I64, index, b.create(splat, size, type=one))
    if nonnegative(offset):
        return below
    return b.create(andi, compare(b, "ge", I64, index, constant(b, one, 0)), below)


def fill(b: Builder, type_: Type, padding: int) -> Value:
    """What the elements are that the array does not have."""
    return constant(b, type_, math.nan if padding == NAN else 0)
