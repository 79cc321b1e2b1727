"""`tn.from_triton(fn)`: a kernel of Triton as a kernel object here."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Mapping
from typing import Any

from teeny.checks.fill import check_fills
from teeny.diag.diagnostic import Diagnostic
from teeny.diag.errors import KernelError, LaunchError
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
        """The launch over a grid: call the result with the kernel's arguments."""

        def launch(*args: Any, **keywords: Any) -> Any:
            given = [wrapped(a) for a in args]
            named = {k: wrapped(v) for k, v in keywords.items()}
            if any(_on_gpu(v) for v in (*given, *named.values())):
                return self.fn[grid](*given, **named)
            with on_cpu():
                return self.fn[grid](*given, **named)

        return launch

    def trace(self, grid: Any, *args: Any, program: Any = 0, **keywords: Any) -> Trace:
        """Run one program of a launch on the reference executor: `print(k.trace((4,), x, y, 7, BLOCK=8, program=3))`.

        Shows each named value at its source line, undefined lanes marked: what a masked load without `other` gives is
        undefined, and so is what is computed from it. Arrays stay as they are. `program` is an index, or a tuple of up
        to three. An autotuned kernel runs as in its first configuration. Raises LaunchError like a launch (L001, L002,
        L004, L005, L008), KernelError for a kernel that Triton refuses (X009).
        """
        bound = bind(self.fn, self.jit, list(map(wrapped, args)), {k: wrapped(v) for k, v in keywords.items()})
        if bound.others:
            raise LaunchError.of(
                "L002", f"`{self.name}` is traced with tensors and numbers alone", kernel=self.name,
                argument=bound.others[0], found=f"a {type(bound.arguments[bound.others[0]]).__name__}",
                needed="a tensor or a number",
            )  # fmt: skip
        made, _ = self._made(Choice(bound.types, bound.constants))
        size = normalise(grid(bound.arguments) if callable(grid) else grid, {}, self.name)
        values = [_described(value) for value in bound.values.values()]
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
        module = read_module(self._text(chosen), f"<{self.name}>", spans=True)
        findings = check_fills(module.kernel)
        arguments = tuple(
            Argument(name, hinted.type.startswith("*"), _leaf(hinted.type)) for name, hinted in chosen.types.items()
        )
        parts = [self.name, *(h.type for h in chosen.types.values()), *map(str, chosen.constants.values())]
        return Specialization(module.kernel.name, "__".join(parts), module, arguments), findings

    def _text(self, chosen: Choice) -> str:
        try:
            return module_text(self.jit, chosen.types, chosen.constants)
        except Exception as error:
            raise refused(self.jit, error) from error


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
