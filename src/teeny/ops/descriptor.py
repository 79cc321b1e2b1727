"""Tensor descriptors: a strided array in memory, read and written by tiles; GPUs from sm_90 on have hardware for them.

Triton's text keeps them for those; for all others, and for whatever checks or runs a kernel without a GPU, a pass
writes them as pointers and masks (`passes/descriptors`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from teeny.ir.dtype import BOOL, I8, I16, I32, I64, DType, storage
from teeny.ir.poly import Dim
from teeny.ir.rules import Absent, Structural
from teeny.ir.schema import OpDef, define, dtype_of, expect
from teeny.ir.types import Type, ViewType, element_of, shape_of, typed, view
from teeny.ops.cast import convert
from teeny.ops.compare import compare
from teeny.ops.constant import constant
from teeny.ops.function import Operand, Shapes, language
from teeny.ops.program import tile_shape
from teeny.ops.shape import broadcast_value
from teeny.ops.views import (
    NAN,
    check_padding,
    expect_view,
    in_memory,
    pointee,
    same_ranks,
    scalars,
    tile_fits,
    view_type,
)

if TYPE_CHECKING:
    from teeny.ir.builder import Builder
    from teeny.ir.core import Value
    from teeny.language.typing import Const, D, I, N, Ptr, Size, Tensor, TensorDescriptor, Whole, i32

__all__ = ["load_tensor_descriptor", "make_tensor_descriptor", "store_tensor_descriptor"]

MAX_RANK = 5
LINE = 16
"""Bytes that the base and the strides of a descriptor are multiples of, and that a row of its tile has at least."""
LEAST_ROWS, LEAST_BITS = 8, 256
"""Rows of a gather at least, and bits of a row."""
KINDS = ("add", "min", "max", "and", "or", "xor")

_REMOVED = Absent("a pass writes tensor descriptors as pointers and offsets")
_MEMORY = Absent("memory may hold anything")
_NOTHING = Absent("it has no result")


def _make(types: tuple[Type, ...], attrs: dict[str, Any], results: tuple[Type, ...]) -> None:
    base, *numbers = types
    rank = len(numbers) // 2
    expect(len(numbers) == 2 * rank, "a descriptor has as many sizes as strides")
    expect(all(n is I32 for n in numbers[:rank]), "the sizes of a descriptor are i32")
    expect(all(n is I64 for n in numbers[rank:]), "the strides of a descriptor are i64")
    expect_view(results[0], base, "descriptor", rank)


def _described(type_: Type) -> ViewType:
    found = view_type(type_)
    expect(found is not None and found.kind == "descriptor", f"expected a tensor descriptor, found {type_}")
    assert found is not None
    return found


def _places(type_: ViewType, offsets: tuple[Type, ...]) -> None:
    expect(len(offsets) == len(type_.shape), "a descriptor takes one offset an axis")
    expect(all(n is I32 for n in offsets), "the offsets of a descriptor are i32")


def _load(types: tuple[Type, ...], attrs: dict[str, Any], results: tuple[Type, ...]) -> None:
    found = _described(types[0])
    _places(found, types[1:])
    expect(element_of(results[0]) is storage(found.element), f"a tile of {types[0]} is no {results[0]}")
    expect(_tail(shape_of(results[0]), found.shape), f"a tile of {types[0]} is no {results[0]}")


def _tail(shape: tuple[Dim, ...], block: tuple[Dim, ...]) -> bool:
    """Whether a shape is that of the block, axes of size one at its front left out."""
    cut = len(block) - len(shape)
    return cut >= 0 and shape == block[cut:] and all(n == 1 for n in block[:cut])


def _store(types: tuple[Type, ...], attrs: dict[str, Any]) -> tuple[Type, ...]:
    found = _described(types[0])
    expect(element_of(types[1]) is storage(found.element), f"a tile of {types[0]} is no {types[1]}")
    expect(_tail(shape_of(types[1]), found.shape), f"a tile of {types[0]} is no {types[1]}")
    _places(found, types[2:])
    return ()


def _reduce(types: tuple[Type, ...], attrs: dict[str, Any]) -> tuple[Type, ...]:
    expect(attrs["kind"] in KINDS, f"the kind is one of {', '.join(KINDS)}, found {attrs['kind']}")
    return _store(types, attrs)


def _rows(types: tuple[Type, ...], tile: Type) -> None:
    desc, rows, column = types
    found = _described(desc)
    expect(len(found.shape) == 2 and found.shape[0] == 1, f"rows are gathered through tiles of one row, found {desc}")
    expect(
        len(shape_of(rows)) == 1 and dtype_of(rows) in (I16, I32), f"rows are i16 or i32 along one axis, found {rows}"
    )
    expect(column is I32, f"the column is an i32, found {column}")
    expect(tile is typed((*shape_of(rows), found.shape[1]), storage(found.element)), f"the rows give no {tile}")


def _gather(types: tuple[Type, ...], attrs: dict[str, Any], results: tuple[Type, ...]) -> None:
    _rows(types, results[0])


def _scatter(types: tuple[Type, ...], attrs: dict[str, Any]) -> tuple[Type, ...]:
    _rows(types[:3], types[3])
    return ()


def _size(types: tuple[Type, ...], attrs: dict[str, Any]) -> tuple[Type, ...]:
    rank = len(_described(types[0]).shape)
    expect(0 <= attrs["number"] < 2 * rank, f"{types[0]} has {rank} sizes and as many strides")
    return (I32 if attrs["number"] < rank else I64,)


def _define(name: str, operands: tuple[str, ...], types: Any, results: bool, attrs: tuple[str, ...] = ()) -> OpDef:
    writes = not results
    return define(
        OpDef(
            f"tt.descriptor_{name}", Structural(f"descriptor {name}"), operands, types, _REMOVED, _REMOVED, _REMOVED,
            _MEMORY if results else _NOTHING, results=("result",) if results else (), attrs=attrs,
            group=f"descriptor_{name}", pure=False, inferred=writes, writes=writes, cost=2.0,
        )
    )  # fmt: skip


make_descriptor_ = define(
    OpDef(
        "tt.make_tensor_descriptor", Structural("make descriptor"), ("base", "numbers*"), _make, _REMOVED, _REMOVED,
        _REMOVED, Absent("it is no number"), attrs=("padding?",), inferred=False, group="make_tensor_descriptor",
        cost=0.0,
    )
)  # fmt: skip
"""`numbers`: the sizes (i32), then as many strides in elements (i64)."""
size_ = define(
    OpDef(
        "teeny.descriptor_size", "$desc attr-dict `:` type($desc)", ("desc",), _size, _REMOVED, _REMOVED, _REMOVED,
        Absent("arguments may be anything"), attrs=("number",), group="descriptor_size", cost=0.0,
    )
)  # fmt: skip
"""A size of what a descriptor describes, or (`number` from the rank on) a stride. Triton has no such operation."""
load_ = _define("load", ("desc", "offsets*"), _load, True)
store_ = _define("store", ("desc", "value", "offsets*"), _store, False)
reduce_ = _define("reduce", ("desc", "value", "offsets*"), _reduce, False, ("kind",))
gather_ = _define("gather", ("desc", "rows", "column"), _gather, True)
scatter_ = _define("scatter", ("desc", "rows", "column", "value"), _scatter, False)


# Shapes


def _make_shape(
    s: Shapes, base: Operand, shape: Any, strides: Any, block_shape: Any, padding_option: str = "zero"
) -> tuple[Dim, ...]:
    if base.shape:
        s.fault("S005", "a descriptor starts from one pointer, and `base` is a block of them")
    rank = len(block_shape)
    if not 1 <= rank <= MAX_RANK:
        s.fault("S005", f"a descriptor has 1 to {MAX_RANK} axes, and `block_shape` has {rank}")
        return ()
    same_ranks(s, "`tl.make_tensor_descriptor`", rank, shape=shape, strides=strides)
    dtype = in_memory(pointee(base))
    check_padding(s, padding_option, dtype)
    if padding_option == "":
        s.fault("T010", '`padding_option` of a descriptor is "zero" or "nan", found \'\'')
    found = tile_shape(s, block_shape)
    if strides:
        _check_strides(s, strides, dtype)
    if not dtype.is_variable:
        least = LINE // dtype.bytes
        s.require(
            "ge", found[-1], least, "S011", f"a row of a descriptor's tile has {LINE} bytes or more, {least} of {dtype}"
        )
    return found


def _check_strides(s: Shapes, strides: Any, dtype: DType) -> None:
    *others, last = strides
    if isinstance(last, Operand):
        help_ = "write 1, and give the others; an array whose last axis has another stride is no descriptor's"
        s.fault("S011", "the last stride of a descriptor is the Const 1, found a scalar", help_)
    else:
        s.require("eq", last, 1, "S011", "the last stride of a descriptor is 1")
    for axis, stride in enumerate(others):
        if isinstance(stride, int) and not dtype.is_variable and stride * dtype.bytes % LINE:
            text = f"the stride of axis {axis} is {stride} elements of {dtype}, which are no multiple of {LINE} bytes"
            s.fault("S011", text, "let each row start at such a multiple: a stride that is one, and rows of padding")


def _offsets(s: Shapes, name: str, desc: Operand, offsets: Any) -> ViewType:
    found = _described(desc.type)
    if len(offsets) != len(found.shape):
        s.fault("S005", f"{name} needs {len(found.shape)} offsets, one an axis, found {len(offsets)}")
    return found


def _load_shape(s: Shapes, desc: Operand, offsets: Any) -> tuple[Dim, ...]:
    return _offsets(s, "a load through a descriptor", desc, offsets).shape


def _store_shape(s: Shapes, desc: Operand, offsets: Any, value: Any) -> tuple[Dim, ...]:
    shape = _offsets(s, "a store through a descriptor", desc, offsets).shape
    if isinstance(value, Operand):
        tile_fits(s, "the value", value.shape, shape)
    return shape


def _rows_shape(s: Shapes, desc: Operand, rows: Operand) -> tuple[Dim, ...]:
    found = _described(desc.type)
    if len(found.shape) != 2 or found.shape[0] != 1:
        text = f"rows are gathered and scattered by a descriptor of blocks (1, columns), found {_show(found.shape)}"
        s.fault("S005", text)
        return found.shape
    if len(rows.shape) != 1:
        s.fault("S005", f"`x_offsets` are rows along one axis, found shape {_show(rows.shape)}")
        return found.shape
    s.require("ge", rows.shape[0], LEAST_ROWS, "S011", f"a gather or scatter takes {LEAST_ROWS} rows or more")
    if not found.element.is_variable:
        least = LEAST_BITS // found.element.bits
        s.require(
            "ge",
            found.shape[1],
            least,
            "S011",
            f"a row that is gathered has {least} columns of {found.element} or more",
        )
    return (rows.shape[0], found.shape[1])


def _gather_shape(s: Shapes, desc: Operand, x_offsets: Operand, y_offset: Any) -> tuple[Dim, ...]:
    return _rows_shape(s, desc, x_offsets)


def _scatter_shape(s: Shapes, desc: Operand, value: Any, x_offsets: Operand, y_offset: Any) -> tuple[Dim, ...]:
    shape = _rows_shape(s, desc, x_offsets)
    if isinstance(value, Operand) and value.shape != shape:
        tile_fits(s, "the value", value.shape, shape)
    return shape


def _show(shape: tuple[Dim, ...]) -> str:
    return "(" + ", ".join(map(str, shape)) + ("," if len(shape) == 1 else "") + ")"


# Operations


SIZES = ("shape", "strides", "block_shape")
"""Attributes of a descriptor that are tuples."""


def size_of(b: Builder, desc: Operand, type_: ViewType, name: str) -> tuple[Any, ...]:
    """An attribute of a descriptor, as scalars or (`block_shape`) Consts."""
    if name == "block_shape":
        return type_.shape
    made, rank = desc.value.op, len(type_.shape)
    first, dtype = (0, I32) if name == "shape" else (rank, I64)
    numbers = range(first, first + rank)
    if made is not None and made.schema is make_descriptor_:
        return tuple([Operand(made.operands[1 + at], dtype) for at in numbers])
    return tuple([Operand(b.create(size_, desc.value, number=at), dtype) for at in numbers])


def _emit_make(b: Builder, block: tuple[Dim, ...], dtype: Any, /, base: Operand, **given: Any) -> Value:
    numbers = (*scalars(b, given["shape"], I32), *scalars(b, given["strides"]))
    type_ = view("descriptor", block, in_memory(pointee(base)))
    attrs = {"padding": NAN} if given["padding_option"] == "nan" else {}
    return b.op(make_descriptor_, (base.value, *numbers), attrs, types=(type_,)).result


def _from_memory(b: Builder, value: Value, dtype: DType) -> Value:
    return compare(b, "ne", I8, value, constant(b, value.type, 0)) if dtype is BOOL else value


def _stored(b: Builder, desc: Operand, value: Any, shape: tuple[Dim, ...]) -> Value:
    """A value as a tile that lies in memory."""
    dtype = pointee(desc)
    if not isinstance(value, Operand):
        return constant(b, typed(shape, storage(in_memory(dtype))), value)
    tile = broadcast_value(b, value.value, shape)
    return convert(b, tile, BOOL, I8) if dtype is BOOL else tile


def _emit_load(b: Builder, shape: tuple[Dim, ...], dtype: DType, desc: Operand, offsets: Any) -> Value:
    type_ = typed(shape, storage(in_memory(dtype)))
    value = b.op(load_, (desc.value, *scalars(b, offsets, I32)), {}, types=(type_,)).result
    return _from_memory(b, value, dtype)


def _emit_store(b: Builder, shape: tuple[Dim, ...], dtype: Any, desc: Operand, offsets: Any, value: Any) -> None:
    b.op(store_, (desc.value, _stored(b, desc, value, shape), *scalars(b, offsets, I32)))


def _emit_reduce(kind: str) -> Any:
    def emit(b: Builder, shape: tuple[Dim, ...], dtype: Any, desc: Operand, offsets: Any, value: Any) -> None:
        b.op(reduce_, (desc.value, _stored(b, desc, value, shape), *scalars(b, offsets, I32)), {"kind": kind})

    return emit


def _emit_gather(
    b: Builder, shape: tuple[Dim, ...], dtype: DType, desc: Operand, x_offsets: Operand, y_offset: Any
) -> Value:
    type_ = typed(shape, storage(in_memory(dtype)))
    operands = (desc.value, x_offsets.value, *scalars(b, (y_offset,), I32))
    return _from_memory(b, b.op(gather_, operands, {}, types=(type_,)).result, dtype)


def _emit_scatter(
    b: Builder, shape: tuple[Dim, ...], dtype: Any, desc: Operand, value: Any, x_offsets: Operand, y_offset: Any
) -> None:
    b.op(scatter_, (desc.value, x_offsets.value, *scalars(b, (y_offset,), I32), _stored(b, desc, value, shape)))


# Functions


@language(
    _emit_make,
    shape=_make_shape,
    shapes="`shape`, `strides` and `block_shape` have one element an axis, of which there are one to five. A `Size` is "
    "a scalar of i32 or an int, a `Whole` one of i32 or i64 or an int.",
    differs="Triton's sizes and offsets may be of other dtypes than i32, and become that.",
)
def make_tensor_descriptor(
    base: Ptr[D],
    shape: tuple[Size, ...] | list[Size],
    strides: tuple[Whole, ...] | list[Whole],
    block_shape: Const[tuple[int, ...] | list[int]],
    padding_option: Const[str] = "zero",
) -> TensorDescriptor[D]:
    """A descriptor of the array of `shape` that starts at `base`, to be read and written by tiles of `block_shape`.

    Strides are in elements; the last is 1. The address of `base` and the other strides are multiples of 16 bytes, and a
    row of a tile has 16 bytes or more (S011 where that is known at compile time, L006 at the launch). What is read
    outside of the array is 0, or NaN with `padding_option="nan"` (of floats, T001); what is written there is dropped.
    From sm_90 on GPUs move the tiles by hardware (TMA).
    """
    ...


@language(
    _emit_load,
    shape=_load_shape,
    shapes="`offsets` has one element an axis. The result has the descriptor's `block_shape`.",
)
def load_tensor_descriptor(desc: TensorDescriptor[D], offsets: tuple[Size, ...] | list[Size]) -> Tensor[D]:
    """The tile at `offsets`, also `desc.load(offsets)`. Outside of the array it holds the descriptor's padding."""
    ...


@language(
    _emit_store,
    shape=_store_shape,
    codes={"value": "T003"},
    shapes="`offsets` has one element an axis. `value` broadcasts to the descriptor's `block_shape` (S006).",
    differs="Triton converts the value to the descriptor's dtype.",
)
def store_tensor_descriptor(
    desc: TensorDescriptor[D], offsets: tuple[Size, ...] | list[Size], value: Tensor[D]
) -> None:
    """Write the tile at `offsets`, also `desc.store(offsets, value)`. What lies outside of the array is dropped."""
    ...


@language(_emit_gather, shape=_gather_shape, symbol=".gather")
def descriptor_gather(desc: TensorDescriptor[D], x_offsets: Tensor[i32], y_offset: Size) -> Tensor[D]:
    """The rows `x_offsets` (at least 8) of the array, from column `y_offset` on: one tile of (1, columns) a row.

    Outside of the array the descriptor's padding.
    """
    ...


@language(_emit_scatter, shape=_scatter_shape, symbol=".scatter", codes={"value": "T003"})
def descriptor_scatter(desc: TensorDescriptor[D], value: Tensor[D], x_offsets: Tensor[i32], y_offset: Size) -> None:
    """Write `value` to the rows `x_offsets` (at least 8) of the array, from column `y_offset` on.

    What lies outside of the array is dropped. Of two equal rows one wins.
    """
    ...


@language(
    _emit_reduce("add"), shape=_store_shape, symbol=".atomic_add", codes={"value": "T003"},
    exclude={"N": ("i8", "i16", "u8", "u16", "i64", "f64")},
)  # fmt: skip
def descriptor_atomic_add(desc: TensorDescriptor[N], offsets: tuple[Size, ...] | list[Size], value: Tensor[N]) -> None:
    """Add `value` to the tile at `offsets`, each element atomically. Of i32, u32, u64, f16, bf16 and f32."""
    ...


@language(
    _emit_reduce("min"), shape=_store_shape, symbol=".atomic_min", codes={"value": "T003"},
    exclude={"N": ("i8", "i16", "u8", "u16", "f32", "f64")},
)  # fmt: skip
def descriptor_atomic_min(desc: TensorDescriptor[N], offsets: tuple[Size, ...] | list[Size], value: Tensor[N]) -> None:
    """The smaller of `value` and the tile at `offsets`, atomically. Of i32, u32, i64, u64, f16 and bf16."""
    ...


@language(
    _emit_reduce("max"), shape=_store_shape, symbol=".atomic_max", codes={"value": "T003"},
    exclude={"N": ("i8", "i16", "u8", "u16", "f32", "f64")},
)  # fmt: skip
def descriptor_atomic_max(desc: TensorDescriptor[N], offsets: tuple[Size, ...] | list[Size], value: Tensor[N]) -> None:
    """The larger of `value` and the tile at `offsets`, atomically. Of i32, u32, i64, u64, f16 and bf16."""
    ...


@language(
    _emit_reduce("and"), shape=_store_shape, symbol=".atomic_and", codes={"value": "T003"},
    exclude={"I": ("i8", "i16", "u8", "u16")},
)  # fmt: skip
def descriptor_atomic_and(desc: TensorDescriptor[I], offsets: tuple[Size, ...] | list[Size], value: Tensor[I]) -> None:
    """The tile at `offsets` and `value`, bit by bit, atomically. Of i32, u32, i64 and u64."""
    ...


@language(
    _emit_reduce("or"), shape=_store_shape, symbol=".atomic_or", codes={"value": "T003"},
    exclude={"I": ("i8", "i16", "u8", "u16")},
)  # fmt: skip
def descriptor_atomic_or(desc: TensorDescriptor[I], offsets: tuple[Size, ...] | list[Size], value: Tensor[I]) -> None:
    """The tile at `offsets` or `value`, bit by bit, atomically. Of i32, u32, i64 and u64."""
    ...


@language(
    _emit_reduce("xor"), shape=_store_shape, symbol=".atomic_xor", codes={"value": "T003"},
    exclude={"I": ("i8", "i16", "u8", "u16")},
)  # fmt: skip
def descriptor_atomic_xor(desc: TensorDescriptor[I], offsets: tuple[Size, ...] | list[Size], value: Tensor[I]) -> None:
    """The tile at `offsets`, changed in the bits of `value`, atomically. Of i32, u32, i64 and u64."""
    ...
