"""Bits of integers counted and turned, the high half of products, and floats as their bits: libdevice's functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from teeny.ir.dtype import F32, F64, I32, I64, DType
from teeny.ir.rules import Absent, Interval, Lanewise, Structural
from teeny.ir.schema import OpDef, define, dtype_of, expect
from teeny.ir.types import Type, with_element
from teeny.ops import vecmath
from teeny.ops.arith import SUB, mulhiui
from teeny.ops.bitcast import reinterpret
from teeny.ops.compare import compare, select
from teeny.ops.constant import constant
from teeny.ops.function import Operand, language
from teeny.ops.vocabulary import NO_INTERVAL, IntervalRule, as_unsigned

if TYPE_CHECKING:
    from teeny.ir.builder import Builder
    from teeny.ir.core import Op, Value
    from teeny.language.typing import I, Tensor, f32, f64, i32, i64, u32

__all__ = [
    "brev", "clz", "double_as_longlong", "ffs", "float_as_int", "float_as_uint", "int_as_float", "longlong_as_double",
    "mulhi", "popc", "uint_as_float",
]  # fmt: skip

_NARROW = {"I": ("i8", "i16", "u8", "u16")}


def _counted(result: DType | None) -> Any:
    def types(operands: tuple[Type, ...], attrs: dict[str, Any]) -> tuple[Type, ...]:
        dtype = dtype_of(operands[0])
        expect(dtype.is_variable or dtype in (I32, I64), f"bits are counted of i32 and i64, found {operands[0]}")
        return (operands[0] if result is None else with_element(operands[0], result),)

    return types


def _define(
    name: str,
    symbol: str,
    meaning: Callable[[int, int], int],
    cpu: Callable[[Any, Any], Any],
    result: DType | None,
    interval: IntervalRule | Absent = NO_INTERVAL,
) -> OpDef:
    """An operation on the bits of an integer; `meaning(x, width)` of an unsigned Python int."""

    def numpy(np: Any, op: Op, x: Any) -> Any:
        bits = as_unsigned(np, x)
        width = 8 * bits.dtype.itemsize
        kind = bits.dtype if result is None else np.dtype("u4")
        found = np.array([meaning(int(v), width) for v in bits.ravel()], kind).reshape(bits.shape)
        return found.view(x.dtype if result is None else np.int32)

    return define(
        OpDef(
            f"libdevice.{name}", Structural("extern"), ("x",), _counted(result), numpy, lambda b, op, x: cpu(b, x),
            Lanewise(), interval, group=name, cost=8.0,
            symbols=(f"__nv_{symbol}", f"__nv_{symbol}ll"),
        )
    )  # fmt: skip


def _count(x: Interval) -> Interval:
    return (0, 64)


def _reverse(x: int, width: int) -> int:
    return int(f"{x:0{width}b}"[::-1], 2)


clz_ = _define("clz", "clz", lambda x, width: width - x.bit_length(), vecmath.clz, I32, _count)
popc_ = _define("popc", "popc", lambda x, width: x.bit_count(), vecmath.popc, I32, _count)
ffs_ = _define("ffs", "ffs", lambda x, width: (x & -x).bit_length(), vecmath.ffs, I32, _count)
brev_ = _define("brev", "brev", _reverse, vecmath.brev, None)


def _emit(schema: OpDef) -> Any:
    def emit(b: Builder, shape: Any, dtype: DType, x: Operand) -> Value:
        return b.create(schema, x.value)

    return emit


@language(_emit(clz_), elementwise=True, home="libdevice", exclude=_NARROW)
def clz(x: Tensor[I]) -> Tensor[i32]:
    """How many bits are clear above the highest that is set; the width for 0."""
    ...


@language(_emit(popc_), elementwise=True, home="libdevice", exclude=_NARROW)
def popc(x: Tensor[I]) -> Tensor[i32]:
    """How many bits are set."""
    ...


@language(_emit(ffs_), elementwise=True, home="libdevice", exclude=_NARROW)
def ffs(x: Tensor[I]) -> Tensor[i32]:
    """The place of the lowest bit that is set, counted from 1; 0 for 0."""
    ...


@language(_emit(brev_), elementwise=True, home="libdevice", exclude=_NARROW)
def brev(x: Tensor[I]) -> Tensor[I]:
    """The bits in reverse order."""
    ...


def _mulhi(b: Builder, shape: Any, dtype: DType, x: Operand, y: Operand) -> Value:
    high = b.create(mulhiui, x.value, y.value)
    if dtype.kind != "signed":
        return high
    zero = constant(b, high.type, 0)
    for one, other in ((x, y), (y, x)):
        negative = compare(b, "lt", dtype, one.value, zero)
        high = b.create(SUB.pick(dtype), high, b.create(select, negative, other.value, zero))
    return high


@language(_mulhi, elementwise=True, home="libdevice", exclude=_NARROW)
def mulhi(x: Tensor[I], y: Tensor[I] | int) -> Tensor[I]:
    """The high half of the product, with a sign for signed dtypes (`tl.umulhi` reads it without)."""
    ...


def _as(element: DType) -> Any:
    def emit(b: Builder, shape: Any, dtype: DType, x: Operand) -> Value:
        return reinterpret(b, x.value, element)

    return emit


@language(_as(I32), elementwise=True, home="libdevice")
def float_as_int(x: Tensor[f32]) -> Tensor[i32]:
    """The bits of an f32 as an i32."""
    ...


@language(_as(I32), elementwise=True, home="libdevice")
def float_as_uint(x: Tensor[f32]) -> Tensor[u32]:
    """The bits of an f32 as a u32."""
    ...


@language(_as(F32), elementwise=True, home="libdevice")
def int_as_float(x: Tensor[i32]) -> Tensor[f32]:
    """The f32 that has the bits of an i32."""
    ...


@language(_as(F32), elementwise=True, home="libdevice")
def uint_as_float(x: Tensor[u32]) -> Tensor[f32]:
    """The f32 that has the bits of a u32."""
    ...


@language(_as(I64), elementwise=True, home="libdevice")
def double_as_longlong(x: Tensor[f64]) -> Tensor[i64]:
    """The bits of an f64 as an i64."""
    ...


@language(_as(F64), elementwise=True, home="libdevice")
def longlong_as_double(x: Tensor[i64]) -> Tensor[f64]:
    """The f64 that has the bits of an i64."""
    ...
