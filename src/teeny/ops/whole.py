"""Whole numbers near a float, its neighbours, its sign and its kind: further functions of libdevice."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from teeny.ir.dtype import BOOL, FLOAT, I32, I64, DType
from teeny.ir.rules import Lanewise, Structural, monotone
from teeny.ir.schema import OpDef, define, dtype_of, expect, same_shape
from teeny.ir.types import Type
from teeny.ops import vecmath
from teeny.ops.arith import ABS
from teeny.ops.cast import convert
from teeny.ops.compare import compare
from teeny.ops.constant import constant
from teeny.ops.elementary import binary
from teeny.ops.function import Operand, language
from teeny.ops.math import unary
from teeny.ops.vocabulary import NO_INTERVAL, elementwise

if TYPE_CHECKING:
    from teeny.ir.builder import Builder
    from teeny.ir.core import Value
    from teeny.language.typing import F, Tensor, bool_, f32, f64, i32, i64

__all__ = [
    "copysign", "fdim", "finitef", "fmod", "isfinited", "isinf", "isnan", "ldexp", "llrint", "llround", "nearbyint",
    "nextafter", "rint", "round", "signbit", "trunc",
]  # fmt: skip

_DIFFERS = "Triton takes f32 and f64 alone."
_NARROW = {"F": ("f16", "bf16")}


def _away(np: Any, x: Any) -> Any:
    size = np.abs(x)
    below = np.floor(size)
    up = np.where(np.isinf(size), size, below + 1)
    return np.copysign(np.where(size - below < 0.5, below, up), x).astype(x.dtype)


def _fold_away(x: float) -> float:
    return math.copysign(math.floor(abs(x) + 0.5), x) if math.isfinite(x) else x


def _fold_trunc(x: float) -> float:
    return math.trunc(x) if math.isfinite(x) else x


def _fold_even(x: float) -> float:
    return float(format(x, ".0f")) if math.isfinite(x) else x


def _fold_fdim(x: float, y: float) -> float:
    return x - y if x > y else 0.0


trunc_ = elementwise(
    "math.trunc", FLOAT, 1, lambda np, x: np.trunc(x), vecmath.trunc, group="trunc", fold=_fold_trunc,
    interval=monotone(_fold_trunc), cost=2.0, wide=True, symbols=("__nv_truncf", "__nv_trunc"),
)  # fmt: skip
rint_ = elementwise(
    "math.roundeven", FLOAT, 1, lambda np, x: np.rint(x), vecmath.rint, group="rint", fold=_fold_even,
    interval=monotone(_fold_even), cost=4.0, wide=True, symbols=("__nv_rintf", "__nv_rint"),
)  # fmt: skip
round_ = elementwise(
    "math.round", FLOAT, 1, _away, vecmath.round, group="round", fold=_fold_away,
    interval=monotone(_fold_away), cost=6.0, wide=True, symbols=("__nv_roundf", "__nv_round"),
)  # fmt: skip
copysign_ = elementwise(
    "math.copysign", FLOAT, 2, lambda np, x, y: np.copysign(x, y).astype(x.dtype), vecmath.copysign, group="copysign",
    fold=math.copysign, cost=2.0, wide=True, symbols=("__nv_copysignf", "__nv_copysign"),
)  # fmt: skip
fdim_ = elementwise(
    "libdevice.fdim", FLOAT, 2, lambda np, x, y: np.where(x <= y, np.zeros_like(x), x - y).astype(x.dtype),
    vecmath.fdim, group="fdim", fold=_fold_fdim, cost=2.0, wide=True, symbols=("__nv_fdimf", "__nv_fdim"),
)  # fmt: skip
fmod_ = elementwise(
    "libdevice.fmod", FLOAT, 2, lambda np, x, y: np.fmod(x, y), lambda b, x, y: b.frem(x, y), group="fmod",
    cost=20.0, wide=True, symbols=("__nv_fmodf", "__nv_fmod"),
)  # fmt: skip
nextafter_ = elementwise(
    "libdevice.nextafter", FLOAT, 2, lambda np, x, y: np.where(x == y, y, np.nextafter(x, y)), vecmath.nextafter,
    group="nextafter", cost=6.0, symbols=("__nv_nextafterf", "__nv_nextafter"),
)  # fmt: skip


def _ldexp_types(types: tuple[Type, ...], attrs: dict[str, Any]) -> tuple[Type, ...]:
    x, n = types
    same_shape(x, n)
    expect(dtype_of(x).within(FLOAT), f"ldexp scales floats, found {x}")
    expect(dtype_of(n) is I32, f"ldexp takes an exponent of i32, found {n}")
    return (x,)


ldexp_ = define(
    OpDef(
        "libdevice.ldexp", Structural("extern"), ("x", "n"), _ldexp_types,
        lambda np, op, x, n: np.ldexp(x, n), lambda b, op, x, n: vecmath.scaled(b, x, n), Lanewise(), NO_INTERVAL,
        group="ldexp", cost=10.0, symbols=("__nv_ldexpf", "__nv_ldexp"),
    )
)  # fmt: skip


@language(unary(trunc_), elementwise=True, home="libdevice", differs=_DIFFERS)
def trunc(x: Tensor[F]) -> Tensor[F]:
    """The whole number next to x toward zero, as a float."""
    ...


@language(unary(rint_), elementwise=True, home="libdevice", differs=_DIFFERS)
def rint(x: Tensor[F]) -> Tensor[F]:
    """The nearest whole number, as a float; halfway between two, the even one."""
    ...


@language(unary(rint_), elementwise=True, home="libdevice", differs=_DIFFERS)
def nearbyint(x: Tensor[F]) -> Tensor[F]:
    """The nearest whole number, as a float; halfway between two, the even one. The same as `rint`."""
    ...


@language(unary(round_), elementwise=True, home="libdevice", differs=_DIFFERS)
def round(x: Tensor[F]) -> Tensor[F]:
    """The nearest whole number, as a float; halfway between two, the one further from zero."""
    ...


def _to_i64(schema: OpDef) -> Any:
    def emit(b: Builder, shape: Any, dtype: DType, x: Operand) -> Value:
        assert isinstance(x.dtype, DType)
        return convert(b, b.create(schema, x.value), x.dtype, I64)

    return emit


@language(_to_i64(rint_), elementwise=True, home="libdevice", differs=_DIFFERS)
def llrint(x: Tensor[F]) -> Tensor[i64]:
    """The nearest whole number as an i64, of two the even one; saturates, NaN gives 0."""
    ...


@language(_to_i64(round_), elementwise=True, home="libdevice", differs=_DIFFERS)
def llround(x: Tensor[F]) -> Tensor[i64]:
    """The nearest whole number as an i64, of two the one further from zero; saturates, NaN gives 0."""
    ...


@language(binary(copysign_), elementwise=True, home="libdevice", differs=_DIFFERS)
def copysign(x: Tensor[F], y: Tensor[F] | float) -> Tensor[F]:
    """The size of x with the sign of y, of a zero and a NaN too."""
    ...


@language(binary(fdim_), elementwise=True, home="libdevice", differs=_DIFFERS)
def fdim(x: Tensor[F], y: Tensor[F] | float) -> Tensor[F]:
    """x - y where that is positive, else 0; NaN where either is."""
    ...


@language(binary(fmod_), elementwise=True, home="libdevice", differs=_DIFFERS)
def fmod(x: Tensor[F], y: Tensor[F] | float) -> Tensor[F]:
    """The remainder of x / y truncated, exactly: the sign is that of x. The same as `x % y`."""
    ...


@language(binary(nextafter_), elementwise=True, home="libdevice", exclude=_NARROW)
def nextafter(x: Tensor[F], y: Tensor[F] | float) -> Tensor[F]:
    """The float beside x in the direction of y; y where they are equal."""
    ...


def _emit_ldexp(b: Builder, shape: Any, dtype: DType, x: Operand, n: Operand) -> Value:
    return b.create(ldexp_, x.value, n.value)


@language(_emit_ldexp, elementwise=True, home="libdevice", exclude=_NARROW)
def ldexp(x: Tensor[F], n: Tensor[i32] | int) -> Tensor[F]:
    """x times 2 to the power n, rounded once."""
    ...


def _is_nan(b: Builder, shape: Any, dtype: DType, x: Operand) -> Value:
    assert isinstance(x.dtype, DType)
    return compare(b, "ne", x.dtype, x.value, x.value)


def _against_infinity(predicate: str) -> Any:
    def emit(b: Builder, shape: Any, dtype: DType, x: Operand) -> Value:
        assert isinstance(x.dtype, DType)
        size = b.create(ABS.pick(x.dtype), x.value)
        return compare(b, predicate, x.dtype, size, constant(b, size.type, math.inf))

    return emit


def _sign(b: Builder, shape: Any, dtype: DType, x: Operand) -> Value:
    assert isinstance(x.dtype, DType)
    signed = b.create(copysign_, constant(b, x.type, 1.0), x.value)
    negative = compare(b, "lt", x.dtype, signed, constant(b, x.type, 0.0))
    return convert(b, negative, BOOL, I32)


@language(_is_nan, elementwise=True, home="libdevice", differs=_DIFFERS)
def isnan(x: Tensor[F]) -> Tensor[bool_]:
    """Whether x is NaN."""
    ...


@language(_against_infinity("eq"), elementwise=True, home="libdevice", differs=_DIFFERS)
def isinf(x: Tensor[F]) -> Tensor[bool_]:
    """Whether x is infinite."""
    ...


@language(_against_infinity("lt"), elementwise=True, home="libdevice")
def finitef(x: Tensor[f32]) -> Tensor[bool_]:
    """Whether an f32 is neither infinite nor NaN."""
    ...


@language(_against_infinity("lt"), elementwise=True, home="libdevice")
def isfinited(x: Tensor[f64]) -> Tensor[bool_]:
    """Whether an f64 is neither infinite nor NaN."""
    ...


@language(
    _sign,
    elementwise=True,
    home="libdevice",
    differs="Triton takes f32 and f64 alone, and may give any number but 0 for a sign.",
)
def signbit(x: Tensor[F]) -> Tensor[i32]:
    """1 where the sign of x is set, of a zero and a NaN too, else 0."""
    ...
