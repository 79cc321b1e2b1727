"""8-bit floats as bits: how each format is read and written, in steps on integers and f32 that every executor has.

A conversion to an 8-bit float rounds once, to nearest even, and saturates: what is beyond the largest number becomes
that number, infinities too (as NVIDIA's `cvt.rn.satfinite` does). Rounding toward zero keeps the infinities of f8e5m2.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from teeny.ir.lanes import Lane, LaneBuilder

__all__ = ["FORMATS", "Format8", "as_bf16", "bits_of", "decode", "encode"]


@dataclass(frozen=True, slots=True)
class Format8:
    """An 8-bit float format. `largest`, `nan`, `infinity`: bits without the sign; `nan` of 0x80 is all of them."""

    mantissa: int
    bias: int
    largest: int
    nan: int
    infinity: int | None = None

    @property
    def one_zero(self) -> bool:
        """Whether the bits of -0.0 are the NaN."""
        return self.nan == 0x80

    @property
    def smallest_normal(self) -> int:
        """The bits of the smallest normal number as f32."""
        return (128 - self.bias) << 23

    @property
    def limit(self) -> int:
        """The bits of the largest number as f32."""
        return (self.largest << (23 - self.mantissa)) + ((127 - self.bias) << 23)


FORMATS: dict[str, Format8] = {
    "f8e4m3": Format8(3, 7, 0x7E, 0x7F),
    "f8e5m2": Format8(2, 15, 0x7B, 0x7F, 0x7C),
    "f8e4m3fnuz": Format8(3, 8, 0x7F, 0x80),
    "f8e5m2fnuz": Format8(2, 16, 0x7F, 0x80),
}
"""Open Compute Project, "OCP 8-bit Floating Point Specification (OFP8)", 2023; the others are of B. Noune et al.,
"8-bit Numerical Formats for Deep Neural Networks", 2022."""

_MAGNITUDE = 0x7FFFFFFF
_INFINITY = 0x7F800000


def decode(b: LaneBuilder, x: Lane, name: str) -> Lane:
    """An i8 lane that holds the bits of format `name` as f32, exactly.

    No step has a subnormal operand, which machines are slow with: a subnormal number is read as if it were normal, with
    a one before its mantissa, which is taken away afterwards.
    """
    form = FORMATS[name]
    wide = b.zext(x, "i32")
    size = b.and_(wide, b.const("i32", 0x7F))
    sign = b.shl(b.and_(wide, b.const("i32", 0x80)), b.const("i32", 24))
    moved = b.shl(size, b.const("i32", 23 - form.mantissa))
    tiny = b.icmp("ult", size, b.const("i32", 1 << form.mantissa))
    bias, least = (127 - form.bias) << 23, (128 - form.bias) << 23
    bits = b.add(moved, b.select(tiny, b.const("i32", least), b.const("i32", bias)))
    extra = b.select(tiny, b.const("f32", 2.0 ** (1 - form.bias)), b.const("f32", 0.0))
    value = b.bitcast(b.fsub(b.bitcast(bits, "f32"), extra), "i32")
    if form.infinity is not None:  # bits of f32 that have its largest exponent, with the mantissa of infinity or NaN
        special = b.or_(moved, b.const("i32", _INFINITY))
        value = b.select(b.icmp("uge", size, b.const("i32", form.infinity)), special, value)
    else:
        is_nan = b.icmp("eq", wide if form.one_zero else size, b.const("i32", form.nan))
        value = b.select(is_nan, b.const("i32", 0x7FC00000), value)
    return b.bitcast(b.or_(value, sign), "f32")


def as_bf16(b: LaneBuilder, x: Lane) -> Lane:
    """f32 numbers that bf16 has, as bf16: what is cut off is 0."""
    return b.bitcast(b.trunc(b.lshr(b.bitcast(x, "i32"), b.const("i32", 16)), "i16"), "bf16")


def encode(b: LaneBuilder, x: Lane, name: str, rounding: str) -> Lane:
    """A float lane as the bits of format `name`, an i8; `rounding` is "rtne" or "rtz"."""
    form = FORMATS[name]
    bits = b.bitcast(_as_f32(b, x), "i32")
    size = b.and_(bits, b.const("i32", _MAGNITUDE))
    sign = b.and_(b.lshr(bits, b.const("i32", 24)), b.const("i32", 0x80))
    held = b.umin(size, b.const("i32", form.limit))
    small = b.icmp("ult", held, b.const("i32", form.smallest_normal))
    nearest = rounding == "rtne"
    code = b.select(small, (_subnormal if nearest else _cut)(b, held, form), _normal(b, held, form, nearest))
    if form.infinity is not None and not nearest:
        infinite = b.icmp("eq", size, b.const("i32", _INFINITY))
        code = b.select(infinite, b.const("i32", form.infinity), code)
    if form.one_zero:
        sign = b.select(b.icmp("eq", code, b.const("i32", 0)), b.const("i32", 0), sign)
    code = b.or_(code, sign)
    is_nan = b.icmp("ugt", size, b.const("i32", _INFINITY))
    return b.trunc(b.select(is_nan, b.const("i32", form.nan), code), "i8")


def _as_f32(b: LaneBuilder, x: Lane) -> Lane:
    """A float as f32: exact, or for f64 the neighbour whose last bit is odd, which a second rounding sets right."""
    dtype = b.type_of(x)
    if dtype == "f32":
        return x
    if dtype != "f64":
        return b.fpext(x, "f32")
    near = b.fptrunc(x, "f32")
    back = b.fpext(near, "f64")
    bits = b.bitcast(near, "i32")
    above = b.fcmp("ogt", b.fabs(x), b.fabs(back))
    step = b.select(above, b.const("i32", 1), b.const("i32", -1))
    even = b.icmp("eq", b.and_(bits, b.const("i32", 1)), b.const("i32", 0))
    off = b.and_(even, b.fcmp("one", back, x))
    return b.bitcast(b.select(off, b.add(bits, step), bits), "f32")


def _normal(b: LaneBuilder, size: Lane, form: Format8, nearest: bool) -> Lane:
    """Move the exponent, and round at the lowest bit that stays; a carry moves on into the exponent by itself."""
    shift = 23 - form.mantissa
    moved = b.sub(size, b.const("i32", (127 - form.bias) << 23))
    if nearest:
        odd = b.and_(b.lshr(size, b.const("i32", shift)), b.const("i32", 1))
        moved = b.add(b.add(moved, b.const("i32", (1 << (shift - 1)) - 1)), odd)
    return b.lshr(moved, b.const("i32", shift))


def _subnormal(b: LaneBuilder, size: Lane, form: Format8) -> Lane:
    """A sum with a number whose last bit weighs as much as the last bit of the result: the machine rounds."""
    exponent = 1 - form.bias - form.mantissa + 23
    total = b.fadd(b.bitcast(size, "f32"), b.const("f32", 2.0**exponent))
    return b.sub(b.bitcast(total, "i32"), b.const("i32", (127 + exponent) << 23))


def _cut(b: LaneBuilder, size: Lane, form: Format8) -> Lane:
    """A subnormal result rounded toward zero."""
    scaled = b.fmul(b.bitcast(size, "f32"), b.const("f32", 2.0 ** (form.bias - 1 + form.mantissa)))
    return b.fptosi(scaled, "i32")


def bits_of(value: float, name: str) -> int:
    """The bits of a number in format `name`: rounded to nearest even, saturated."""
    form = FORMATS[name]
    if math.isnan(value):
        return form.nan
    if math.isinf(value) and form.infinity is not None:
        return form.infinity | (0x80 if value < 0 else 0)
    negative = math.copysign(1.0, value) < 0
    size = min(abs(value), _largest(form))
    exponent = max(math.frexp(size)[1] - 1, 1 - form.bias) if size else 1 - form.bias
    steps = round(math.ldexp(size, form.mantissa - exponent))  # Python rounds halves to even
    code = steps + ((exponent - 1 + form.bias) << form.mantissa)
    return code | (0x80 if negative and (code or not form.one_zero) else 0)


def _largest(form: Format8) -> float:
    significand = (form.largest & ((1 << form.mantissa) - 1)) | (1 << form.mantissa)
    return math.ldexp(significand, (form.largest >> form.mantissa) - form.bias - form.mantissa)
