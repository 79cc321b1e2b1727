"""A tile with the elements along an axis in the opposite order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from teeny.ir.dtype import DType
from teeny.ir.rules import Absent, Structural
from teeny.ir.schema import OpDef, define, dtype_of, expect
from teeny.ir.types import Type, shape_of
from teeny.ops.bitcast import reinterpret
from teeny.ops.function import Operand, Shapes, language
from teeny.ops.hypercube import as_integers, cut, neighbours, sizes
from teeny.ops.shape import normal_axis, reshaped

if TYPE_CHECKING:
    from teeny.ir.builder import Builder
    from teeny.ir.core import Value
    from teeny.ir.poly import Dim
    from teeny.language.typing import Const, D, Tensor

__all__ = ["flip"]


def _types(types: tuple[Type, ...], attrs: dict[str, Any]) -> tuple[Type, ...]:
    dtype_of(types[0])
    expect(0 <= attrs["axis"] < len(shape_of(types[0])), f"{types[0]} has no axis {attrs['axis']}")
    return types


def _expand(b: Builder, x: Value, *, axis: int) -> Value:
    """The axis cut into axes of size two, each of them turned round."""
    found, steps = cut(b, as_integers(b, x), axis)
    for step in range(steps):
        found = neighbours(b, found, axis + step)
    return reinterpret(b, reshaped(b, found, sizes(x.type)), dtype_of(x.type))


flip_ = define(
    OpDef(
        "teeny.flip", "$x attr-dict `:` type($x)", ("x",), _types, lambda np, op, x: np.flip(x, op.attrs["axis"]),
        Structural("flip"), Structural("flip"), Absent("the lanes' values do not change"), attrs=("axis",),
        group="flip", expand=_expand, cost=2.0,
    )
)  # fmt: skip


def _shape(s: Shapes, x: Operand, dim: int | None) -> tuple[Dim, ...]:
    normal_axis(s, -1 if dim is None else dim, len(x.shape), "the operand of `tl.flip`")
    return x.shape


def _emit(b: Builder, shape: tuple[Dim, ...], dtype: DType, x: Operand, dim: int | None) -> Value:
    return b.create(flip_, x.value, axis=(-1 if dim is None else dim) % len(shape))


@language(_emit, shape=_shape, shapes="The result has the shape of the operand.")
def flip(x: Tensor[D], dim: Const[int | None] = None) -> Tensor[D]:
    """x with the elements along `dim` (S003), by default the last axis, in the opposite order."""
    ...
