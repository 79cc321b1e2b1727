"""Addition, subtraction, multiplication, negation, absolute value, maximum and minimum, fused multiply-add."""

from __future__ import annotations

import math
from functools import cache
from typing import TYPE_CHECKING, Any, overload

from teeny.ir.dtype import FLOAT, INT, NUM, DType, integer_range
from teeny.ir.rules import Interval, LaneState, Number, absorbing, either, neutral
from teeny.ops.constant import constant
from teeny.ops.function import Operand, language
from teeny.ops.vocabulary import Rules, as_unsigned, elementwise, family, rounded

if TYPE_CHECKING:
    from teeny.ir.builder import Builder
    from teeny.ir.core import Value
    from teeny.language.typing import Const, F, I, N, Tensor, i32, i64

__all__ = ["abs", "add", "fma", "maximum", "minimum", "mul", "sub", "umulhi"]

INF = math.inf


def _corners(f: Any, x: Interval, y: Interval) -> Interval:
    values = [v for a in x for b in y if not math.isnan(v := f(a, b))]
    return (min(values), max(values)) if len(values) == 4 else (-INF, INF)


def _times(a: float, b: float) -> float:
    return 0.0 if a == 0 or b == 0 else a * b


def _minus(states: tuple[LaneState, ...]) -> LaneState:
    x, y = states
    if isinstance(y, Number) and y.value == 0:
        return x
    if isinstance(x, Number) and math.isinf(x.value):
        return x
    if isinstance(y, Number) and math.isinf(y.value):
        return Number(-y.value)
    return None


def _lowest(dtype: DType) -> float:
    return -INF if dtype.kind in ("float", "variable") else integer_range(dtype)[0]


def _highest(dtype: DType) -> float:
    return INF if dtype.kind in ("float", "variable") else integer_range(dtype)[1]


def _abs_interval(x: Interval) -> Interval:
    sizes = sorted(end.__abs__() for end in x)
    return (0 if x[0] <= 0 <= x[1] else sizes[0], sizes[1])


_ADD: Rules = {
    "group": "add", "fold": lambda x, y: x + y, "absorb": either(absorbing(INF, -INF), neutral(0)), "commutative": True,
    "interval": lambda x, y: (x[0] + y[0], x[1] + y[1]), "identity": lambda dtype: 0,
}  # fmt: skip
_SUB: Rules = {
    "group": "sub", "fold": lambda x, y: x - y, "absorb": _minus, "interval": lambda x, y: (x[0] - y[1], x[1] - y[0]),
}  # fmt: skip
_MUL: Rules = {
    "group": "mul", "fold": lambda x, y: x * y, "absorb": either(absorbing(0), neutral(1)), "commutative": True,
    "interval": lambda x, y: _corners(_times, x, y), "identity": lambda dtype: 1,
}  # fmt: skip
_MAX: Rules = {
    "group": "max", "fold": lambda x, y: max(x, y), "absorb": either(absorbing(INF), neutral(-INF)),
    "commutative": True,
    "interval": lambda x, y: (max(x[0], y[0]), max(x[1], y[1])), "identity": _lowest,
}  # fmt: skip
_MIN: Rules = {
    "group": "min", "fold": lambda x, y: min(x, y), "absorb": either(absorbing(-INF), neutral(INF)),
    "commutative": True,
    "interval": lambda x, y: (min(x[0], y[0]), min(x[1], y[1])), "identity": _highest,
}  # fmt: skip
_NEG: Rules = {"group": "neg", "fold": lambda x: -x, "interval": lambda x: (-x[1], -x[0])}
_ABS: Rules = {"group": "abs", "fold": lambda x: x.__abs__(), "interval": _abs_interval}

addf = elementwise("arith.addf", FLOAT, 2, lambda np, x, y: x + y, lambda b, x, y: b.fadd(x, y), **_ADD)
addi = elementwise("arith.addi", INT, 2, lambda np, x, y: x + y, lambda b, x, y: b.add(x, y), **_ADD)
subf = elementwise("arith.subf", FLOAT, 2, lambda np, x, y: x - y, lambda b, x, y: b.fsub(x, y), **_SUB)
subi = elementwise("arith.subi", INT, 2, lambda np, x, y: x - y, lambda b, x, y: b.sub(x, y), **_SUB)
mulf = elementwise("arith.mulf", FLOAT, 2, lambda np, x, y: x * y, lambda b, x, y: b.fmul(x, y), **_MUL)
muli = elementwise("arith.muli", INT, 2, lambda np, x, y: x * y, lambda b, x, y: b.mul(x, y), **_MUL)
negf = elementwise("arith.negf", FLOAT, 1, lambda np, x: -x, lambda b, x: b.fneg(x), **_NEG)
maxnumf = elementwise(
    "arith.maxnumf", FLOAT, 2, lambda np, x, y: np.fmax(x, y), lambda b, x, y: b.fmaxnum(x, y), **_MAX
)
minnumf = elementwise(
    "arith.minnumf", FLOAT, 2, lambda np, x, y: np.fmin(x, y), lambda b, x, y: b.fminnum(x, y), **_MIN
)
maximumf = elementwise(
    "arith.maximumf", FLOAT, 2, lambda np, x, y: np.maximum(x, y), lambda b, x, y: b.fmaximum(x, y), **_MAX
)
minimumf = elementwise(
    "arith.minimumf", FLOAT, 2, lambda np, x, y: np.minimum(x, y), lambda b, x, y: b.fminimum(x, y), **_MIN
)
maxsi = elementwise("arith.maxsi", INT, 2, lambda np, x, y: np.maximum(x, y), lambda b, x, y: b.smax(x, y), **_MAX)
minsi = elementwise("arith.minsi", INT, 2, lambda np, x, y: np.minimum(x, y), lambda b, x, y: b.smin(x, y), **_MIN)
maxui = elementwise(
    "arith.maxui", INT, 2,
    lambda np, x, y: np.maximum(as_unsigned(np, x), as_unsigned(np, y)).view(x.dtype), lambda b, x, y: b.umax(x, y),
    **_MAX,
)  # fmt: skip
minui = elementwise(
    "arith.minui", INT, 2,
    lambda np, x, y: np.minimum(as_unsigned(np, x), as_unsigned(np, y)).view(x.dtype), lambda b, x, y: b.umin(x, y),
    **_MIN,
)  # fmt: skip
absf = elementwise("math.absf", FLOAT, 1, lambda np, x: np.abs(x), lambda b, x: b.fabs(x), **_ABS)
absi = elementwise(
    "math.absi", INT, 1, lambda np, x: np.abs(x), lambda b, x: b.smax(x, b.sub(b.const(b.type_of(x), 0), x)), **_ABS
)


@cache
def _c_fma() -> Any:
    import ctypes
    import ctypes.util

    found = ctypes.CDLL(ctypes.util.find_library("m")).fma
    found.restype, found.argtypes = ctypes.c_double, [ctypes.c_double] * 3
    return found


def _fma(np: Any, x: Any, y: Any, z: Any) -> Any:
    """Exact product and sum, rounded once: the sum is rounded to odd in the next wider format, then to the result's.

    Rounding to odd makes the second rounding innocuous (Boldo and Melquiond, "Emulation of a FMA and correctly rounded
    sums", 2008). f64 goes through the C library's fma, which is exact.
    """
    if x.dtype == np.float64:
        return np.asarray(np.frompyfunc(_c_fma(), 3, 1)(x, y, z), np.float64)
    wide = np.float64
    product = np.asarray(x, wide) * np.asarray(y, wide)
    addend = np.asarray(z, wide)
    total = product + addend
    back = total - product
    error = (product - (total - back)) + (addend - back)
    bits = np.asarray(total).view(np.int64)
    nudge = np.isfinite(total) & (error != 0) & (bits & 1 == 0)
    toward = np.where((error > 0) == (total > 0), 1, -1)
    odd = np.where(nudge, bits + toward, bits).astype(np.int64).view(wide)
    return rounded(np, odd, x.dtype)


def _umulhi(np: Any, x: Any, y: Any) -> Any:
    product = as_unsigned(np, x).astype(object) * as_unsigned(np, y).astype(object)
    return np.asarray(product >> (8 * x.itemsize)).astype(f"u{x.itemsize}").view(x.dtype)


mulhiui = elementwise(
    "tt.mulhiui", INT, 2, _umulhi, lambda b, x, y: b.mulhi_u(x, y), group="umulhi", absorb=absorbing(0),
    commutative=True, cost=4.0,
)  # fmt: skip
fma_ = elementwise(
    "math.fma", FLOAT, 3, _fma, lambda b, x, y, z: b.fma(x, y, z), group="fma", fold=lambda x, y, z: x * y + z, cost=1.0
)

ADD = family("add", NUM, float=addf, signed=addi, unsigned=addi)
SUB = family("sub", NUM, float=subf, signed=subi, unsigned=subi)
MUL = family("mul", NUM, float=mulf, signed=muli, unsigned=muli)
MAX = family("max", NUM, float=maxnumf, signed=maxsi, unsigned=maxui)
MIN = family("min", NUM, float=minnumf, signed=minsi, unsigned=minui)
MAXIMUM = family("maximum", NUM, float=maximumf, signed=maxsi, unsigned=maxui)
MINIMUM = family("minimum", NUM, float=minimumf, signed=minsi, unsigned=minui)
NEG = family("neg", NUM, 1, float=negf)
ABS = family("abs", NUM, 1, float=absf, signed=absi)


def _emit(chosen: Any) -> Any:
    def emit(b: Builder, shape: Any, dtype: DType, x: Operand, y: Operand) -> Value:
        return b.create(chosen.pick(dtype), x.value, y.value)

    return emit


def _swapped(b: Builder, shape: Any, dtype: DType, x: Operand, y: Operand) -> Value:
    return b.create(SUB.pick(dtype), y.value, x.value)


def _extreme(plain: Any, nan: Any) -> Any:
    def emit(b: Builder, shape: Any, dtype: DType, x: Operand, y: Operand, propagate_nan: bool) -> Value:
        return b.create((nan if propagate_nan else plain).pick(dtype), x.value, y.value)

    return emit


def _emit_neg(b: Builder, shape: Any, dtype: DType, x: Operand) -> Value:
    if dtype.kind in ("signed", "unsigned"):
        return b.create(subi, constant(b, x.type, 0), x.value)
    return b.create(NEG.pick(dtype), x.value)


def _emit_abs(b: Builder, shape: Any, dtype: DType, x: Operand) -> Value:
    return x.value if dtype.kind == "unsigned" else b.create(ABS.pick(dtype), x.value)


def _emit_umulhi(b: Builder, shape: Any, dtype: DType, x: Operand, y: Operand) -> Value:
    return b.create(mulhiui, x.value, y.value)


def _emit_fma(b: Builder, shape: Any, dtype: DType, x: Operand, y: Operand, z: Operand) -> Value:
    return b.create(fma_, x.value, y.value, z.value)


@overload
def add(x: Tensor[N], y: Tensor[N] | int) -> Tensor[N]: ...
@overload
def add(x: Tensor[F], y: float) -> Tensor[F]: ...
@overload
def add(x: Tensor[i32], y: Tensor[i64]) -> Tensor[i64]: ...
@overload
def add(x: Tensor[i64], y: Tensor[i32]) -> Tensor[i64]: ...
@language(_emit(ADD), elementwise=True, symbol="+")
def add(x: Any, y: Any) -> Any:
    """x + y, element by element. Integers wrap. Shapes broadcast."""
    ...


@overload
def sub(x: Tensor[N], y: Tensor[N] | int) -> Tensor[N]: ...
@overload
def sub(x: Tensor[F], y: float) -> Tensor[F]: ...
@overload
def sub(x: Tensor[i32], y: Tensor[i64]) -> Tensor[i64]: ...
@overload
def sub(x: Tensor[i64], y: Tensor[i32]) -> Tensor[i64]: ...
@language(_emit(SUB), elementwise=True, symbol="-")
def sub(x: Any, y: Any) -> Any:
    """x - y, element by element. Integers wrap. Shapes broadcast."""
    ...


@overload
def rsub(x: Tensor[N], y: int) -> Tensor[N]: ...
@overload
def rsub(x: Tensor[F], y: float) -> Tensor[F]: ...
@language(_swapped, elementwise=True, symbol="-")
def rsub(x: Any, y: Any) -> Any:
    """y - x, for a literal y on the left."""
    ...


@overload
def mul(x: Tensor[N], y: Tensor[N] | int) -> Tensor[N]: ...
@overload
def mul(x: Tensor[F], y: float) -> Tensor[F]: ...
@overload
def mul(x: Tensor[i32], y: Tensor[i64]) -> Tensor[i64]: ...
@overload
def mul(x: Tensor[i64], y: Tensor[i32]) -> Tensor[i64]: ...
@language(_emit(MUL), elementwise=True, symbol="*")
def mul(x: Any, y: Any) -> Any:
    """x * y, element by element. Integers wrap. Shapes broadcast."""
    ...


@language(_emit_umulhi, elementwise=True, exclude={"I": ("i8", "i16", "u8", "u16")})
def umulhi(x: Tensor[I], y: Tensor[I] | int) -> Tensor[I]:
    """The high half of the product of two integers of 32 or 64 bits, both read without a sign."""
    ...


@language(_emit_neg, elementwise=True, symbol="-")
def neg(x: Tensor[N]) -> Tensor[N]:
    """-x, element by element; of an unsigned integer it wraps."""
    ...


@language(lambda b, shape, dtype, x: x.value, elementwise=True, symbol="+")
def pos(x: Tensor[N]) -> Tensor[N]:
    """x itself."""
    ...


@language(_emit_abs, elementwise=True)
def abs(x: Tensor[N]) -> Tensor[N]:
    """The absolute value; of the smallest signed integer, itself."""
    ...


@overload
def maximum(x: Tensor[N], y: Tensor[N] | int, propagate_nan: Const[bool] = False) -> Tensor[N]: ...
@overload
def maximum(x: Tensor[F], y: float, propagate_nan: Const[bool] = False) -> Tensor[F]: ...
@overload
def maximum(x: int, y: Tensor[N], propagate_nan: Const[bool] = False) -> Tensor[N]: ...
@overload
def maximum(x: float, y: Tensor[F], propagate_nan: Const[bool] = False) -> Tensor[F]: ...
@overload
def maximum(x: Tensor[i32], y: Tensor[i64], propagate_nan: Const[bool] = False) -> Tensor[i64]: ...
@overload
def maximum(x: Tensor[i64], y: Tensor[i32], propagate_nan: Const[bool] = False) -> Tensor[i64]: ...
@language(
    _extreme(MAX, MAXIMUM),
    elementwise=True,
    differs="`propagate_nan` is a `tl.PropagateNan` there, which here stands for a bool.",
)
def maximum(x: Any, y: Any, propagate_nan: Any = False) -> Any:
    """The larger of x and y, element by element.

    A NaN loses against a number, unless `propagate_nan`. The sign of a zero result is unspecified.
    """
    ...


@overload
def minimum(x: Tensor[N], y: Tensor[N] | int, propagate_nan: Const[bool] = False) -> Tensor[N]: ...
@overload
def minimum(x: Tensor[F], y: float, propagate_nan: Const[bool] = False) -> Tensor[F]: ...
@overload
def minimum(x: int, y: Tensor[N], propagate_nan: Const[bool] = False) -> Tensor[N]: ...
@overload
def minimum(x: float, y: Tensor[F], propagate_nan: Const[bool] = False) -> Tensor[F]: ...
@overload
def minimum(x: Tensor[i32], y: Tensor[i64], propagate_nan: Const[bool] = False) -> Tensor[i64]: ...
@overload
def minimum(x: Tensor[i64], y: Tensor[i32], propagate_nan: Const[bool] = False) -> Tensor[i64]: ...
@language(
    _extreme(MIN, MINIMUM),
    elementwise=True,
    differs="`propagate_nan` is a `tl.PropagateNan` there, which here stands for a bool.",
)
def minimum(x: Any, y: Any, propagate_nan: Any = False) -> Any:
    """The smaller of x and y, element by element.

    A NaN loses against a number, unless `propagate_nan`. The sign of a zero result is unspecified.
    """
    ...


@overload
def fma(x: Tensor[F], y: Tensor[F] | float, z: Tensor[F] | float) -> Tensor[F]: ...
@overload
def fma(x: float, y: Tensor[F], z: Tensor[F] | float) -> Tensor[F]: ...
@overload
def fma(x: float, y: float, z: Tensor[F]) -> Tensor[F]: ...
@language(_emit_fma, elementwise=True)
def fma(x: Any, y: Any, z: Any) -> Any:
    """x * y + z with one rounding (IEEE 754 fusedMultiplyAdd)."""
    ...
