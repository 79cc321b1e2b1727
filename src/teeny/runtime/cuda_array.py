"""Arrays that describe themselves by `__cuda_array_interface__` (cupy, numba and others)."""

from __future__ import annotations

import sys
from typing import Any

from teeny.runtime.arrays import ArrayInfo, NotAnArrayError, name_of, reach, row_major

_NAMES = {
    "b1": "bool", "i1": "i8", "i2": "i16", "i4": "i32", "i8": "i64", "u1": "u8", "u2": "u16", "u4": "u32", "u8": "u64",
    "f2": "f16", "f4": "f32", "f8": "f64",
}  # fmt: skip
_FOREIGN = ">" if sys.byteorder == "little" else "<"


def describe_cuda_array(x: Any) -> ArrayInfo:
    """What a kernel sees of `x`. Strides come in bytes and None means row-major; cupy's allocation bounds are used."""
    kind = name_of(x)
    interface: dict[str, Any] = x.__cuda_array_interface__
    if interface.get("mask") is not None:
        raise NotAnArrayError(f"{kind} with a mask, which a kernel does not see", "an array without a mask")
    if missing := [name for name in ("typestr", "data", "shape") if name not in interface]:
        raise NotAnArrayError(f"{kind} whose __cuda_array_interface__ has no `{missing[0]}`", "one with all its fields")
    typestr: str = interface["typestr"]
    dtype = "bf16" if str(getattr(x, "dtype", "")) == "bfloat16" else _NAMES.get(typestr[1:])
    if dtype is None or typestr[0] == _FOREIGN:
        raise NotAnArrayError(f"{kind} with elements of type {typestr}", "an array of a dtype that kernels know")
    size = int(typestr[2:])
    pointer, readonly = interface["data"]
    shape: tuple[int, ...] = tuple(interface["shape"])
    steps: tuple[int, ...] | None = interface.get("strides")
    if pointer % size or any(step % size for step in steps or ()):
        raise NotAnArrayError(
            f"{kind} of {dtype} whose elements do not start at multiples of {size} bytes", "a copy of it"
        )
    strides = row_major(shape) if steps is None else tuple([step // size for step in steps])
    before, after = reach(shape, strides)
    memory = getattr(getattr(x, "data", None), "mem", None)
    start, length = getattr(memory, "ptr", None), getattr(memory, "size", None)
    if isinstance(start, int) and isinstance(length, int) and start <= pointer <= start + length:
        before, after = (pointer - start) // size, (start + length - pointer) // size
    return ArrayInfo(pointer, dtype, shape, strides, f"cuda:{_ordinal(x)}", bool(readonly), after, before, x)


def _ordinal(x: Any) -> int:
    """The device an array lies on: cupy says it in `device.id`, others by DLPack; the first where nothing is said."""
    ordinal = getattr(getattr(x, "device", None), "id", None)
    if isinstance(ordinal, int):
        return ordinal
    ask = getattr(x, "__dlpack_device__", None)
    return 0 if ask is None else int(ask()[1])
