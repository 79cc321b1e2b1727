"""Scalar arguments: checked, rounded to their dtype, and packed into 64-bit slots.

A slot is a signed 64-bit integer whose low bytes (little endian) hold the value as it lies in memory: integers are
extended by their sign, bool and floats by zeros. The CPU's entry point reads slots, and so does a CUDA launch, since
the driver copies as many low bytes of each slot as the parameter has.
"""

from __future__ import annotations

import math
import struct
import sys
from collections.abc import Callable
from functools import cache
from typing import Any, Literal

from teeny.ir.dtype import LEAVES, holds, largest
from teeny.ops.float8 import FORMATS, bits_of
from teeny.runtime.arrays import name_of

Number = bool | int | float

_INTEGERS: dict[str, tuple[int, int]] = {
    f"{sign}{bits}": (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if sign == "i" else (0, (1 << bits) - 1)
    for sign in "iu"
    for bits in (8, 16, 32, 64)
}
_HIGHEST = {
    "f16": 65504.0, "bf16": 255 * 2.0**120, "f32": (2 - 2.0**-23) * 2.0**127, "f64": sys.float_info.max,
    **{name: largest(LEAVES[name]) for name in FORMATS},
}  # fmt: skip


class NotAScalarError(Exception):
    """A value that a scalar parameter does not take; the launch turns it into a `LaunchError`.

    `found` and `needed` complete the sentences "found ..." and "needed ..."; `out_of_range` tells a value of the right
    kind that does not fit (L010) from a value of another kind (L002).
    """

    def __init__(self, found: str, needed: str, out_of_range: bool = False) -> None:
        super().__init__(found, needed, out_of_range)
        self.found = found
        self.needed = needed
        self.out_of_range = out_of_range


def convert(value: Any, dtype: str) -> Number:
    """The value a kernel sees when `value` is passed for `Scalar[dtype]`: floats are rounded to nearest, ties to even.

    bool takes Python and numpy bools only; integer dtypes take Python and numpy ints in range; float dtypes take
    these and floats. A finite value that would round to infinity is out of range. Raises `NotAScalarError`.
    """
    kind = _kind(value.__class__)
    limits = _INTEGERS.get(dtype)
    if limits is not None:
        if kind != "int":
            raise NotAScalarError(_found(value, kind), f"an int for {dtype}{_hint(value)}")
        low, high = limits
        number = int(value)
        if not low <= number <= high:
            raise NotAScalarError(_found(value, kind), f"an int in [{low}, {high}] for {dtype}", out_of_range=True)
        return number
    if dtype == "bool":
        if kind != "bool":
            raise NotAScalarError(_found(value, kind), f"True or False for bool{_hint(value)}")
        return bool(value)
    if kind not in ("int", "float"):
        raise NotAScalarError(_found(value, kind), f"a float or an int for {dtype}{_hint(value)}")
    rounded = _rounded(value, dtype)
    if rounded is None:
        highest = _HIGHEST[dtype]
        raise NotAScalarError(
            _found(value, kind), f"a number in [-{highest!r}, {highest!r}] for {dtype}", out_of_range=True
        )
    return rounded


def slot(number: Number, dtype: str) -> int:
    """The slot of a converted value (what `convert` gave for the same dtype): a signed 64-bit integer."""
    encode = _ENCODERS.get(dtype)
    if encode is not None:
        return encode(number)
    return int(number) if number < 1 << 63 else int(number) - (1 << 64)


def pack(value: Any, dtype: str) -> int:
    """The slot for a value passed for `Scalar[dtype]`. Raises `NotAScalarError`."""
    return slot(convert(value, dtype), dtype)


@cache
def _kind(kind: type[object]) -> Literal["bool", "int", "float"] | None:
    """What the values of a class are, found without importing numpy."""
    if issubclass(kind, bool):
        return "bool"
    if issubclass(kind, int):
        return "int"
    if issubclass(kind, float) or (kind.__module__ == "ml_dtypes" and "float" in kind.__name__):
        return "float"
    bases = {base.__name__ for base in kind.__mro__ if base.__module__ == "numpy"}
    if "integer" in bases and "timedelta64" not in bases:
        return "int"
    if "floating" in bases:
        return "float"
    return "bool" if bases & {"bool", "bool_"} else None


def _rounded(value: Any, dtype: str) -> float | None:
    """The value in the dtype's precision, or None when it is finite and too large. Ints go through f64."""
    try:
        number = float(value)
        if dtype in FORMATS:
            return number if holds(LEAVES[dtype], number) else None
        if dtype == "f64" or math.isinf(number):
            return number
        if dtype == "bf16":
            return _to_bf16(number)
        form = "<f" if dtype == "f32" else "<e"
        return struct.unpack(form, struct.pack(form, number))[0]
    except OverflowError:
        return None


def _to_bf16(number: float) -> float | None:
    """Round to 8 significant bits, or to a multiple of 2**-133 below the normal numbers."""
    if number != number or number == 0.0:
        return number
    quantum = max(math.frexp(number)[1] - 8, -133)
    rounded = math.ldexp(round(math.ldexp(number, -quantum)), quantum)
    if abs(rounded) > _HIGHEST["bf16"]:
        return None
    return math.copysign(rounded, number)


def _bits(form: str, integer: str, shift: int = 0) -> Callable[[Number], int]:
    pack_number, unpack_bits = struct.Struct(form).pack, struct.Struct(integer).unpack
    return lambda number: unpack_bits(pack_number(number))[0] >> shift


_ENCODERS: dict[str, Callable[[Number], int]] = {
    "f16": _bits("<e", "<H"),
    "bf16": _bits("<f", "<I", shift=16),
    "f32": _bits("<f", "<I"),
    "f64": _bits("<d", "<q"),
    **{name: lambda number, name=name: bits_of(number, name) for name in FORMATS},
}


def _found(value: Any, kind: str | None) -> str:
    if kind is None:
        return name_of(value)
    text = repr(value)
    if len(text) > 40:
        text = f"{text[:20]}...{text[-12:]}"
    return f"{text} ({type(value).__name__})"


def _hint(value: Any) -> str:
    return " (an array's .item() gives it)" if hasattr(value, "item") and hasattr(value, "ndim") else ""
