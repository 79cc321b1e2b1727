"""Types and constants as LLVM writes them.

f16 and bf16 values travel as i16: their arithmetic is done in f32 by code that the builder writes, so LLVM never sees a
half type but at a conversion instruction, and no support library is called.
"""

from __future__ import annotations

import functools
import math
import struct

__all__ = ["BITS", "BYTES", "FLOATS", "float_bits", "llvm_type", "rounded", "scalar_text", "vector_text", "wrap"]

BITS = {"i1": 1, "i8": 8, "i16": 16, "i32": 32, "i64": 64, "f16": 16, "bf16": 16, "f32": 32, "f64": 64, "ptr": 64}
BYTES = {name: max(1, bits // 8) for name, bits in BITS.items()}
FLOATS = frozenset({"f16", "bf16", "f32", "f64"})
_SCALARS = {"f16": "i16", "bf16": "i16", "f32": "float", "f64": "double"}


@functools.cache
def llvm_type(dtype: str, width: int) -> str:
    """The LLVM type of `width` lanes; a plain scalar for one."""
    scalar = _SCALARS.get(dtype, dtype)
    return scalar if width == 1 else f"<{width} x {scalar}>"


def wrap(dtype: str, value: int) -> int:
    """`value` modulo the width of an integer type, as a signed number (i1: 0 or 1)."""
    bits = BITS[dtype]
    value &= (1 << bits) - 1
    return value - (1 << bits) if bits > 1 and value >> (bits - 1) else value


def float_bits(dtype: str, value: float) -> int:
    """The bit pattern of `value` rounded to a float type, to nearest even; NaN is the positive quiet one."""
    if value != value:
        return {"f16": 0x7E00, "bf16": 0x7FC0, "f32": 0x7FC00000, "f64": 0x7FF8000000000000}[dtype]
    if dtype == "f64":
        return struct.unpack("<Q", struct.pack("<d", value))[0]
    sign, magnitude = (1 if struct.pack(">d", value)[0] & 0x80 else 0), abs(value)
    significand, lowest, exponent_bits = {"f16": (11, -14, 5), "bf16": (8, -126, 8), "f32": (24, -126, 8)}[dtype]
    bits = _round(magnitude, significand, lowest, exponent_bits)
    return bits | sign << (BITS[dtype] - 1)


def rounded(dtype: str, value: float) -> float:
    """`value` rounded to a float type."""
    if dtype == "f64" or value != value or value == 0:
        return value
    bits = float_bits(dtype, value)
    if dtype == "f16":
        return float(struct.unpack("<e", struct.pack("<H", bits))[0])
    return float(struct.unpack("<f", struct.pack("<I", bits << 16 if dtype == "bf16" else bits))[0])


def _round(magnitude: float, significand: int, lowest: int, exponent_bits: int) -> int:
    """Bits of a non-negative number in a binary format of that precision and lowest normal exponent."""
    infinity = ((1 << exponent_bits) - 1) << (significand - 1)
    if magnitude == 0:
        return 0
    if magnitude == math.inf:
        return infinity
    exponent = max(math.frexp(magnitude)[1] - 1, lowest)
    # Exact: a quotient by a power of two of at most 53 significant bits (round() goes to even).
    steps = round(math.ldexp(magnitude, significand - 1 - exponent))
    # A carry out of the significand moves on into the exponent field by itself.
    return min(steps + ((exponent - lowest) << (significand - 1)), infinity)


@functools.lru_cache(maxsize=4096)
def _float_text(dtype: str, value: float, sign: bool) -> str:
    del sign  # Part of the key: 0.0 and -0.0 are equal.
    if dtype == "f64":
        return f"0x{float_bits('f64', value):016X}"
    bits = float_bits(dtype, value)
    if dtype != "f32":
        return str(bits)
    if value != value:
        return "0x7FF8000000000000"
    # LLVM writes a float as the double of the same value.
    return f"0x{float_bits('f64', struct.unpack('<f', struct.pack('<I', bits))[0]):016X}"


def scalar_text(dtype: str, value: int | float) -> str:
    """A scalar constant without its type."""
    if dtype in FLOATS:
        number = float(value)
        return _float_text(dtype, number if number == number else float("nan"), str(number)[0] == "-")
    if dtype == "i1":
        return "true" if value else "false"
    if dtype == "ptr":
        return f"inttoptr (i64 {int(value)} to ptr)" if value else "null"
    return str(int(value))


def vector_text(dtype: str, value: int | float) -> str:
    """The same constant in all lanes, without its type."""
    if dtype in FLOATS:
        if value == 0 and str(value)[0] != "-":
            return "zeroinitializer"
    elif value == 0:
        return "zeroinitializer"
    return f"splat ({llvm_type(dtype, 1)} {scalar_text(dtype, value)})"
