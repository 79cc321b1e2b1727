"""`kernel[grid](...)`: from a user's arguments to a run, with little work where such a launch was seen before.

The first launch with some dtypes, devices and Const values goes the long way: everything is matched and the kernel is
specialised and compiled. What it found is a `Ready`, kept under those. Later launches describe the arrays, convert the
scalars and check the contracts; whatever does not fit goes the long way again, which finds the words for it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from teeny.diag.errors import LaunchError
from teeny.frontend.params import Parameter
from teeny.ir.dtype import DType
from teeny.runtime.arguments import allowed_leaves, bind, by_name
from teeny.runtime.arrays import NotAnArrayError, describe
from teeny.runtime.executable import Executable, on_cpu, on_cuda
from teeny.runtime.grid import normalise
from teeny.runtime.interface import device_of
from teeny.runtime.options import DEFAULT, RESERVED, Options, options_of
from teeny.runtime.scalars import NotAScalarError, convert

if TYPE_CHECKING:
    from teeny.runtime.specialization import Specialization

Specialize = Callable[[dict[DType, DType], dict[str, Any]], "Specialization"]


@dataclass(frozen=True, slots=True, eq=False)
class Ready:
    """A specialisation on a device. `scalars`: number and dtype of the scalar arguments."""

    kernel: Specialization
    constants: dict[str, Any]
    scalars: list[tuple[int, str]]
    device: str


class Launcher:
    """Launches of one kernel."""

    __slots__ = ("_exclusions", "_executables", "_kinds", "_names", "_parameters", "_ready", "_specialize", "name")

    def __init__(
        self,
        name: str,
        parameters: Sequence[Parameter],
        exclusions: Mapping[str, frozenset[str]],
        specialize: Specialize,
    ) -> None:
        self.name = name
        self._parameters = parameters
        self._names = [p.name for p in parameters]
        self._kinds = [p.kind for p in parameters]
        self._exclusions = exclusions
        self._specialize = specialize
        self._ready: dict[tuple[object, ...], Ready] = {}
        self._executables: dict[tuple[object, ...], Executable] = {}

    def __call__(self, grid: object, args: tuple[Any, ...], keywords: dict[str, Any]) -> None:
        """Check and run. Raises LaunchError before anything runs."""
        reserved = {k: keywords.pop(k) for k in RESERVED if k in keywords} if keywords else keywords
        options = options_of(self.name, reserved) if reserved else DEFAULT
        try:
            given = (*args, *[keywords[name] for name in self._names[len(args) :]])
            complete = len(given) == len(self._names) == len(args) + len(keywords)
        except KeyError:
            complete, given = False, args
        if not complete:
            given = by_name(self.name, self._parameters, args, keywords)
        ready, values = self._prepare(given)
        size = normalise(grid, ready.constants, self.name)
        ready.kernel.interface.check(values, size)
        if 0 in size:
            return
        self._executable(ready, options)(values, size, reserved.get("stream"))

    def _prepare(self, given: Sequence[Any]) -> tuple[Ready, list[Any]]:
        """What was found for such arguments, and the arguments described and converted."""
        values: list[Any] = []
        key: list[object] = []
        try:
            for kind, value in zip(self._kinds, given, strict=True):
                if kind == "const":
                    key += value.__class__, value
                elif kind == "scalar":
                    values.append(value)
                elif value is None:
                    key.append(None)
                else:
                    info = describe(value)
                    values.append(info)
                    key += info.dtype, info.device
            found = self._ready.get(tuple(key))
            if found is not None:
                for at, dtype in found.scalars:
                    values[at] = convert(values[at], dtype)
                return found, values
        except (NotAnArrayError, NotAScalarError, TypeError):
            return self._match(given)
        found, values = self._match(given)
        self._ready[tuple(key)] = found
        return found, values

    def _match(self, given: Sequence[Any]) -> tuple[Ready, list[Any]]:
        """The long way. Raises LaunchError for what does not fit."""
        bound = bind(self.name, self._parameters, given, allowed_leaves(self._exclusions))
        kernel = self._specialize(bound.dtypes, bound.constants)
        interface = kernel.interface
        device = device_of(interface, bound.values)
        scalars = [(at, a.dtype) for at, a in enumerate(interface.arguments) if not a.pointer]
        return Ready(kernel, bound.constants, scalars, device), bound.values

    def _executable(self, ready: Ready, options: Options) -> Executable:
        kernel, device = ready.kernel, ready.device
        key = (kernel, device) if device == "cpu" else (kernel, device, options)
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
