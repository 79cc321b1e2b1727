"""Where a program stands in the grid, and tiles made from nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast, overload

from teeny.ir.dtype import BOOL, I32, DType, storage
from teeny.ir.poly import Dim, Poly, sub
from teeny.ir.rules import Absent, Structural
from teeny.ir.schema import OpDef, define
from teeny.ir.types import Type, typed
from teeny.ops.constant import constant
from teeny.ops.function import Operand, Shapes, language

if TYPE_CHECKING:
    from teeny.ir.builder import Builder
    from teeny.ir.core import Value
    from teeny.language.typing import Const, D, F, N, Q, Tensor, bool_, f32, i32

__all__ = ["arange", "full", "num_programs", "program_id", "to_tensor", "zeros"]

MAX_BLOCK = 1 << 20
"""Elements in a tile at most, as in Triton."""
AXES = ("x", "y", "z")


def _scalar(types: tuple[Type, ...], attrs: dict[str, Any]) -> tuple[Type, ...]:
    return (I32,)


def _range_type(types: tuple[Type, ...], attrs: dict[str, Any]) -> tuple[Type, ...]:
    return (typed((sub(attrs["end"], attrs["start"]),), I32),)


get_program_id = define(
    OpDef(
        "tt.get_program_id", Structural("axis"), (), _scalar, Structural("program"), Structural("program"),
        Structural("uniform"),
        Absent("the grid is not known before a launch"), attrs=("axis",), group="program_id", cost=0.0,
    )
)  # fmt: skip
get_num_programs = define(
    OpDef(
        "tt.get_num_programs", Structural("axis"), (), _scalar, Structural("program"), Structural("program"),
        Structural("uniform"),
        Absent("the grid is not known before a launch"), attrs=("axis",), group="num_programs", cost=0.0,
    )
)  # fmt: skip
make_range = define(
    OpDef(
        "tt.make_range", "attr-dict `:` type($result)", (), _range_type,
        lambda np, op: np.arange(op.attrs["start"], op.attrs["end"], dtype=np.int32), Structural("range"),
        Structural("range"),
        Absent("the analysis reads the ends from the attributes"), attrs=("end", "start"), group="range", cost=0.0,
    )
)  # fmt: skip


def _axis(s: Shapes, axis: int) -> tuple[Dim, ...]:
    if axis not in (0, 1, 2):
        s.fault("S003", f"a grid has the axes 0, 1 and 2, found {axis}")
    return ()


def _range_shape(s: Shapes, start: Dim, end: Dim) -> tuple[Dim, ...]:
    size = sub(end, start)
    if isinstance(size, int) and size <= 0:
        s.fault("S009", f"the range from {start} to {end} is empty", "the end is excluded and must lie above the start")
        return (size,)
    s.require("pow2", size, None, "S002", "the length of a range must be a power of two")
    s.require("le", size, MAX_BLOCK, "S007", f"a tile has at most {MAX_BLOCK} elements")
    return (size,)


def tile_shape(s: Shapes, shape: Any) -> tuple[Dim, ...]:
    """The shape of a tile given by the user: each dim a power of two, at most `MAX_BLOCK` elements in all."""
    dims = tuple(cast("tuple[Dim, ...]", shape)) if isinstance(shape, tuple | list) else (cast("Dim", shape),)
    total: Dim = 1
    for dim in dims:
        s.require("pow2", dim, None, "S002", "each dimension of a tile must be a power of two")
        total = total * dim
    s.require("le", total, MAX_BLOCK, "S007", f"a tile has at most {MAX_BLOCK} elements")
    return dims


def _full_shape(s: Shapes, shape: Any, value: Any, dtype: Any) -> tuple[Dim, ...]:
    return tile_shape(s, shape)


def _zeros_shape(s: Shapes, shape: Any, dtype: Any) -> tuple[Dim, ...]:
    return tile_shape(s, shape)


def _program_id(b: Builder, shape: Any, dtype: DType, axis: int) -> Value:
    return b.create(get_program_id, axis=axis)


def _num_programs(b: Builder, shape: Any, dtype: DType, axis: int) -> Value:
    return b.create(get_num_programs, axis=axis)


def _arange(b: Builder, shape: Any, dtype: DType, start: Dim, end: Dim) -> Value:
    return b.create(make_range, start=start, end=end)


def _zeros(b: Builder, shape: tuple[Dim, ...], dtype: DType, /, **_: Any) -> Value:
    return constant(b, typed(shape, storage(dtype)), 0)


def _full(b: Builder, shape: tuple[Dim, ...], dtype: DType, /, value: Any, **_: Any) -> Value:
    if isinstance(value, Operand):
        from teeny.ops.shape import broadcast_value

        return broadcast_value(b, value.value, shape)
    return constant(b, typed(shape, storage(dtype)), value)


@language(_program_id, shape=_axis)
def program_id(axis: Const[int]) -> Tensor[i32]:
    """This program's index along an axis of the grid (0, 1 or 2): a scalar."""
    ...


@language(_num_programs, shape=_axis)
def num_programs(axis: Const[int]) -> Tensor[i32]:
    """How many programs the grid has along an axis (0, 1 or 2): a scalar."""
    ...


@language(_arange, shape=_range_shape)
def arange(start: Const[int], end: Const[int]) -> Tensor[i32]:
    """start, start + 1, ..., end - 1: shape (end - start,). The length is a power of two (S002) above 0 (S009)."""
    ...


@language(_zeros, shape=_zeros_shape)
def zeros(shape: Const[tuple[int, ...] | list[int]], dtype: type[D]) -> Tensor[D]:
    """A tile of zeros (of False for bool).

    Each dimension is a power of two (S002), at most 2**20 elements in all (S007); `()` gives a scalar.
    """
    ...


def _to_tensor_shape(s: Shapes, x: Any) -> tuple[Dim, ...]:
    return x.shape if isinstance(x, Operand) else ()


def _to_tensor(b: Builder, shape: tuple[Dim, ...], dtype: DType | None, x: Any) -> Any:
    if dtype is None:  # a bool is an int to type checkers, and an int a float: overloads may not tell them apart
        dtype = I32 if isinstance(x, int | Poly) and not isinstance(x, bool) else BOOL
        return Operand(constant(b, dtype, x), dtype)
    return x.value if isinstance(x, Operand) else constant(b, storage(dtype), x)


@overload
def to_tensor(x: Tensor[D]) -> Tensor[D]: ...
@overload
def to_tensor(x: bool) -> Tensor[Any]: ...
@overload
def to_tensor(x: int) -> Tensor[Any]: ...
@overload
def to_tensor(x: float) -> Tensor[f32]: ...
@language(
    _to_tensor,
    shape=_to_tensor_shape,
    shapes="A scalar, or x itself.",
    differs="Triton makes wider integers of numbers beyond 32 bits.",
)
def to_tensor(x: Any) -> Any:
    """A Const as a scalar: a bool, an int that fits i32 (T006), a float in f32. A tensor stays as it is."""
    ...


@overload
def full(shape: Const[tuple[int, ...] | list[int]], value: int | Tensor[N], dtype: type[N]) -> Tensor[N]: ...
@overload
def full(shape: Const[tuple[int, ...] | list[int]], value: float, dtype: type[F]) -> Tensor[F]: ...
@overload
def full(shape: Const[tuple[int, ...] | list[int]], value: float | Tensor[Q], dtype: type[Q]) -> Tensor[Q]: ...
@overload
def full(
    shape: Const[tuple[int, ...] | list[int]], value: bool | Tensor[bool_], dtype: type[bool_]
) -> Tensor[bool_]: ...
@language(_full, shape=_full_shape)
def full(shape: Any, value: Any, dtype: Any) -> Any:
    """A tile whose every lane is `value`: a literal that fits `dtype` (T006), or a scalar of that dtype.

    Each dimension is a power of two (S002), at most 2**20 elements in all (S007); `()` gives a scalar.
    """
    ...
