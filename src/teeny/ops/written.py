"""Rules on lanes written out as operations of the dialect: the CPU's for Triton, where it has no instruction, and
functions that only texts call.

A rule works on lanes; here a lane is a value of the IR, all of one shape. 8-bit floats travel as their bits (`i8`), as
on the CPU.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from teeny.ir.dtype import BOOL, LEAVES, DType
from teeny.ir.lanes import FloatPredicate, IntPredicate, Lane
from teeny.ir.schema import dtype_of, registry
from teeny.ir.types import Type, shape_of, typed
from teeny.ops.bitcast import reinterpret
from teeny.ops.constant import constant

if TYPE_CHECKING:
    from collections.abc import Callable

    from teeny.ir.builder import Builder
    from teeny.ir.core import Op, Value

__all__ = ["Lanes", "write", "written_out"]

_NAMES = {"i1": BOOL, **{d.mlir: d for d in LEAVES.values() if d.kind in ("signed", "float")}}


def written_out(b: Builder, op: Op, operands: tuple[Value, ...]) -> Value:
    """The result of `op` on other operands, in terms of its CPU rule."""
    result = op.results[0].type
    lanes = Lanes(b, shape_of(result))
    rule = cast("Any", op.schema.cpu)
    made = lanes.value(rule(lanes, op, *map(lanes.lane, operands)))
    return reinterpret(b, made, dtype_of(result)) if made.type is not result else made


def write(b: Builder, rule: Callable[..., Lane], operands: tuple[Value, ...]) -> Value:
    """The result of a rule on values of one shape, as operations."""
    lanes = Lanes(b, shape_of(operands[0].type))
    return lanes.value(rule(lanes, *map(lanes.lane, operands)))


class _Place:
    """All values stand in one block."""

    depth = 0
    open = True


class Lanes:
    """A `LaneBuilder` that appends operations to a block."""

    def __init__(self, b: Builder, shape: tuple[Any, ...]) -> None:
        self._b = b
        self._shape = shape
        self._values: dict[Lane, Value] = {}
        self._place = _Place()

    # Values

    def lane(self, value: Value) -> Lane:
        """A value as a lane; an 8-bit float as its bits."""
        dtype = dtype_of(value.type)
        if dtype.kind == "float8":
            value, dtype = reinterpret(self._b, value, LEAVES["i8"]), LEAVES["i8"]
        made = Lane("", dtype.mlir, 1, self._place)
        self._values[made] = value
        return made

    def value(self, lane: Lane) -> Value:
        """The value behind a lane; a constant that nothing has used yet is made now."""
        found = self._values.get(lane)
        if found is None:
            found = self._values[lane] = constant(self._b, self._type(lane.dtype), lane.const)
        return found

    def _type(self, dtype: str) -> Type:
        return typed(self._shape, _NAMES[dtype])

    def _make(self, name: str, *lanes: Lane, to: str | None = None, **attrs: Any) -> Lane:
        operands = [self.value(lane) for lane in lanes]
        type_ = None if to is None else self._type(to)
        return self.lane(self._b.create(registry()[name], *operands, type=type_, **attrs))

    def const(self, dtype: str, value: int | float | bool) -> Lane:
        return Lane("", dtype, 1, self._place, value)

    def type_of(self, lane: Lane, /) -> str:
        return lane.dtype

    # Floats

    def fadd(self, a: Lane, b: Lane, /) -> Lane:
        return self._make("arith.addf", a, b)

    def fsub(self, a: Lane, b: Lane, /) -> Lane:
        return self._make("arith.subf", a, b)

    def fmul(self, a: Lane, b: Lane, /) -> Lane:
        return self._make("arith.mulf", a, b)

    def fdiv(self, a: Lane, b: Lane, /) -> Lane:
        return self._make("tt.precise_divf" if a.dtype == "f32" else "arith.divf", a, b)

    def frem(self, a: Lane, b: Lane, /) -> Lane:
        return self._make("arith.remf", a, b)

    def fneg(self, a: Lane, /) -> Lane:
        return self._make("arith.negf", a)

    def fma(self, a: Lane, b: Lane, c: Lane, /) -> Lane:
        return self._make("math.fma", a, b, c)

    def fsqrt(self, a: Lane, /) -> Lane:
        return self._make("tt.precise_sqrt" if a.dtype == "f32" else "math.sqrt", a)

    def ffloor(self, a: Lane, /) -> Lane:
        return self._make("math.floor", a)

    def fceil(self, a: Lane, /) -> Lane:
        return self._make("math.ceil", a)

    def fabs(self, a: Lane, /) -> Lane:
        return self._make("math.absf", a)

    def fmaxnum(self, a: Lane, b: Lane, /) -> Lane:
        return self._make("arith.maxnumf", a, b)

    def fminnum(self, a: Lane, b: Lane, /) -> Lane:
        return self._make("arith.minnumf", a, b)

    def fmaximum(self, a: Lane, b: Lane, /) -> Lane:
        return self._make("arith.maximumf", a, b)

    def fminimum(self, a: Lane, b: Lane, /) -> Lane:
        return self._make("arith.minimumf", a, b)

    def ldexp(self, a: Lane, n: Lane, /) -> Lane:
        """Two products with powers of two: the first is exact for the sizes that the protocol allows."""
        integer, bias, mantissa = ("i64", 1023, 52) if a.dtype == "f64" else ("i32", 127, 23)
        whole = self._make("arith.fptosi", n, to=integer)
        half = self.ashr(whole, self.const(integer, 1))
        for part in (half, self.sub(whole, half)):
            bits = self.shl(self.add(part, self.const(integer, bias)), self.const(integer, mantissa))
            a = self.fmul(a, self.bitcast(bits, a.dtype))
        return a

    # Integers

    def add(self, a: Lane, b: Lane, /) -> Lane:
        return self._make("arith.addi", a, b)

    def sub(self, a: Lane, b: Lane, /) -> Lane:
        return self._make("arith.subi", a, b)

    def mul(self, a: Lane, b: Lane, /) -> Lane:
        return self._make("arith.muli", a, b)

    def mulhi_u(self, a: Lane, b: Lane, /) -> Lane:
        return self._make("tt.mulhiui", a, b)

    def sdiv(self, a: Lane, b: Lane, /) -> Lane:
        return self._make("arith.divsi", a, b)

    def udiv(self, a: Lane, b: Lane, /) -> Lane:
        return self._make("arith.divui", a, b)

    def srem(self, a: Lane, b: Lane, /) -> Lane:
        return self._make("arith.remsi", a, b)

    def urem(self, a: Lane, b: Lane, /) -> Lane:
        return self._make("arith.remui", a, b)

    def and_(self, a: Lane, b: Lane, /) -> Lane:
        return self._make("arith.andi", a, b)

    def or_(self, a: Lane, b: Lane, /) -> Lane:
        return self._make("arith.ori", a, b)

    def xor(self, a: Lane, b: Lane, /) -> Lane:
        return self._make("arith.xori", a, b)

    def shl(self, a: Lane, b: Lane, /) -> Lane:
        return self._make("arith.shli", a, b)

    def lshr(self, a: Lane, b: Lane, /) -> Lane:
        return self._make("arith.shrui", a, b)

    def ashr(self, a: Lane, b: Lane, /) -> Lane:
        return self._make("arith.shrsi", a, b)

    def smax(self, a: Lane, b: Lane, /) -> Lane:
        return self._make("arith.maxsi", a, b)

    def smin(self, a: Lane, b: Lane, /) -> Lane:
        return self._make("arith.minsi", a, b)

    def umax(self, a: Lane, b: Lane, /) -> Lane:
        return self._make("arith.maxui", a, b)

    def umin(self, a: Lane, b: Lane, /) -> Lane:
        return self._make("arith.minui", a, b)

    # Comparisons, choices, conversions

    def fcmp(self, pred: FloatPredicate, a: Lane, b: Lane, /) -> Lane:
        return self._make("arith.cmpf", a, b, predicate=pred)

    def icmp(self, pred: IntPredicate, a: Lane, b: Lane, /) -> Lane:
        return self._make("arith.cmpi", a, b, predicate=pred)

    def select(self, cond: Lane, a: Lane, b: Lane, /) -> Lane:
        return self._make("arith.select", cond, a, b)

    def _cast(self, name: str, a: Lane, dtype: str) -> Lane:
        return a if a.dtype == dtype else self._make(name, a, to=dtype)

    def trunc(self, a: Lane, dtype: str, /) -> Lane:
        return self._cast("arith.trunci", a, dtype)

    def sext(self, a: Lane, dtype: str, /) -> Lane:
        return self._cast("arith.extsi", a, dtype)

    def zext(self, a: Lane, dtype: str, /) -> Lane:
        return self._cast("arith.extui", a, dtype)

    def fptosi(self, a: Lane, dtype: str, /) -> Lane:
        return self._make("arith.fptosi", a, to=dtype)

    def fptoui(self, a: Lane, dtype: str, /) -> Lane:
        return self._make("arith.fptoui", a, to=dtype)

    def sitofp(self, a: Lane, dtype: str, /) -> Lane:
        return self._make("arith.sitofp", a, to=dtype)

    def uitofp(self, a: Lane, dtype: str, /) -> Lane:
        return self._make("arith.uitofp", a, to=dtype)

    def fpext(self, a: Lane, dtype: str, /) -> Lane:
        return self._cast("arith.extf", a, dtype)

    def fptrunc(self, a: Lane, dtype: str, /) -> Lane:
        return self._cast("arith.truncf", a, dtype)

    def bitcast(self, a: Lane, dtype: str, /) -> Lane:
        return a if a.dtype == dtype else self.lane(reinterpret(self._b, self.value(a), _element(dtype)))


def _element(dtype: str) -> DType:
    return _NAMES[dtype]
