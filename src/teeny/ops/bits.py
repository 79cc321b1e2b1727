"""Bit operations on integers and bools, and shifts."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, overload

from teeny.ir.dtype import BOOLEAN, INT, DType
from teeny.ir.rules import absorbing, either, neutral
from teeny.ops.constant import constant
from teeny.ops.function import Operand, language
from teeny.ops.vocabulary import as_unsigned, elementwise, family

if TYPE_CHECKING:
    from teeny.ir.builder import Builder
    from teeny.ir.core import Value
    from teeny.language.typing import B, I, Tensor, bool_

BITS = INT | BOOLEAN


def _int(f: Callable[[int, int], int]) -> Callable[[float, float], float]:
    return lambda x, y: f(int(x), int(y))


def _shift(f: Callable[[Any, Any, Any], Any], beyond: Callable[[Any, Any], Any]) -> Callable[[Any, Any, Any], Any]:
    """A shift that is defined for every count: `beyond(np, x)` where the count, read unsigned, is the width or more."""

    def numpy(np: Any, x: Any, y: Any) -> Any:
        width = x.dtype.itemsize * 8
        ok = as_unsigned(np, y) < width
        return np.where(ok, f(np, x, np.where(ok, y, np.zeros_like(y))), beyond(np, x)).astype(x.dtype)

    return numpy


def _zero(np: Any, x: Any) -> Any:
    return np.zeros_like(x)


andi = elementwise(
    "arith.andi", BITS, 2, lambda np, x, y: x & y, lambda b, x, y: b.and_(x, y),
    group="and", fold=_int(lambda x, y: x & y), absorb=either(absorbing(0), neutral(-1)), commutative=True,
    identity=lambda d: -1,
)  # fmt: skip
ori = elementwise(
    "arith.ori", BITS, 2, lambda np, x, y: x | y, lambda b, x, y: b.or_(x, y),
    group="or", fold=_int(lambda x, y: x | y), absorb=either(absorbing(-1), neutral(0)), commutative=True,
    identity=lambda d: 0,
)  # fmt: skip
xori = elementwise(
    "arith.xori", BITS, 2, lambda np, x, y: x ^ y, lambda b, x, y: b.xor(x, y),
    group="xor", fold=_int(lambda x, y: x ^ y), absorb=neutral(0), commutative=True, identity=lambda d: 0,
)  # fmt: skip
shli = elementwise(
    "arith.shli", INT, 2, _shift(lambda np, x, y: x << y, _zero), lambda b, x, y: b.shl(x, y), group="shl", absorb=None
)
shrsi = elementwise(
    "arith.shrsi", INT, 2, _shift(lambda np, x, y: x >> y, lambda np, x: np.where(x < 0, -1, 0)), lambda b, x,
    y: b.ashr(x, y),
    group="shr",
)  # fmt: skip
shrui = elementwise(
    "arith.shrui", INT, 2, _shift(lambda np, x, y: (as_unsigned(np, x) >> as_unsigned(np, y)).view(x.dtype), _zero),
    lambda b, x, y: b.lshr(x, y), group="shr",
)  # fmt: skip

SHR = family("shr", INT, signed=shrsi, unsigned=shrui)


def _plain(schema: Any) -> Any:
    def emit(b: Builder, shape: Any, dtype: DType, x: Operand, y: Operand) -> Value:
        return b.create(schema, x.value, y.value)

    return emit


def _reversed(schema: Any) -> Any:
    def emit(b: Builder, shape: Any, dtype: DType, x: Operand, y: Operand) -> Value:
        return b.create(schema, y.value, x.value)

    return emit


def _invert(b: Builder, shape: Any, dtype: DType, x: Operand) -> Value:
    return b.create(xori, x.value, constant(b, x.type, True if dtype.kind == "bool" else -1))


def _shr(b: Builder, shape: Any, dtype: DType, x: Operand, y: Operand) -> Value:
    return b.create(SHR.pick(dtype), x.value, y.value)


@overload
def and_(x: Tensor[bool_], y: bool) -> Tensor[bool_]: ...
@overload
def and_(x: Tensor[B], y: Tensor[B] | int) -> Tensor[B]: ...
@language(_plain(andi), elementwise=True, symbol="&")
def and_(x: Any, y: Any) -> Any:
    """x & y, bit by bit; of bools, logical and."""
    ...


@overload
def or_(x: Tensor[bool_], y: bool) -> Tensor[bool_]: ...
@overload
def or_(x: Tensor[B], y: Tensor[B] | int) -> Tensor[B]: ...
@language(_plain(ori), elementwise=True, symbol="|")
def or_(x: Any, y: Any) -> Any:
    """x | y, bit by bit; of bools, logical or."""
    ...


@overload
def xor(x: Tensor[bool_], y: bool) -> Tensor[bool_]: ...
@overload
def xor(x: Tensor[B], y: Tensor[B] | int) -> Tensor[B]: ...
@language(_plain(xori), elementwise=True, symbol="^")
def xor(x: Any, y: Any) -> Any:
    """x ^ y, bit by bit; of bools, whether they differ."""
    ...


@language(_invert, elementwise=True, symbol="~")
def invert(x: Tensor[B]) -> Tensor[B]:
    """~x: every bit flipped; of a bool, logical not."""
    ...


@language(
    _plain(shli),
    elementwise=True,
    symbol="<<",
    differs="Triton leaves a shift by the width or more open.",
)
def shl(x: Tensor[I], y: Tensor[I] | int) -> Tensor[I]:
    """x << y. By the width or more: 0."""
    ...


@language(_reversed(shli), elementwise=True, symbol="<<")
def rshl(x: Tensor[I], y: int) -> Tensor[I]:
    """y << x, for a literal y on the left."""
    ...


@language(
    _shr,
    elementwise=True,
    symbol=">>",
    differs="Triton leaves a shift by the width or more open.",
)
def shr(x: Tensor[I], y: Tensor[I] | int) -> Tensor[I]:
    """x >> y, arithmetic for signed dtypes. By the width or more: 0, or -1 for a negative signed x."""
    ...
