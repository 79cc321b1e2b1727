"""`kernel[grid](...)`: from a user's arguments to a run, with little work where such a launch was seen before.

The first launch with some dtypes, devices and Const values goes the long way: everything is matched and the kernel is
specialised and compiled. What it found is a `Ready`, kept under those; later launches take a short way (`fast`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from teeny.diag.errors import LaunchError
from teeny.frontend.params import Parameter
from teeny.ir.dtype import DType
from teeny.runtime.arguments import Bound, bind, by_name
from teeny.runtime.arrays import NotAnArrayError
from teeny.runtime.executable import Executable, on_cpu, on_cuda, slots_of
from teeny.runtime.fast import Pack, finder, key_of, packer
from teeny.runtime.grid import Grid, normalise
from teeny.runtime.interface import device_of
from teeny.runtime.options import DEFAULT, RESERVED, STREAM, Options, options_of
from teeny.runtime.scalars import NotAScalarError

if TYPE_CHECKING:
    from teeny.runtime.specialization import Specialization

Specialize = Callable[[dict[DType, DType], dict[str, Any]], "Specialization"]


@dataclass(frozen=True, slots=True, eq=False)
class Ready:
    """A specialisation on a device with some options, as launches find it again."""

    kernel: Specialization
    constants: dict[str, Any]
    device: str
    pack: Pack
    run: Executable


class Launcher:
    """Launches of one kernel."""

    __slots__ = ("_executables", "_find", "_names", "_parameters", "_ready", "_specialize", "_supported", "name")

    def __init__(
        self,
        name: str,
        parameters: Sequence[Parameter],
        supported: Mapping[str, Sequence[DType]],
        specialize: Specialize,
    ) -> None:
        self.name = name
        self._parameters = parameters
        self._names = [p.name for p in parameters]
        self._supported = supported
        self._specialize = specialize
        self._find = finder(parameters)
        self._ready: dict[tuple[tuple[str, Any], ...], dict[tuple[Any, ...], Ready]] = {}
        self._executables: dict[tuple[Any, ...], Executable] = {}

    def __call__(self, grid: object, args: tuple[Any, ...], keywords: dict[str, Any]) -> None:
        """Check and run. Raises LaunchError before anything runs."""
        names = self._names
        more = len(args) + len(keywords) - len(names)
        try:
            given = args if len(args) == len(names) else (*args, *[keywords[n] for n in names[len(args) :]])
            reserved = () if not more else tuple([(k, keywords[k]) for k in RESERVED if k in keywords])
            if len(given) == len(names) and len(reserved) == more and self._quick(grid, given, reserved):
                return
        except (KeyError, TypeError):
            pass
        self._slow(grid, args, keywords)

    def _quick(self, grid: object, given: tuple[Any, ...], reserved: tuple[tuple[str, Any], ...]) -> bool:
        """Run a launch like one before; False where it is none, or something does not hold."""
        stream = None
        if reserved and reserved[-1][0] == STREAM:
            reserved, stream = reserved[:-1], reserved[-1][1]
        table = self._ready.get(reserved)
        if table is None:
            return False
        try:
            found = self._find(given, table)
            if found is None:
                return False
            ready, values = found
            size = normalise(grid, ready.constants, self.name)
            slots = ready.pack(values, size)
        except (NotAnArrayError, NotAScalarError, TypeError, AttributeError, IndexError):
            return False
        if slots is None:
            return False
        if 0 not in size:
            ready.run(slots, size, stream)
        return True

    def checked(
        self, grid: object, args: tuple[Any, ...], keywords: Mapping[str, Any]
    ) -> tuple[Sequence[Any], Bound, Specialization, Grid]:
        """Match all arguments and check them: as given, described, the specialisation, the grid. Raises LaunchError."""
        given = by_name(self.name, self._parameters, args, keywords)
        bound = bind(self.name, self._parameters, given, lambda v: self._supported[v.name])
        kernel = self._specialize(bound.dtypes, bound.constants)
        size = normalise(grid, bound.constants, self.name)
        kernel.interface.check(bound.values, size)
        return given, bound, kernel, size

    def _slow(self, grid: object, args: tuple[Any, ...], keywords: dict[str, Any]) -> None:
        """The long way: everything is matched anew. Raises LaunchError for what does not fit."""
        reserved = {k: v for k, v in keywords.items() if k in RESERVED}
        options = options_of(self.name, reserved) if reserved else DEFAULT
        rest = {k: v for k, v in keywords.items() if k not in RESERVED}
        given, bound, kernel, size = self.checked(grid, args, rest)
        interface = kernel.interface
        device = device_of(interface, bound.values)
        if 0 in size:
            return
        run = self._executable(kernel, device, options)
        ready = Ready(kernel, bound.constants, device, packer(interface, self._present(bound)), run)
        self._keep(given, tuple((k, reserved[k]) for k in RESERVED if k in reserved and k != STREAM), ready)
        run(slots_of(interface, bound.values, size), size, reserved.get("stream"))

    def _present(self, bound: Bound) -> list[int]:
        """Where the arguments that are passed on stand among those that are no Consts."""
        places: list[int] = []
        at = 0
        for parameter in self._parameters:
            if parameter.kind == "const":
                continue
            known = bound.constants.get(parameter.name)
            count = 1 if parameter.kind != "descriptor" or known is None else 2 * len(known[0])
            if parameter.name not in bound.constants or known is not None:
                places += range(at, at + count)
            at += count
        return places

    def _keep(self, given: Sequence[Any], reserved: tuple[tuple[str, Any], ...], ready: Ready) -> None:
        self._ready.setdefault(reserved, {})[key_of(self._parameters, given)] = ready

    def _executable(self, kernel: Specialization, device: str, options: Options) -> Executable:
        key: tuple[Any, ...] = (kernel, device) if device == "cpu" else (kernel, device, options)
        found = self._executables.get(key)
        if found is None:
            found = self._executables[key] = self._make(kernel, device, options)
        return found

    def _make(self, kernel: Specialization, device: str, options: Options) -> Executable:
        if device == "cpu":
            return on_cpu(kernel)
        if device.startswith("cuda"):
            return on_cuda(kernel, int(device.partition(":")[2] or 0), options)
        raise LaunchError.of(
            "L004", f"`{self.name}` cannot run on {device}", kernel=self.name, found=device, needed="cpu or cuda"
        )
