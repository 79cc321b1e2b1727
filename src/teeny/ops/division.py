"""True division of floats; division and remainder of integers, which truncate toward zero as in C."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, overload

from teeny.ir.dtype import F32, F64, FLOAT, INT, NUM, DType
from teeny.ir.rules import LaneState, Number
from teeny.ir.schema import Ulp
from teeny.ops.function import Operand, language
from teeny.ops.vocabulary import Rules, as_unsigned, elementwise, family

if TYPE_CHECKING:
    from teeny.ir.builder import Builder
    from teeny.ir.core import Value
    from teeny.language.typing import Const, F, I, N, Tensor, i32, i64

__all__ = ["div_rn", "fdiv"]


def _zero_over(states: tuple[LaneState, ...]) -> LaneState:
    x, y = states
    if isinstance(y, Number) and y.value == 1:
        return x
    return x if isinstance(x, Number) and x.value == 0 and y is None else None


def _divide(x: float, y: float) -> float | None:
    return x / y if y != 0 else None


def _truncate(x: float, y: float) -> float | None:
    return math.trunc(x / y) if y != 0 else None


def _remainder(x: float, y: float) -> float | None:
    return math.fmod(x, y) if y != 0 and math.isfinite(x) else None


def _quotient(np: Any, x: Any, y: Any) -> Any:
    """Truncating quotient; 0 where y is 0 (the language leaves it unspecified), wrapping for the smallest by -1."""
    safe = np.where(y == 0, np.ones_like(y), y)
    floor = x // safe
    inexact = (floor * safe != x) & ((x < 0) != (safe < 0))
    return np.where(y == 0, np.zeros_like(x), floor + inexact).astype(x.dtype)


def _modulo(np: Any, x: Any, y: Any) -> Any:
    return (x - _quotient(np, x, y) * y).astype(x.dtype)


def _unsigned(f: Callable[[Any, Any, Any], Any]) -> Callable[[Any, Any, Any], Any]:
    return lambda np, x, y: np.asarray(f(np, as_unsigned(np, x), as_unsigned(np, y))).view(x.dtype)


_DIV: Rules = {"group": "div", "fold": _divide, "absorb": _zero_over, "cost": 6.0, "wide": True}
_FLOOR: Rules = {"group": "floordiv", "fold": _truncate, "absorb": _zero_over, "cost": 20.0}
_REM: Rules = {"group": "mod", "fold": _remainder, "cost": 20.0, "wide": True}

divf = elementwise(
    "arith.divf", FLOAT, 2, lambda np, x, y: x / y, lambda b, x, y: b.fdiv(x, y), ulp=Ulp(0.0, 2.0, 0.0), **_DIV
)
precise_divf = elementwise("tt.precise_divf", FLOAT, 2, lambda np, x, y: x / y, lambda b, x, y: b.fdiv(x, y), **_DIV)


def _plain_division(b: Builder, x: Value, y: Value) -> Value:
    return b.create(divf, x, y)


approx_divf = elementwise(
    "tt.approx_divf", F32.mask, 2, lambda np, x, y: x / y, lambda b, x, y: b.fdiv(x, y), ulp=Ulp(0.0, 2.0, None),
    expand=_plain_division, **_DIV
)  # fmt: skip
divsi = elementwise("arith.divsi", INT, 2, _quotient, lambda b, x, y: b.sdiv(x, y), **_FLOOR)
divui = elementwise("arith.divui", INT, 2, _unsigned(_quotient), lambda b, x, y: b.udiv(x, y), **_FLOOR)
remf = elementwise("arith.remf", FLOAT, 2, lambda np, x, y: np.fmod(x, y), lambda b, x, y: b.frem(x, y), **_REM)
remsi = elementwise("arith.remsi", INT, 2, _modulo, lambda b, x, y: b.srem(x, y), **_REM)
remui = elementwise("arith.remui", INT, 2, _unsigned(_modulo), lambda b, x, y: b.urem(x, y), **_REM)

FLOORDIV = family("floordiv", INT, signed=divsi, unsigned=divui)
MOD = family("mod", NUM, float=remf, signed=remsi, unsigned=remui)


def _div(b: Builder, shape: Any, dtype: DType, x: Operand, y: Operand) -> Value:
    return b.create(divf, x.value, y.value)


def _rdiv(b: Builder, shape: Any, dtype: DType, x: Operand, y: Operand) -> Value:
    return b.create(divf, y.value, x.value)


def _div_rn(b: Builder, shape: Any, dtype: DType, x: Operand, y: Operand) -> Value:
    return b.create(divf if dtype is F64 else precise_divf, x.value, y.value)


def _fdiv(b: Builder, shape: Any, dtype: DType, x: Operand, y: Operand, ieee_rounding: bool) -> Value:
    return (_div_rn if ieee_rounding else _div)(b, shape, dtype, x, y)


def _pick(chosen: Any, swap: bool = False) -> Any:
    def emit(b: Builder, shape: Any, dtype: DType, x: Operand, y: Operand) -> Value:
        return (
            b.create(chosen.pick(dtype), y.value, x.value) if swap else b.create(chosen.pick(dtype), x.value, y.value)
        )

    return emit


@language(
    _div,
    elementwise=True,
    symbol="/",
    differs="Integers are refused; Triton divides them as f32. Of f16 and bf16 the result is f32 in Triton.",
)
def truediv(x: Tensor[F], y: Tensor[F] | float) -> Tensor[F]:
    """x / y of floats. f16 and bf16 divide in f32 and round once."""
    ...


@language(_rdiv, elementwise=True, symbol="/")
def rtruediv(x: Tensor[F], y: float) -> Tensor[F]:
    """y / x, for a literal y on the left."""
    ...


@overload
def fdiv(x: Tensor[F], y: Tensor[F] | float, ieee_rounding: Const[bool] = False) -> Tensor[F]: ...
@overload
def fdiv(x: float, y: Tensor[F], ieee_rounding: Const[bool] = False) -> Tensor[F]: ...
@language(_fdiv, elementwise=True)
def fdiv(x: Any, y: Any, ieee_rounding: Any = False) -> Any:
    """x / y of floats; with `ieee_rounding` as `div_rn`."""
    ...


@overload
def div_rn(x: Tensor[F], y: Tensor[F] | float) -> Tensor[F]: ...
@overload
def div_rn(x: float, y: Tensor[F]) -> Tensor[F]: ...
@language(
    _div_rn,
    elementwise=True,
    differs="Triton takes f32 alone.",
)
def div_rn(x: Any, y: Any) -> Any:
    """x / y of floats, rounded correctly on GPUs too."""
    ...


@overload
def floordiv(x: Tensor[I], y: Tensor[I] | int) -> Tensor[I]: ...
@overload
def floordiv(x: Tensor[i32], y: Tensor[i64]) -> Tensor[i64]: ...
@overload
def floordiv(x: Tensor[i64], y: Tensor[i32]) -> Tensor[i64]: ...
@language(_pick(FLOORDIV), elementwise=True, symbol="//")
def floordiv(x: Any, y: Any) -> Any:
    """x // y of integers, truncated toward zero (as in C, not as in Python). By 0: an unspecified value."""
    ...


@language(_pick(FLOORDIV, swap=True), elementwise=True, symbol="//")
def rfloordiv(x: Tensor[I], y: int) -> Tensor[I]:
    """y // x, for a literal y on the left."""
    ...


@overload
def mod(x: Tensor[N], y: Tensor[N] | int) -> Tensor[N]: ...
@overload
def mod(x: Tensor[F], y: float) -> Tensor[F]: ...
@overload
def mod(x: Tensor[i32], y: Tensor[i64]) -> Tensor[i64]: ...
@overload
def mod(x: Tensor[i64], y: Tensor[i32]) -> Tensor[i64]: ...
@language(
    _pick(MOD),
    elementwise=True,
    symbol="%",
    differs="Of f16 and bf16 the result is f32 in Triton.",
)
def mod(x: Any, y: Any) -> Any:
    """The remainder of truncating division; it has the sign of x. Of floats: C's fmod. By 0: an unspecified value."""
    ...


@overload
def rmod(x: Tensor[N], y: int) -> Tensor[N]: ...
@overload
def rmod(x: Tensor[F], y: float) -> Tensor[F]: ...
@language(_pick(MOD, swap=True), elementwise=True, symbol="%")
def rmod(x: Any, y: Any) -> Any:
    """y % x, for a literal y on the left."""
    ...
