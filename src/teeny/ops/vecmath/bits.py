"""Counting and turning the bits of 32- and 64-bit integers."""

from __future__ import annotations

from teeny.ir.lanes import Lane, LaneBuilder
from teeny.ops.vecmath.number import Number

__all__ = ["brev", "clz", "ffs", "popc"]

_MASKS = (0x5555555555555555, 0x3333333333333333, 0x0F0F0F0F0F0F0F0F)
_BYTES = (0x00FF00FF00FF00FF, 0x0000FFFF0000FFFF)


def _size(x: Number) -> int:
    return int(x.dtype[1:])


def _cut(mask: int, x: Number) -> int:
    return mask & ((1 << _size(x)) - 1)


def _count(x: Number) -> Number:
    """The number of set bits, in parallel in fields of growing width."""
    two, four, eight = (_cut(mask, x) for mask in _MASKS)
    x = x - ((x >> 1) & two)
    x = (x & four) + ((x >> 2) & four)
    x = (x + (x >> 4)) & eight
    return (x * _cut(0x0101010101010101, x)) >> (_size(x) - 8)


def _narrow(x: Number) -> Lane:
    return x.lane if x.dtype == "i32" else x.low().lane


def popc(b: LaneBuilder, x: Lane) -> Lane:
    """How many bits are set, as i32."""
    return _narrow(_count(Number(b, x)))


def clz(b: LaneBuilder, x: Lane) -> Lane:
    """How many bits are clear above the highest that is set, as i32; the width for 0."""
    number = Number(b, x)
    for step in (1, 2, 4, 8, 16, 32)[: 5 if _size(number) == 32 else 6]:
        number = number | (number >> step)
    return _narrow(number.constant(_size(number)) - _count(number))


def ffs(b: LaneBuilder, x: Lane) -> Lane:
    """The place of the lowest bit that is set, counted from 1, as i32; 0 for 0."""
    number = Number(b, x)
    lowest = number & (0 - number)
    below = _count(lowest - 1) + 1
    zero = number.equals(0)
    return b.select(zero.lane, b.const("i32", 0), _narrow(below))


def brev(b: LaneBuilder, x: Lane) -> Lane:
    """The bits in reverse order."""
    number = Number(b, x)
    steps = [*zip((1, 2, 4), _MASKS, strict=True), *zip((8, 16), _BYTES, strict=True)]
    for step, mask in steps:
        low = _cut(mask, number)
        number = ((number >> step) & low) | ((number & low) << step)
    half = _size(number) // 2
    if half == 32:
        number = (number >> 32) | (number << 32)
    return number.lane
