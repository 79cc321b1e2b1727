"""Scaled elements in terms of other operations, for executors that have no products of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from teeny.ir.dtype import F32, I8, I32
from teeny.ir.types import with_element
from teeny.ops.arith import addi
from teeny.ops.bitcast import bitcast_
from teeny.ops.bits import andi, ori, shli, shrui
from teeny.ops.cast import extui
from teeny.ops.compare import compare, select
from teeny.ops.constant import constant
from teeny.ops.dot_scaled import NAN_SCALE

if TYPE_CHECKING:
    from teeny.ir.builder import Builder
    from teeny.ir.core import Value

__all__ = ["halves", "powers"]


def powers(b: Builder, scale: Value) -> Value:
    """2**(s - 127) in f32: the bits of a scale are an exponent's; 0 stands for a subnormal number, 255 for NaN."""
    wide = b.create(extui, scale, type=with_element(scale.type, I32))
    power = b.create(shli, wide, constant(b, wide.type, 23))
    for number, bits in ((0, 1 << 22), (NAN_SCALE, 0x7FC00000)):
        is_it = compare(b, "eq", I32, wide, constant(b, wide.type, number))
        power = b.create(select, is_it, constant(b, wide.type, bits), power)
    return b.create(bitcast_, power, type=with_element(wide.type, F32))


def halves(b: Builder, packed: Value) -> tuple[Value, Value]:
    """The two e2m1 in each byte, the lower half first, as the bits of f8e4m3, which has all of their numbers."""
    low = b.create(andi, packed, constant(b, packed.type, 15))
    return _widened(b, low), _widened(b, b.create(shrui, packed, constant(b, packed.type, 4)))


def _widened(b: Builder, half: Value) -> Value:
    """The sign, an exponent biased by 7 instead of 1, a mantissa of 3 bits instead of 1."""
    size = b.create(andi, half, constant(b, half.type, 7))
    sign = b.create(shli, b.create(andi, half, constant(b, half.type, 8)), constant(b, half.type, 4))
    found = b.create(addi, b.create(shli, size, constant(b, half.type, 2)), constant(b, half.type, 0x30))
    for number, bits in ((1, 0x30), (0, 0)):  # a subnormal number, and zero
        is_it = compare(b, "eq", I8, size, constant(b, size.type, number))
        found = b.create(select, is_it, constant(b, size.type, bits), found)
    return b.create(ori, sign, found)
