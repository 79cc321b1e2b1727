"""Block pointers: a tile of a strided array in memory, and its way through it.

They are no addresses of a machine: a pass writes them as pointers, offsets of 64 bits and masks before anything is run
(`passes/block_pointers`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from teeny.ir.dtype import INT, storage
from teeny.ir.poly import Dim
from teeny.ir.rules import Absent, Structural
from teeny.ir.schema import OpDef, define, dtype_of, expect
from teeny.ir.types import Type, view
from teeny.ops.function import Operand, Shapes, language
from teeny.ops.program import tile_shape
from teeny.ops.views import expect_view, in_memory, pointee, same_ranks, scalars, view_type

if TYPE_CHECKING:
    from teeny.ir.builder import Builder
    from teeny.ir.core import Value
    from teeny.language.typing import BlockPtr, Const, D, Ptr, Whole

__all__ = ["advance", "make_block_ptr"]

_REMOVED = Absent("a pass writes block pointers as pointers and offsets")


def _make(types: tuple[Type, ...], attrs: dict[str, Any], results: tuple[Type, ...]) -> None:
    base, *numbers = types
    rank = len(numbers) // 3
    expect(len(numbers) == 3 * rank, "a block pointer has as many sizes as strides and offsets")
    expect(all(dtype_of(n).within(INT) for n in numbers), "sizes, strides and offsets are integers")
    expect_view(results[0], base, "block pointer", rank)


def _advance(types: tuple[Type, ...], attrs: dict[str, Any]) -> tuple[Type, ...]:
    found = view_type(types[0])
    expect(found is not None and found.kind == "block pointer", f"expected a block pointer, found {types[0]}")
    assert found is not None
    expect(len(types) == 1 + len(found.shape), "a block pointer moves by one offset an axis")
    expect(all(dtype_of(n).within(INT) for n in types[1:]), "offsets are integers")
    return (types[0],)


make_tensor_ptr_ = define(
    OpDef(
        "tt.make_tensor_ptr", Structural("make block pointer"), ("base", "numbers*"), _make, _REMOVED, _REMOVED,
        _REMOVED, _REMOVED, attrs=("order",), inferred=False, group="make_block_ptr", cost=0.0,
    )
)  # fmt: skip
"""`numbers`: the sizes, then as many strides in elements, then as many offsets."""
advance_ = define(
    OpDef(
        "tt.advance", Structural("advance"), ("ptr", "offsets*"), _advance, _REMOVED, _REMOVED, _REMOVED, _REMOVED,
        group="advance", cost=0.0,
    )
)  # fmt: skip


def _make_shape(
    s: Shapes, base: Operand, shape: Any, strides: Any, offsets: Any, block_shape: Any, order: Any
) -> tuple[Dim, ...]:
    if base.shape:
        s.fault("S005", "a block pointer starts from one pointer, and `base` is a block of them")
    rank = len(block_shape)
    if not rank:
        s.fault("S005", "a block pointer has one axis or more, and `block_shape` has none")
    same_ranks(s, "`tl.make_block_ptr`", rank, shape=shape, strides=strides, offsets=offsets, order=order)
    if sorted(order) != list(range(len(order))):
        s.fault("S003", f"`order` is {order}, and must name each axis once", "the last axis first: order=(1, 0)")
    return tile_shape(s, block_shape)


def _advance_shape(s: Shapes, base: Operand, offsets: Any) -> tuple[Dim, ...]:
    found = view_type(base.type)
    assert found is not None
    if len(offsets) != len(found.shape):
        s.fault("S005", f"`tl.advance` needs {len(found.shape)} offsets, one an axis, found {len(offsets)}")
    return ()


def _emit_make(b: Builder, block: tuple[Dim, ...], dtype: Any, /, base: Operand, **given: Any) -> Value:
    lists = [scalars(b, given[name]) for name in ("shape", "strides", "offsets")]
    type_ = view("block pointer", block, storage(in_memory(pointee(base))))
    numbers = tuple([value for one in lists for value in one])
    return b.create(make_tensor_ptr_, base.value, *numbers, type=type_, order=tuple(given["order"]))


def _emit_advance(b: Builder, shape: Any, dtype: Any, base: Operand, offsets: Any) -> Value:
    return b.create(advance_, base.value, *scalars(b, offsets))


@language(
    _emit_make,
    shape=_make_shape,
    shapes="`shape`, `strides`, `offsets`, `block_shape` and `order` have one element an axis. A `Whole` is a scalar "
    "of i32 or i64, or an int.",
    differs="Triton 3.9 has no block pointers; up to 3.8 its offsets are of 32 bits.",
)
def make_block_ptr(
    base: Ptr[D],
    shape: tuple[Whole, ...] | list[Whole],
    strides: tuple[Whole, ...] | list[Whole],
    offsets: tuple[Whole, ...] | list[Whole],
    block_shape: Const[tuple[int, ...] | list[int]],
    order: Const[tuple[int, ...] | list[int]],
) -> BlockPtr[D]:
    """A pointer to the block of `block_shape` at `offsets` in the array of `shape` that starts at `base`.

    An element i, j, ... of the array is `strides[0] * i + strides[1] * j + ...` elements from `base` on. Everything
    is computed in 64 bits. `tl.load` and `tl.store` take the pointer, with `boundary_check` for the axes along which
    the block may reach out of the array; `tl.advance` moves it. `order` names the axes from the one whose elements lie
    closest together; it is a hint, and changes nothing here. Sizes of the block are powers of two (S002).
    """
    ...


@language(_emit_advance, shape=_advance_shape)
def advance(base: BlockPtr[D], offsets: tuple[Whole, ...] | list[Whole]) -> BlockPtr[D]:
    """The block pointer moved by `offsets` elements, one an axis; `base` itself stays where it is."""
    ...
