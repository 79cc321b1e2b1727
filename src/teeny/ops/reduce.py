"""Reductions along an axis.

The order is canonical, so that every executor gives the same bits: along the last axis element i goes into accumulator
i mod 64, then a halving tree joins the 64; along any other axis elements are taken in rising index.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

from teeny.ir.core import Block, Op, Region
from teeny.ir.dtype import DType
from teeny.ir.poly import Dim
from teeny.ir.rules import Absent, Structural
from teeny.ir.schema import OpDef, define, expect
from teeny.ir.types import Type, element_of, shape_of, typed
from teeny.ops.arith import ADD, MAX, MIN
from teeny.ops.cast import convert
from teeny.ops.function import Operand, Shapes, language
from teeny.ops.shape import expand_dims_, normal_axis, reshape_, splat
from teeny.ops.vocabulary import Family

if TYPE_CHECKING:
    from teeny.ir.builder import Builder
    from teeny.ir.core import Value
    from teeny.language.typing import Const, E, N, S, Tensor

__all__ = ["max", "min", "sum"]

ACCUMULATORS = 64
"""Accumulators of the canonical order along the last axis."""


def _reduce(types: tuple[Type, ...], attrs: dict[str, Any]) -> tuple[Type, ...]:
    expect(bool(types), "a reduction has an operand")
    shape, axis = shape_of(types[0]), attrs["axis"]
    expect(0 <= axis < len(shape), f"{types[0]} has no axis {axis}")
    expect(all(shape_of(t) == shape for t in types), "the operands of a reduction differ in shape")
    return tuple(typed((*shape[:axis], *shape[axis + 1 :]), element_of(t)) for t in types)


def _nothing(types: tuple[Type, ...], attrs: dict[str, Any]) -> tuple[Type, ...]:
    return ()


reduce_ = define(
    OpDef(
        "tt.reduce", Structural("generic"), ("x*",), _reduce, Structural("reduce"), Structural("reduce"),
        Structural("reduce"),
        Absent("read off the combiner by the analysis"), attrs=("axis",), regions=1, group="reduce", cost=2.0,
    )
)  # fmt: skip
reduce_return = define(
    OpDef(
        "tt.reduce.return", "$x attr-dict `:` type($x)", ("x*",), _nothing, Structural("terminator"),
        Structural("terminator"),
        Structural("terminator"), Absent("it has no result"), results=(), terminator=True, group="terminator",
    )
)  # fmt: skip


def combiner(op: Op) -> str | None:
    """The group ("add", "max", ...) of the operation that a reduction's region applies to its two arguments, if one."""
    block = op.regions[0].block
    if len(block.ops) != 2 or len(block.args) != 2:
        return None
    inner = block.ops[0]
    return inner.schema.group if set(inner.operands) == set(block.args) else None


def _emit(family: Family) -> Any:
    def emit(
        b: Builder, shape: tuple[Dim, ...], dtype: DType, /, x: Operand, axis: int | None, keep_dims: bool, **_: Any
    ) -> Value:
        assert isinstance(x.dtype, DType)
        value = convert(b, x.value, x.dtype, dtype)
        rank = len(x.shape)
        if axis is None and rank > 1:
            size: Dim = 1
            for dim in x.shape:
                size = size * dim
            value = b.create(reshape_, value, type=typed((size,), element_of(value.type)), allow_reorder=False)
        at = 0 if axis is None else axis % rank
        element = element_of(value.type)
        body = Block((element, element))
        inner = b.__class__(body, b.loc)
        inner.guard = b.guard
        inner.op(reduce_return, (inner.create(family.pick(dtype), *body.args),))
        found = b.op(reduce_, (value,), {"axis": at}, (Region([body]),)).result
        if not keep_dims:
            return found
        if axis is None or rank == 1:
            return b.create(splat, found, type=typed(shape, element))
        return b.create(expand_dims_, found, axis=at)

    return emit


def _shape(s: Shapes, x: Operand, axis: int | None = None, keep_dims: bool = False, **_: Any) -> tuple[Dim, ...]:
    if not x.shape:
        s.fault("S005", "a reduction needs a block, found a scalar")
        return ()
    if axis is None:
        return (1,) * len(x.shape) if keep_dims else ()
    at = normal_axis(s, axis, len(x.shape), "the operand")
    return (*x.shape[:at], *((1,) if keep_dims else ()), *x.shape[at + 1 :])


NARROW = ("i8", "i16", "u8", "u16")


@overload
def sum(x: Tensor[N], axis: Const[int | None] = None, keep_dims: Const[bool] = False) -> Tensor[N]: ...
@overload
def sum(
    x: Tensor[S], axis: Const[int | None] = None, keep_dims: Const[bool] = False, *, dtype: type[E]
) -> Tensor[E]: ...
@language(
    _emit(ADD),
    shape=_shape,
    exclude={"N": NARROW},
    shapes="The shape of x without `axis`, or with size 1 there for `keep_dims`; a scalar for `axis=None`.",
    differs="Triton adds narrow integers up in i32 by itself; how it adds f16 and bf16 depends on its version.",
)
def sum(x: Any, axis: Any = None, keep_dims: Any = False, dtype: Any = None) -> Any:
    """The sum along `axis`, one that x has (S003), or of all elements (`axis=None`).

    f16 and bf16 accumulate in f32 and round once; i8, i16, u8, u16 and bool need `dtype=`, the dtype of the sum (T012).
    `keep_dims` keeps the axis with size one.
    """
    ...


@language(
    _emit(MAX),
    shape=_shape,
    shapes="The shape of x without `axis`, or with size 1 there for `keep_dims`; a scalar for `axis=None`.",
    differs="Triton also takes `return_indices`.",
)
def max(x: Tensor[N], axis: Const[int | None] = None, keep_dims: Const[bool] = False) -> Tensor[N]:
    """The largest element along `axis`, one that x has (S003), or of all. A NaN loses against a number."""
    ...


@language(
    _emit(MIN),
    shape=_shape,
    shapes="The shape of x without `axis`, or with size 1 there for `keep_dims`; a scalar for `axis=None`.",
    differs="Triton also takes `return_indices`.",
)
def min(x: Tensor[N], axis: Const[int | None] = None, keep_dims: Const[bool] = False) -> Tensor[N]:
    """The smallest element along `axis`, one that x has (S003), or of all. A NaN loses against a number."""
    ...
