"""The two float formats in which elementary functions compute; f16 and bf16 compute in f32 and round once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from teeny.ir.lanes import Lane, LaneBuilder
from teeny.ops.vecmath.number import Number

__all__ = ["F32", "F64", "Format", "format_of", "in_f64", "rule"]


@dataclass(frozen=True, slots=True)
class Format:
    """Constants of one float type. `round` added and subtracted rounds to a whole number."""

    integer: str
    mantissa: int
    bias: int
    smallest_normal: float
    round: float
    tiny: float
    """Where x is smaller than this, x + x**2 rounds to x."""
    ln2_high: float
    ln2_low: float
    log2e_high: float
    log2e_low: float

    @property
    def sign(self) -> int:
        """The bit of the sign."""
        return 1 << (self.mantissa + (8 if self.mantissa == 23 else 11))


F32 = Format(
    integer="i32",
    mantissa=23,
    bias=127,
    smallest_normal=2.0**-126,
    round=1.5 * 2.0**23,
    tiny=2.0**-25,
    ln2_high=0.6931471824645996,
    ln2_low=-1.904654299957768e-09,
    log2e_high=1.4426950216293335,
    log2e_low=1.9259629911266175e-08,
)
F64 = Format(
    integer="i64",
    mantissa=52,
    bias=1023,
    smallest_normal=2.0**-1022,
    round=1.5 * 2.0**52,
    tiny=2.0**-54,
    ln2_high=0.6931471805599453,
    ln2_low=2.3190468138462996e-17,
    log2e_high=1.4426950408889634,
    log2e_low=2.0355273740931033e-17,
)


def format_of(x: Number) -> Format:
    """The format of an f32 or f64."""
    return F64 if x.dtype == "f64" else F32


def in_f64(function: Callable[..., Number]) -> Callable[..., Number]:
    """A function of f64 numbers, of f32 ones by way of f64: the result is rounded from far more bits."""

    def made(*numbers: Number) -> Number:
        if numbers[0].dtype == "f64":
            return function(*numbers)
        return function(*(number.to("f64") for number in numbers)).to("f32")

    return made


def rule(function: Callable[..., Number], b: LaneBuilder, *lanes: Lane) -> Lane:
    """A function of f32 or f64 numbers on lanes of any float dtype: 16-bit ones compute in f32 and round once."""
    dtype = b.type_of(lanes[0])
    if dtype in ("f32", "f64"):
        return function(*(Number(b, lane) for lane in lanes)).lane
    wide = function(*(Number(b, b.fpext(lane, "f32")) for lane in lanes))
    return b.fptrunc(wide.lane, dtype)
