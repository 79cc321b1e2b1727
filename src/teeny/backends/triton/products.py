"""Products that a GPU, or Triton for it, lacks, written as products that it has; with the same meaning.

What Triton 3.6 and 3.9 do (seen in the code they make): 8-bit floats are multiplied from sm_89 on, those without
negative zero on gfx942 alone; f16 has all of their numbers. sm_75 has no product of i8; a sum of at most 1024 products
of them is exact in f32. Scaled products are taken by 3.9 from sm_89 on, and on AMD's where bytes are packed along k; by
3.6 from sm_89 on without batches, where bytes are packed along k and bf16 does not meet f16.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from teeny.backends.triton.wheel import release
from teeny.ir.dtype import BF16, F16, F32, I8, I32, LEAVES, DType
from teeny.ir.schema import dtype_of
from teeny.ir.types import element_of, shape_of, typed, with_element
from teeny.ops.arith import addi, mulf
from teeny.ops.bitcast import reinterpret
from teeny.ops.cast import convert
from teeny.ops.constant import constant
from teeny.ops.decoded import halves, powers
from teeny.ops.dot import dot_
from teeny.ops.dot_scaled import BLOCK, dot_scaled_, scales
from teeny.ops.join import join_
from teeny.ops.shape import broadcast_value, expand_dims_, reshape_, trans_
from teeny.passes.expand import expand

if TYPE_CHECKING:
    from teeny.backends.triton.goal import Goal
    from teeny.ir.builder import Builder
    from teeny.ir.core import Module, Op, Value

E4M3 = LEAVES["f8e4m3"]
EXACT = 1024
"""Products of i8 whose sum f32 holds: 2**24 / (2**7)**2."""


def multiplied(module: Module, goal: Goal) -> Module:
    """The module itself where the architecture has all of its products, else a copy with the same meaning."""

    def rule(b: Builder, op: Op, operands: tuple[Value, ...]) -> Value | None:
        if op.schema is dot_ and not _has_product(op, goal):
            return _of_bytes(b, op, operands)
        if op.schema is dot_scaled_ and not _has_scaled(op, goal):
            return _scaled(b, op, operands)
        return None

    return expand(module, rule, lambda op: op.schema in (dot_, dot_scaled_))


def _has_product(op: Op, goal: Goal) -> bool:
    dtypes = [dtype_of(v.type) for v in op.operands[:2]]
    if dtypes[0] is I8:
        return not goal.capability or goal.capability >= 80 or int(str(shape_of(op.operands[0].type)[-1])) > EXACT
    if dtypes[0].kind != "float8":
        return True
    fnuz = any(dtype.name.endswith("fnuz") for dtype in dtypes)
    if fnuz:
        return goal.name == "gfx942" and all(dtype.name.endswith("fnuz") for dtype in dtypes)
    return not goal.capability or goal.capability >= 89


def _of_bytes(b: Builder, op: Op, operands: tuple[Value, ...]) -> Value:
    """8-bit floats as f16; i8 too, with the sum of the products converted back."""
    x, y, total = operands
    left, right = (convert(b, v, dtype_of(v.type), F16) for v in (x, y))
    if dtype_of(x.type) is not I8:
        return b.create(dot_, left, right, total)
    found = b.create(dot_, left, right, constant(b, with_element(total.type, F32), 0))
    return b.create(addi, convert(b, found, F32, I32), total)


def _has_scaled(op: Op, goal: Goal) -> bool:
    younger = release() >= (3, 9)
    packed = all(op.attrs.get(f"{side}_k_pack", True) for side in ("lhs", "rhs"))
    if not goal.capability:
        return younger and packed
    if goal.capability < 89:
        return False
    formats = {op.attrs["a_elem_type"], op.attrs["b_elem_type"]}
    return younger or (packed and len(shape_of(op.results[0].type)) == 2 and formats != {"bf16", "fp16"})


def _scaled(b: Builder, op: Op, operands: tuple[Value, ...]) -> Value:
    """The elements times their scales in f16 where one format is that, else in bf16: what Triton itself does."""
    formats = [str(op.attrs[f"{side}_elem_type"]) for side in "ab"]
    to = F16 if "fp16" in formats else BF16
    given = dict(zip(op.operands, operands, strict=True))
    sides: list[Value] = []
    for number, (axis, word) in enumerate(((-1, "lhs"), (-2, "rhs"))):
        value = operands[number]
        if formats[number] == "e2m1":
            value = _unpacked(b, value, axis if op.attrs.get(f"{word}_k_pack", True) else -3 - axis)
        scale = scales(op)[number]
        sides.append(_decoded(b, value, None if scale is None else given[scale], axis, to))
    return b.create(dot_, *sides, operands[2])


def _unpacked(b: Builder, packed: Value, along: int) -> Value:
    shape = shape_of(packed.type)
    both = b.create(join_, *halves(b, packed))
    if along == -1:
        to = (*shape[:-1], shape[-1] * 2)
    else:
        rank = len(shape)
        both = b.create(trans_, both, order=(*range(rank - 1), rank, rank - 1))
        to = (*shape[:-2], shape[-2] * 2, shape[-1])
    return reinterpret(b, b.create(reshape_, both, type=typed(to, I8), allow_reorder=False), E4M3)


def _decoded(b: Builder, value: Value, scale: Value | None, axis: int, to: DType) -> Value:
    source, shape = dtype_of(value.type), shape_of(value.type)
    if scale is None:
        return value if source is to else convert(b, convert(b, value, source, F32), F32, to)
    rank = len(shape)
    factors = powers(b, scale)
    if axis == -2:
        factors = b.create(trans_, factors, order=(*range(rank - 2), rank - 1, rank - 2))
    at = rank + axis
    split = (*shape[:at], shape[at] // BLOCK, BLOCK, *shape[at + 1 :])
    spread = broadcast_value(b, b.create(expand_dims_, factors, axis=at + 1), split)
    along = b.create(reshape_, spread, type=typed(shape, element_of(spread.type)), allow_reorder=False)
    return convert(b, b.create(mulf, convert(b, value, source, F32), along), F32, to)
