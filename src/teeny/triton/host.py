"""Arrays that Triton does not know (numpy's, any with DLPack), so that it takes them for tensors on the CPU."""

from __future__ import annotations

from typing import Any, cast

from teeny.runtime.arrays import NotAnArrayError, describe

__all__ = ["HostArray", "wrapped"]

_TRITON = {
    "bool": "u1", "i8": "i8", "i16": "i16", "i32": "i32", "i64": "i64", "u8": "u8", "u16": "u16", "u32": "u32",
    "u64": "u64", "f16": "fp16", "bf16": "bf16", "f32": "fp32", "f64": "fp64", "f8e4m3": "fp8e4nv", "f8e5m2": "fp8e5",
    "f8e4m3fnuz": "fp8e4b8", "f8e5m2fnuz": "fp8e5b16",
}  # fmt: skip


class HostArray:
    """An array in main memory with the parts of a torch tensor that Triton and its autotuner ask for.

    Everything else is asked of the array itself.
    """

    __slots__ = ("array", "dtype", "pointer", "readonly")

    def __init__(self, array: Any, pointer: int, dtype: str, readonly: bool) -> None:
        self.array = array
        self.pointer = pointer
        self.dtype = dtype
        self.readonly = readonly

    def data_ptr(self) -> int:
        return self.pointer

    def stride(self, axis: int | None = None) -> Any:
        """Strides in elements."""
        strides = describe(self.array).strides
        return strides if axis is None else strides[axis]

    def numel(self) -> int:
        return describe(self.array).size

    def element_size(self) -> int:
        return int(self.array.itemsize)

    def clone(self) -> Any:
        return self.array.copy()

    def copy_(self, other: Any) -> None:
        self.array[...] = getattr(other, "array", other)

    def zero_(self) -> None:
        self.array[...] = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self.array, name)


def type_of(value: Any) -> str | None:
    """Triton's name of the dtype of an array; None for what is no array."""
    try:
        return _TRITON[describe(value).dtype]
    except NotAnArrayError:
        return None


def wrapped(value: Any) -> Any:
    """A value as Triton takes it: arrays that are no torch tensors are wrapped, also those in tuples."""
    if isinstance(value, tuple):
        return _tuple(cast("tuple[Any, ...]", value))
    if hasattr(value, "data_ptr") or not (hasattr(value, "__array_interface__") or hasattr(value, "__dlpack__")):
        return value
    try:
        info = describe(value)
    except NotAnArrayError:
        return value
    if info.device != "cpu" or _is_number(value):
        return value
    return HostArray(value, info.pointer, _TRITON[info.dtype], info.readonly)


def _tuple(values: Any) -> Any:
    parts = [wrapped(one) for one in values]
    return type(values)(*parts) if hasattr(values, "_fields") else tuple(parts)


def _is_number(value: Any) -> bool:
    """Whether it is a number of numpy and no array."""
    return type(value).__module__ == "numpy" and type(value).__name__ != "ndarray"
