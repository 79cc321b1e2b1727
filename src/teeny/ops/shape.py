"""New axes, broadcasts, reshapes, transpositions: lanes move, and nothing is computed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast, overload

from teeny.ir.dtype import DType
from teeny.ir.poly import Dim, mul
from teeny.ir.rules import Absent, Structural
from teeny.ir.schema import OpDef, define, expect
from teeny.ir.types import Type, element_of, shape_of, typed
from teeny.ops.function import Operand, Shapes, language

if TYPE_CHECKING:
    from teeny.ir.builder import Builder
    from teeny.ir.core import Op, Value
    from teeny.language.typing import Const, D, Tensor

__all__ = ["broadcast_to", "expand_dims", "reshape", "trans"]

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


def _expand_shape(s: Shapes, x: Operand, axis: int) -> tuple[Dim, ...]:
    at = normal_axis(s, axis, len(x.shape) + 1, "the result of `tl.expand_dims`")
    return (*x.shape[:at], 1, *x.shape[at:])


def _emit_expand(b: Builder, shape: tuple[Dim, ...], dtype: DType, x: Operand, axis: int) -> Value:
    if not x.shape:
        return b.create(splat, x.value, type=typed(shape, element_of(x.type)))
    return b.create(expand_dims_, x.value, axis=axis % len(shape))


def _broadcast_shape(s: Shapes, x: Operand, shape: tuple[Dim, ...]) -> tuple[Dim, ...]:
    found = s.broadcast(x.shape, shape)
    if found != shape:
        s.fault("S001", f"{_show(x.shape)} cannot be broadcast to {_show(shape)}")
    return shape


def _show(shape: tuple[Dim, ...]) -> str:
    return "(" + ", ".join(map(str, shape)) + ("," if len(shape) == 1 else "") + ")"


def _reshape_shape(s: Shapes, x: Operand, shape: tuple[Dim, ...]) -> tuple[Dim, ...]:
    for dim in shape:
        s.require("pow2", dim, None, "S002", "each dimension of a tile must be a power of two")
    s.require(
        "eq",
        _size(x.shape),
        _size(shape),
        "S004",
        f"{_show(x.shape)} and {_show(shape)} must hold equally many elements",
    )
    return shape


def _emit_reshape(b: Builder, shape: tuple[Dim, ...], dtype: DType, /, x: Operand, **_: Any) -> Value:
    if not x.shape:
        return b.create(splat, x.value, type=typed(shape, element_of(x.type)))
    return x.value if x.shape == shape else b.create(reshape_, x.value, type=typed(shape, element_of(x.type)))


def _order(rank: int, dims: tuple[int, ...] | None) -> tuple[int, ...]:
    if dims is None:
        return (*range(rank - 2), rank - 1, rank - 2)
    return tuple(d % rank if rank and -rank <= d < rank else d for d in dims)


def _trans_shape(s: Shapes, x: Operand, dims: tuple[int, ...] | None) -> tuple[Dim, ...]:
    rank = len(x.shape)
    if dims is None and rank < 2:
        s.fault("S005", f"a transposition needs two axes or more, found shape {_show(x.shape)}")
        return x.shape
    order = _order(rank, dims)
    if sorted(order) != list(range(rank)):
        s.fault("S003", f"{dims} does not name each of the {rank} axes once")
        return x.shape
    return tuple(x.shape[i] for i in order)


@language(
    _emit_expand,
    shape=_expand_shape,
    differs="Triton also takes several axes at once.",
)
def expand_dims(x: Tensor[D], axis: Const[int]) -> Tensor[D]:
    """x with a new axis of size one at `axis`, from -rank - 1 to rank (S003)."""
    ...


def _emit_broadcast(b: Builder, shape: tuple[Dim, ...], dtype: DType, /, x: Operand, **_: Any) -> Value:
    return broadcast_value(b, x.value, shape)


def _emit_trans(b: Builder, shape: Any, dtype: DType, x: Operand, dims: tuple[int, ...] | None) -> Value:
    return x.value if len(x.shape) < 2 else b.create(trans_, x.value, order=_order(len(x.shape), dims))


@overload
def broadcast_to(x: Tensor[D], shape: Const[tuple[int, ...] | list[int]]) -> Tensor[D]: ...
@overload
def broadcast_to(x: Tensor[D], *shape: Const[int]) -> Tensor[D]: ...
@language(_emit_broadcast, shape=_broadcast_shape)
def broadcast_to(x: Any, *shape: Any, **named: Any) -> Any:
    """x repeated to `shape`, by NumPy's rule: axes are added at the front, axes of size one are repeated."""
    ...


@overload
def reshape(x: Tensor[D], shape: Const[tuple[int, ...] | list[int]]) -> Tensor[D]: ...
@overload
def reshape(x: Tensor[D], *shape: Const[int]) -> Tensor[D]: ...
@language(
    _emit_reshape,
    shape=_reshape_shape,
    differs="Triton also takes `can_reorder`.",
)
def reshape(x: Any, *shape: Any, **named: Any) -> Any:
    """x with the same elements in the same (row-major) order, as `shape`, which holds as many (S004)."""
    ...


@overload
def trans(x: Tensor[D], dims: Const[tuple[int, ...] | None] = None) -> Tensor[D]: ...
@overload
def trans(x: Tensor[D], *dims: Const[int]) -> Tensor[D]: ...
@language(_emit_trans, shape=_trans_shape)
def trans(x: Any, *dims: Any, **named: Any) -> Any:
    """x with its axes in the order `dims`, each once (S003). Without it the last two of at least two (S005) swap."""
    ...
