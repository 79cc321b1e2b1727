"""Products of scaled elements: the operands are decoded and scaled once, the rest is a product like any other.

Two 4-bit floats in a byte become two 8-bit ones, which hold all of their numbers; of 8-bit floats each is extended, and
multiplied by its scale, into what the micro-kernel takes: bf16 where the machine adds pairs of them, else f32.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from teeny.backends.cpu.lower.dot import product
from teeny.backends.cpu.lower.state import Buffer, State, row_major
from teeny.backends.cpu.lower.store import materialise
from teeny.backends.cpu.lower.values import dtype_name, shape
from teeny.ir.builder import Builder
from teeny.ir.core import Block, Op
from teeny.ir.dtype import BF16, F16, F32, I8, I16, LEAVES, DType
from teeny.ir.schema import dtype_of
from teeny.ir.types import typed, with_element
from teeny.ops.arith import mulf
from teeny.ops.bitcast import bitcast_
from teeny.ops.bits import ori, shli
from teeny.ops.cast import convert, extui, truncf
from teeny.ops.constant import constant
from teeny.ops.decoded import halves, powers
from teeny.ops.dot_scaled import BLOCK, scales
from teeny.ops.shape import broadcast_value, expand_dims_, reshape_, trans_

if TYPE_CHECKING:
    from teeny.ir.core import Value

__all__ = ["dot_scaled"]

E4M3 = LEAVES["f8e4m3"]


def dot_scaled(state: State, op: Op) -> None:
    """Lower a `tt.dot_scaled` and bind its result."""
    formats = [str(op.attrs[f"{side}_elem_type"]) for side in "ab"]
    packs = [bool(op.attrs.get(f"{side}_k_pack", True)) for side in ("lhs", "rhs")]
    given = scales(op)
    dims = shape(op.operands[0])
    inner = dims[-1] * (2 if formats[0] == "e2m1" and packs[0] else 1)

    def sides(packed: DType) -> list[Value]:
        found: list[Value] = []
        for number, axis in enumerate((-1, -2)):
            value, scale = op.operands[number], given[number]
            if formats[number] == "e2m1":
                value = _unpacked(state, value, axis if packs[number] else -3 - axis)
            found.append(value if scale is None else _scaled(state, value, scale, axis, packed))
        return found

    product(state, op, F16 if "fp16" in formats else BF16, inner, sides)


def _bound(state: State, like: Value, buffer: Buffer, dims: tuple[int, ...], dtype: DType) -> Value:
    """A value of its own for what a dense buffer holds, read with another shape or dtype."""
    value = Op(reshape_, (like,), (typed(dims, dtype),)).result
    state.bound[value] = Buffer(buffer.at, dims, dtype_name(value.type), row_major(dims))
    return value


def _dense(state: State, value: Value) -> Buffer:
    """A tile in a dense buffer."""
    found = state.bound.get(state.plan.source(value))
    if isinstance(found, Buffer) and found.strides == row_major(found.shape):
        return found
    made = state.buffer(shape(value), dtype_name(value.type))
    materialise(state, [(value, made)])
    return made


def _unpacked(state: State, value: Value, along: int) -> Value:
    """Bytes of two 4-bit floats as 8-bit floats: neighbours along one of the last two axes, the lower half first."""
    dims, b = shape(value), Builder(Block(()))
    bits = b.create(bitcast_, value, type=with_element(value.type, I8))
    low, high = halves(b, bits)
    if along == -1:  # both in one lane of 16 bits
        wide = [b.create(extui, half, type=with_element(half.type, I16)) for half in (low, high)]
        both = b.create(ori, wide[0], b.create(shli, wide[1], constant(b, wide[1].type, 8)))
        buffer = state.buffer(dims, "i16")
        materialise(state, [(both, buffer)])
        return _bound(state, value, buffer, (*dims[:-1], 2 * dims[-1]), E4M3)
    rows, columns = dims[-2:]
    to = (*dims[:-2], 2 * rows, columns)
    whole = state.buffer(to, "i8")
    steps = (*row_major(to)[:-2], 2 * columns, 1)
    second = state.b.offset(whole.at, state.b.const("i64", columns), "i8")
    materialise(state, [(low, Buffer(whole.at, dims, "i8", steps)), (high, Buffer(second, dims, "i8", steps))])
    return _bound(state, value, whole, to, E4M3)


def _scaled(state: State, value: Value, scale: Value, axis: int, packed: DType) -> Value:
    """An operand whose axis along k is `axis`, times its scales, of the dtype `packed`."""
    dims = shape(value)
    at = len(dims) + axis
    split = (*dims[:at], dims[at] // BLOCK, BLOCK, *dims[at + 1 :])
    blocks = _bound(state, value, _dense(state, value), split, dtype_of(value.type))
    b = Builder(Block(()))
    factors = powers(b, scale)
    if axis == -2:
        rank = len(dims)
        factors = b.create(trans_, factors, order=(*range(rank - 2), rank - 1, rank - 2))
    buffer = state.buffer(shape(factors), "f32")
    materialise(state, [(factors, buffer)])
    factors = _bound(state, factors, buffer, shape(factors), F32)
    wide = convert(b, blocks, dtype_of(blocks.type), F32)
    times = b.create(mulf, wide, broadcast_value(b, b.create(expand_dims_, factors, axis=at + 1), split))
    result = times if packed is F32 else b.create(truncf, times, type=with_element(times.type, packed))
    made = state.buffer(split, dtype_name(result.type))
    materialise(state, [(result, made)])
    return _bound(state, value, made, dims, packed)
