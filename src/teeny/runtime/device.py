"""The explicit path: a device, its buffers, programs loaded on it, and launches of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast
from weakref import WeakKeyDictionary

from teeny.diag.errors import LaunchError
from teeny.runtime.arguments import leaf_of
from teeny.runtime.arrays import ArrayInfo, NotAnArrayError, describe
from teeny.runtime.compilers import DIVISOR
from teeny.runtime.executable import Executable, load_cuda, load_native, slots_of
from teeny.runtime.grid import Grid, normalise
from teeny.runtime.interface import Argument, Interface, device_of
from teeny.runtime.program import Program, expect
from teeny.runtime.scalars import NotAScalarError, convert, slot
from teeny.runtime.target import Target, target_of_device
from teeny.runtime.tensor_descriptor import flattened

if TYPE_CHECKING:
    from teeny.runtime.cuda import CudaDevice


@dataclass(frozen=True, slots=True)
class LaunchConfig:
    """A grid of programs, and the cluster of thread blocks that share one: where stated, the program's `num_ctas`.

    The number of threads is the program's own; nobody can pass another.
    """

    grid: int | Sequence[int]
    cluster: int | None = None


class Device:
    """A CPU or a CUDA device; see `device`."""

    __slots__ = ("_cuda", "_loaded", "name", "target")

    def __init__(self, name: str, target: Target, cuda: CudaDevice | None) -> None:
        self.name = name
        self.target = target
        self._cuda = cuda
        self._loaded: WeakKeyDictionary[Program, Executable] = WeakKeyDictionary()

    def __repr__(self) -> str:
        return f"<device {self.name} ({self.target.name})>"

    def buffer(self, source: Any, dtype: Any = None) -> Any:
        """Memory on the device: a copy of a NumPy array, or, for a shape and a dtype, uninitialised.

        On a CPU it is a NumPy array. On a GPU it has `.numpy()`, a copy back, and `.copy_from(array)`.
        """
        shape: tuple[int, ...] | None = None
        if isinstance(source, int | tuple):
            shape = (source,) if isinstance(source, int) else cast("tuple[int, ...]", source)
        if shape is None:
            return self._copy(source)
        leaf = leaf_of(dtype)
        if leaf is None:
            raise LaunchError.of("L003", "a buffer needs a dtype", found=repr(dtype), needed="a dtype such as tl.f32")
        if self._cuda is not None:
            from teeny.runtime.cuda_buffer import empty

            return empty(self._cuda, shape, leaf.name)
        import numpy

        from teeny.runtime.numpy_array import numpy_dtype

        return numpy.empty(shape, numpy_dtype(leaf.name))

    def _copy(self, array: Any) -> Any:
        if not type(array).__module__.startswith("numpy"):
            found = type(array).__name__
            raise LaunchError.of(
                "L015", "a buffer copies a NumPy array", found=found, needed="a NumPy array, or a shape and a dtype"
            )
        if self._cuda is not None:
            from teeny.runtime.cuda_buffer import from_numpy

            return from_numpy(self._cuda, array)
        return array.copy()

    def load(self, program: Program) -> Executable:
        """Load a program, once. Raises LaunchError L013 where it was compiled for something else."""
        found = self._loaded.get(program)
        if found is None:
            if (program.target.kind == "cpu") != (self._cuda is None) or program.target.kind == "hip":
                raise LaunchError.of(
                    "L013",
                    f"the program of `{program.interface.kernel}` does not run on {self.name}",
                    kernel=program.interface.kernel,
                    found=f"a program for {program.target}",
                    needed=f"one for {self.target}",
                )
            found = load_native(program) if self._cuda is None else load_cuda(program, self._cuda)
            self._loaded[program] = found
        return found

    def launch(self, program: Program, /, grid: Any, *, stream: object = None, **arguments: Any) -> None:
        """Run a program over a grid (or a `LaunchConfig`): arguments by name, all checked first. Raises LaunchError."""
        expect(program, Program, "device.launch", "a program: tn.compile(kernel.specialize(...), device.target)")
        interface = program.interface
        size = _grid(program, grid)
        arguments = flattened(arguments, interface.kernel)
        values = [_value(interface, a, arguments) for a in interface.arguments]
        if len(arguments) > len(values):
            _refuse_surplus(interface, arguments)
        where = device_of(interface, values)
        if where != self.name and any(isinstance(v, ArrayInfo) for v in values):
            raise LaunchError.of(
                "L004",
                f"`{interface.kernel}` is launched on {self.name}",
                kernel=interface.kernel,
                found=where,
                needed=self.name,
            )
        interface.check(values, size)
        _check_hints(program, values)
        run = self.load(program)
        if 0 not in size:
            run(slots_of(interface, values, size), size, stream)

    def synchronize(self, stream: object = None) -> None:
        """Wait for what was launched; a CPU's launches are done when they return."""
        if self._cuda is not None:
            from teeny.runtime.cuda import synchronize

            synchronize(self._cuda, stream)


def _grid(program: Program, given: Any) -> Grid:
    kernel = program.interface.kernel
    if not isinstance(given, LaunchConfig):
        return normalise(given, {}, kernel)
    needed = int(program.metadata.get("num_ctas", 1))
    if given.cluster not in (None, needed):
        raise LaunchError.of(
            "L014",
            f"`{kernel}` was compiled for clusters of {needed}",
            kernel=kernel,
            argument="cluster",
            found=repr(given.cluster),
            needed=str(needed),
        )
    return normalise(given.grid, {}, kernel)


def _value(interface: Interface, argument: Argument, given: Mapping[str, Any]) -> Any:
    kernel, name = interface.kernel, argument.name
    if name not in given:
        _refuse_surplus(interface, given)
        raise LaunchError.of(
            "L001",
            f"`{kernel}` lacks `{name}`",
            kernel=kernel,
            argument=name,
            found="nothing",
            needed=argument.annotation,
        )
    value = given[name]
    try:
        if not argument.pointer:
            return convert(value, argument.dtype)
        info = describe(value)
    except NotAnArrayError as error:
        raise _misfit("L015", interface, argument, error.found, error.needed) from None
    except NotAScalarError as error:
        raise _misfit(
            "L010" if error.out_of_range else "L002", interface, argument, error.found, error.needed
        ) from None
    if info.dtype != argument.dtype:
        raise _misfit("L003", interface, argument, info.dtype, argument.dtype)
    return info


def _misfit(code: str, interface: Interface, argument: Argument, found: str, needed: str) -> LaunchError:
    message = f"`{argument.name}` of `{interface.kernel}` does not take this value"
    return LaunchError.of(
        code,
        message,
        kernel=interface.kernel,
        argument=argument.name,
        found=found,
        needed=needed,
        location=argument.location,
    )


def _refuse_surplus(interface: Interface, given: Mapping[str, Any]) -> None:
    name = next((n for n in given if n not in interface.names), None)
    if name is None:
        return
    raise LaunchError.of(
        "L001",
        f"`{interface.kernel}` has no argument `{name}`",
        kernel=interface.kernel,
        argument=name,
        needed=", ".join(interface.names),
    )


def _check_hints(program: Program, values: Sequence[Any]) -> None:
    """The multiples of 16, and the ones, that the code relies on."""
    for argument, hint, value in zip(program.interface.arguments, program.hints, values, strict=False):
        number = value.pointer if isinstance(value, ArrayInfo) else slot(value, argument.dtype)
        if hint and (number % DIVISOR if hint == DIVISOR else number != hint):
            relied = f"a multiple of {DIVISOR}" if hint == DIVISOR else str(hint)
            raise LaunchError.of(
                "L016",
                f"`{argument.name}` is not {relied}, and the program was compiled for one that is",
                kernel=program.interface.kernel,
                argument=argument.name,
                found=f"{'address ' if isinstance(value, ArrayInfo) else ''}{number}",
                needed=f"{relied}, or a program compiled without this hint",
            )


_devices: dict[str, Device] = {}


def device(name: str = "cpu") -> Device:
    """The device of that name: "cpu", "cuda" (the first) or "cuda:1". Raises LaunchError for what is not there."""
    full = "cuda:0" if name == "cuda" else str(name)
    found = _devices.get(full)
    if found is None:
        found = _devices[full] = _open(full)
    return found


def _open(name: str) -> Device:
    if name == "cpu":
        return Device("cpu", Target("cpu"), None)
    kind, _, ordinal = name.partition(":")
    if kind != "cuda" or not ordinal.isdecimal():
        raise LaunchError.of(
            "L004", f"{name!r} is no device", found=repr(name), needed='"cpu", "cuda" or "cuda:<number>"'
        )
    from teeny.runtime.cuda import cuda_device

    made = cuda_device(int(ordinal))
    return Device(name, target_of_device(made.architecture), made)
