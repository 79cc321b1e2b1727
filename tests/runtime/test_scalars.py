"""Scalar arguments: what each dtype takes, how it is rounded, and the bits in the slot."""

from __future__ import annotations

import math
import struct
from enum import IntEnum
from fractions import Fraction
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from teeny.runtime.scalars import NotAScalarError, convert, pack, slot

SIZES = {"bool": 1, "f16": 2, "bf16": 2, "f32": 4, "f64": 8} | {
    f"{s}{b}": b // 8 for s in "iu" for b in (8, 16, 32, 64)
}


def refused(value: Any, dtype: str) -> NotAScalarError:
    with pytest.raises(NotAScalarError) as caught:
        convert(value, dtype)
    return caught.value


def low_bytes(value: Any, dtype: str) -> bytes:
    return struct.pack("<q", pack(value, dtype))[: SIZES[dtype]]


@pytest.mark.parametrize("sign", "iu")
@pytest.mark.parametrize("bits", [8, 16, 32, 64])
def test_integers_in_range(sign: str, bits: int) -> None:
    dtype = f"{sign}{bits}"
    low, high = (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if sign == "i" else (0, 2**bits - 1)
    for value in (low, 0, 1, high):
        assert convert(value, dtype) == value
        assert low_bytes(value, dtype) == value.to_bytes(bits // 8, "little", signed=sign == "i")
    for value in (low - 1, high + 1):
        error = refused(value, dtype)
        assert error.out_of_range
        assert error.found == f"{value} (int)"
        assert error.needed == f"an int in [{low}, {high}] for {dtype}"


def test_slots_are_extended() -> None:
    assert pack(-5, "i32") == -5
    assert pack(2**64 - 1, "u64") == -1
    assert pack(2**32 - 1, "u32") == 2**32 - 1
    assert pack(True, "bool") == 1
    assert pack(-1.5, "f32") == 0xBFC00000
    assert pack(-2.0, "f64") == -(1 << 62)


@pytest.mark.parametrize("kind", [np.int8, np.uint16, np.int64, np.uint64])
def test_numpy_ints(kind: Any) -> None:
    assert convert(kind(7), "i32") == 7
    assert type(convert(kind(7), "i32")) is int
    assert convert(kind(7), "f32") == 7.0


def test_ints_by_another_name() -> None:
    class Mode(IntEnum):
        FAST = 3

    assert convert(Mode.FAST, "u8") == 3


def test_integer_dtypes_take_nothing_else() -> None:
    for value in (True, np.True_, 1.0, np.float32(1), "1", None, np.timedelta64(1, "s")):
        error = refused(value, "i32")
        assert not error.out_of_range
        assert error.needed == "an int for i32" or value is None or "item" in error.needed
    assert refused(True, "i32").found == "True (bool)"
    assert refused(2.5, "i64").found == "2.5 (float)"
    assert refused(None, "i64").found == "None"
    assert refused(np.array(3), "i64").found == "a numpy.ndarray"
    assert refused(np.array(3), "i64").needed == "an int for i64 (an array's .item() gives it)"


def test_bool_takes_bools_only() -> None:
    assert convert(True, "bool") is True
    assert convert(np.False_, "bool") is False
    assert refused(1, "bool").found == "1 (int)"
    assert refused(0.0, "bool").needed == "True or False for bool"


def test_floats_take_floats_and_ints() -> None:
    for value in (2, 2.0, np.float16(2), np.float64(2), np.int8(2), ml_dtypes.bfloat16(2)):
        for dtype in ("f16", "bf16", "f32", "f64"):
            assert convert(value, dtype) == 2.0
    assert refused(True, "f32").needed == "a float or an int for f32"
    assert refused(1j, "f32").found == "a complex"
    assert refused("x", "f64").found == "a str"


@pytest.mark.parametrize(
    ("dtype", "largest", "too_large"),
    [
        ("f16", 65504.0, 65520.0),
        ("bf16", 255 * 2.0**120, 255.5 * 2.0**120),
        ("f32", 2.0**128 - 2.0**104, 2.0**128 - 2.0**103),
        ("f64", 1.7976931348623157e308, 10**309),
    ],
)
def test_the_largest_number(dtype: str, largest: float, too_large: float) -> None:
    just_below = too_large if isinstance(too_large, int) else math.nextafter(too_large, 0)
    assert convert(largest, dtype) == largest
    assert convert(-largest, dtype) == -largest
    if dtype != "f64":
        assert convert(just_below, dtype) == largest
    error = refused(too_large, dtype)
    assert error.out_of_range
    assert repr(largest) in error.needed


@pytest.mark.parametrize("dtype", ["f16", "bf16", "f32", "f64"])
def test_special_values(dtype: str) -> None:
    assert convert(math.inf, dtype) == math.inf
    assert convert(-math.inf, dtype) == -math.inf
    assert math.isnan(convert(math.nan, dtype))
    assert math.copysign(1, convert(-0.0, dtype)) == -1
    exponent = {"f16": 0x7C00, "bf16": 0x7F80, "f32": 0x7F800000, "f64": 0x7FF << 52}[dtype]
    assert pack(math.inf, dtype) == exponent
    assert pack(math.nan, dtype) & exponent == exponent


@given(st.floats(allow_nan=False, allow_infinity=False, width=32))
def test_rounding_as_numpy_does(value: float) -> None:
    for dtype, kind in (("f16", np.float16), ("bf16", ml_dtypes.bfloat16), ("f32", np.float32), ("f64", np.float64)):
        with np.errstate(over="ignore"):
            expected = np.float32(value).astype(kind)
        if np.isfinite(expected):
            assert low_bytes(value, dtype) == expected.tobytes()
        else:
            assert refused(value, dtype).out_of_range


@given(st.floats(-3e38, 3e38) | st.floats(-1e-37, 1e-37) | st.floats(-1e-40, 1e-40))
def test_bf16_is_rounded_once(value: float) -> None:
    got = convert(value, "bf16")
    bits = pack(value, "bf16")
    assert struct.unpack("<f", struct.pack("<I", bits << 16))[0] == got
    around = [
        struct.unpack("<f", struct.pack("<I", ((bits & 0x7FFF) + step) << 16))[0] for step in (-1, 1) if bits & 0x7FFF
    ]
    error = abs(Fraction(abs(value)) - Fraction(abs(got)))
    for other in around:
        if math.isfinite(other):
            distance = abs(Fraction(abs(value)) - Fraction(other))
            assert error < distance or (error == distance and bits % 2 == 0)


def test_a_tie_that_two_roundings_get_wrong() -> None:
    above_tie = 1 + 2**-8 + 2**-40  # f32 drops the last bit and makes it a tie, which would go down to 1
    assert convert(above_tie, "bf16") == 1 + 2**-7


@given(st.integers(-(2**63), 2**63 - 1))
def test_slots_of_i64(value: int) -> None:
    assert slot(value, "i64") == value
    assert slot(value % 2**64, "u64") == value
