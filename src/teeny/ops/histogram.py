"""Counting how often each number occurs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from teeny.ir.dtype import BOOL, I32, INT, DType
from teeny.ir.rules import Absent, Structural
from teeny.ir.schema import OpDef, define, dtype_of, expect, same_shape
from teeny.ir.types import Type, shape_of, typed
from teeny.ops.bits import andi
from teeny.ops.compare import compare
from teeny.ops.constant import constant
from teeny.ops.function import Operand, Shapes, language
from teeny.ops.shape import broadcast_value

if TYPE_CHECKING:
    from teeny.ir.builder import Builder
    from teeny.ir.core import Op, Value
    from teeny.ir.poly import Dim
    from teeny.language.typing import Const, Tensor, bool_, i32, u32

__all__ = ["histogram"]


def _types(types: tuple[Type, ...], attrs: dict[str, Any], results: tuple[Type, ...]) -> None:
    expect(len(shape_of(types[0])) == 1 and dtype_of(types[0]).within(INT), f"{types[0]} is no row of integers")
    expect(len(shape_of(results[0])) == 1 and dtype_of(results[0]).within(INT), f"{results[0]} is no row of counts")
    if len(types) > 1:
        same_shape(*types)
        expect(dtype_of(types[1]) is BOOL, f"the mask must be i1, found {types[1]}")


def _meaning(np: Any, op: Op, x: Any, mask: Any = True) -> Any:
    bins = int(str(shape_of(op.results[0].type)[0]))
    counted = (x >= 0) & (x < bins) & mask
    return np.bincount(x[counted], minlength=bins).astype(np.int32)


histogram_ = define(
    OpDef(
        "tt.histogram", "$x (`,` $mask^)? attr-dict `:` type($x) `->` type($result)", ("x", "mask?"), _types, _meaning,
        Structural("histogram"), Structural("histogram"), Absent("counts are at most the number of elements"),
        inferred=False, group="histogram", cost=4.0,
    )
)  # fmt: skip
"""How many elements of a row are 0, 1, ..., where the mask holds; others do not count (on a GPU they must not be)."""


def _shape(s: Shapes, input: Operand, num_bins: Dim, mask: Operand | None) -> tuple[Dim, ...]:
    if len(input.shape) != 1:
        s.fault("S005", f"`tl.histogram` needs one axis, found {len(input.shape)}")
    s.require("pow2", num_bins, None, "S002", "`num_bins` of `tl.histogram` must be a power of two")
    if mask is not None and len(s.broadcast(input.shape, mask.shape)) != len(input.shape):
        s.fault("S001", f"the mask of `tl.histogram` has {len(mask.shape)} axes")
    return (num_bins,)


def _emit(b: Builder, shape: tuple[Dim, ...], dtype: DType, /, input: Operand, num_bins: Dim, mask: Any) -> Value:
    value, type_ = input.value, input.type
    inside = compare(b, "lt", I32, value, constant(b, type_, num_bins))
    inside = b.create(andi, compare(b, "ge", I32, value, constant(b, type_, 0)), inside)
    if mask is not None:
        inside = b.create(andi, broadcast_value(b, mask.value, input.shape), inside)
    return b.op(histogram_, (value, inside), types=(typed(shape, I32),)).result


@language(
    _emit,
    shape=_shape,
    shapes="A row, and one of `num_bins` counts.",
    differs="Triton counts a number outside of 0 to `num_bins` - 1 as some other one.",
)
def histogram(input: Tensor[i32] | Tensor[u32], num_bins: Const[int], mask: Tensor[bool_] | None = None) -> Tensor[i32]:
    """How many elements of a row (S005) are 0, 1, ..., `num_bins` - 1, a power of two (S002). Others do not count.

    With `mask`, which is spread over the row, elements where it is false do not count either.
    """
    ...
