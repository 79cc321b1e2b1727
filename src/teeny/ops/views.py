"""What block pointers and tensor descriptors share: sizes of 64 bits, axes that are checked, padding."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from teeny.ir.dtype import BOOL, FLOAT, FLOAT8, I8, I64, DType, storage
from teeny.ir.schema import expect
from teeny.ir.types import PointerType, Type, ViewType, pointer
from teeny.ops.cast import convert
from teeny.ops.constant import constant
from teeny.ops.function import Operand, Shapes

if TYPE_CHECKING:
    from teeny.ir.builder import Builder
    from teeny.ir.core import Value
    from teeny.ir.poly import Dim
    from teeny.ir.types import ViewKind

ZERO, NAN = 1, 2
"""Triton's numbers for the paddings."""
PADDINGS = {"": 0, "zero": ZERO, "nan": NAN}


def view_type(type_: Type) -> ViewType | None:
    """The type itself, if it is that of a block pointer or a descriptor."""
    return type_ if isinstance(type_, ViewType) else None


def expect_view(type_: Type, base: Type, kind: ViewKind, rank: int) -> None:
    """Demand a view of `rank` axes through the pointer `base`. Raises SchemaError."""
    expect(isinstance(type_, ViewType) and type_.kind == kind, f"expected a {kind}, found {type_}")
    assert isinstance(type_, ViewType)
    expect(len(type_.shape) == rank, f"{type_} has {len(type_.shape)} axes, found {rank} sizes")
    expect(base is pointer(storage(type_.element)), f"{base} does not point at the elements of {type_}")


def pointee(ptr: Operand) -> DType:
    """The language's dtype of the elements that a pointer, a block pointer or a descriptor leads to."""
    assert isinstance(ptr.dtype, PointerType)
    assert isinstance(ptr.dtype.pointee, DType)
    return ptr.dtype.pointee


def in_memory(dtype: DType) -> DType:
    """The dtype of an element as it lies in memory, with its sign: a bool takes a byte."""
    return I8 if dtype is BOOL else dtype


def scalars(b: Builder, given: Any, dtype: DType = I64) -> tuple[Value, ...]:
    """Sizes, strides or offsets as scalars of one dtype: run-time ones are extended, Consts become constants."""
    return tuple([_scalar(b, one, dtype) for one in given])


def _scalar(b: Builder, one: Any, dtype: DType) -> Value:
    if not isinstance(one, Operand):
        return constant(b, dtype, one)
    assert isinstance(one.dtype, DType)
    return convert(b, one.value, one.dtype, dtype)


def same_ranks(s: Shapes, name: str, rank: int, **lists: Any) -> None:
    """Demand that each list of a call has as many elements as its `block_shape`."""
    for what, found in lists.items():
        if len(found) != rank:
            s.fault("S005", f"`{what}` of {name} has {_count(len(found))}, and `block_shape` has {_count(rank)}")


def _count(number: int) -> str:
    return f"{number} element{'' if number == 1 else 's'}"


def check_padding(s: Shapes, option: str, dtype: DType) -> None:
    """Demand a known `padding_option`, and for "nan" a float."""
    if option not in PADDINGS:
        s.fault("T010", f'`padding_option` is "zero", "nan" or "", found {option!r}')
    elif option == "nan" and not dtype.within(FLOAT | FLOAT8):
        s.fault("T001", f'`padding_option="nan"` needs a float, and the elements are {dtype}', 'use "zero"')


def access_attributes(boundary_check: Any, padding_option: str = "") -> dict[str, Any]:
    """The attributes of an access through a block pointer, as Triton names them."""
    axes, padding = _axes(boundary_check), PADDINGS[padding_option]
    return ({"boundaryCheck": tuple(sorted(set(axes)))} if axes else {}) | ({"padding": padding} if padding else {})


def _axes(given: Any) -> tuple[int, ...]:
    return cast("tuple[int, ...]", given) if isinstance(given, tuple) else (given,)


def checked_axes(s: Shapes, axes: Any, rank: int) -> None:
    """Demand that the block has each axis of `boundary_check`."""
    for axis in _axes(axes):
        if not 0 <= axis < rank:
            s.fault("S003", f"`boundary_check` names axis {axis}: the axes of the block are 0 to {rank - 1}")


def tile_fits(s: Shapes, what: str, found: tuple[Dim, ...], needed: tuple[Dim, ...]) -> None:
    """Demand that a value broadcasts to the shape of a tile."""
    if len(found) > len(needed):
        s.fault("S006", f"{what} has rank {len(found)} and the block has rank {len(needed)}")
    elif s.broadcast(found, needed) != needed:
        s.fault("S006", f"{what} is larger than the block")
