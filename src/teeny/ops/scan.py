"""Scans along an axis: each element becomes the reduction of all elements up to it.

The order is canonical, so that every executor but a GPU gives the same bits: the first element stays as it is, and
element i becomes `combine(result i - 1, element i)`, in rising order; with `reverse` in falling order from the last.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

from teeny.ir.dtype import DType
from teeny.ir.rules import Absent, Structural
from teeny.ir.schema import OpDef, define, expect
from teeny.ir.types import Type, shape_of
from teeny.ops.arith import ADD, MUL
from teeny.ops.cast import convert
from teeny.ops.function import Operand, Shapes, language
from teeny.ops.reduce import NARROW, NO_SUMS, accumulator, combined, joining
from teeny.ops.shape import normal_axis

if TYPE_CHECKING:
    from teeny.ir.builder import Builder
    from teeny.ir.core import Value
    from teeny.ir.poly import Dim
    from teeny.language.typing import Const, E, N, S, Tensor
    from teeny.ops.vocabulary import Family

__all__ = ["cumprod", "cumsum"]


def _scan(types: tuple[Type, ...], attrs: dict[str, Any]) -> tuple[Type, ...]:
    expect(bool(types), "a scan has an operand")
    shape, axis = shape_of(types[0]), attrs["axis"]
    expect(0 <= axis < len(shape), f"{types[0]} has no axis {axis}")
    expect(all(shape_of(t) == shape for t in types), "the operands of a scan differ in shape")
    return types


def _nothing(types: tuple[Type, ...], attrs: dict[str, Any]) -> tuple[Type, ...]:
    return ()


scan_ = define(
    OpDef(
        "tt.scan", Structural("generic"), ("x*",), _scan, Structural("scan"), Structural("scan"), Structural("scan"),
        Absent("read off the combiner by the analysis"), attrs=("axis", "reverse"), regions=1, group="scan", cost=2.0,
    )
)  # fmt: skip
"""The region takes the result so far and then the next element, one argument an operand each."""
scan_return = define(
    OpDef(
        "tt.scan.return", "$x attr-dict `:` type($x)", ("x*",), _nothing, Structural("terminator"),
        Structural("terminator"),
        Structural("terminator"), Absent("it has no result"), results=(), terminator=True, group="terminator",
    )
)  # fmt: skip


def _emit(family: Family) -> Any:
    """Emit a scan by one operation: 16-bit floats accumulate in f32, and each result is rounded once."""

    def emit(b: Builder, shape: Any, dtype: DType, /, input: Operand, axis: int, reverse: bool, **_: Any) -> Value:
        assert isinstance(input.dtype, DType)
        inside = accumulator(dtype)
        value = convert(b, convert(b, input.value, input.dtype, dtype), dtype, inside)
        attrs = {"axis": axis % len(input.shape), "reverse": reverse}
        (found,) = combined(b, scan_, scan_return, (value,), attrs, joining(family.pick(inside)))
        return convert(b, found, inside, dtype)

    return emit


def _shape(s: Shapes, input: Operand, axis: int, **_: Any) -> tuple[Dim, ...]:
    if input.shape:
        normal_axis(s, axis, len(input.shape), "the operand")
    else:
        s.fault("S005", "a scan needs a block, found a scalar")
    return input.shape


_SHAPES = "The result has the shape of the operand."
_WIDER = "Triton adds narrow integers up in i32 by itself; f16 and bf16 it accumulates in the dtype."


@overload
def cumsum(input: Tensor[N], axis: Const[int] = 0, reverse: Const[bool] = False) -> Tensor[N]: ...
@overload
def cumsum(input: Tensor[S], axis: Const[int] = 0, reverse: Const[bool] = False, *, dtype: type[E]) -> Tensor[E]: ...
@overload
def cumsum(input: Tensor[S], axis: Const[int], reverse: Const[bool], dtype: type[E]) -> Tensor[E]: ...
@language(_emit(ADD), shape=_shape, exclude={"N": NARROW, "E": NO_SUMS}, shapes=_SHAPES, differs=_WIDER)
def cumsum(input: Any, axis: Any = 0, reverse: Any = False, dtype: Any = None) -> Any:
    """The sums of all elements up to each one along `axis` (S003), with `reverse` of all from the last down to it.

    f16 and bf16 accumulate in f32 and each sum is rounded once; i8, i16, u8, u16 and bool need `dtype=`, the dtype of
    the sums (T012).
    """
    ...


@overload
def cumprod(input: Tensor[N], axis: Const[int] = 0, reverse: Const[bool] = False) -> Tensor[N]: ...
@overload
def cumprod(input: Tensor[S], axis: Const[int] = 0, reverse: Const[bool] = False, *, dtype: type[E]) -> Tensor[E]: ...
@overload
def cumprod(input: Tensor[S], axis: Const[int], reverse: Const[bool], dtype: type[E]) -> Tensor[E]: ...
@language(_emit(MUL), shape=_shape, exclude={"N": NARROW, "E": NO_SUMS}, shapes=_SHAPES, differs=_WIDER)
def cumprod(input: Any, axis: Any = 0, reverse: Any = False, dtype: Any = None) -> Any:
    """The products of all elements up to each one along `axis` (S003), with `reverse` of all from the last down to it.

    f16 and bf16 accumulate in f32 and each product is rounded once; i8, i16, u8, u16 and bool need `dtype=`, the dtype
    of the products (T012).
    """
    ...
