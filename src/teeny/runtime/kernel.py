"""`@tn.kernel`, and `kernel[grid](...)`."""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any, Generic, ParamSpec

from teeny.diag.errors import LaunchError
from teeny.frontend.lower import Definition
from teeny.frontend.params import Parameter
from teeny.frontend.source import plain_function
from teeny.ir.dtype import DType
from teeny.runtime.arguments import Bound, allowed_leaves, bind, by_name, const_value, leaf_of
from teeny.runtime.arrays import ArrayInfo
from teeny.runtime.contracts import check
from teeny.runtime.definition import check_definition, read
from teeny.runtime.executable import Executable, on_cpu, on_cuda
from teeny.runtime.grid import normalise
from teeny.runtime.options import DEFAULT, RESERVED, Options, options_of
from teeny.runtime.specialization import Specialization, specialize

P = ParamSpec("P")


class Kernel(Generic[P]):
    """A kernel: checked at its definition, specialised and run on demand.

    `kernel[grid](*args, **kwargs)` runs it: arrays for pointers, numbers for scalars, values for Consts, by position or
    name. `grid` is an int, a tuple of up to three, or a function of the Const values.
    """

    def __init__(self, fn: Callable[P, None]) -> None:
        self._fn: FunctionType = plain_function(fn)
        self.__name__ = self._fn.__name__
        self.__qualname__ = self._fn.__qualname__
        self.__module__ = self._fn.__module__
        self.__doc__ = self._fn.__doc__
        self._definition, self._exclusions = check_definition(self._fn)
        self._parameters: tuple[Parameter, ...] | None = None
        self._specializations: dict[tuple[Any, ...], Specialization] = {}
        self._executables: dict[tuple[Any, ...], Executable] = {}

    @property
    def name(self) -> str:
        return self.__name__

    @property
    def definition(self) -> Definition:
        """The kernel's source and parameters."""
        if self._definition is None:
            self._definition = read(self._fn)
        return self._definition

    def __repr__(self) -> str:
        return f"<teeny kernel {self.name}>"

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> None:
        """Refuse: a kernel is launched over a grid."""
        raise LaunchError.of(
            "L008", f"`{self.name}` is called without a grid", kernel=self.name, needed=f"{self.name}[grid](...)"
        )

    def __getitem__(self, grid: object) -> Callable[..., None]:
        """The launch over a grid: call the result with the kernel's arguments."""

        def launch(*args: Any, **keywords: Any) -> None:
            self._launch(grid, args, keywords)

        return launch

    def specialize(self, **choices: Any) -> Specialization:
        """Choose dtypes and Consts: `softmax.specialize(D=tl.f32, BLOCK_SIZE=1024)`; None for an absent pointer.

        Raises LaunchError for choices that do not fit (L001, L003, L009), KernelError where the kernel fails for them.
        """
        definition = self.definition
        dtypes: dict[DType, DType] = {}
        allowed = allowed_leaves(self._exclusions)
        for variable in definition.variables:
            if variable.name not in choices:
                raise self._missing(variable.name, f"a dtype: one of {', '.join(d.name for d in allowed(variable))}")
            given = choices.pop(variable.name)
            leaf = leaf_of(given)
            if leaf is None or leaf not in allowed(variable):
                raise LaunchError.of(
                    "L003",
                    f"{variable.name} of `{self.name}` cannot be {getattr(given, '__name__', given)}",
                    kernel=self.name,
                    argument=variable.name,
                    found=str(getattr(given, "__name__", given)),
                    needed=f"one of {', '.join(d.name for d in allowed(variable))}",
                )
            dtypes[variable] = leaf
        constants: dict[str, Any] = {}
        for parameter in definition.parameters:
            if parameter.kind == "const":
                if parameter.name in choices:
                    constants[parameter.name] = const_value(self.name, parameter, choices.pop(parameter.name))
                else:
                    constants[parameter.name] = by_name(self.name, [parameter], (), {})[0]
            elif parameter.optional and parameter.name in choices and choices[parameter.name] is None:
                constants[parameter.name] = choices.pop(parameter.name)
        if choices:
            name = next(iter(choices))
            known = [v.name for v in definition.variables] + [
                p.name for p in definition.parameters if p.kind == "const"
            ]
            raise LaunchError.of(
                "L001",
                f"`{self.name}` has nothing called `{name}` to specialise",
                kernel=self.name,
                argument=name,
                found=repr(choices[name]),
                needed=", ".join(known) or "nothing",
            )
        return self._specialize(dtypes, constants)

    def _missing(self, name: str, needed: str) -> LaunchError:
        return LaunchError.of(
            "L001", f"`{self.name}` lacks `{name}`", kernel=self.name, argument=name, found="nothing", needed=needed
        )

    def _specialize(self, dtypes: dict[DType, DType], constants: dict[str, Any]) -> Specialization:
        key: tuple[object, ...] = (*dtypes.values(), *((v.__class__.__name__, v) for v in constants.values()))
        found = self._specializations.get(key)
        if found is None:
            found = self._specializations[key] = specialize(self.definition, dtypes, constants)
        return found

    def _launch(self, grid: object, args: tuple[Any, ...], keywords: dict[str, Any]) -> None:
        name = self.name
        reserved = {k: keywords.pop(k) for k in RESERVED if k in keywords} if keywords else {}
        options = options_of(name, reserved) if reserved else DEFAULT
        parameters = self.definition.parameters
        bound = bind(name, parameters, by_name(name, parameters, args, keywords), allowed_leaves(self._exclusions))
        size = normalise(grid, bound.constants, name)
        kernel = self._specialize(bound.dtypes, bound.constants)
        names = [p.name for p in kernel.parameters]
        device = self._device(names, bound)
        for at in kernel.stored:
            if bound.values[at].readonly:
                raise LaunchError.of(
                    "L005",
                    f"`{names[at]}` is read-only, and `{name}` stores through it",
                    kernel=name,
                    argument=names[at],
                    found="a read-only array",
                    needed="a writable one",
                    location=kernel.parameters[at].location,
                )
        check(kernel.contracts, name, names, bound.values, size)
        if 0 in size:
            return
        self._executable(kernel, device, options)(bound.values, size, reserved.get("stream"))

    def _device(self, names: list[str], bound: Bound) -> str:
        """The one device of all arrays."""
        first: tuple[str, str] | None = None
        for argument, value in zip(names, bound.values, strict=True):
            if not isinstance(value, ArrayInfo):
                continue
            if first is None:
                first = (argument, value.device)
            elif value.device != first[1]:
                raise LaunchError.of(
                    "L004",
                    f"the arrays of `{self.name}` lie on different devices",
                    kernel=self.name,
                    argument=argument,
                    found=f"{value.device}",
                    needed=f"{first[1]}, as `{first[0]}`",
                )
        return "cpu" if first is None else first[1]

    def _executable(self, kernel: Specialization, device: str, options: Options) -> Executable:
        key = (kernel, device) if device == "cpu" else (kernel, device, options)
        found = self._executables.get(key)
        if found is None:
            if device == "cpu":
                found = on_cpu(kernel)
            elif device.startswith("cuda"):
                found = on_cuda(kernel, int(device.partition(":")[2] or 0), options)
            else:
                raise LaunchError.of(
                    "L004",
                    f"`{self.name}` cannot run on {device}",
                    kernel=self.name,
                    found=device,
                    needed="cpu or cuda",
                )
            self._executables[key] = found
        return found


def kernel(fn: Callable[P, None]) -> Kernel[P]:
    """Make a typed Python function a kernel. It is checked at once: KernelError holds all that is wrong with it."""
    return Kernel(fn)
