"""Reductions along an axis, or of all elements.

The order is canonical, so that every executor gives the same bits: along the last axis element i goes into accumulator
i mod 64, then a halving tree joins the 64; along any other axis elements are taken in rising index.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

from teeny.ir.core import Block, Op, Region
from teeny.ir.dtype import BF16, BOOL, F16, F32, I32, LEAVES, DType
from teeny.ir.poly import Dim, mul
from teeny.ir.rules import Absent, Structural
from teeny.ir.schema import OpDef, define, expect
from teeny.ir.types import Type, element_of, shape_of, typed
from teeny.ops.arith import ADD, MAX, MIN, MUL
from teeny.ops.bits import andi, ori, xori
from teeny.ops.cast import convert
from teeny.ops.compare import compare, select
from teeny.ops.constant import constant
from teeny.ops.function import Operand, Shapes, language
from teeny.ops.program import make_range
from teeny.ops.shape import broadcast, expand_dims_, normal_axis, reshape_, splat

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Literal

    from teeny.ir.builder import Builder
    from teeny.ir.core import Value
    from teeny.language.typing import B, Const, E, N, S, Tensor, i32
    from teeny.ops.vocabulary import Family

    Combine = Callable[[Builder, tuple[Value, ...]], tuple[Value, ...]]
    """What a region does: given a builder and the block's arguments (left ones first), what it returns."""

__all__ = ["argmax", "argmin", "max", "min", "prod", "reduce_or", "sum", "xor_sum"]

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
    if not op.regions:
        return None
    block = op.regions[0].block
    if len(block.ops) != 2 or len(block.args) != 2:
        return None
    inner = block.ops[0]
    return inner.schema.group if set(inner.operands) == set(block.args) else None


def combined(
    b: Builder, schema: OpDef, end: OpDef, values: tuple[Value, ...], attrs: dict[str, Any], combine: Combine
) -> tuple[Value, ...]:
    """Append an operation whose region joins elements, and fill the region."""
    elements = tuple([element_of(v.type) for v in values])
    body = Block((*elements, *elements))
    inner = b.__class__(body, b.loc)
    inner.guard = b.guard
    inner.op(end, combine(inner, body.args))
    return b.op(schema, values, attrs, (Region([body]),)).results


def joining(schema: OpDef) -> Combine:
    """A region of one operation."""
    return lambda b, args: (b.create(schema, *args),)


def accumulator(dtype: DType) -> DType:
    """The dtype in which the language adds and multiplies elements of `dtype` up."""
    return F32 if dtype in (F16, BF16) else dtype


def _flat(b: Builder, value: Value) -> Value:
    size: Dim = 1
    for dim in shape_of(value.type):
        size = mul(size, dim)
    return b.create(reshape_, value, type=typed((size,), element_of(value.type)), allow_reorder=False)


def _reduced(
    b: Builder, values: tuple[Value, ...], axis: int | None, keep: tuple[Dim, ...] | None, combine: Combine
) -> tuple[Value, ...]:
    """Tiles of one shape reduced along an axis, of all elements for None; `keep`: the shape with the axis kept."""
    shape = shape_of(values[0].type)
    if axis is None and len(shape) > 1:
        values = tuple([_flat(b, v) for v in values])
    at = 0 if axis is None else axis % len(shape)
    found = combined(b, reduce_, reduce_return, values, {"axis": at}, combine)
    if keep is None:
        return found
    if axis is None or len(shape) == 1:
        return tuple([b.create(splat, v, type=typed(keep, element_of(v.type))) for v in found])
    return tuple([b.create(expand_dims_, v, axis=at) for v in found])


def _emit(pick: Callable[[DType], OpDef], *, wide: bool = False) -> Any:
    """Emit a reduction by one operation; `wide`: 16-bit floats accumulate in f32 and are rounded once."""

    def emit(
        b: Builder, shape: tuple[Dim, ...], dtype: DType, /, input: Operand, axis: int | None, keep_dims: bool, **_: Any
    ) -> Value:
        assert isinstance(input.dtype, DType)
        inside = accumulator(dtype) if wide else dtype
        value = convert(b, convert(b, input.value, input.dtype, dtype), dtype, inside)
        (found,) = _reduced(b, (value,), axis, shape if keep_dims else None, joining(pick(inside)))
        return convert(b, found, inside, dtype)

    return emit


def _shape(s: Shapes, input: Operand, axis: int | None = None, keep_dims: bool = False, **_: Any) -> tuple[Dim, ...]:
    if not input.shape:
        s.fault("S005", "a reduction needs a block, found a scalar")
        return ()
    if axis is None:
        return (1,) * len(input.shape) if keep_dims else ()
    at = normal_axis(s, axis, len(input.shape), "the operand")
    return (*input.shape[:at], *((1,) if keep_dims else ()), *input.shape[at + 1 :])


# Extremes and where they are


def indices(b: Builder, shape: tuple[Dim, ...], axis: int) -> Value:
    """The index along one axis, as a tile of i32."""
    value = b.create(make_range, start=0, end=shape[axis])
    for other in range(len(shape)):
        if other != axis:
            value = b.create(expand_dims_, value, axis=other)
    return value if shape_of(value.type) == shape else b.create(broadcast, value, type=typed(shape, I32))


def better(b: Builder, predicate: str, dtype: DType, left: Value, right: Value, first: Value | None) -> Value:
    """Whether the left value is to be kept: it is larger ("gt") or smaller ("lt"), or the right one is NaN and it not.

    Of equal ones, of two NaNs too, where `first` holds; without it of two NaNs only.
    """
    keep = compare(b, predicate, dtype, left, right)
    tie = None if first is None else compare(b, "eq", dtype, left, right)
    if dtype.kind in ("float", "variable"):
        right_nan = compare(b, "ne", dtype, right, right)
        if tie is None:
            return b.create(ori, keep, right_nan)
        left_nan = compare(b, "ne", dtype, left, left)
        tie = b.create(ori, tie, b.create(andi, left_nan, right_nan))
        number = b.create(xori, left_nan, constant(b, BOOL, True))
        keep = b.create(ori, keep, b.create(andi, number, right_nan))
    if tie is None or first is None:
        return keep
    return b.create(ori, keep, b.create(andi, tie, first))


def _extreme(predicate: str, dtype: DType, tie_break_left: bool) -> Combine:
    """Of two pairs of a value and its index the better one."""

    def combine(b: Builder, args: tuple[Value, ...]) -> tuple[Value, ...]:
        value, index, other, at = args
        first = compare(b, "lt", I32, index, at) if tie_break_left else None
        keep = better(b, predicate, dtype, value, other, first)
        return b.create(select, keep, value, other), b.create(select, keep, index, at)

    return combine


def _located(
    b: Builder, keep: tuple[Dim, ...] | None, input: Operand, axis: int | None, predicate: str, tie_break_left: bool
) -> tuple[Value, ...]:
    """The best element and its index, along an axis or in the flattened tile."""
    assert isinstance(input.dtype, DType)
    rank = len(input.shape)
    value = _flat(b, input.value) if axis is None and rank > 1 else input.value
    at = indices(b, shape_of(value.type), 0 if axis is None else axis % rank)
    return _reduced(b, (value, at), axis, keep, _extreme(predicate, input.dtype, tie_break_left))


def _emit_extreme(family: Family, predicate: str) -> Any:
    def emit(
        b: Builder, shape: Any, dtype: Any, /, input: Operand, axis: int | None, return_indices: bool,
        return_indices_tie_break_left: bool, keep_dims: bool,
    ) -> Any:  # fmt: skip
        assert isinstance(input.dtype, DType)
        if return_indices:
            return _located(b, shape[0] if keep_dims else None, input, axis, predicate, return_indices_tie_break_left)
        return _reduced(b, (input.value,), axis, shape if keep_dims else None, joining(family.pick(input.dtype)))[0]

    return emit


def _extreme_shape(s: Shapes, input: Operand, axis: int | None, return_indices: bool, **rest: Any) -> Any:
    shape = _shape(s, input, axis, rest["keep_dims"])
    return (shape, shape) if return_indices else shape


def _emit_index(predicate: str) -> Any:
    def emit(
        b: Builder, shape: tuple[Dim, ...], dtype: DType, input: Operand, axis: int | None, tie_break_left: bool,
        keep_dims: bool,
    ) -> Value:  # fmt: skip
        return _located(b, shape if keep_dims else None, input, axis, predicate, tie_break_left)[1]

    return emit


def _index_shape(s: Shapes, input: Operand, axis: int | None, tie_break_left: bool, keep_dims: bool) -> Any:
    return _shape(s, input, axis, keep_dims)


NARROW = ("i8", "i16", "u8", "u16")
NO_SUMS = ("bool", *(leaf.name for leaf in LEAVES.values() if leaf.kind == "float8"))
"""Dtypes without sums and products."""
_SHAPES = "The shape of the operand without `axis`, or with size 1 there for `keep_dims`; a scalar for `axis=None`."
_WIDER = "Triton adds narrow integers up in i32 by itself; how it adds f16 and bf16 depends on its version."


@overload
def sum(input: Tensor[N], axis: Const[int | None] = None, keep_dims: Const[bool] = False) -> Tensor[N]: ...
@overload
def sum(
    input: Tensor[S], axis: Const[int | None] = None, keep_dims: Const[bool] = False, *, dtype: type[E]
) -> Tensor[E]: ...
@overload
def sum(input: Tensor[S], axis: Const[int | None], keep_dims: Const[bool], dtype: type[E]) -> Tensor[E]: ...
@language(_emit(ADD.pick, wide=True), shape=_shape, exclude={"N": NARROW, "E": NO_SUMS}, shapes=_SHAPES, differs=_WIDER)
def sum(input: Any, axis: Any = None, keep_dims: Any = False, dtype: Any = None) -> Any:
    """The sum along `axis`, one that the operand has (S003), or of all elements (`axis=None`).

    f16 and bf16 accumulate in f32 and round once; i8, i16, u8, u16 and bool need `dtype=`, the dtype of the sum (T012).
    `keep_dims` keeps the axis with size one.
    """
    ...


@overload
def prod(input: Tensor[N], axis: Const[int | None] = None, keep_dims: Const[bool] = False) -> Tensor[N]: ...
@overload
def prod(
    input: Tensor[S], axis: Const[int | None] = None, keep_dims: Const[bool] = False, *, dtype: type[E]
) -> Tensor[E]: ...
@overload
def prod(input: Tensor[S], axis: Const[int | None], keep_dims: Const[bool], dtype: type[E]) -> Tensor[E]: ...
@language(_emit(MUL.pick, wide=True), shape=_shape, exclude={"N": NARROW, "E": NO_SUMS}, shapes=_SHAPES, triton=None)
def prod(input: Any, axis: Any = None, keep_dims: Any = False, dtype: Any = None) -> Any:
    """The product along `axis`, one that the operand has (S003), or of all elements (`axis=None`).

    f16 and bf16 accumulate in f32 and round once; i8, i16, u8, u16 and bool need `dtype=`, the dtype of the product
    (T012).
    """
    ...


@language(_emit(lambda dtype: xori), shape=_shape, shapes=_SHAPES)
def xor_sum(input: Tensor[B], axis: Const[int | None] = None, keep_dims: Const[bool] = False) -> Tensor[B]:
    """The bitwise exclusive or along `axis`, one that the operand has (S003), or of all elements."""
    ...


@language(_emit(lambda dtype: ori), shape=_shape, shapes=_SHAPES)
def reduce_or(input: Tensor[B], axis: Const[int | None], keep_dims: Const[bool] = False) -> Tensor[B]:
    """The bitwise or along `axis`, one that the operand has (S003), or of all elements (None)."""
    ...


_INDICES = (
    "Triton's result depends on the order of the elements where there is a NaN. It extends f16 and bf16 to f32, and "
    "narrow integers to i32."
)


@overload
def max(
    input: Tensor[N], axis: Const[int | None] = None, return_indices: Const[Literal[False]] = False,
    return_indices_tie_break_left: Const[bool] = True, keep_dims: Const[bool] = False,
) -> Tensor[N]: ...  # fmt: skip
@overload
def max(
    input: Tensor[N], axis: Const[int | None] = None, *, return_indices: Const[Literal[True]],
    return_indices_tie_break_left: Const[bool] = True, keep_dims: Const[bool] = False,
) -> tuple[Tensor[N], Tensor[i32]]: ...  # fmt: skip
@overload
def max(
    input: Tensor[N], axis: Const[int | None], return_indices: Const[Literal[True]],
    return_indices_tie_break_left: Const[bool] = True, keep_dims: Const[bool] = False,
) -> tuple[Tensor[N], Tensor[i32]]: ...  # fmt: skip
@language(_emit_extreme(MAX, "gt"), shape=_extreme_shape, shapes=_SHAPES, differs=_INDICES)
def max(
    input: Any, axis: Any = None, return_indices: Any = False, return_indices_tie_break_left: Any = True,
    keep_dims: Any = False,
) -> Any:  # fmt: skip
    """The largest element along `axis`, one that the operand has (S003), or of all. A NaN loses against a number.

    With `return_indices` a pair: the elements, and where along the axis each is (in the flattened tile for None). Of
    equal ones the first is given, or any of them without `return_indices_tie_break_left`.
    """
    ...


@overload
def min(
    input: Tensor[N], axis: Const[int | None] = None, return_indices: Const[Literal[False]] = False,
    return_indices_tie_break_left: Const[bool] = True, keep_dims: Const[bool] = False,
) -> Tensor[N]: ...  # fmt: skip
@overload
def min(
    input: Tensor[N], axis: Const[int | None] = None, *, return_indices: Const[Literal[True]],
    return_indices_tie_break_left: Const[bool] = True, keep_dims: Const[bool] = False,
) -> tuple[Tensor[N], Tensor[i32]]: ...  # fmt: skip
@overload
def min(
    input: Tensor[N], axis: Const[int | None], return_indices: Const[Literal[True]],
    return_indices_tie_break_left: Const[bool] = True, keep_dims: Const[bool] = False,
) -> tuple[Tensor[N], Tensor[i32]]: ...  # fmt: skip
@language(_emit_extreme(MIN, "lt"), shape=_extreme_shape, shapes=_SHAPES, differs=_INDICES)
def min(
    input: Any, axis: Any = None, return_indices: Any = False, return_indices_tie_break_left: Any = True,
    keep_dims: Any = False,
) -> Any:  # fmt: skip
    """The smallest element along `axis`, one that the operand has (S003), or of all. A NaN loses against a number.

    With `return_indices` a pair: the elements, and where along the axis each is (in the flattened tile for None). Of
    equal ones the first is given, or any of them without `return_indices_tie_break_left`.
    """
    ...


@language(_emit_index("gt"), shape=_index_shape, shapes=_SHAPES, differs=_INDICES)
def argmax(
    input: Tensor[N], axis: Const[int | None], tie_break_left: Const[bool] = True, keep_dims: Const[bool] = False
) -> Tensor[i32]:
    """Where along `axis` (S003) the largest element is, or in the flattened tile (None). A NaN loses against a number.

    Of equal ones the first is taken, or any of them without `tie_break_left`.
    """
    ...


@language(_emit_index("lt"), shape=_index_shape, shapes=_SHAPES, differs=_INDICES)
def argmin(
    input: Tensor[N], axis: Const[int | None], tie_break_left: Const[bool] = True, keep_dims: Const[bool] = False
) -> Tensor[i32]:
    """Where along `axis` (S003) the smallest element is, or in the flattened tile (None). A NaN loses against a number.

    Of equal ones the first is taken, or any of them without `tie_break_left`.
    """
    ...
