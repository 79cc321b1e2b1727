"""CUDA devices: their properties, programs loaded on them, and launches.

A launch through a pre-packed block costs about 4 us of host time: the array of pointers that the driver wants is
built once, and each launch refills the slots they point to.
"""

from __future__ import annotations

import ctypes
import re
import struct
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from threading import Lock
from typing import Any, Protocol

from teeny.diag.errors import LaunchError
from teeny.runtime.cuda_driver import check, driver, failure
from teeny.runtime.cuda_start import starter
from teeny.runtime.grid import Grid
from teeny.runtime.streams import current_stream, stream_handle

_PLAIN_SHARED = 48 * 1024  # bytes of dynamic shared memory that a kernel gets without asking
_PLAIN_CLUSTER = 8  # blocks of a cluster that every device with clusters takes
_NO_CONTEXT = (201, 400)  # a thread that never used CUDA, or whose current context is another device's


class Launch(Protocol):
    """Launches one function; see `launcher`."""

    def __call__(self, grid: Grid, slots: Sequence[int], stream: object = None) -> None: ...


@dataclass(frozen=True, slots=True, eq=False)
class CudaDevice:
    """One device. `context` is its primary context, the one that torch uses too; sizes are in bytes."""

    ordinal: int
    model: str
    capability: tuple[int, int]
    multiprocessors: int
    memory: int
    shared_memory: int
    alone: bool
    context: Any

    @property
    def name(self) -> str:
        """As in `tn.device(name)`: `cuda:0`."""
        return f"cuda:{self.ordinal}"

    @property
    def architecture(self) -> str:
        """As compilers name it: `sm_90`."""
        return f"sm_{self.capability[0]}{self.capability[1]}"


@dataclass(frozen=True, slots=True, eq=False)
class CudaFunction:
    """A kernel loaded on a device.

    `threads` is of a block, and `cluster` so many blocks run one program. `shared` is dynamic shared memory in bytes,
    `local` spilled bytes a thread.
    """

    device: CudaDevice
    name: str
    threads: int
    shared: int
    registers: int
    local: int
    handle: Any
    module: Any
    cluster: int = 1


@cache
def cuda_device(ordinal: int) -> CudaDevice:
    """The CUDA device with this number. Raises LaunchError X003 when there is none, or no driver or cuda-bindings."""
    api = driver()
    count: int = check(api.cuDeviceGetCount(), "counting devices")
    if not 0 <= ordinal < count:
        existing = " or ".join(f"cuda:{n}" for n in range(count)) or "a machine with a CUDA device"
        raise LaunchError.of("X003", "there is no such CUDA device", found=f"cuda:{ordinal}", needed=existing)
    handle = check(api.cuDeviceGet(ordinal), "opening the device")
    named = api.CUdevice_attribute

    def attribute(name: str) -> int:
        return check(api.cuDeviceGetAttribute(getattr(named, f"CU_DEVICE_ATTRIBUTE_{name}"), handle), f"reading {name}")

    model: bytes = check(api.cuDeviceGetName(128, handle), "reading the device's name")
    return CudaDevice(
        ordinal=ordinal,
        model=model.split(b"\0")[0].decode(errors="replace"),
        capability=(attribute("COMPUTE_CAPABILITY_MAJOR"), attribute("COMPUTE_CAPABILITY_MINOR")),
        multiprocessors=attribute("MULTIPROCESSOR_COUNT"),
        memory=check(api.cuDeviceTotalMem(handle), "reading the size of the memory"),
        shared_memory=attribute("MAX_SHARED_MEMORY_PER_BLOCK_OPTIN"),
        alone=count == 1,
        context=check(api.cuDevicePrimaryCtxRetain(handle), "retaining the primary context"),
    )


@contextmanager
def current(device: CudaDevice) -> Generator[Any]:
    """Make the device current for driver calls in this thread, and what was current before afterwards."""
    api = driver()
    check(api.cuCtxPushCurrent(device.context), "making the device current")
    try:
        yield api
    finally:
        check(api.cuCtxPopCurrent(), "restoring the current device")


def runs_on(architecture: str, capability: tuple[int, int], ptx: bool = False) -> bool:
    """Whether a program for `architecture` (`sm_80`, `sm_90a`, `sm_100f`) runs on a device of this capability.

    Machine code runs on devices of the same major number and no smaller minor one; with the suffix `a` on exactly
    this device. The driver compiles PTX for any newer device, unless there is a suffix. (CUDA programming guide,
    "Compute capabilities")
    """
    parts = re.fullmatch(r"sm_(\d+)(\d)([af]?)", architecture)
    if parts is None:
        raise ValueError(f"not a CUDA architecture: {architecture!r}")
    built, suffix = (int(parts[1]), int(parts[2])), parts[3]
    if suffix == "a":
        return capability == built
    if ptx and not suffix:
        return capability >= built
    return capability[0] == built[0] and capability[1] >= built[1]


def load(
    device: CudaDevice,
    image: bytes,
    entry: str,
    *,
    architecture: str,
    threads: int,
    shared: int = 0,
    cluster: int = 1,
    kernel: str = "",
) -> CudaFunction:
    """Load a cubin, or PTX text, and find its kernel `entry`, for blocks of `threads` threads, `cluster` a program.

    `architecture` is the exact one the image was built for. Raises LaunchError: L013 when it does not run on this
    device, X003 when the device lacks shared memory or threads or the driver refuses the image.
    """
    named = kernel or entry
    text = not image.startswith(b"\x7fELF")
    if not runs_on(architecture, device.capability, ptx=text):
        raise LaunchError.of(
            "L013",
            "the program was built for another architecture",
            kernel=named,
            found=architecture,
            needed=f"a program for {device.architecture} ({device.model}, {device.name})",
            help=(f'compile for tn.Target("{device.architecture}")',),
        )
    if shared > device.shared_memory:
        raise LaunchError.of(
            "X003",
            "the kernel needs more shared memory than a block gets on this device",
            kernel=named,
            found=f"{shared} bytes",
            needed=f"at most {device.shared_memory} bytes on {device.model}",
            help=("use smaller blocks or fewer num_stages",),
        )
    with current(device) as api:
        module = check(api.cuModuleLoadData(image + b"\0" if text else image), "loading the program", named)
        handle = check(api.cuModuleGetFunction(module, entry.encode()), f"finding the kernel {entry}", named)

        named_attribute = api.CUfunction_attribute

        def attribute(name: str) -> int:
            which = getattr(named_attribute, f"CU_FUNC_ATTRIBUTE_{name}")
            return check(api.cuFuncGetAttribute(which, handle), f"reading {name}", named)

        if shared > _PLAIN_SHARED:
            which = named_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
            check(api.cuFuncSetAttribute(handle, which, shared), "asking for shared memory", named)
        if cluster > _PLAIN_CLUSTER:
            which = named_attribute.CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED
            check(api.cuFuncSetAttribute(handle, which, 1), "asking for a large cluster", named)
        most = attribute("MAX_THREADS_PER_BLOCK")
        if threads > most:
            raise LaunchError.of(
                "X003",
                "the kernel uses too many registers for its threads",
                kernel=named,
                found=f"{threads} threads of {attribute('NUM_REGS')} registers",
                needed=f"at most {most} threads",
                help=("use fewer num_warps",),
            )
        registers, local = attribute("NUM_REGS"), attribute("LOCAL_SIZE_BYTES")
        return CudaFunction(device, named, threads, shared, registers, local, handle, module, cluster)


def launcher(function: CudaFunction, count: int) -> Launch:
    """Launches of one function with `count` parameters, each in a slot of 64 bits (see `scalars`).

    The result is called as `launch(grid, slots, stream)`, from any number of threads; a stream of None is torch's
    current one, or the default one. A grid with a zero launches nothing. It raises LaunchError X003.
    """
    api = driver()
    device = function.device
    ordinal, alone, stream_of = device.ordinal, device.alone, api.CUstream
    fill = struct.Struct(f"<{count}q").pack_into
    block = (ctypes.c_int64 * (2 * count + 1))()  # the slots, then the address of each, as the driver wants them
    start = ctypes.addressof(block)
    block[count : 2 * count] = [start + 8 * n for n in range(count)]
    begin = starter(api, function, start + 8 * count)
    streams: dict[int, Any] = {}
    lock = Lock()

    def launch(grid: Grid, slots: Sequence[int], stream: object = None) -> None:
        if 0 in grid:
            return
        raw = current_stream(ordinal) if stream is None else stream_handle(stream, ordinal, function.name)
        queue = streams.get(raw)
        if queue is None:
            queue = streams[raw] = stream_of(raw)
        if alone:
            with lock:
                fill(block, 0, *slots)
                code = begin(grid, queue)
            if not code:
                return
            if code not in _NO_CONTEXT:
                raise failure(int(code), "the launch", function.name)
        with current(device), lock:
            fill(block, 0, *slots)
            code = begin(grid, queue)
        if code:
            raise failure(int(code), "the launch", function.name)

    return launch


def synchronize(device: CudaDevice, stream: object = None) -> None:
    """Wait for all work on a stream (None as in a launch). Raises LaunchError X003 for what failed there."""
    with current(device) as api:
        check(api.cuStreamSynchronize(api.CUstream(stream_handle(stream, device.ordinal))), "waiting for the device")
