"""Dtypes as the language writes them: classes, so that one name serves as a type argument and as a value.

`Dtype` > `Num` > `Int` (`Signed`, `Unsigned`), `Float`; `Dtype` > `Bool`; `Bits` is `Int` and `Bool`. Each leaf
carries the compiler's `DType` as `ir`. Names follow Triton too: `float32` is `f32`.
"""

from __future__ import annotations

from typing import ClassVar

from teeny.ir.dtype import LEAVES, DType


class Dtype:
    """Any dtype."""

    ir: ClassVar[DType]


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


int1 = bool_
int8, int16, int32, int64 = i8, i16, i32, i64
uint8, uint16, uint32, uint64 = u8, u16, u32, u64
float16, bfloat16, float32, float64 = f16, bf16, f32, f64

__all__ = [
    "Bits",
    "Bool",
    "Dtype",
    "Float",
    "Int",
    "Num",
    "Signed",
    "Unsigned",
    "bf16",
    "bfloat16",
    "bool_",
    "f16",
    "f32",
    "f64",
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
