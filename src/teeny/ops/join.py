"""Tiles put together and taken apart: broadcast, join, split, interleave, concatenate."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from teeny.ir.dtype import DType
from teeny.ir.poly import Dim, mul
from teeny.ir.rules import Absent, Structural
from teeny.ir.schema import OpDef, define, expect, same_types
from teeny.ir.types import Type, element_of, shape_of, typed
from teeny.ops.function import Operand, Shapes, language
from teeny.ops.shape import broadcast_value, expand_dims_, normal_axis, reshaped, splat, trans_, unsplat

if TYPE_CHECKING:
    from teeny.ir.builder import Builder
    from teeny.ir.core import Value
    from teeny.language.typing import Const, D, E, Tensor

__all__ = ["broadcast", "cat", "interleave", "item", "join", "split"]

_SAME = Absent("the lanes' values do not change")
Shape = tuple[Dim, ...]


def _join(types: tuple[Type, ...], attrs: dict[str, Any]) -> tuple[Type, ...]:
    type_ = same_types(types)
    expect(bool(shape_of(type_)), "scalars cannot be joined")
    return (typed((*shape_of(type_), 2), element_of(type_)),)


def _split(types: tuple[Type, ...], attrs: dict[str, Any]) -> tuple[Type, ...]:
    shape = shape_of(types[0])
    expect(len(shape) > 1 and (shape[-1] == 2 or not isinstance(shape[-1], int)), f"cannot split {types[0]}")
    half = typed(shape[:-1], element_of(types[0]))
    return (half, half)


def _cat(types: tuple[Type, ...], attrs: dict[str, Any], results: tuple[Type, ...]) -> None:
    x, y, found = (shape_of(t) for t in (*types, *results))
    expect(len({element_of(t) for t in (*types, *results)}) == 1, "the elements of a concatenation differ in type")
    expect(len(x) == len(y) == len(found) == 1, "a concatenation is of tiles of one axis")
    sizes = (x[0], y[0], found[0])
    if all(isinstance(n, int) for n in sizes):
        expect(x[0] + y[0] == found[0], f"{types[0]} and {types[1]} do not make {results[0]}")


join_ = define(
    OpDef(
        "tt.join", "$x `,` $y attr-dict `:` type($x) `->` type($result)", ("x", "y"), _join,
        lambda np, op, x, y: np.stack((x, y), axis=-1), Structural("join"), Structural("join"), _SAME,
        group="join", cost=2.0,
    )
)  # fmt: skip
"""Two tiles side by side along a new last axis."""
split_ = define(
    OpDef(
        "tt.split", "$x attr-dict `:` type($x) `->` type($first)", ("x",), _split,
        Structural("split"), Structural("split"), Structural("split"), _SAME,
        results=("first", "second"), group="split", cost=2.0,
    )
)  # fmt: skip
"""The two tiles along the last axis."""
cat_ = define(
    OpDef(
        "tt.cat", "$x `,` $y attr-dict `:` type($x) `->` type($result)", ("x", "y"), _cat,
        lambda np, op, x, y: np.concatenate((x, y)), Structural("cat"), Structural("cat"), _SAME, inferred=False,
        group="cat", cost=2.0,
    )
)  # fmt: skip
"""Two rows one after the other; on a GPU in any order of the elements."""


def _both_shapes(s: Shapes, input: Operand, other: Operand) -> tuple[Shape, Shape]:
    shape = s.broadcast(input.shape, other.shape)
    return (shape, shape)


def _emit_broadcast(
    b: Builder, shape: tuple[Shape, ...], dtype: Any, input: Operand, other: Operand
) -> tuple[Value, ...]:
    return broadcast_value(b, input.value, shape[0]), broadcast_value(b, other.value, shape[1])


def _join_shape(s: Shapes, a: Operand, b: Operand) -> Shape:
    return (*s.broadcast(a.shape, b.shape), 2)


def joined(builder: Builder, x: Value, y: Value) -> Value:
    """Two values of one type along a new last axis; of scalars a row of two."""
    if shape_of(x.type):
        return builder.create(join_, x, y)
    x, y = (builder.create(splat, v, type=typed((1,), element_of(v.type))) for v in (x, y))
    return reshaped(builder, builder.create(join_, x, y), (2,))


def _emit_join(builder: Builder, shape: Shape, dtype: DType, /, a: Operand, b: Operand) -> Value:
    return joined(builder, *(broadcast_value(builder, v.value, shape[:-1]) for v in (a, b)))


def _interleave_shape(s: Shapes, a: Operand, b: Operand) -> Shape:
    shape = s.broadcast(a.shape, b.shape)
    return (*shape[:-1], mul(shape[-1], 2)) if shape else (2,)


def _emit_interleave(builder: Builder, shape: Shape, dtype: DType, /, a: Operand, b: Operand) -> Value:
    ranks = len(a.shape), len(b.shape)
    last = [v.shape[-1] for v in (a, b) if v.shape]
    whole = (*shape[:-1], next((n for n in last if n != 1), 1)) if max(ranks) else ()
    found = joined(builder, *(broadcast_value(builder, v.value, whole) for v in (a, b)))
    return reshaped(builder, found, shape)


def _split_shape(s: Shapes, a: Operand) -> tuple[Shape, Shape]:
    if not a.shape:
        s.fault("S005", "`tl.split` needs a tile, found a scalar")
        return ((), ())
    s.equal(a.shape[-1], 2, "S005", f"`tl.split` needs a last axis of size 2, found {a.shape[-1]}")
    return (a.shape[:-1], a.shape[:-1])


def _emit_split(b: Builder, shape: Any, dtype: Any, a: Operand) -> tuple[Value, ...]:
    value = a.value if len(a.shape) > 1 else b.create(expand_dims_, a.value, axis=0)
    found = b.op(split_, (value,)).results
    return found if len(a.shape) > 1 else tuple([b.create(unsplat, v) for v in found])


def _cat_shape(s: Shapes, input: Operand, other: Operand, can_reorder: bool, dim: int) -> Shape:
    x, y = input.shape, other.shape
    if len(x) != len(y) or not x:
        s.fault("S005", f"`tl.cat` needs two tiles with equally many axes, found {len(x)} and {len(y)}")
        return x
    if can_reorder and len(x) != 1:
        s.fault("S005", "`tl.cat` with `can_reorder` takes tiles of one axis", "leave can_reorder away")
        return x
    at = 0 if can_reorder else normal_axis(s, dim, len(x), "the operand of `tl.cat`")
    for a, c in zip(x, y, strict=True):
        s.equal(a, c, "S005", "`tl.cat` needs two tiles of one shape")
    return (*x[:at], mul(x[at], 2), *x[at + 1 :])


def _emit_cat(
    b: Builder, shape: Shape, dtype: DType, input: Operand, other: Operand, can_reorder: bool, dim: int
) -> Value:
    if can_reorder:
        return b.create(cat_, input.value, other.value, type=typed(shape, element_of(input.type)))
    rank = len(shape)
    at = dim % rank
    order = (*range(at), rank, *range(at, rank))
    return reshaped(b, b.create(trans_, joined(b, input.value, other.value), order=order), shape)


def _item_shape(s: Shapes, input: Operand) -> Shape:
    for size in input.shape:
        s.equal(size, 1, "S005", "`tl.item` needs a tile of one element")
    return ()


def _emit_item(b: Builder, shape: Shape, dtype: DType, input: Operand) -> Value:
    return reshaped(b, input.value, ())


@language(_emit_broadcast, shape=_both_shapes)
def broadcast(input: Tensor[D], other: Tensor[E]) -> tuple[Tensor[D], Tensor[E]]:
    """Both operands repeated to their common shape, by NumPy's rule (S001)."""
    ...


@language(_emit_join, shape=_join_shape)
def join(a: Tensor[D], b: Tensor[D]) -> Tensor[D]:
    """a and b side by side along a new last axis of size 2; they broadcast together first. Of scalars a row of two."""
    ...


@language(_emit_split, shape=_split_shape)
def split(a: Tensor[D]) -> tuple[Tensor[D], Tensor[D]]:
    """The two tiles that lie along the last axis of a, which has size 2 (S005): the inverse of `join`."""
    ...


@language(_emit_interleave, shape=_interleave_shape)
def interleave(a: Tensor[D], b: Tensor[D]) -> Tensor[D]:
    """a and b by turns along the last axis: a's first element, b's first, a's second. They broadcast together first."""
    ...


@language(
    _emit_cat,
    shape=_cat_shape,
    differs="Triton before 3.9 takes `can_reorder=True` alone.",
)
def cat(input: Tensor[D], other: Tensor[D], can_reorder: Const[bool] = False, dim: Const[int] = 0) -> Tensor[D]:
    """Two tiles of one shape one after the other along `dim` (S003).

    With `can_reorder` a GPU may put the elements into another order; the tiles then have one axis (S005).
    """
    ...


@language(_emit_item, shape=_item_shape)
def item(input: Tensor[D]) -> Tensor[D]:
    """The one element of a tile (S005) as a scalar."""
    ...
