"""Memory on a CUDA device, copies to and from numpy, and events for timing."""

from __future__ import annotations

import math
import weakref
from dataclasses import dataclass, field
from typing import Any

from teeny.diag.errors import LaunchError
from teeny.runtime.arrays import ArrayInfo, row_major
from teeny.runtime.cuda import CudaDevice, current, synchronize
from teeny.runtime.cuda_driver import check, driver
from teeny.runtime.numpy_array import dtype_name, numpy_dtype
from teeny.runtime.streams import stream_handle


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class CudaBuffer:
    """A row-major array on a device; pass it to a kernel like any array. Freed when no longer referenced."""

    device: CudaDevice
    dtype: str
    shape: tuple[int, ...]
    pointer: int
    nbytes: int

    @property
    def __teeny_array__(self) -> ArrayInfo:
        count = math.prod(self.shape)
        return ArrayInfo(
            self.pointer, self.dtype, self.shape, row_major(self.shape), self.device.name, False, count, 0, self
        )

    @property
    def __cuda_array_interface__(self) -> dict[str, object]:
        typestr: str = numpy_dtype(self.dtype).str
        return {"shape": self.shape, "typestr": typestr, "data": (self.pointer, False), "version": 3, "strides": None}

    def numpy(self) -> Any:
        """A copy as a numpy array, after all work on the current stream is done."""
        import numpy

        array = numpy.empty(self.shape, numpy_dtype(self.dtype))
        synchronize(self.device)
        if self.nbytes:
            with current(self.device) as api:
                check(api.cuMemcpyDtoH(array.ctypes.data, self.pointer, self.nbytes), "copying to the host")
        return array

    def copy_from(self, array: Any) -> None:
        """Copy a numpy array of the same dtype and shape into the buffer. Raises LaunchError L015 when it differs."""
        import numpy

        if dtype_name(array.dtype) != self.dtype or array.shape != self.shape:
            raise LaunchError.of(
                "L015",
                "the array does not fit the buffer",
                found=f"{array.dtype} of shape {array.shape}",
                needed=f"{self.dtype} of shape {self.shape}",
            )
        source = numpy.ascontiguousarray(array)
        synchronize(self.device)
        if self.nbytes:
            with current(self.device) as api:
                check(api.cuMemcpyHtoD(self.pointer, source.ctypes.data, self.nbytes), "copying to the device")


def empty(device: CudaDevice, shape: tuple[int, ...], dtype: str) -> CudaBuffer:
    """An uninitialised buffer of a dtype by name (`f32`, `bf16`)."""
    nbytes = math.prod(shape) * numpy_dtype(dtype).itemsize
    with current(device) as api:
        pointer = int(check(api.cuMemAlloc(max(nbytes, 1)), f"allocating {nbytes} bytes"))
    buffer = CudaBuffer(device, dtype, shape, pointer, nbytes)
    weakref.finalize(buffer, _free, device, pointer).atexit = False  # the end of the process frees everything
    return buffer


def from_numpy(device: CudaDevice, array: Any) -> CudaBuffer:
    """A buffer with a copy of a numpy array. Raises LaunchError L015 for a dtype that kernels do not know."""
    dtype = dtype_name(array.dtype)
    if dtype is None:
        raise LaunchError.of("L015", "kernels do not know this dtype", found=str(array.dtype))
    buffer = empty(device, array.shape, dtype)
    buffer.copy_from(array)
    return buffer


def _free(device: CudaDevice, pointer: int) -> None:
    with current(device) as api:
        api.cuMemFree(pointer)


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Event:
    """A point in the work of a stream."""

    device: CudaDevice
    handle: Any = field(repr=False)


def record(device: CudaDevice, stream: object = None) -> Event:
    """Mark the point that the stream (None as in a launch) has been given work up to."""
    with current(device) as api:
        handle = check(api.cuEventCreate(0), "making an event")
        check(api.cuEventRecord(handle, api.CUstream(stream_handle(stream, device.ordinal))), "recording an event")
    event = Event(device, handle)
    weakref.finalize(event, driver().cuEventDestroy, handle).atexit = False
    return event


def elapsed_ms(start: Event, end: Event) -> float:
    """Milliseconds between two events, after waiting for the later one."""
    with current(start.device) as api:
        check(api.cuEventSynchronize(end.handle), "waiting for the device")
        return check(api.cuEventElapsedTime(start.handle, end.handle), "reading the time")
