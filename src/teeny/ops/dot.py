"""Matrix products of tiles.

Each element of the result is a chain of fused multiply-adds in rising k that starts with the accumulator's element; see
`docs/semantics.md` for what executors may do instead. Integers wrap.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

from teeny.ir.dtype import BF16, F16, F32, I8, I32, DType
from teeny.ir.poly import Dim
from teeny.ir.rules import Absent, Structural
from teeny.ir.schema import OpDef, define, dtype_of, expect
from teeny.ir.types import Type, shape_of, typed
from teeny.ops.constant import constant
from teeny.ops.function import Operand, Shapes, language

if TYPE_CHECKING:
    from teeny.ir.builder import Builder
    from teeny.ir.core import Value
    from teeny.language.typing import Const, F, Tensor, f32, i8, i32

__all__ = ["dot"]

FLOATS = F16.mask | BF16.mask | F32.mask
PRECISIONS = ("tf32", "tf32x3", "ieee", "bf16x3", "bf16x6")
"""How f32 inputs may be rounded. The dialect writes all but "ieee", its default."""


def _dot(types: tuple[Type, ...], attrs: dict[str, Any]) -> tuple[Type, ...]:
    a, b, c = types
    x, y, z = (shape_of(t) for t in types)
    expect(2 <= len(x) <= 3 and len(x) == len(y) == len(z), f"a product of {a} and {b} added to {c} has no meaning")
    pairs = [(x[-1], y[-2]), (x[-2], z[-2]), (y[-1], z[-1]), *zip(x[:-2], y[:-2], strict=True)]
    pairs += zip(x[:-2], z[:-2], strict=True)
    fits = all(p == q or not (isinstance(p, int) and isinstance(q, int)) for p, q in pairs)
    expect(fits, f"the shapes of {a}, {b} and {c} do not fit together")
    dtype, total = dtype_of(a), dtype_of(c)
    expect(dtype is dtype_of(b), f"the dtypes of {a} and {b} differ")
    if dtype is I8:
        expect(total is I32, f"a product of {a} is added up in i32, found {c}")
    else:
        allowed = bool(dtype.mask & FLOATS) if dtype.is_variable else dtype.within(FLOATS)
        expect(allowed, f"no product of {a}: its dtype is f16, bf16, f32 or i8")
        expect(total is F32, f"a product of {a} is added up in f32, found {c}")
    precision = attrs.get("inputPrecision")
    expect(precision is None or precision in PRECISIONS, f"no precision {precision}")
    return (c,)


dot_ = define(
    OpDef(
        "tt.dot", Structural("dot"), ("a", "b", "c"), _dot, Structural("dot"), Structural("dot"), Structural("dot"),
        Absent("no bound better than the dtype's range"), attrs=("inputPrecision?",), group="dot", cost=20.0,
    )
)  # fmt: skip


def _shape(
    s: Shapes, input: Operand, other: Operand, acc: Operand | None = None, input_precision: Any = None,
    allow_tf32: bool | None = None, **_: Any,
) -> tuple[Dim, ...]:  # fmt: skip
    x, y = input.shape, other.shape
    if len(x) != len(y) or not 2 <= len(x) <= 3:
        s.fault("S005", f"`tl.dot` takes two matrices, or two batches of them, found shapes {_show(x)} and {_show(y)}")
        return ()
    what = f"`tl.dot` of shapes {_show(x)} and {_show(y)}"
    s.equal(x[-1], y[-2], "S010", f"{what} needs the last axis of the first to be the second to last of the other")
    for p, q in zip(x[:-2], y[:-2], strict=True):
        s.equal(p, q, "S010", f"{what} needs equal batches")
    shape = (*x[:-1], y[-1])
    if acc is not None:
        if len(acc.shape) != len(shape):
            s.fault("S005", f"`acc` has the shape of the result, {_show(shape)}, found {_show(acc.shape)}")
            return shape
        for p, q in zip(acc.shape, shape, strict=True):
            s.equal(p, q, "S010", f"`acc` has the shape of the result, {_show(shape)}, found {_show(acc.shape)}")
    if isinstance(input_precision, str) and input_precision not in PRECISIONS:
        s.fault("E005", f"`input_precision` is one of {', '.join(map(repr, PRECISIONS))}, found {input_precision!r}")
    elif input_precision is not None and allow_tf32 is not None:
        s.fault("E005", "`input_precision` and `allow_tf32` say the same thing twice", "leave `allow_tf32` out")
    return shape


def _show(shape: tuple[Dim, ...]) -> str:
    return "(" + ", ".join(map(str, shape)) + ("," if len(shape) == 1 else "") + ")"


def _emit(
    b: Builder, shape: tuple[Dim, ...], dtype: DType, /, input: Operand, other: Operand, acc: Operand | None = None,
    input_precision: Any = None, allow_tf32: bool | None = None, **_: Any,
) -> Value:  # fmt: skip
    total = constant(b, typed(shape, dtype), 0) if acc is None else acc.value
    precision = input_precision or ("ieee" if allow_tf32 is False else "tf32")
    known = isinstance(precision, str) and precision != "ieee"  # in generic IR it may be a Const without a value
    attrs = {"inputPrecision": precision} if known else {}
    return b.op(dot_, (input.value, other.value, total), attrs).result


@overload
def dot(
    input: Tensor[i8],
    other: Tensor[i8],
    acc: Tensor[i32] | None = None,
    input_precision: Const[str | None] = None,
    allow_tf32: Const[bool | None] = None,
    *,
    out_dtype: type[i32] | None = None,
) -> Tensor[i32]: ...
@overload
def dot(
    input: Tensor[F],
    other: Tensor[F],
    acc: Tensor[f32] | None = None,
    input_precision: Const[str | None] = None,
    allow_tf32: Const[bool | None] = None,
    *,
    out_dtype: type[f32] | None = None,
) -> Tensor[f32]: ...
@language(
    _emit,
    shape=_shape,
    exclude={"F": ("f64",)},
    differs="Triton also takes f64, 8-bit floats, an f16 accumulator and `max_num_imprecise_acc`.",
)
def dot(
    input: Any,
    other: Any,
    acc: Any = None,
    input_precision: Any = None,
    allow_tf32: Any = None,
    *,
    out_dtype: Any = None,
) -> Any:
    """`input @ other`, added to `acc` where it is given; f16, bf16 and f32 add up in f32, i8 in i32.

    Shapes (M, K), (K, N) and (M, N), with equal leading axes in a batch (S010). `input_precision` says how f32 inputs
    may be rounded on a GPU: "tf32" (the default), "tf32x3", "ieee", "bf16x3" or "bf16x6"; the CPU always takes them as
    they are. `allow_tf32=False` is an older word for "ieee". A GPU needs K of 16 or more, of 32 for i8.
    """
    ...
