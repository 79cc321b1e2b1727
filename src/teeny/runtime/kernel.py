"""`@tn.kernel`, and `kernel[grid](...)`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from types import FunctionType
from typing import Any, Generic, ParamSpec, overload

from teeny.diag.errors import LaunchError
from teeny.frontend.lower import Definition
from teeny.frontend.source import plain_function
from teeny.ir.dtype import DType
from teeny.runtime.arguments import by_name, const_key, const_value, layout_value, leaf_of
from teeny.runtime.definition import check_definition, read
from teeny.runtime.dispatch import asks_for_combinations, check_combination, combinations, supported_by
from teeny.runtime.launch import Launcher
from teeny.runtime.specialization import Specialization, specialize
from teeny.runtime.trace import Trace, trace

P = ParamSpec("P")


class Kernel(Generic[P]):
    """A kernel: checked at its definition, specialised and run on demand.

    `kernel[grid](*args, **kwargs)` runs it: arrays for pointers, numbers for scalars, values for Consts, by position or
    name. `grid` is an int, a tuple of up to three, or a function of the Const values.
    """

    def __init__(self, fn: Callable[P, None], dtypes: Any = None) -> None:
        self._fn: FunctionType = plain_function(fn)
        self._dtypes = dtypes
        self.__name__ = self._fn.__name__
        self.__qualname__ = self._fn.__qualname__
        self.__module__ = self._fn.__module__
        self.__doc__ = self._fn.__doc__
        self._definition, self._exclusions = check_definition(self._fn)
        self._specializations: dict[tuple[Any, ...], Specialization] = {}
        if dtypes is not None:
            _ = self._supported  # what `dtypes` says is checked at once

    @property
    def name(self) -> str:
        return self.__name__

    @property
    def definition(self) -> Definition:
        """The kernel's source and parameters."""
        if self._definition is None:
            self._definition = read(self._fn)
        return self._definition

    @cached_property
    def _supported(self) -> dict[str, tuple[DType, ...]]:
        return supported_by(self.definition, self._exclusions, self._dtypes)

    @property
    def supported_dtypes(self) -> dict[str, tuple[str, ...]]:
        """For each type variable the names of the dtypes it may take: `{"D": ("f16", "bf16", "f32", "f64")}`."""
        return {name: tuple(d.name for d in leaves) for name, leaves in self._supported.items()}

    @cached_property
    def _combinations(self) -> tuple[dict[str, DType], ...]:
        return combinations(self.definition, self._supported, self._dtypes)

    @property
    def supported_combinations(self) -> tuple[dict[str, str], ...]:
        """The dtypes that the type variables may have together: `({"D": "f16", "E": "f32"}, ...)`."""
        return tuple({name: leaf.name for name, leaf in row.items()} for row in self._combinations)

    def __repr__(self) -> str:
        return f"<teeny kernel {self.name}>"

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> None:
        """Refuse: a kernel is launched over a grid."""
        raise LaunchError.of(
            "L008", f"`{self.name}` is called without a grid", kernel=self.name, needed=f"{self.name}[grid](...)"
        )

    def __getitem__(self, grid: object) -> Callable[..., None]:
        """The launch over a grid: call the result with the kernel's arguments."""

        run = self._launcher

        def launch(*args: Any, **keywords: Any) -> None:
            run(grid, args, keywords)

        return launch

    def trace(self, grid: object, *args: Any, program: Any = 0, **keywords: Any) -> Trace:
        """Run one program of a launch on the reference executor: `print(k.trace((4,), x, y, 7, BLOCK=8, program=3))`.

        Shows each named value at its source line, undefined lanes marked. The arrays stay as they are. `program` is an
        index, or a tuple of up to three. Raises LaunchError like a launch.
        """
        _, bound, kernel, size = self._launcher.checked(grid, args, keywords)
        return trace(kernel, bound.values, size, program)

    @cached_property
    def _launcher(self) -> Launcher:
        return Launcher(self.name, self.definition.parameters, self._supported, self._specialize)

    def specialize(self, **choices: Any) -> Specialization:
        """Choose dtypes and Consts: `softmax.specialize(D=tl.f32, BLOCK_SIZE=1024)`; None for an absent pointer.

        Raises LaunchError for choices that do not fit (L001, L003, L009), KernelError where the kernel fails for them.
        """
        definition = self.definition
        self._check_names(choices)
        dtypes: dict[DType, DType] = {}
        for variable in definition.variables:
            allowed = self._supported[variable.name]
            names = ", ".join(d.name for d in allowed)
            if variable.name not in choices:
                raise self._missing(variable.name, f"a dtype: one of {names}")
            given = choices.pop(variable.name)
            leaf = leaf_of(given)
            if leaf is None or leaf not in allowed:
                raise LaunchError.of(
                    "L003",
                    f"{variable.name} of `{self.name}` cannot be {getattr(given, '__name__', given)}",
                    kernel=self.name,
                    argument=variable.name,
                    found=str(getattr(given, "__name__", given)),
                    needed=f"one of {names}",
                )
            dtypes[variable] = leaf
        constants: dict[str, Any] = {}
        for parameter in definition.parameters:
            if parameter.kind == "const":
                if parameter.name in choices:
                    constants[parameter.name] = const_value(self.name, parameter, choices.pop(parameter.name))
                else:
                    constants[parameter.name] = by_name(self.name, [parameter], (), {})[0]
            elif parameter.kind == "descriptor" and choices.get(parameter.name) is not None:
                constants[parameter.name] = layout_value(self.name, parameter, choices.pop(parameter.name))
            elif parameter.kind == "descriptor" and not parameter.optional:
                raise self._missing(parameter.name, "the shape of its blocks: (64, 64)")
            elif parameter.optional and parameter.name in choices and choices[parameter.name] is None:
                constants[parameter.name] = choices.pop(parameter.name)
        return self._specialize(dtypes, constants)

    def _check_names(self, choices: Mapping[str, Any]) -> None:
        """Before anything that is missing, for that may be a name that is misspelt. Raises LaunchError L001."""
        definition = self.definition
        chosen = [p.name for p in definition.parameters if p.kind in ("const", "descriptor")]
        known = [v.name for v in definition.variables] + chosen
        absent = [p.name for p in definition.parameters if p.optional and p.kind != "const"]
        name = next((n for n in choices if n not in known and not (n in absent and choices[n] is None)), None)
        if name is not None:
            raise LaunchError.of(
                "L001",
                f"`{self.name}` has nothing called `{name}` to specialise",
                kernel=self.name,
                argument=name,
                found=repr(choices[name]),
                needed=", ".join(known) or "nothing",
            )

    def _missing(self, name: str, needed: str) -> LaunchError:
        return LaunchError.of(
            "L001", f"`{self.name}` lacks `{name}`", kernel=self.name, argument=name, found="nothing", needed=needed
        )

    def _specialize(self, dtypes: dict[DType, DType], constants: dict[str, Any]) -> Specialization:
        key: tuple[object, ...] = (*dtypes.values(), *map(const_key, constants.values()))
        found = self._specializations.get(key)
        if found is None:
            if asks_for_combinations(self._dtypes):
                check_combination(self.name, self._combinations, dtypes)
            found = self._specializations[key] = specialize(self.definition, dtypes, constants)
        return found


Dtypes = Sequence[Any] | Mapping[str, Sequence[Any]] | Sequence[Mapping[str, Any]]


@overload
def kernel(fn: Callable[P, None], /) -> Kernel[P]: ...
@overload
def kernel(*, dtypes: Dtypes | None = None) -> Callable[[Callable[P, None]], Kernel[P]]: ...
def kernel(fn: Any = None, /, *, dtypes: Dtypes | None = None) -> Any:
    """Make a typed Python function a kernel. It is checked at once: KernelError holds all that is wrong with it.

    `@tn.kernel(dtypes=(tl.f16, tl.f32))` narrows what the type variable may be. Several variables take a dict by name,
    or a list of dicts, the combinations: `dtypes=[{"D": tl.f16, "E": (tl.f16, tl.f32)}, {"D": tl.f32, "E": tl.f32}]`.
    """

    def make(fn: Callable[P, None]) -> Kernel[P]:
        return Kernel(fn, dtypes)

    return make if fn is None else make(fn)
