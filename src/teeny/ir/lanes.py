"""The builder protocol against which CPU rules of operations are written.

A rule gets a `LaneBuilder` and `Lane` values and returns a `Lane`. A lane value is a scalar or a vector of one element
type. Every method works elementwise and takes scalars and vectors alike: a scalar beside a vector is broadcast, so
a constant or a uniform value needs no splat. All vectors of one expression have the same width. Methods have no side
effect: equal calls may share one instruction, and a call may be hoisted out of a loop.

dtype names: i1 i8 i16 i32 i64 f16 bf16 f32 f64 ptr. Integers have no sign; the method carries it.

Arithmetic on f16 and bf16 is allowed everywhere: it is rounded to the type after each method, once. No method traps.
Results do not depend on the width, nor on the instruction set that the code is compiled for.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol

__all__ = ["FloatPredicate", "IntPredicate", "Lane", "LaneBuilder", "Scope"]

IntPredicate = Literal["eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge"]
FloatPredicate = Literal[
    "oeq", "ogt", "oge", "olt", "ole", "one", "ord", "ueq", "ugt", "uge", "ult", "ule", "une", "uno"
]


class Scope(Protocol):
    """The place where a value lives: a loop's body, a branch, or the function."""

    @property
    def depth(self) -> int:
        """The number of scopes around it; 0 for the function."""
        ...

    @property
    def open(self) -> bool:
        """False once its loop or branch has ended; its values cannot be used then."""
        ...


@dataclass(slots=True, eq=False)
class Lane:
    """A value inside code that is being built.

    Rules read `dtype` (a name), `width` (1 for a scalar) and `const` (the value of a constant, else None); the rest
    belongs to the builder that made it. Compared by identity.
    """

    text: str
    dtype: str
    width: int
    scope: Scope
    const: int | float | None = None


class LaneBuilder(Protocol):
    """Elementwise code on lanes. Shapes follow by broadcasting a scalar operand to the width of the other."""

    def const(self, dtype: str, value: int | float | bool) -> Lane:
        """A constant; integers are taken modulo the width of the type, floats are rounded to it."""
        ...

    def type_of(self, lane: Lane, /) -> str:
        """The dtype name of a lane."""
        ...

    # Floating point. Nothing is fused, reassociated or flushed.
    def fadd(self, a: Lane, b: Lane, /) -> Lane: ...
    def fsub(self, a: Lane, b: Lane, /) -> Lane: ...
    def fmul(self, a: Lane, b: Lane, /) -> Lane: ...
    def fdiv(self, a: Lane, b: Lane, /) -> Lane: ...

    def frem(self, a: Lane, b: Lane, /) -> Lane:
        """C's fmod: the sign of the dividend, exact. Slow."""
        ...

    def fneg(self, a: Lane, /) -> Lane: ...

    def fma(self, a: Lane, b: Lane, c: Lane, /) -> Lane:
        """a*b + c with one rounding, everywhere (in software where the machine has no such instruction)."""
        ...

    def fsqrt(self, a: Lane, /) -> Lane: ...
    def ffloor(self, a: Lane, /) -> Lane: ...
    def fceil(self, a: Lane, /) -> Lane: ...
    def fabs(self, a: Lane, /) -> Lane: ...

    def fmaxnum(self, a: Lane, b: Lane, /) -> Lane:
        """The larger; a NaN loses against a number. The sign of a zero result is unspecified."""
        ...

    def fminnum(self, a: Lane, b: Lane, /) -> Lane:
        """The smaller; a NaN loses against a number. The sign of a zero result is unspecified."""
        ...

    def fmaximum(self, a: Lane, b: Lane, /) -> Lane:
        """The larger; NaN if either is. The sign of a zero result is unspecified."""
        ...

    def fminimum(self, a: Lane, b: Lane, /) -> Lane:
        """The smaller; NaN if either is. The sign of a zero result is unspecified."""
        ...

    def ldexp(self, a: Lane, n: Lane, /) -> Lane:
        """a * 2**n with one rounding, for f32 and f64; `n` is a float lane of `a`'s type holding whole numbers.

        |a| must lie in [1/2, 4) or be NaN, and n in [-250, 250] for f32 or [-2000, 2000] for f64.
        """
        ...

    # Integers wrap.
    def add(self, a: Lane, b: Lane, /) -> Lane: ...
    def sub(self, a: Lane, b: Lane, /) -> Lane: ...
    def mul(self, a: Lane, b: Lane, /) -> Lane: ...

    def mulhi_u(self, a: Lane, b: Lane, /) -> Lane:
        """The high half of the unsigned product."""
        ...

    def sdiv(self, a: Lane, b: Lane, /) -> Lane:
        """Truncating quotient; MIN / -1 is MIN, x / 0 is x (callers must not rely on the latter)."""
        ...

    def udiv(self, a: Lane, b: Lane, /) -> Lane:
        """Unsigned quotient; x / 0 is x (callers must not rely on it)."""
        ...

    def srem(self, a: Lane, b: Lane, /) -> Lane:
        """Remainder of the truncating quotient; MIN % -1 and x % 0 are 0 (callers must not rely on the latter)."""
        ...

    def urem(self, a: Lane, b: Lane, /) -> Lane:
        """Unsigned remainder; x % 0 is 0 (callers must not rely on it)."""
        ...

    def and_(self, a: Lane, b: Lane, /) -> Lane: ...
    def or_(self, a: Lane, b: Lane, /) -> Lane: ...
    def xor(self, a: Lane, b: Lane, /) -> Lane: ...

    def shl(self, a: Lane, b: Lane, /) -> Lane:
        """Shift left; 0 where the amount, taken as unsigned, is the width or more."""
        ...

    def lshr(self, a: Lane, b: Lane, /) -> Lane:
        """Shift right, zeros enter; 0 where the amount, taken as unsigned, is the width or more."""
        ...

    def ashr(self, a: Lane, b: Lane, /) -> Lane:
        """Shift right, the sign enters; all sign where the amount, taken as unsigned, is the width or more."""
        ...

    def smax(self, a: Lane, b: Lane, /) -> Lane: ...
    def smin(self, a: Lane, b: Lane, /) -> Lane: ...
    def umax(self, a: Lane, b: Lane, /) -> Lane: ...
    def umin(self, a: Lane, b: Lane, /) -> Lane: ...

    # Comparisons give i1.
    def fcmp(self, pred: FloatPredicate, a: Lane, b: Lane, /) -> Lane: ...
    def icmp(self, pred: IntPredicate, a: Lane, b: Lane, /) -> Lane: ...

    def select(self, cond: Lane, a: Lane, b: Lane, /) -> Lane:
        """a where cond, else b; both arms are evaluated."""
        ...

    # Conversions; `dtype` is the type to convert to.
    def trunc(self, a: Lane, dtype: str, /) -> Lane: ...
    def sext(self, a: Lane, dtype: str, /) -> Lane: ...
    def zext(self, a: Lane, dtype: str, /) -> Lane: ...

    def fptosi(self, a: Lane, dtype: str, /) -> Lane:
        """Truncate towards zero to a signed integer; saturates, NaN gives 0."""
        ...

    def fptoui(self, a: Lane, dtype: str, /) -> Lane:
        """Truncate towards zero to an unsigned integer; saturates, NaN gives 0."""
        ...

    def sitofp(self, a: Lane, dtype: str, /) -> Lane:
        """Signed integer to float, to nearest even; to f16 and bf16 through f32."""
        ...

    def uitofp(self, a: Lane, dtype: str, /) -> Lane:
        """Unsigned integer to float, to nearest even; to f16 and bf16 through f32."""
        ...

    def fpext(self, a: Lane, dtype: str, /) -> Lane:
        """To a wider float, exactly."""
        ...

    def fptrunc(self, a: Lane, dtype: str, /) -> Lane:
        """To a narrower float with one rounding to nearest even; subnormal results are kept."""
        ...

    def bitcast(self, a: Lane, dtype: str, /) -> Lane:
        """The same bits as another type of the same size."""
        ...
