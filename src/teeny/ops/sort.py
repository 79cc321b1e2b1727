"""Sorting along an axis: `sort`, `topk`, `bitonic_merge`.

One operation of our own sorts the last axis. For Triton it is written out as a bitonic network on a tile cut into axes
of size two (Batcher, "Sorting networks and their applications", 1968); the largest k come from k-long sorted pieces, of
which two and two leave the better half (Shanbhag, Pirk, Madden, "Efficient top-k query processing on GPUs", 2018).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from teeny.ir.dtype import BOOL, NUM, DType
from teeny.ir.poly import Dim
from teeny.ir.rules import Absent, Structural
from teeny.ir.schema import OpDef, define, dtype_of, expect
from teeny.ir.types import Type, element_of, shape_of, typed
from teeny.ops.arith import maxsi, minsi
from teeny.ops.bits import xori
from teeny.ops.compare import cmpi, select
from teeny.ops.constant import constant
from teeny.ops.function import Operand, Shapes, language
from teeny.ops.hypercube import cut, neighbours, sizes
from teeny.ops.order import key_of, numpy_key, numpy_value, value_of
from teeny.ops.program import make_range
from teeny.ops.reduce import combined, joining, reduce_, reduce_return
from teeny.ops.shape import broadcast, normal_axis, reshaped, trans_

if TYPE_CHECKING:
    from teeny.ir.builder import Builder
    from teeny.ir.core import Op, Value
    from teeny.language.typing import Const, N, Tensor

__all__ = ["bitonic_merge", "sort", "topk"]

_SHAPES = "The result has the shape of the operand."


def _types(types: tuple[Type, ...], attrs: dict[str, Any]) -> tuple[Type, ...]:
    shape = shape_of(types[0])
    expect(dtype_of(types[0]).within(NUM), f"{types[0]} cannot be sorted")
    expect(bool(shape), "a scalar cannot be sorted")
    last, count = shape[-1], attrs["count"]
    expect(not isinstance(last, int) or not isinstance(count, int) or 0 < count <= last, f"{count} of {last} elements")
    return (typed((*shape[:-1], count), element_of(types[0])),)


def _meaning(np: Any, op: Op, x: Any) -> Any:
    unsigned, descending = bool(op.attrs["unsigned"]), bool(op.attrs["descending"])
    keys = numpy_key(np, x, unsigned=unsigned)
    found = _merged(np, keys) if op.attrs["merge"] else np.sort(keys, axis=-1)
    if descending:
        found = _merged(np, keys, descending=True) if op.attrs["merge"] else found[..., ::-1]
    return numpy_value(np, found[..., : op.attrs["count"]], x.dtype, unsigned=unsigned)


def _merged(np: Any, keys: Any, *, descending: bool = False) -> Any:
    """The last stage of the network: elements half of the length apart are exchanged, then a quarter, and so on."""
    shape = keys.shape
    apart = shape[-1] // 2
    while apart:
        pairs = keys.reshape(*shape[:-1], -1, 2, apart)
        low, high = np.minimum(pairs[..., 0, :], pairs[..., 1, :]), np.maximum(pairs[..., 0, :], pairs[..., 1, :])
        keys = np.stack((high, low) if descending else (low, high), axis=-2).reshape(shape)
        apart //= 2
    return keys


# The network in terms of other operations


def _exchanged(b: Builder, keys: Value, bit: int, flip: Value | bool) -> Value:
    """Compare elements whose places differ in one bit, and put the smaller one first, or where `flip` the larger."""
    axis = len(shape_of(keys.type)) - 1 - bit
    other = neighbours(b, keys, axis)
    above = b.create(cmpi, keys, other, predicate="sgt")
    swap = b.create(xori, above, _second(b, keys, axis))
    if isinstance(flip, bool):
        flip = constant(b, swap.type, flip)
    return b.create(select, b.create(xori, swap, flip), other, keys)


def _second(b: Builder, keys: Value, axis: int) -> Value:
    """Whether an element is in the second half along an axis of size two."""
    shape = sizes(keys.type)
    number = b.create(make_range, start=0, end=2)
    right = b.create(cmpi, number, constant(b, number.type, 0), predicate="ne")
    right = reshaped(b, right, tuple(2 if a == axis else 1 for a in range(len(shape))))
    return right if shape_of(right.type) == shape else b.create(broadcast, right, type=typed(shape, BOOL))


def _stage(b: Builder, keys: Value, stage: int, flip: Value | bool) -> Value:
    for bit in reversed(range(stage)):
        keys = _exchanged(b, keys, bit, flip)
    return keys


def _direction(b: Builder, keys: Value, stage: int, total: int, descending: bool) -> Value | bool:
    """Pieces of 2**stage elements are sorted upwards and downwards by turns, all of them in the asked direction."""
    rank = len(shape_of(keys.type))
    return descending if stage == total else _second(b, keys, rank - 1 - stage)


def _expand(b: Builder, x: Value, *, count: int, descending: bool, merge: bool, unsigned: bool) -> Value:
    shape, dtype = sizes(x.type), dtype_of(x.type)
    if shape[-1] == 1:
        return x
    lead = len(shape) - 1
    keys, total = cut(b, key_of(b, x, unsigned=unsigned), lead)
    kept = count.bit_length() - 1
    best = maxsi if descending else minsi
    for stage in range(total if merge else 1, kept + 1):
        keys = _stage(b, keys, stage, _direction(b, keys, stage, total, descending))
    for stage in range(kept + 1, total + 1):
        axis = len(shape_of(keys.type)) - 1 - kept
        (keys,) = combined(b, reduce_, reduce_return, (keys,), {"axis": axis}, joining(best))
        if kept:
            flip = descending if stage == total else _second(b, keys, axis - 1)
            keys = _stage(b, keys, kept, flip)
    return value_of(b, reshaped(b, keys, (*shape[:-1], count)), dtype, unsigned=unsigned)


sort_ = define(
    OpDef(
        "teeny.sort", "$x attr-dict `:` type($x)", ("x",), _types, _meaning, Structural("sort"), Structural("sort"),
        Absent("the lanes' values do not change"), attrs=("count", "descending", "merge", "unsigned"), group="sort",
        expand=_expand, cost=40.0,
    )
)  # fmt: skip
"""The first `count` elements of the last axis sorted by the order of `ops.order`; `merge`: by the last stage alone."""


def _emitted(b: Builder, x: Operand, dim: int | None, count: Dim, *, descending: bool, merge: bool = False) -> Value:
    assert isinstance(x.dtype, DType)
    rank = len(x.shape)
    axis = rank - 1 if dim is None else dim % rank
    order = (*(a for a in range(rank) if a != axis), axis)
    value = x.value if axis == rank - 1 else b.create(trans_, x.value, order=order)
    unsigned = x.dtype.kind == "unsigned"
    value = b.create(sort_, value, count=count, descending=descending, merge=merge, unsigned=unsigned)
    if axis == rank - 1:
        return value
    return b.create(trans_, value, order=tuple([order.index(a) for a in range(rank)]))


def _axis(s: Shapes, x: Operand, dim: int | None, name: str) -> int:
    return normal_axis(s, -1 if dim is None else dim, len(x.shape), f"the operand of `{name}`")


def _sort_shape(s: Shapes, x: Operand, dim: int | None, descending: bool) -> tuple[Dim, ...]:
    _axis(s, x, dim, "tl.sort")
    return x.shape


def _topk_shape(s: Shapes, x: Operand, k: Dim, dim: int | None, descending: bool) -> tuple[Dim, ...]:
    axis = _axis(s, x, dim, "tl.topk")
    if not x.shape:
        return x.shape
    s.require("pow2", k, None, "S002", "`k` of `tl.topk` must be a power of two")
    s.require("le", k, x.shape[axis], "S004", f"`k` of `tl.topk` is more than axis {axis} has elements")
    return (*x.shape[:axis], k, *x.shape[axis + 1 :])


def _emit_sort(b: Builder, shape: Any, dtype: DType, x: Operand, dim: int | None, descending: bool) -> Value:
    axis = -1 if dim is None else dim
    return _emitted(b, x, dim, x.shape[axis], descending=bool(descending))


def _emit_topk(b: Builder, shape: Any, dtype: DType, x: Operand, k: Dim, dim: int | None, descending: bool) -> Value:
    return _emitted(b, x, dim, k, descending=bool(descending))


def _emit_merge(b: Builder, shape: Any, dtype: DType, x: Operand, dim: int | None, descending: bool) -> Value:
    axis = -1 if dim is None else dim
    return _emitted(b, x, dim, x.shape[axis], descending=bool(descending), merge=True)


_LAST = "Triton sorts the last axis alone, and what it makes of a NaN is not specified."


@language(_emit_sort, shape=_sort_shape, shapes=_SHAPES, differs=_LAST)
def sort(x: Tensor[N], dim: Const[int | None] = None, descending: Const[bool | int] = False) -> Tensor[N]:
    """x sorted along `dim` (S003), by default the last axis: upwards, or downwards with `descending`.

    -0.0 counts as less than 0.0, and a NaN as more than every number.
    """
    ...


@language(
    _emit_topk,
    shape=_topk_shape,
    shapes="The result has size `k` along `dim`, and else the shape of the operand.",
    differs=_LAST,
)
def topk(x: Tensor[N], k: Const[int], dim: Const[int | None] = None, descending: Const[bool | int] = True) -> Tensor[N]:
    """The k largest elements along `dim` (S003), by default the last axis, the largest first.

    Without `descending` the k smallest, the smallest first. `k` is a power of two (S002), and no more than there are
    elements (S004). A NaN counts as more than every number.
    """
    ...


@language(_emit_merge, shape=_sort_shape, shapes=_SHAPES, differs=_LAST)
def bitonic_merge(x: Tensor[N], dim: Const[int | None] = None, descending: Const[bool | int] = False) -> Tensor[N]:
    """x sorted along `dim` (S003), by default the last axis, where the elements first rise and then fall along it.

    Two sorted rows, one of them turned round, make such a one. Of other rows it is the last stage of a bitonic network.
    """
    ...
