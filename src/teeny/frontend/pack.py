"""Tiles taken apart into those of every so many-th element along the last axis, and put together again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from teeny.ir.poly import Dim, floordiv
from teeny.ir.types import element_of, shape_of, typed
from teeny.ops.join import join_, split_
from teeny.ops.shape import reshape_

if TYPE_CHECKING:
    from collections.abc import Sequence

    from teeny.ir.builder import Builder
    from teeny.ir.core import Value


def apart(b: Builder, value: Value, count: int) -> list[Value]:
    """`count` tiles, a power of two: of each run of as many elements along the last axis tile j has element j."""
    if count == 1:
        return [value]
    *rest, last = shape_of(value.type)
    pairs = b.create(reshape_, value, type=typed((*rest, floordiv(last, 2), 2), element_of(value.type)))
    even, odd = (apart(b, half, count // 2) for half in b.op(split_, (pairs,)).results)
    return [one for both in zip(even, odd, strict=True) for one in both]


def together(b: Builder, values: Sequence[Value], last: Dim) -> Value:
    """What `apart` took apart; `last`: the size of its last axis."""
    if len(values) == 1:
        return values[0]
    half = floordiv(last, 2)
    pairs = b.create(join_, together(b, values[::2], half), together(b, values[1::2], half))
    return b.create(reshape_, pairs, type=typed((*shape_of(pairs.type)[:-2], last), element_of(pairs.type)))
