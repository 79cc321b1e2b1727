"""Loads and stores."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

from teeny.ir.dtype import BOOL, I8, DType
from teeny.ir.poly import Dim
from teeny.ir.rules import Absent, Structural
from teeny.ir.schema import OpDef, define, expect, pointee_of
from teeny.ir.types import PointerType, Type, with_element
from teeny.ops.access import check_mask, filled, fits, with_mask
from teeny.ops.address import address, pointer_at
from teeny.ops.caching import LOADS, STORES, caching_attributes, check_caching
from teeny.ops.cast import convert
from teeny.ops.compare import compare
from teeny.ops.constant import constant
from teeny.ops.function import Operand, Shapes, language
from teeny.ops.shape import broadcast_value
from teeny.ops.views import access_attributes, check_padding, checked_axes, pointee, tile_fits, view_type

if TYPE_CHECKING:
    from teeny.ir.builder import Builder
    from teeny.ir.core import Value
    from teeny.language.typing import BlockPtr, Const, D, F, N, Ptr, Q, Tensor, X, bool_

__all__ = ["load", "store"]

_FROM_MEMORY = Absent("memory may hold anything")


def _load(types: tuple[Type, ...], attrs: dict[str, Any]) -> tuple[Type, ...]:
    block = view_type(types[0])
    if block is not None:
        expect(block.kind == "block pointer" and len(types) == 1, "a block pointer is loaded without a mask")
        return (block.tile,)
    result = with_element(types[0], pointee_of(types[0]))
    check_mask(types[0], types[1] if len(types) > 1 else None)
    if len(types) > 2:
        expect(types[2] is result, f"`other` must be {result}, found {types[2]}")
    return (result,)


def _store(types: tuple[Type, ...], attrs: dict[str, Any]) -> tuple[Type, ...]:
    block = view_type(types[0])
    if block is not None:
        expect(block.kind == "block pointer" and len(types) == 2, "a block pointer is stored to without a mask")
        expect(types[1] is block.tile, f"the value must be {block.tile}, found {types[1]}")
        return ()
    value = with_element(types[0], pointee_of(types[0]))
    expect(types[1] is value, f"the value must be {value}, found {types[1]}")
    check_mask(types[0], types[2] if len(types) > 2 else None)
    return ()


load_ = define(
    OpDef(
        "tt.load", "$ptr (`,` $mask^)? (`,` $other^)? attr-dict `:` type($ptr)", ("ptr", "mask?", "other?"), _load,
        Structural("load"), Structural("load"), Structural("load"), _FROM_MEMORY,
        attrs=("boundaryCheck?", "padding?", "cachePolicy?", "isVolatile?"), group="load", pure=False, cost=2.0,
    )
)  # fmt: skip
store_ = define(
    OpDef(
        "tt.store", "$ptr `,` $value (`,` $mask^)? attr-dict `:` type($ptr)", ("ptr", "value", "mask?"), _store,
        Structural("store"), Structural("store"), Structural("store"), Absent("it has no result"),
        results=(), attrs=("boundaryCheck?", "cachePolicy?"), group="store", pure=False, writes=True, cost=2.0,
    )
)  # fmt: skip


def _load_shape(
    s: Shapes, pointer: Operand, mask: Any = None, other: Any = None, boundary_check: Any = (),
    padding_option: str = "", cache_modifier: Any = "", eviction_policy: Any = "", volatile: Any = False,
) -> tuple[Dim, ...]:  # fmt: skip
    check_caching(s, cache_modifier, eviction_policy, LOADS)
    block = view_type(pointer.type)
    if block is not None:
        check_padding(s, padding_option, pointee(pointer))
        checked_axes(s, boundary_check, len(block.shape))
        return block.shape
    if mask is None and other is not None:
        s.fault(
            "T011",
            "`other` fills lanes that the mask leaves out, and there is no mask",
            "pass a mask, or leave `other` out",
        )
    shape = with_mask(s, pointer, mask)
    if isinstance(other, Operand):
        fits(s, "`other`", other.shape, shape)
    return shape


def _store_shape(
    s: Shapes, pointer: Operand, value: Any, mask: Any = None, boundary_check: Any = (), cache_modifier: Any = "",
    eviction_policy: Any = "",
) -> tuple[Dim, ...]:  # fmt: skip
    check_caching(s, cache_modifier, eviction_policy, STORES)
    block = view_type(pointer.type)
    if block is not None:
        checked_axes(s, boundary_check, len(block.shape))
        if isinstance(value, Operand):
            tile_fits(s, "the value", value.shape, block.shape)
        return block.shape
    shape = with_mask(s, pointer, mask)
    if isinstance(value, Operand):
        fits(s, "the value", value.shape, shape)
    return shape


def _emit_load(
    b: Builder, shape: tuple[Dim, ...], dtype: DType | PointerType, /, pointer: Operand, mask: Any, other: Any = None,
    boundary_check: Any = (), padding_option: str = "", cache_modifier: str = "", eviction_policy: str = "",
    volatile: bool = False,
) -> Value:  # fmt: skip
    block = view_type(pointer.type) is not None
    attrs = access_attributes(boundary_check, padding_option) if block else {}
    attrs |= caching_attributes(cache_modifier, eviction_policy, volatile)
    operands = [pointer.value if block else broadcast_value(b, pointer.value, shape)]
    if mask is not None:
        operands.append(filled(b, mask, shape, BOOL))
        if other is not None:
            assert isinstance(dtype, DType)
            fill = filled(b, other, shape, dtype)
            operands.append(convert(b, fill, BOOL, I8) if dtype is BOOL else fill)
    value = b.op(load_, tuple(operands), attrs).result
    if isinstance(dtype, PointerType):
        return pointer_at(b, value, dtype.pointee)
    if dtype is not BOOL:
        return value
    return compare(b, "ne", I8, value, constant(b, value.type, 0))


def _emit_store(
    b: Builder, shape: tuple[Dim, ...], dtype: Any, /, pointer: Operand, value: Any, mask: Any,
    boundary_check: Any = (), cache_modifier: str = "", eviction_policy: str = "",
) -> None:  # fmt: skip
    if isinstance(value, Operand) and value.is_pointer:
        stored = broadcast_value(b, address(b, value.value), shape)
    else:
        element = pointee(pointer)
        stored = filled(b, value, shape, element)
        if element is BOOL:
            stored = convert(b, stored, BOOL, I8)
    block = view_type(pointer.type) is not None
    operands = [pointer.value if block else broadcast_value(b, pointer.value, shape), stored]
    if mask is not None:
        operands.append(filled(b, mask, shape, BOOL))
    attrs = access_attributes(boundary_check) if block else {}
    b.op(store_, tuple(operands), attrs | caching_attributes(cache_modifier, eviction_policy))


@overload
def load(
    pointer: Ptr[D],
    mask: Tensor[bool_] | bool | None = None,
    other: Tensor[D] | None = None,
    *,
    cache_modifier: Const[str] = "",
    eviction_policy: Const[str] = "",
    volatile: Const[bool] = False,
) -> Tensor[D]: ...
@overload
def load(
    pointer: Ptr[N],
    mask: Tensor[bool_] | bool | None,
    other: int,
    *,
    cache_modifier: Const[str] = "",
    eviction_policy: Const[str] = "",
    volatile: Const[bool] = False,
) -> Tensor[N]: ...
@overload
def load(
    pointer: Ptr[N],
    mask: Tensor[bool_] | bool | None = None,
    *,
    other: int,
    cache_modifier: Const[str] = "",
    eviction_policy: Const[str] = "",
    volatile: Const[bool] = False,
) -> Tensor[N]: ...
@overload
def load(
    pointer: Ptr[F],
    mask: Tensor[bool_] | bool | None,
    other: float,
    *,
    cache_modifier: Const[str] = "",
    eviction_policy: Const[str] = "",
    volatile: Const[bool] = False,
) -> Tensor[F]: ...
@overload
def load(
    pointer: Ptr[F],
    mask: Tensor[bool_] | bool | None = None,
    *,
    other: float,
    cache_modifier: Const[str] = "",
    eviction_policy: Const[str] = "",
    volatile: Const[bool] = False,
) -> Tensor[F]: ...
@overload
def load(
    pointer: Ptr[Q],
    mask: Tensor[bool_] | bool | None,
    other: float,
    *,
    cache_modifier: Const[str] = "",
    eviction_policy: Const[str] = "",
    volatile: Const[bool] = False,
) -> Tensor[Q]: ...
@overload
def load(
    pointer: Ptr[Q],
    mask: Tensor[bool_] | bool | None = None,
    *,
    other: float,
    cache_modifier: Const[str] = "",
    eviction_policy: Const[str] = "",
    volatile: Const[bool] = False,
) -> Tensor[Q]: ...
@overload
def load(
    pointer: Ptr[bool_],
    mask: Tensor[bool_] | bool | None,
    other: bool,
    *,
    cache_modifier: Const[str] = "",
    eviction_policy: Const[str] = "",
    volatile: Const[bool] = False,
) -> Tensor[bool_]: ...
@overload
def load(
    pointer: Ptr[bool_],
    mask: Tensor[bool_] | bool | None = None,
    *,
    other: bool,
    cache_modifier: Const[str] = "",
    eviction_policy: Const[str] = "",
    volatile: Const[bool] = False,
) -> Tensor[bool_]: ...
@overload
def load(
    pointer: Ptr[Ptr[X]],
    mask: Tensor[bool_] | bool | None = None,
    *,
    cache_modifier: Const[str] = "",
    eviction_policy: Const[str] = "",
    volatile: Const[bool] = False,
) -> Ptr[X]: ...
@overload
def load(
    pointer: BlockPtr[D],
    mask: None = None,
    other: None = None,
    boundary_check: Const[tuple[int, ...] | list[int] | int] = (),
    padding_option: Const[str] = "",
    *,
    cache_modifier: Const[str] = "",
    eviction_policy: Const[str] = "",
    volatile: Const[bool] = False,
) -> Tensor[D]: ...
@language(
    _emit_load,
    shape=_load_shape,
    codes={"mask": "T004", "other": "T006"},
    differs="Triton converts `other`.",
)
def load(
    pointer: Any,
    mask: Any = None,
    other: Any = None,
    boundary_check: Any = (),
    padding_option: Any = "",
    *,
    cache_modifier: Any = "",
    eviction_policy: Any = "",
    volatile: Any = False,
) -> Any:
    """The elements that `pointer` points at, where `mask` holds; elsewhere `other`, and without it undefined.

    `pointer` and `mask` broadcast together; `other`, which needs a mask (T011), broadcasts to them (S006). An address
    outside the mask is never touched.

    From a pointer to pointers (of addresses, i64 in memory) the pointers.

    From a block pointer its block. Along the axes of `boundary_check` (S003) elements outside of the array are not
    touched, and hold what `padding_option` says: "zero", "nan" (of floats, T001), or "" for undefined. Along other axes
    the block must lie within the array.

    On a GPU `cache_modifier` is "" or ".ca" (every cache), ".cg" (not the first), ".cs" (once), ".cv" (none), and
    `eviction_policy` "", "evict_first" or "evict_last"; nothing else depends on them. A `volatile` load is done where
    it stands, and as often.
    """
    ...


@overload
def store(
    pointer: Ptr[D],
    value: Tensor[D],
    mask: Tensor[bool_] | bool | None = None,
    *,
    cache_modifier: Const[str] = "",
    eviction_policy: Const[str] = "",
) -> None: ...
@overload
def store(
    pointer: Ptr[N],
    value: int,
    mask: Tensor[bool_] | bool | None = None,
    *,
    cache_modifier: Const[str] = "",
    eviction_policy: Const[str] = "",
) -> None: ...
@overload
def store(
    pointer: Ptr[F],
    value: float,
    mask: Tensor[bool_] | bool | None = None,
    *,
    cache_modifier: Const[str] = "",
    eviction_policy: Const[str] = "",
) -> None: ...
@overload
def store(
    pointer: Ptr[Q],
    value: float,
    mask: Tensor[bool_] | bool | None = None,
    *,
    cache_modifier: Const[str] = "",
    eviction_policy: Const[str] = "",
) -> None: ...
@overload
def store(
    pointer: Ptr[bool_],
    value: bool,
    mask: Tensor[bool_] | bool | None = None,
    *,
    cache_modifier: Const[str] = "",
    eviction_policy: Const[str] = "",
) -> None: ...
@overload
def store(
    pointer: Ptr[Ptr[X]],
    value: Ptr[X],
    mask: Tensor[bool_] | bool | None = None,
    *,
    cache_modifier: Const[str] = "",
    eviction_policy: Const[str] = "",
) -> None: ...
@overload
def store(
    pointer: BlockPtr[D],
    value: Tensor[D],
    mask: None = None,
    boundary_check: Const[tuple[int, ...] | list[int] | int] = (),
    *,
    cache_modifier: Const[str] = "",
    eviction_policy: Const[str] = "",
) -> None: ...
@overload
def store(
    pointer: BlockPtr[N],
    value: int,
    mask: None = None,
    boundary_check: Const[tuple[int, ...] | list[int] | int] = (),
    *,
    cache_modifier: Const[str] = "",
    eviction_policy: Const[str] = "",
) -> None: ...
@overload
def store(
    pointer: BlockPtr[F],
    value: float,
    mask: None = None,
    boundary_check: Const[tuple[int, ...] | list[int] | int] = (),
    *,
    cache_modifier: Const[str] = "",
    eviction_policy: Const[str] = "",
) -> None: ...
@overload
def store(
    pointer: BlockPtr[bool_],
    value: bool,
    mask: None = None,
    boundary_check: Const[tuple[int, ...] | list[int] | int] = (),
    *,
    cache_modifier: Const[str] = "",
    eviction_policy: Const[str] = "",
) -> None: ...
@language(
    _emit_store,
    shape=_store_shape,
    codes={"mask": "T004", "value": "T003"},
    differs="Triton converts the value to the pointer's dtype.",
)
def store(
    pointer: Any,
    value: Any,
    mask: Any = None,
    boundary_check: Any = (),
    *,
    cache_modifier: Any = "",
    eviction_policy: Any = "",
) -> None:
    """Write `value`, which has the pointer's dtype exactly, where `mask` holds.

    `pointer` and `mask` broadcast together; `value` broadcasts to them (S006). Of two lanes at one address one wins.

    Through a block pointer its block is written; along the axes of `boundary_check` (S003) what lies outside of the
    array is not.

    On a GPU `cache_modifier` is "" or ".wb" (every cache), ".cg" (not the first), ".cs" (once), ".wt" (through to
    memory), and `eviction_policy` as for `load`; nothing else depends on them.
    """
    ...
