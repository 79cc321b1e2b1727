"""Matrix products of tiles.

Each element of the result is a chain of fused multiply-adds in rising k that starts with the accumulator's element; see
`docs/semantics.md` for what executors may do instead. Integers wrap.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, overload

from teeny.ir.core import Block, Region
from teeny.ir.dtype import BF16, F16, F32, F64, FLOAT8, I8, I32, U8, DType
from teeny.ir.poly import Dim
from teeny.ir.rules import Absent, Structural
from teeny.ir.schema import OpDef, define, dtype_of, expect
from teeny.ir.types import Type, shape_of, typed, with_element
from teeny.ops.arith import addi, muli
from teeny.ops.bits import xori
from teeny.ops.cast import extsi
from teeny.ops.constant import constant
from teeny.ops.function import Operand, Shapes, language
from teeny.ops.reduce import reduce_, reduce_return
from teeny.ops.shape import broadcast_value, expand_dims_, reshape_

if TYPE_CHECKING:
    from teeny.ir.builder import Builder
    from teeny.ir.core import Value
    from teeny.language.typing import Const, F, P, Q, Tensor, f16, f32, f64, i8, i32, u8

__all__ = ["dot"]

PRECISIONS = ("tf32", "tf32x3", "ieee", "bf16x3", "bf16x6")
"""How f32 inputs may be rounded. The dialect writes all but "ieee", its default."""
IMPRECISE = 1 << 30
"""More products than any tile has: tensor cores add 8-bit floats up as imprecisely as they like."""

_WIDE = BF16.mask | F32.mask
_NARROW = F16.mask | FLOAT8


def same(x: Dim, y: Dim) -> bool:
    """Whether two sizes may be equal."""
    return x == y or not (isinstance(x, int) and isinstance(y, int))


def _shapes(a: Type, b: Type, c: Type) -> None:
    x, y, z = (shape_of(t) for t in (a, b, c))
    expect(2 <= len(x) <= 3 and len(x) == len(y) == len(z), f"a product of {a} and {b} added to {c} has no meaning")
    pairs = [(x[-1], y[-2]), (x[-2], z[-2]), (y[-1], z[-1]), *zip(x[:-2], y[:-2], strict=True)]
    pairs += zip(x[:-2], z[:-2], strict=True)
    expect(all(same(p, q) for p, q in pairs), f"the shapes of {a}, {b} and {c} do not fit together")


def _dot(types: tuple[Type, ...], attrs: dict[str, Any]) -> tuple[Type, ...]:
    a, b, c = types
    _shapes(a, b, c)
    dtype, other, total = (dtype_of(t) for t in types)
    expect(
        dtype is other or (dtype.within(FLOAT8) and other.within(FLOAT8)),
        f"the dtypes of {a} and {b} do not go together",
    )
    if dtype is I8:
        expect(total is I32, f"a product of {a} is added up in i32, found {c}")
    elif dtype is F64:
        expect(total is F64, f"a product of {a} is added up in f64, found {c}")
    elif dtype.within(_NARROW):
        expect(total in (F32, F16), f"a product of {a} is added up in f32 or f16, found {c}")
    else:
        wanted = _WIDE | _NARROW
        known = bool(dtype.mask & wanted) if dtype.is_variable else dtype.within(wanted)
        expect(known, f"no product of {a}: its dtype is i8 or a float")
        expect(total is F32, f"a product of {a} is added up in f32, found {c}")
    precision = attrs.get("inputPrecision")
    expect(precision is None or precision in PRECISIONS, f"no precision {precision}")
    return (c,)


dot_ = define(
    OpDef(
        "tt.dot", Structural("dot"), ("a", "b", "c"), _dot, Structural("dot"), Structural("dot"), Structural("dot"),
        Absent("no bound better than the dtype's range"), attrs=("inputPrecision?", "maxNumImpreciseAcc?"),
        group="dot", cost=20.0,
    )
)  # fmt: skip


def _dot_unsigned(types: tuple[Type, ...], attrs: dict[str, Any]) -> tuple[Type, ...]:
    expect(dtype_of(types[0]) is I8, f"no product of {types[0]}: its dtype is i8")
    return _dot(types, attrs)


def _signed(b: Builder, x: Value, y: Value, c: Value) -> Value:
    """The product of unsigned bytes by that of signed ones: with x' = x - 128, x y = x' y' + 128 (x' + y') + 128**2."""
    half = tuple([b.create(xori, v, constant(b, v.type, -128)) for v in (x, y)])
    product = b.create(dot_, *half, c)
    sums = [_total(b, v, axis) for v, axis in zip(half, (-1, -2), strict=True)]
    shape = shape_of(c.type)
    both = b.create(addi, *(broadcast_value(b, v, shape) for v in sums))
    scaled = b.create(muli, both, constant(b, c.type, 128))
    inner = shape_of(x.type)[-1]
    assert isinstance(inner, int)
    return b.create(addi, product, b.create(addi, scaled, constant(b, c.type, inner << 14)))


def _total(b: Builder, value: Value, axis: int) -> Value:
    """The sum along an axis, in i32, with size 1 there."""
    at = len(shape_of(value.type)) + axis
    body = Block((I32, I32))
    inner = b.__class__(body, b.loc)
    inner.op(reduce_return, (inner.create(addi, *body.args),))
    wide = b.create(extsi, value, type=with_element(value.type, I32))
    return b.create(expand_dims_, b.op(reduce_, (wide,), {"axis": at}, (Region([body]),)).result, axis=at)


dot_unsigned_ = define(
    OpDef(
        "teeny.dot_unsigned", Structural("dot"), ("a", "b", "c"), _dot_unsigned, Structural("dot"), Structural("dot"),
        Structural("dot"), Absent("no bound better than the dtype's range"), group="dot", cost=20.0, expand=_signed,
    )
)  # fmt: skip


def show(shape: tuple[Dim, ...]) -> str:
    """A shape as messages write it."""
    return "(" + ", ".join(map(str, shape)) + ("," if len(shape) == 1 else "") + ")"


def _shape(
    s: Shapes, input: Operand, other: Operand, acc: Operand | None = None, input_precision: Any = None,
    allow_tf32: bool | None = None, max_num_imprecise_acc: Any = None, **_: Any,
) -> tuple[Dim, ...]:  # fmt: skip
    x, y = input.shape, other.shape
    if len(x) != len(y) or len(x) < 2:
        s.fault("S005", f"`tl.dot` takes two matrices, or two batches of them, found shapes {show(x)} and {show(y)}")
        return ()
    what = f"`tl.dot` of shapes {show(x)} and {show(y)}"
    s.equal(x[-1], y[-2], "S010", f"{what} needs the last axis of the first to be the second to last of the other")
    for p, q in zip(x[:-2], y[:-2], strict=True):
        s.equal(p, q, "S010", f"{what} needs equal batches")
    shape = (*x[:-1], y[-1])
    if acc is not None:
        fits(s, acc, shape)
    if isinstance(input_precision, str) and input_precision not in PRECISIONS:
        s.fault("E005", f"`input_precision` is one of {', '.join(map(repr, PRECISIONS))}, found {input_precision!r}")
    elif input_precision is not None and allow_tf32 is not None:
        s.fault("E005", "`input_precision` and `allow_tf32` say the same thing twice", "leave `allow_tf32` out")
    _check_imprecise(s, max_num_imprecise_acc, x[-1], input)
    return shape


def _check_imprecise(s: Shapes, count: Any, inner: Dim, input: Operand) -> None:
    if not isinstance(count, int):
        return
    if count < 0:
        s.fault("E005", f"`max_num_imprecise_acc` is a number of products, found {count}")
    elif isinstance(inner, int) and count > inner and isinstance(input.dtype, DType) and input.dtype.within(FLOAT8):
        s.fault(
            "E005",
            f"`max_num_imprecise_acc` is at most the inner size, {inner}, found {count}",
            "leave it out: sums are then as precise as the target's tensor cores make them",
        )


def fits(s: Shapes, acc: Operand, shape: tuple[Dim, ...]) -> None:
    """Demand that an accumulator has the shape of the result."""
    what = f"`acc` has the shape of the result, {show(shape)}, found {show(acc.shape)}"
    if len(acc.shape) != len(shape):
        s.fault("S005", what)
        return
    for p, q in zip(acc.shape, shape, strict=True):
        s.equal(p, q, "S010", what)


def _emit(
    b: Builder, shape: tuple[Dim, ...], dtype: DType, /, input: Operand, other: Operand, acc: Operand | None = None,
    input_precision: Any = None, allow_tf32: bool | None = None, max_num_imprecise_acc: Any = None, **_: Any,
) -> Value:  # fmt: skip
    total = constant(b, typed(shape, dtype), 0) if acc is None else acc.value
    operands = [_batched(b, v) for v in (input.value, other.value, total)]
    if input.dtype is U8:
        found = b.create(dot_unsigned_, *operands)
    else:
        precision = input_precision or ("ieee" if allow_tf32 is False else "tf32")
        known = isinstance(precision, str) and precision != "ieee"  # in generic IR it may be a Const without a value
        known = known and input.dtype is not F64  # which Triton 3.6 takes none for on AMD's
        attrs: dict[str, Any] = {"inputPrecision": precision} if known else {}
        count = max_num_imprecise_acc
        if count is None and isinstance(input.dtype, DType) and input.dtype.within(FLOAT8):
            count = IMPRECISE
        if isinstance(count, int) and count:
            attrs["maxNumImpreciseAcc"] = count
        found = b.op(dot_, tuple(operands), attrs).result
    return found if found.type is total.type else b.create(reshape_, found, type=total.type, allow_reorder=False)


def _batched(b: Builder, value: Value) -> Value:
    """Several leading axes as one."""
    shape = shape_of(value.type)
    if len(shape) <= 3:
        return value
    flat = (math.prod(shape[:-2]), *shape[-2:])
    return b.create(reshape_, value, type=typed(flat, dtype_of(value.type)), allow_reorder=False)


@overload
def dot(
    input: Tensor[i8],
    other: Tensor[i8],
    acc: Tensor[i32] | None = None,
    input_precision: Const[str | None] = None,
    allow_tf32: Const[bool | None] = None,
    max_num_imprecise_acc: Const[int | None] = None,
    out_dtype: type[i32] | None = None,
) -> Tensor[i32]: ...
@overload
def dot(
    input: Tensor[u8],
    other: Tensor[u8],
    acc: Tensor[i32] | None = None,
    input_precision: Const[str | None] = None,
    allow_tf32: Const[bool | None] = None,
    max_num_imprecise_acc: Const[int | None] = None,
    out_dtype: type[i32] | None = None,
) -> Tensor[i32]: ...
@overload
def dot(
    input: Tensor[f64],
    other: Tensor[f64],
    acc: Tensor[f64],
    input_precision: Const[str | None] = None,
    allow_tf32: Const[bool | None] = None,
    max_num_imprecise_acc: Const[int | None] = None,
    out_dtype: type[f64] | None = None,
) -> Tensor[f64]: ...
@overload
def dot(
    input: Tensor[f64],
    other: Tensor[f64],
    acc: None = None,
    input_precision: Const[str | None] = None,
    allow_tf32: Const[bool | None] = None,
    max_num_imprecise_acc: Const[int | None] = None,
    *,
    out_dtype: type[f64],
) -> Tensor[f64]: ...
@overload
def dot(
    input: Tensor[F],
    other: Tensor[F],
    acc: Tensor[f32] | None = None,
    input_precision: Const[str | None] = None,
    allow_tf32: Const[bool | None] = None,
    max_num_imprecise_acc: Const[int | None] = None,
    out_dtype: type[f32] | None = None,
) -> Tensor[f32]: ...
@overload
def dot(
    input: Tensor[f16],
    other: Tensor[f16],
    acc: Tensor[f16] | None = None,
    input_precision: Const[str | None] = None,
    allow_tf32: Const[bool | None] = None,
    max_num_imprecise_acc: Const[int | None] = None,
    out_dtype: type[f16] | None = None,
) -> Tensor[f16]: ...
@overload
def dot(
    input: Tensor[P],
    other: Tensor[Q],
    acc: Tensor[f32] | None = None,
    input_precision: Const[str | None] = None,
    allow_tf32: Const[bool | None] = None,
    max_num_imprecise_acc: Const[int | None] = None,
    out_dtype: type[f32] | None = None,
) -> Tensor[f32]: ...
@overload
def dot(
    input: Tensor[P],
    other: Tensor[Q],
    acc: Tensor[f16],
    input_precision: Const[str | None] = None,
    allow_tf32: Const[bool | None] = None,
    max_num_imprecise_acc: Const[int | None] = None,
    out_dtype: type[f16] | None = None,
) -> Tensor[f16]: ...
@overload
def dot(
    input: Tensor[P],
    other: Tensor[Q],
    acc: None = None,
    input_precision: Const[str | None] = None,
    allow_tf32: Const[bool | None] = None,
    max_num_imprecise_acc: Const[int | None] = None,
    *,
    out_dtype: type[f16],
) -> Tensor[f16]: ...
@language(
    _emit,
    shape=_shape,
    exclude={"F": ("f64",)},
    differs="Triton has no product of u8. One of f64 takes no `acc` or `out_dtype` there.",
)
def dot(
    input: Any,
    other: Any,
    acc: Any = None,
    input_precision: Any = None,
    allow_tf32: Any = None,
    max_num_imprecise_acc: Any = None,
    out_dtype: Any = None,
) -> Any:
    """`input @ other`, added to `acc` where it is given.

    8-bit floats (two kinds, if you like), f16, bf16 and f32 add up in f32, i8 and u8 in i32, f64 in f64, which `acc` or
    `out_dtype=tl.f64` says (T012). An `acc` of f16, or `out_dtype=tl.f16`, has a product of f16 or 8-bit floats rounded
    to it, once.

    Shapes (M, K), (K, N) and (M, N), with equal leading axes in a batch (S010). `input_precision` says how f32 inputs
    may be rounded on a GPU: "tf32" (the default), "tf32x3", "ieee", "bf16x3" or "bf16x6"; the CPU always takes them as
    they are. `allow_tf32=False` is an older word for "ieee". `max_num_imprecise_acc` is how many products of 8-bit
    floats an sm_90 may add up in fewer bits than those of f32. A GPU needs K of 16 or more, of 32 for 8 bits.
    """
    ...
