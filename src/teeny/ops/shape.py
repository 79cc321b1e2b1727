"""New axes, broadcasts, reshapes, transpositions: lanes move, and nothing is computed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast, overload

from teeny.ir.dtype import DType, storage
from teeny.ir.poly import Dim, mul
from teeny.ir.rules import Absent, Structural
from teeny.ir.schema import OpDef, define, expect
from teeny.ir.types import Type, element_of, shape_of, typed
from teeny.ops.constant import constant
from teeny.ops.function import Operand, Shapes, language

if TYPE_CHECKING:
    from teeny.ir.builder import Builder
    from teeny.ir.core import Op, Value
    from teeny.language.typing import Const, D, Ptr, Tensor, X

__all__ = [
    "broadcast_to", "expand_dims", "permute", "ravel", "reshape", "squeeze", "trans", "unsqueeze", "view",
    "zeros_like",
]  # fmt: skip

_SAME = Absent("the lanes' values do not change")


def _same_element(types: tuple[Type, ...], results: tuple[Type, ...]) -> None:
    expect(element_of(types[0]) is element_of(results[0]), f"element types differ: {types[0]} and {results[0]}")


def _splat(types: tuple[Type, ...], attrs: dict[str, Any], results: tuple[Type, ...]) -> None:
    _same_element(types, results)
    expect(shape_of(types[0]) in ((), (1,)) and bool(shape_of(results[0])), f"cannot splat {types[0]}")


def _broadcast(types: tuple[Type, ...], attrs: dict[str, Any], results: tuple[Type, ...]) -> None:
    _same_element(types, results)
    x, y = shape_of(types[0]), shape_of(results[0])  # symbolic sizes may be equal by an assertion
    ok = all(a == 1 or a == b or not (isinstance(a, int) and isinstance(b, int)) for a, b in zip(x, y, strict=False))
    expect(len(x) == len(y) and ok, f"cannot broadcast {types[0]}")


def _expand(types: tuple[Type, ...], attrs: dict[str, Any]) -> tuple[Type, ...]:
    shape, axis = shape_of(types[0]), attrs["axis"]
    expect(bool(shape) and 0 <= axis <= len(shape), f"axis {axis} does not fit {types[0]}")
    return (typed((*shape[:axis], 1, *shape[axis:]), element_of(types[0])),)


def _size(shape: tuple[Dim, ...]) -> Dim:
    total: Dim = 1
    for dim in shape:
        total = mul(total, dim)
    return total


def _reshape(types: tuple[Type, ...], attrs: dict[str, Any], results: tuple[Type, ...]) -> None:
    _same_element(types, results)
    x, y = _size(shape_of(types[0])), _size(shape_of(results[0]))
    expect(not (isinstance(x, int) and isinstance(y, int)) or x == y, f"{types[0]} and {results[0]} differ in size")


def _unsplat(types: tuple[Type, ...], attrs: dict[str, Any]) -> tuple[Type, ...]:
    shape = shape_of(types[0])
    expect(bool(shape) and all(not isinstance(n, int) or n == 1 for n in shape), f"{types[0]} is not one element")
    return (element_of(types[0]),)


def _trans(types: tuple[Type, ...], attrs: dict[str, Any]) -> tuple[Type, ...]:
    shape, order = shape_of(types[0]), cast("tuple[int, ...]", attrs["order"])
    expect(sorted(order) == list(range(len(shape))), f"{order} is no order of the axes of {types[0]}")
    return (typed(tuple(shape[i] for i in order), element_of(types[0])),)


def _numpy_full(np: Any, op: Op, x: Any) -> Any:
    return np.broadcast_to(x, shape_of(op.results[0].type))


splat = define(
    OpDef(
        "tt.splat", "$x attr-dict `:` type($x) `->` type($result)", ("x",), _splat, _numpy_full, Structural("view"),
        Structural("splat"), _SAME, inferred=False, group="splat", cost=0.0,
    )
)  # fmt: skip
broadcast = define(
    OpDef(
        "tt.broadcast", "$x attr-dict `:` type($x) `->` type($result)", ("x",), _broadcast, _numpy_full,
        Structural("view"),
        Structural("broadcast"), _SAME, inferred=False, group="broadcast", cost=0.0,
    )
)  # fmt: skip
expand_dims_ = define(
    OpDef(
        "tt.expand_dims", "$x attr-dict `:` type($x) `->` type($result)", ("x",), _expand,
        lambda np, op, x: np.expand_dims(x, op.attrs["axis"]), Structural("view"), Structural("expand_dims"), _SAME,
        attrs=("axis",), group="expand_dims", cost=0.0,
    )
)  # fmt: skip
reshape_ = define(
    OpDef(
        "tt.reshape", "$x (`allow_reorder` $allow_reorder^)? attr-dict `:` type($x) `->` type($result)", ("x",),
        _reshape,
        lambda np, op, x: np.reshape(x, shape_of(op.results[0].type)), Structural("reshape"), Structural("reshape"),
        _SAME,
        attrs=("allow_reorder?",), inferred=False, group="reshape", cost=2.0,
    )
)  # fmt: skip
trans_ = define(
    OpDef(
        "tt.trans", "$x attr-dict `:` type($x) `->` type($result)", ("x",), _trans,
        lambda np, op, x: np.transpose(x, op.attrs["order"]), Structural("view"), Structural("trans"), _SAME,
        attrs=("order",), group="trans", cost=0.0,
    )
)  # fmt: skip


unsplat = define(
    OpDef(
        "tt.unsplat", "$x attr-dict `:` type($x)", ("x",), _unsplat, lambda np, op, x: np.reshape(x, ()),
        Structural("unsplat"), Structural("unsplat"), _SAME, group="unsplat", cost=0.0,
    )
)  # fmt: skip


def broadcast_value(b: Builder, value: Value, shape: tuple[Dim, ...]) -> Value:
    """A value broadcast to `shape`: leading axes are added, axes of size one are repeated."""
    found = shape_of(value.type)
    if found == shape:
        return value
    element = element_of(value.type)
    if not found:
        return b.create(splat, value, type=typed(shape, element))
    for _ in range(len(shape) - len(found)):
        value = b.create(expand_dims_, value, axis=0)
    return value if shape_of(value.type) == shape else b.create(broadcast, value, type=typed(shape, element))


def normal_axis(s: Shapes, axis: int, rank: int, what: str) -> int:
    """An axis counted from the front; a fault (S003) and 0 where there is none such."""
    if -rank <= axis < rank:
        return axis % rank
    s.fault(
        "S003",
        f"{what} has no axis {axis}: its axes are 0 to {rank - 1}" if rank else f"{what} is a scalar and has no axes",
    )
    return 0


def _several(axis: int | tuple[int, ...]) -> tuple[int, ...]:
    return axis if isinstance(axis, tuple) else (axis,)


def _axes(s: Shapes, rank: int, axis: int | tuple[int, ...]) -> tuple[int, ...]:
    """New axes counted from the front of the result, in rising order, each once (S003)."""
    given = _several(axis)
    total = rank + len(given)
    found = sorted(normal_axis(s, a, total, "the result of `tl.expand_dims`") for a in given)
    if len(set(found)) != len(found):
        s.fault("S003", f"{axis} names an axis of the result twice")
    return tuple(found)


def _expand_shape(s: Shapes, input: Operand, axis: int | tuple[int, ...]) -> tuple[Dim, ...]:
    shape = list(input.shape)
    for at in _axes(s, len(shape), axis):
        shape.insert(at, 1)
    return tuple(shape)


def _emit_expand(b: Builder, shape: tuple[Dim, ...], dtype: DType, input: Operand, axis: Any) -> Value:
    value = input.value
    if not input.shape:
        return b.create(splat, value, type=typed(shape, element_of(value.type)))
    for at in sorted(a % len(shape) for a in _several(axis)):
        value = b.create(expand_dims_, value, axis=at)
    return value


def _unsqueeze_shape(s: Shapes, x: Operand, dim: int) -> tuple[Dim, ...]:
    at = normal_axis(s, dim, len(x.shape) + 1, "the result of `tl.unsqueeze`")
    return (*x.shape[:at], 1, *x.shape[at:])


def _emit_unsqueeze(b: Builder, shape: tuple[Dim, ...], dtype: DType, x: Operand, dim: int) -> Value:
    return _emit_expand(b, shape, dtype, x, dim)


def _squeeze_shape(s: Shapes, x: Operand, dim: int) -> tuple[Dim, ...]:
    at = normal_axis(s, dim, len(x.shape), "the operand of `tl.squeeze`")
    if x.shape:
        s.equal(x.shape[at], 1, "S005", f"axis {dim} of {_show(x.shape)} must have size 1 to be taken away")
    return (*x.shape[:at], *x.shape[at + 1 :])


def _broadcast_shape(s: Shapes, input: Operand, shape: tuple[Dim, ...]) -> tuple[Dim, ...]:
    found = s.broadcast(input.shape, shape)
    if len(found) != len(shape) or any(n == 1 != f for f, n in zip(found, shape, strict=True)):
        s.fault("S001", f"{_show(input.shape)} cannot be broadcast to {_show(shape)}")
    return shape


def _show(shape: tuple[Dim, ...]) -> str:
    return "(" + ", ".join(map(str, shape)) + ("," if len(shape) == 1 else "") + ")"


def _reshape_shape(s: Shapes, input: Operand, shape: tuple[Dim, ...], **_: Any) -> tuple[Dim, ...]:
    for dim in shape:
        s.require("pow2", dim, None, "S002", "each dimension of a tile must be a power of two")
    s.require(
        "eq",
        _size(input.shape),
        _size(shape),
        "S004",
        f"{_show(input.shape)} and {_show(shape)} must hold equally many elements",
    )
    return shape


def _flat_shape(s: Shapes, x: Operand, can_reorder: bool = False) -> tuple[Dim, ...]:
    return (_size(x.shape),)


def reshaped(b: Builder, value: Value, shape: tuple[Dim, ...], *, reorder: bool = False) -> Value:
    """A value in another shape; a scalar may only become a tile of one element, a tile of one element a scalar."""
    found, element = shape_of(value.type), element_of(value.type)
    if found == shape:
        return value
    if not found:
        return b.create(splat, value, type=typed(shape, element))
    if not shape:
        return b.create(unsplat, value)
    return b.create(reshape_, value, type=typed(shape, element), allow_reorder=reorder)


def _emit_reshape(
    b: Builder, shape: tuple[Dim, ...], dtype: DType, /, input: Operand, can_reorder: bool = False, **_: Any
) -> Value:
    return reshaped(b, input.value, shape, reorder=can_reorder)


def _emit_view(b: Builder, shape: tuple[Dim, ...], dtype: DType, /, input: Operand, **_: Any) -> Value:
    return reshaped(b, input.value, shape, reorder=True)


def _emit_ravel(b: Builder, shape: tuple[Dim, ...], dtype: DType, /, x: Operand, can_reorder: bool) -> Value:
    return reshaped(b, x.value, shape, reorder=can_reorder)


def _emit_squeeze(b: Builder, shape: tuple[Dim, ...], dtype: DType, /, x: Operand, **_: Any) -> Value:
    return reshaped(b, x.value, shape)


def _order(rank: int, dims: tuple[int, ...] | None) -> tuple[int, ...]:
    if not dims:
        return (*range(rank - 2), rank - 1, rank - 2)
    return tuple(d % rank if rank and -rank <= d < rank else d for d in dims)


def _trans_shape(s: Shapes, input: Operand, dims: tuple[int, ...] | None) -> tuple[Dim, ...]:
    rank = len(input.shape)
    if not dims and rank < 2:
        s.fault("S005", f"a transposition needs two axes or more, found shape {_show(input.shape)}")
        return input.shape
    order = _order(rank, dims)
    if sorted(order) != list(range(rank)):
        s.fault("S003", f"{dims} does not name each of the {rank} axes once")
        return input.shape
    return tuple(input.shape[i] for i in order)


def _permute_shape(s: Shapes, input: Operand, dims: tuple[int, ...]) -> tuple[Dim, ...]:
    if not dims and input.shape:
        s.fault("S003", f"`tl.permute` needs the order of the {len(input.shape)} axes")
        return input.shape
    return _trans_shape(s, input, dims) if input.shape else ()


def _matrix_shape(s: Shapes, input: Operand) -> tuple[Dim, ...]:
    if len(input.shape) != 2:
        s.fault("S005", f"`.T` needs two axes, found shape {_show(input.shape)}", help="use tl.trans or tl.permute")
        return input.shape
    return input.shape[::-1]


def _emit_broadcast(b: Builder, shape: tuple[Dim, ...], dtype: DType, /, input: Operand, **_: Any) -> Value:
    return broadcast_value(b, input.value, shape)


def _emit_trans(b: Builder, shape: Any, dtype: DType, input: Operand, dims: tuple[int, ...] | None = None) -> Value:
    order = _order(len(input.shape), dims)
    return input.value if len(input.shape) < 2 else b.create(trans_, input.value, order=order)


def _same_shape(s: Shapes, input: Operand) -> tuple[Dim, ...]:
    return input.shape


def _zeros(b: Builder, shape: tuple[Dim, ...], dtype: DType, input: Operand) -> Value:
    return constant(b, typed(shape, storage(dtype)), 0)


@overload
def expand_dims(input: Tensor[D], axis: Const[int | tuple[int, ...] | list[int]]) -> Tensor[D]: ...
@overload
def expand_dims(input: Ptr[X], axis: Const[int | tuple[int, ...] | list[int]]) -> Ptr[X]: ...
@language(_emit_expand, shape=_expand_shape)
def expand_dims(input: Any, axis: Any) -> Any:
    """The operand with a new axis of size one at `axis`, or at each of several, counted in the result (S003)."""
    ...


@language(_emit_unsqueeze, shape=_unsqueeze_shape)
def unsqueeze(x: Tensor[D], dim: Const[int]) -> Tensor[D]:
    """x with a new axis of size one at `dim`, from -rank - 1 to rank (S003)."""
    ...


@language(_emit_squeeze, shape=_squeeze_shape)
def squeeze(x: Tensor[D], dim: Const[int]) -> Tensor[D]:
    """x without the axis `dim` (S003), which must have size one (S005)."""
    ...


@overload
def broadcast_to(input: Tensor[D], shape: Const[tuple[int, ...] | list[int]]) -> Tensor[D]: ...
@overload
def broadcast_to(input: Tensor[D], *shape: Const[int]) -> Tensor[D]: ...
@overload
def broadcast_to(input: Ptr[X], shape: Const[tuple[int, ...] | list[int]]) -> Ptr[X]: ...
@overload
def broadcast_to(input: Ptr[X], *shape: Const[int]) -> Ptr[X]: ...
@language(_emit_broadcast, shape=_broadcast_shape)
def broadcast_to(input: Any, *shape: Any, **named: Any) -> Any:
    """The operand repeated to `shape`, by NumPy's rule: axes are added at the front, axes of size one are repeated."""
    ...


@overload
def reshape(
    input: Tensor[D], shape: Const[tuple[int, ...] | list[int]], *, can_reorder: Const[bool] = False
) -> Tensor[D]: ...
@overload
def reshape(input: Tensor[D], *shape: Const[int], can_reorder: Const[bool] = False) -> Tensor[D]: ...
@overload
def reshape(
    input: Ptr[X], shape: Const[tuple[int, ...] | list[int]], *, can_reorder: Const[bool] = False
) -> Ptr[X]: ...
@overload
def reshape(input: Ptr[X], *shape: Const[int], can_reorder: Const[bool] = False) -> Ptr[X]: ...
@language(_emit_reshape, shape=_reshape_shape)
def reshape(input: Any, *shape: Any, can_reorder: Any = False, **named: Any) -> Any:
    """The elements in the same (row-major) order, as `shape`, which holds as many (S004).

    With `can_reorder` a GPU may put them into another order.
    """
    ...


@overload
def view(input: Tensor[D], shape: Const[tuple[int, ...] | list[int]]) -> Tensor[D]: ...
@overload
def view(input: Tensor[D], *shape: Const[int]) -> Tensor[D]: ...
@language(_emit_view, shape=_reshape_shape)
def view(input: Any, *shape: Any, **named: Any) -> Any:
    """The elements as `shape`, which holds as many (S004); a GPU may put them into another order. See `reshape`."""
    ...


@language(
    _emit_ravel,
    shape=_flat_shape,
    shapes="The result has one axis with all elements.",
)
def ravel(x: Tensor[D], can_reorder: Const[bool] = False) -> Tensor[D]:
    """The elements along one axis, in row-major order; with `can_reorder` a GPU may put them into another one."""
    ...


@overload
def trans(input: Tensor[D], dims: Const[tuple[int, ...] | None] = None) -> Tensor[D]: ...
@overload
def trans(input: Tensor[D], *dims: Const[int]) -> Tensor[D]: ...
@overload
def trans(input: Ptr[X], dims: Const[tuple[int, ...] | None] = None) -> Ptr[X]: ...
@overload
def trans(input: Ptr[X], *dims: Const[int]) -> Ptr[X]: ...
@language(_emit_trans, shape=_trans_shape)
def trans(input: Any, *dims: Any, **named: Any) -> Any:
    """The axes in the order `dims`, each once (S003). Without it the last two of at least two (S005) swap."""
    ...


@overload
def permute(input: Tensor[D], dims: Const[tuple[int, ...] | list[int]]) -> Tensor[D]: ...
@overload
def permute(input: Tensor[D], *dims: Const[int]) -> Tensor[D]: ...
@language(_emit_trans, shape=_permute_shape)
def permute(input: Any, *dims: Any, **named: Any) -> Any:
    """The axes in the order `dims`, each once (S003)."""
    ...


@language(_emit_trans, shape=_matrix_shape, symbol=".T")
def transposed(input: Tensor[D]) -> Tensor[D]:
    """`x.T`: a tile of two axes (S005) with its axes swapped."""
    ...


@language(_zeros, shape=_same_shape, shapes="The result has the shape of the operand.")
def zeros_like(input: Tensor[D]) -> Tensor[D]:
    """Zeros of the operand's shape and dtype."""
    ...
