"""Dtypes as the language writes them: classes, so that one name serves as a type argument and as a value.

`Dtype` > `Num` > `Int` (`Signed`, `Unsigned`), `Float`; `Dtype` > `Bool`, `Float8`; `Bits` is `Int` and `Bool`. Each
leaf carries the compiler's `DType` as `ir`. Names follow Triton too: `float32` is `f32`, `float8e4nv` is `f8e4m3`.
"""

from __future__ import annotations

from teeny.ir.dtype import LEAVES
from teeny.language.asked import Asked


class Dtype(Asked):
    """Any dtype."""


class Bits(Dtype):
    """Dtypes with bit operations: integers and bool."""


class Num(Dtype):
    """Dtypes with arithmetic: integers and floats."""


class Int(Num, Bits):
    """Integers."""


class Signed(Int):
    """Signed integers."""


class Unsigned(Int):
    """Unsigned integers."""


class Float(Num):
    """f16, bf16, f32, f64."""


class Float8(Dtype):
    """8-bit floats: they are loaded, stored, moved, chosen, converted and multiplied by `dot`, nothing else."""


class Bool(Bits):
    """The bound of bool."""


class bool_(Bool):
    ir = LEAVES["bool"]


class i8(Signed):
    ir = LEAVES["i8"]


class i16(Signed):
    ir = LEAVES["i16"]


class i32(Signed):
    ir = LEAVES["i32"]


class i64(Signed):
    ir = LEAVES["i64"]


class u8(Unsigned):
    ir = LEAVES["u8"]


class u16(Unsigned):
    ir = LEAVES["u16"]


class u32(Unsigned):
    ir = LEAVES["u32"]


class u64(Unsigned):
    ir = LEAVES["u64"]


class f16(Float):
    ir = LEAVES["f16"]


class bf16(Float):
    ir = LEAVES["bf16"]


class f32(Float):
    ir = LEAVES["f32"]


class f64(Float):
    ir = LEAVES["f64"]


class f8e4m3(Float8):
    """4 bits of exponent, 3 of mantissa; no infinity, largest number 448."""

    ir = LEAVES["f8e4m3"]


class f8e5m2(Float8):
    """5 bits of exponent, 2 of mantissa; infinities, largest number 57344."""

    ir = LEAVES["f8e5m2"]


class f8e4m3fnuz(Float8):
    """As f8e4m3 with one NaN and no negative zero, and half the numbers' size: AMD's gfx942. Largest number 240."""

    ir = LEAVES["f8e4m3fnuz"]


class f8e5m2fnuz(Float8):
    """As f8e5m2 with one NaN, no infinity and no negative zero: AMD's gfx942. Largest number 57344."""

    ir = LEAVES["f8e5m2fnuz"]


# one a line: type checkers take these alone for other names of the classes
int1 = bool_
int8 = i8
int16 = i16
int32 = i32
int64 = i64
uint8 = u8
uint16 = u16
uint32 = u32
uint64 = u64
float16 = f16
bfloat16 = bf16
float32 = f32
float64 = f64
float8e4nv = f8e4m3
float8e5 = f8e5m2
float8e4b8 = f8e4m3fnuz
float8e5b16 = f8e5m2fnuz

__all__ = [
    "Bits",
    "Bool",
    "Dtype",
    "Float",
    "Float8",
    "Int",
    "Num",
    "Signed",
    "Unsigned",
    "bf16",
    "bfloat16",
    "bool_",
    "f8e4m3",
    "f8e4m3fnuz",
    "f8e5m2",
    "f8e5m2fnuz",
    "f16",
    "f32",
    "f64",
    "float8e4b8",
    "float8e4nv",
    "float8e5",
    "float8e5b16",
    "float16",
    "float32",
    "float64",
    "i8",
    "i16",
    "i32",
    "i64",
    "int1",
    "int8",
    "int16",
    "int32",
    "int64",
    "u8",
    "u16",
    "u32",
    "u64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
]
