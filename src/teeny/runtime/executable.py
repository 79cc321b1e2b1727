"""A program loaded on a device, ready to run on checked arguments."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol
from weakref import WeakKeyDictionary

from teeny.backends.output import Report
from teeny.diag.errors import LaunchError
from teeny.runtime.arrays import ArrayInfo
from teeny.runtime.compilers import Hints, share_pool
from teeny.runtime.fast import hinter
from teeny.runtime.grid import Grid
from teeny.runtime.interface import Interface
from teeny.runtime.level import chosen_level
from teeny.runtime.options import Options, check_options
from teeny.runtime.program import Program, build
from teeny.runtime.scalars import slot
from teeny.runtime.target import Target, target_of_device

if TYPE_CHECKING:
    from teeny.backends.cpu.small import SmallLaunch
    from teeny.runtime.cuda import CudaDevice
    from teeny.runtime.specialization import Specialization


class Executable(Protocol):
    """Runs on arguments that were checked before. `slots`: one 64-bit slot an argument, then the three of the grid."""

    def __call__(self, slots: tuple[int, ...], grid: Grid, stream: object) -> None: ...


def slots_of(interface: Interface, values: Sequence[Any], grid: Grid) -> tuple[int, ...]:
    """The slots of described arrays and converted numbers."""
    packed = [
        value.pointer if isinstance(value, ArrayInfo) else slot(value, argument.dtype)
        for argument, value in zip(interface.arguments, values, strict=True)
    ]
    return (*packed, *grid)


def load_native(program: Program) -> Executable:
    """Load a program for the CPU into this process. Raises LaunchError L013 where it was made for another machine."""
    kernel, count = program.interface.kernel, len(program.interface.arguments)
    return native_executable(kernel, program.file("object"), program.metadata, count, program.interface.reports)


def native_executable(
    kernel: str, code: bytes, metadata: Mapping[str, Any], arguments: int, reports: Sequence[Report] | None = None
) -> Executable:
    """Load the native code of a kernel with so many arguments; `metadata` is what its compilation said of it.

    `reports`: what the kernel prints and asserts, where more is known than the metadata says: places in the source.
    """
    from teeny.backends.cpu.engine import load
    from teeny.backends.cpu.pool import launch, launch_together
    from teeny.backends.cpu.small import SmallLaunch
    from teeny.backends.cpu.target import fingerprint

    machine = fingerprint(chosen_level())
    if metadata["machine"] != machine:
        raise LaunchError.of(
            "L013",
            f"the program of `{kernel}` was compiled for another CPU or with another compiler",
            kernel=kernel,
            found=str(metadata["machine"]),
            needed=machine,
        )
    share_pool()
    address = load(code, str(metadata["symbol"]))
    scratch, cost = int(metadata["scratch_bytes"]), float(metadata["cost_ns_per_program"])
    run = launch_together if metadata["waits"] else launch
    block_type = ctypes.c_int64 * (arguments + 3)
    small = SmallLaunch(address, arguments, scratch, cost)
    most = small.most if run is launch else 0

    def execute(slots: tuple[int, ...], grid: Grid, stream: object) -> None:
        programs = grid[0] * grid[1] * grid[2]
        if programs <= most:
            small(programs, slots)
        else:
            run(address, block_type(*slots), programs, scratch, cost)

    if reports is None:
        reports = tuple(map(Report.from_json, metadata["reports"]))
    if not reports:
        if most:
            _small[execute] = small
        return execute
    from teeny.backends.cpu.report import Reporter

    longer = ctypes.c_int64 * (arguments + 4)

    def reported(slots: tuple[int, ...], grid: Grid, stream: object) -> None:
        reporter = Reporter(kernel, reports, grid)
        try:
            run(address, longer(*slots, reporter.address), grid[0] * grid[1] * grid[2], scratch, cost)
        finally:
            reporter.finish()

    return reported


_small: WeakKeyDictionary[Executable, SmallLaunch] = WeakKeyDictionary()


def small_blocks(executable: Executable) -> dict[str, Any]:
    """The parts of a `SmallLaunch` by name, for code that makes blocks itself; empty where launches are never small."""
    small = _small.get(executable)
    if small is None:
        return {}
    return {name: getattr(small, name) for name in ("most", "free", "made", "run", "address", "pack_into")}


def load_cuda(program: Program, device: CudaDevice) -> Executable:
    """Load a program on a CUDA device. Raises LaunchError (L013, X003)."""
    from teeny.runtime.cuda import launcher, load
    from teeny.runtime.cuda_scratch import Scratch, with_scratch

    meta, kernel = program.metadata, program.interface.kernel
    image = program.ptx.encode() if program.target.portable else program.cubin
    function = load(
        device,
        image,
        meta["name"],
        architecture=meta["arch"],
        threads=program.threads_per_block,
        shared=meta["shared"],
        cluster=meta["num_ctas"],
        kernel=kernel,
    )
    count = len(program.interface.arguments)
    hidden = (0,) * meta["hidden"]
    launch = launcher(function, count + len(hidden))
    if meta["global_scratch_size"]:
        scratch = Scratch(count, meta["num_ctas"] * meta["global_scratch_size"], meta["global_scratch_align"])
        launch = with_scratch(launch, function, scratch)

    def execute(slots: tuple[int, ...], grid: Grid, stream: object) -> None:
        launch(grid, slots[:count] + hidden, stream)

    return execute


def on_cpu(kernel: Specialization) -> Executable:
    """Native code for this machine's CPU."""
    return load_native(build(kernel, Target("cpu"), Options(), ()))


def on_cuda(kernel: Specialization, ordinal: int, options: Options) -> Executable:
    """Code for the device `cuda:<ordinal>`: one program for each set of hints that launches bring."""
    from teeny.runtime.cuda import cuda_device

    device = cuda_device(ordinal)
    target = target_of_device(device.architecture)
    check_options(kernel.name, options, target)
    hints_of = hinter([a.whole for a in kernel.interface.arguments])
    loaded: dict[Hints, Executable] = {}

    def execute(slots: tuple[int, ...], grid: Grid, stream: object) -> None:
        hints = hints_of(slots)
        found = loaded.get(hints)
        if found is None:
            program = build(kernel, target, options, hints)
            found = loaded[hints] = load_cuda(program, device)
        found(slots, grid, stream)

    return execute
