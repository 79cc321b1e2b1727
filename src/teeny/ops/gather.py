"""Elements of a tile picked by an index along one axis."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from teeny.ir.dtype import I32, I64, INT, DType
from teeny.ir.poly import Dim
from teeny.ir.rules import Structural
from teeny.ir.schema import OpDef, define, dtype_of, expect
from teeny.ir.types import Type, element_of, shape_of, typed
from teeny.ops.cast import convert
from teeny.ops.function import Operand, Shapes, language
from teeny.ops.shape import normal_axis

if TYPE_CHECKING:
    from teeny.ir.builder import Builder
    from teeny.ir.core import Value
    from teeny.ir.rules import Interval
    from teeny.language.typing import Const, D, I, Tensor

__all__ = ["gather"]


def _gather(types: tuple[Type, ...], attrs: dict[str, Any]) -> tuple[Type, ...]:
    src, index = types
    shape, wanted, axis = shape_of(src), shape_of(index), attrs["axis"]
    expect(dtype_of(index).within(INT), f"an index is an integer, found {index}")
    expect(len(shape) == len(wanted) and 0 <= axis < len(shape), f"axis {axis} of {src} does not fit {index}")
    same = [a == b or not (isinstance(a, int) and isinstance(b, int)) for a, b in zip(shape, wanted, strict=True)]
    expect(all(ok or at == axis for at, ok in enumerate(same)), f"{src} and {index} differ beside axis {axis}")
    return (typed(wanted, element_of(src)),)


def _interval(src: Interval, index: Interval) -> Interval:
    return src


gather_ = define(
    OpDef(
        "tt.gather", Structural("gather"), ("src", "index"), _gather, Structural("gather"), Structural("gather"),
        Structural("gather"), _interval, attrs=("axis",), group="gather", cost=8.0,
    )
)  # fmt: skip


def _shape(s: Shapes, src: Operand, index: Operand, axis: int) -> tuple[Dim, ...]:
    if not src.shape or len(src.shape) != len(index.shape):
        found = f"{len(src.shape)} and {len(index.shape)}"
        s.fault("S005", f"`src` and `index` are blocks of as many axes, found {found}")
        return index.shape
    at = normal_axis(s, axis, len(src.shape), "`src`")
    for number, (a, b) in enumerate(zip(src.shape, index.shape, strict=True)):
        if number != at:
            s.equal(a, b, "S004", f"`src` and `index` differ along axis {number}; they may along axis {at} alone")
    return index.shape


def _emit(b: Builder, shape: tuple[Dim, ...], dtype: DType, src: Operand, index: Operand, axis: int) -> Value:
    kind = index.dtype
    assert isinstance(kind, DType)
    wide = convert(b, index.value, kind, I64 if kind.is_variable or kind.bits == 64 else I32)
    return b.create(gather_, src.value, wide, axis=axis % len(src.shape))


@language(_emit, shape=_shape, shapes="The result has the shape of `index`, which is that of `src` but along `axis`.")
def gather(src: Tensor[D], index: Tensor[I], axis: Const[int]) -> Tensor[D]:
    """The elements of `src` at the places `index` along `axis`; the other indices stay (NumPy's `take_along_axis`).

    `axis` is one that `src` has (S003); the other sizes are equal (S004). A place that `src` does not have gives an
    undefined element, and negative ones do not count from the end.
    """
    ...
