"""`tn.from_triton(fn)`: a kernel of Triton as a kernel object here."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, cast

from teeny.checks.fill import check_fills
from teeny.diag.diagnostic import Diagnostic
from teeny.diag.errors import KernelError, LaunchError, TeenyError
from teeny.runtime.arrays import describe
from teeny.runtime.grid import normalise
from teeny.runtime.interface import Argument
from teeny.runtime.specialization import Specialization
from teeny.runtime.trace import Trace, trace
from teeny.triton.active import on_cpu
from teeny.triton.bound import bind
from teeny.triton.choose import Choice, choose
from teeny.triton.host import HostArray, wrapped
from teeny.triton.read import read_module
from teeny.triton.refusal import refused
from teeny.triton.source import jit_function, module_text
from teeny.triton.unfit import chosen_twice, is_refusal, not_pointers, of_triton

__all__ = ["TritonKernel", "from_triton"]


class TritonKernel:
    """A @triton.jit function, with its autotuning and heuristics, that runs on the CPU and can be checked.

    `kernel[grid](...)` takes what Triton takes and numpy arrays. Tensors on a GPU go to Triton as they are.
    """

    def __init__(self, fn: Any) -> None:
        self.fn = fn
        self.jit = jit_function(fn)
        self.__name__ = str(self.jit.__name__)
        self.__doc__ = self.jit.__doc__

    @property
    def name(self) -> str:
        return self.__name__

    def __repr__(self) -> str:
        return f"<triton kernel {self.name}>"

    def __call__(self, *args: Any, **keywords: Any) -> None:
        """Refuse: a kernel is launched over a grid."""
        raise LaunchError.of(
            "L008", f"`{self.name}` is called without a grid", kernel=self.name, needed=f"{self.name}[grid](...)"
        )

    def __getitem__(self, grid: Any) -> Callable[..., Any]:
        """The launch over a grid: call the result with the kernel's arguments.

        `grid` is a tuple or list of one to three ints, an int, or a function of META that gives one; with a 0 nothing
        runs. Raises LaunchError for a grid that is none (L008), for arguments that do not fit (L001, L002), are not in
        main memory (L004) or are read-only and stored to (L005), KernelError for a kernel that Triton refuses with
        arguments of these types (X009).
        """
        valid = partial(self._grid, grid) if callable(grid) else self._grid(grid, {})

        def launch(*args: Any, **keywords: Any) -> Any:
            given = [wrapped(a) for a in args]
            named = {k: wrapped(v) for k, v in keywords.items()}
            try:
                if any(_on_gpu(v) for v in (*given, *named.values())):
                    return self.fn[valid](*given, **named)
                with on_cpu():
                    return self.fn[valid](*given, **named)
            except TeenyError:
                raise
            except Exception as error:
                self._explain(error, given, named)
                raise

        return launch

    def _grid(self, grid: Any, meta: Mapping[str, Any]) -> tuple[int, int, int]:
        return normalise(grid, meta, self.name)

    def _explain(self, error: Exception, args: Sequence[Any], keywords: Mapping[str, Any]) -> None:
        """Raise what is wrong with a launch's arguments; nothing where that is something else."""
        if not is_refusal(error) and not of_triton(error):
            return
        twice = chosen_twice(self.fn, self.name, list(keywords))
        if twice is not None:
            raise twice from error
        found = bind(self.fn, self.jit, list(args), keywords)
        if is_refusal(error):
            raise (not_pointers(self.jit, found.arguments) or refused(self.jit, error)) from error

    def trace(self, grid: Any, *args: Any, program: Any = 0, **keywords: Any) -> Trace:
        """Run one program of a launch on the reference executor: `print(k.trace((4,), x, y, 7, BLOCK=8, program=3))`.

        Shows each named value at its source line, undefined lanes marked: what a masked load without `other` gives is
        undefined, and so is what is computed from it. Arrays stay as they are. `program` is an index, or a tuple of up
        to three. An autotuned kernel runs as in its first configuration. Raises LaunchError like a launch (L001, L002,
        L004, L005, L008), KernelError for a kernel that Triton refuses (X009).
        """
        found = bind(self.fn, self.jit, list(map(wrapped, args)), {k: wrapped(v) for k, v in keywords.items()})
        slots = [(slot.name, slot.type) for slot in found.slots]
        try:
            made, _ = self._read(partial(found.text, self.jit), slots, found.constants)
        except KernelError as error:
            raise (not_pointers(self.jit, found.arguments) or error) from error.__cause__
        size = normalise(grid, found.arguments, self.name)
        values = [_described(slot.value) for slot in found.slots]
        made.interface.check(values, size)
        return trace(made, values, size, program)

    def specialize(self, **choices: Any) -> Specialization:
        """Choose the types of parameters and the values of constexprs: `k.specialize(x="*fp32", n="i32", B=64)`.

        A type is Triton's (`*fp32:16` says that the address is a multiple of 16), or an array or number that has it.
        A constexpr without a value takes its default, the first configuration's, or what the heuristics say.
        The result may be compiled with `tn.compile`. Raises LaunchError (L001, L002) for choices that do not fit,
        KernelError for a kernel that Triton refuses (X009) or whose fills are faulty.
        """
        made, findings = self.checked(choices)
        faults = [d for d in findings if d.severity == "error"]
        if faults:
            raise KernelError(faults)
        return made

    def check(self, **choices: Any) -> list[Diagnostic]:
        """All findings about the kernel with these choices, see `specialize`. Raises LaunchError for choices alone."""
        try:
            return self.checked(choices)[1]
        except KernelError as error:
            return builtins.list(error.diagnostics)

    def checked(self, choices: Mapping[str, Any]) -> tuple[Specialization, list[Diagnostic]]:
        """The specialization for some choices, whatever is found about it, and that. Raises as `specialize` does."""
        return self._made(choose(self.fn, self.jit, choices))

    def _made(self, chosen: Choice) -> tuple[Specialization, list[Diagnostic]]:
        types = [pair for name, hinted in chosen.types.items() for pair in _flat(name, hinted.type)]
        text = partial(module_text, self.jit, chosen.types, chosen.constants)
        return self._read(text, types, chosen.constants)

    def _read(
        self, text: Callable[[], str], slots: Sequence[tuple[str, str]], constants: Mapping[str, Any]
    ) -> tuple[Specialization, list[Diagnostic]]:
        try:
            written = text()
        except Exception as error:
            raise refused(self.jit, error) from error
        module = read_module(written, f"<{self.name}>", spans=True)
        arguments = tuple(Argument(name, type_.startswith("*"), _leaf(type_)) for name, type_ in slots)
        parts = [self.name, *(type_ for _, type_ in slots), *map(str, constants.values())]
        made = Specialization(module.kernel.name, "__".join(parts), module, arguments)
        return made, check_fills(module.kernel)


def _flat(name: str, type_: Any) -> Iterator[tuple[str, str]]:
    """The parts of a type that may be a tuple's."""
    if isinstance(type_, tuple):
        for at, part in enumerate(cast("tuple[Any, ...]", type_)):
            yield from _flat(f"{name}[{at}]", part)
    else:
        yield name, type_


def _described(value: Any) -> Any:
    """Of an array what a launch looks at; a number as it is."""
    found = getattr(value, "array", value) if isinstance(value, HostArray) else value
    return describe(found) if hasattr(value, "data_ptr") else found


def _on_gpu(value: Any) -> bool:
    return not isinstance(value, HostArray) and getattr(getattr(value, "device", None), "type", "cpu") != "cpu"


_LEAVES = {
    "u1": "bool", "i1": "bool", "fp16": "f16", "bf16": "bf16", "fp32": "f32", "fp64": "f64", "fp8e4nv": "f8e4m3",
    "fp8e5": "f8e5m2", "fp8e4b8": "f8e4m3fnuz", "fp8e5b16": "f8e5m2fnuz",
}  # fmt: skip


def _leaf(type_: str) -> str:
    """The name here of the dtype of one of Triton's types."""
    plain = type_.lstrip("*").removeprefix("k")
    return _LEAVES.get(plain, plain)


def from_triton(fn: Any) -> TritonKernel:
    """A @triton.jit function, autotuned and with heuristics or not, as a kernel that runs on the CPU, unchanged.

    Raises LaunchError (L002) for what is no such function.
    """
    return TritonKernel(fn)
