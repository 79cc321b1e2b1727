"""Arrays of any other library, by DLPack: the capsule is read, never consumed.

A capsule that nobody consumes is released by its producer when it is collected. So holding the capsule as
`keepalive` keeps the memory alive exactly as long as the description lives, and releases it once. The layout of the
structures follows the DLPack specification, version 1 and the unversioned form before it.
"""

from __future__ import annotations

import ctypes
from typing import Any

from teeny.runtime.arrays import ArrayInfo, NotAnArrayError, name_of, reach, row_major

_CPU, _CUDA, _CUDA_HOST, _CUDA_MANAGED = 1, 2, 3, 13
_DTYPES = {
    (0, 8): "i8", (0, 16): "i16", (0, 32): "i32", (0, 64): "i64",
    (1, 8): "u8", (1, 16): "u16", (1, 32): "u32", (1, 64): "u64",
    (2, 16): "f16", (2, 32): "f32", (2, 64): "f64", (4, 16): "bf16", (6, 8): "bool",
    (10, 8): "f8e4m3", (11, 8): "f8e4m3fnuz", (12, 8): "f8e5m2", (13, 8): "f8e5m2fnuz",
}  # fmt: skip
_READ_ONLY = 1
_IMMUTABLE = ("jax", "jaxlib")  # their arrays never change, though older ones do not say so in the capsule


class _Tensor(ctypes.Structure):
    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    )


class _Managed(ctypes.Structure):
    _fields_ = (("tensor", _Tensor), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p))


class _Versioned(ctypes.Structure):
    _fields_ = (
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("context", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("tensor", _Tensor),
    )


_is_valid = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.c_char_p)(("PyCapsule_IsValid", ctypes.pythonapi))
_get_pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi)
)


def describe_dlpack(x: Any) -> ArrayInfo:
    """What a kernel sees of `x`. An array on a CUDA device is made ready for the stream that launches use."""
    kind = name_of(x)
    device_type, device_id = (int(part) for part in x.__dlpack_device__())
    if device_type in (_CPU, _CUDA_HOST):
        device, options = "cpu", {}
    elif device_type in (_CUDA, _CUDA_MANAGED):
        from teeny.runtime.streams import current_stream

        device, options = f"cuda:{device_id}", {"stream": current_stream(device_id) or 1}  # 1: the default stream
    else:
        raise NotAnArrayError(
            f"{kind} on a device of DLPack type {device_type}", "an array on the CPU or a CUDA device"
        )
    capsule = _export(x, kind, options)
    tensor, flags = _open(capsule, kind)
    dtype = _DTYPES.get((tensor.code, tensor.bits)) if tensor.lanes == 1 else None
    if dtype is None:
        found = f"{kind} with elements of DLPack type {tensor.code}, {tensor.bits} bits, {tensor.lanes} lanes"
        raise NotAnArrayError(found, "an array of a dtype that kernels know")
    pointer = (tensor.data or 0) + tensor.byte_offset
    if pointer % (tensor.bits // 8):
        raise NotAnArrayError(
            f"{kind} of {dtype} whose elements do not start at multiples of {tensor.bits // 8} bytes", "a copy of it"
        )
    shape = tuple(tensor.shape[: tensor.ndim])
    strides = tuple(tensor.strides[: tensor.ndim]) if tensor.strides else row_major(shape)
    before, after = reach(shape, strides)
    readonly = bool(flags & _READ_ONLY) or type(x).__module__.partition(".")[0] in _IMMUTABLE
    return ArrayInfo(pointer, dtype, shape, strides, device, readonly, after, before, capsule)


def _export(x: Any, kind: str, options: dict[str, int]) -> object:
    try:
        try:
            return x.__dlpack__(max_version=(1, 1), **options)
        except TypeError:  # a producer from before the versioned form does not know the keyword
            return x.__dlpack__(**options)
    except (BufferError, RuntimeError, TypeError, ValueError) as error:
        raise NotAnArrayError(f"{kind} that DLPack cannot export ({error})") from error


def _open(capsule: object, kind: str) -> tuple[_Tensor, int]:
    """The tensor in a capsule, and the flags of the versioned form (0 for the older one)."""
    if _is_valid(capsule, b"dltensor_versioned"):
        versioned = _Versioned.from_address(_get_pointer(capsule, b"dltensor_versioned"))
        if versioned.major != 1:
            raise NotAnArrayError(f"{kind} in DLPack version {versioned.major}.{versioned.minor}", "DLPack version 1")
        return versioned.tensor, versioned.flags
    if _is_valid(capsule, b"dltensor"):
        return _Managed.from_address(_get_pointer(capsule, b"dltensor")).tensor, 0
    raise NotAnArrayError(f"{kind} whose __dlpack__ gives no DLPack capsule")
