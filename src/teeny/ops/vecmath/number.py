"""Lanes with Python's operators, and the building blocks of the elementary functions.

Every step is a single correctly rounded operation, fused multiply-adds included, so that no result depends on the
vector width or the instruction set.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from teeny.ir.lanes import Lane, LaneBuilder

__all__ = ["Number", "both", "choose", "clamp", "fast_two_sum", "fma", "polynomial", "two_product"]


@dataclass(frozen=True, slots=True)
class Number:
    """A lane of floats or integers. Literals take its dtype. Integers wrap and are compared without a sign."""

    b: LaneBuilder
    lane: Lane

    @property
    def dtype(self) -> str:
        return self.b.type_of(self.lane)

    @property
    def is_float(self) -> bool:
        return self.dtype[0] == "f"

    def like(self, value: Number | float) -> Lane:
        """Another number's lane, or a literal as a lane of this dtype."""
        return value.lane if isinstance(value, Number) else self.b.const(self.dtype, value)

    def constant(self, value: float) -> Number:
        """A literal of this dtype."""
        return Number(self.b, self.b.const(self.dtype, value))

    def __add__(self, other: Number | float) -> Number:
        return Number(self.b, (self.b.fadd if self.is_float else self.b.add)(self.lane, self.like(other)))

    def __sub__(self, other: Number | float) -> Number:
        return Number(self.b, (self.b.fsub if self.is_float else self.b.sub)(self.lane, self.like(other)))

    def __rsub__(self, other: float) -> Number:
        return self.constant(other) - self

    def __mul__(self, other: Number | float) -> Number:
        return Number(self.b, (self.b.fmul if self.is_float else self.b.mul)(self.lane, self.like(other)))

    def __truediv__(self, other: Number | float) -> Number:
        return Number(self.b, self.b.fdiv(self.lane, self.like(other)))

    def __rtruediv__(self, other: float) -> Number:
        return self.constant(other) / self

    def __neg__(self) -> Number:
        return Number(self.b, self.b.fneg(self.lane))

    def __abs__(self) -> Number:
        return Number(self.b, self.b.fabs(self.lane))

    def __and__(self, other: Number | int) -> Number:
        return Number(self.b, self.b.and_(self.lane, self.like(other)))

    def __or__(self, other: Number | int) -> Number:
        return Number(self.b, self.b.or_(self.lane, self.like(other)))

    def __xor__(self, other: Number | int) -> Number:
        return Number(self.b, self.b.xor(self.lane, self.like(other)))

    def __lshift__(self, other: Number | int) -> Number:
        return Number(self.b, self.b.shl(self.lane, self.like(other)))

    def __rshift__(self, other: Number | int) -> Number:
        """Zeros enter."""
        return Number(self.b, self.b.lshr(self.lane, self.like(other)))

    def __lt__(self, other: Number | float) -> Number:
        return self._compare("lt", other)

    def __gt__(self, other: Number | float) -> Number:
        return self._compare("gt", other)

    def _compare(self, name: str, other: Number | float) -> Number:
        b, x, y = self.b, self.lane, self.like(other)
        if self.is_float:
            return Number(b, b.fcmp("olt" if name == "lt" else "ogt", x, y))
        return Number(b, b.icmp("ult" if name == "lt" else "ugt", x, y))

    def equals(self, other: Number | float) -> Number:
        b, x, y = self.b, self.lane, self.like(other)
        return Number(b, b.fcmp("oeq", x, y) if self.is_float else b.icmp("eq", x, y))

    @property
    def is_nan(self) -> Number:
        return Number(self.b, self.b.fcmp("uno", self.lane, self.lane))

    def floor(self) -> Number:
        return Number(self.b, self.b.ffloor(self.lane))

    def to(self, dtype: str) -> Number:
        """A float rounded or extended to another format; a signed integer to a float."""
        b, source = self.b, self.dtype
        if source[0] == "i":
            return Number(b, b.sitofp(self.lane, dtype))
        wider = int(dtype[1:]) > int(source[1:])
        return Number(b, b.fpext(self.lane, dtype) if wider else b.fptrunc(self.lane, dtype))

    def bits(self) -> Number:
        """A float's bits as an integer."""
        return Number(self.b, self.b.bitcast(self.lane, "i" + self.dtype[1:]))

    def from_bits(self) -> Number:
        """The float that an integer holds the bits of."""
        return Number(self.b, self.b.bitcast(self.lane, "f" + self.dtype[1:]))

    def low(self) -> Number:
        """The low half of an i64."""
        return Number(self.b, self.b.trunc(self.lane, "i32"))

    def widened(self) -> Number:
        """An i32 read without a sign, as i64."""
        return Number(self.b, self.b.zext(self.lane, "i64"))


def fma(x: Number, y: Number | float, z: Number | float) -> Number:
    """x * y + z, rounded once."""
    return Number(x.b, x.b.fma(x.lane, x.like(y), x.like(z)))


def choose(condition: Number, x: Number, y: Number | float) -> Number:
    """x where the condition holds, else y."""
    return Number(x.b, x.b.select(condition.lane, x.lane, x.like(y)))


def both(x: Number, y: Number) -> Number:
    """Whether two conditions hold."""
    return Number(x.b, x.b.and_(x.lane, y.lane))


def polynomial(x: Number, coefficients: Sequence[float]) -> Number:
    """Horner's scheme; coefficients from the constant on."""
    result = x.constant(coefficients[-1])
    for coefficient in reversed(coefficients[:-1]):
        result = fma(result, x, coefficient)
    return result


def clamp(x: Number, limits: tuple[float, float]) -> Number:
    """`x` within the limits; a NaN stays."""
    low, high = map(x.constant, limits)
    x = choose(x < low, low, x)
    return choose(x > high, high, x)


def fast_two_sum(x: Number, y: Number) -> tuple[Number, Number]:
    """x + y as the rounded sum and its error, for |x| >= |y| or x = 0 (T. J. Dekker, 1971)."""
    total = x + y
    return total, (x - total) + y


def two_product(x: Number, y: Number) -> tuple[Number, Number]:
    """x * y as the rounded product and its error."""
    product = x * y
    return product, fma(x, y, -product)
