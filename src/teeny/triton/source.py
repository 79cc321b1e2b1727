"""A kernel of Triton and the module that Triton's front end makes of it, without Triton's own passes."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from teeny.backends.triton.capture import standard_error, standard_output
from teeny.backends.triton.wheel import load
from teeny.diag.errors import LaunchError

__all__ = ["Hinted", "is_kernel", "jit_function", "module_text", "split_type"]

_TARGET = ("cpu", "", 1)


@dataclass(frozen=True, slots=True)
class Hinted:
    """A parameter's type in Triton's words (`*fp32`, `i32`), and whether address or value is a multiple of 16."""

    type: str
    divisible: bool = False


def _under(fn: Any) -> Any:
    """The `JITFunction` under autotuning and heuristics, None where there is none."""
    function = load("runtime.jit").JITFunction
    for _ in range(100):
        if fn is None or isinstance(fn, function):
            return fn
        fn = getattr(fn, "fn", None)
    return None


def is_kernel(fn: Any) -> bool:
    """Whether it is a @triton.jit function, autotuned or not."""
    return _under(fn) is not None


def jit_function(fn: Any) -> Any:
    """The `JITFunction` under autotuning and heuristics. Raises LaunchError (L002) for what is no kernel of Triton."""
    found = _under(fn)
    if found is not None:
        return found
    raise LaunchError.of(
        "L002",
        "tn.from_triton does not take this",
        found=f"a {type(fn).__name__}" + (f", `{fn.__name__}`" if hasattr(fn, "__name__") else ""),
        needed="a function decorated with @triton.jit",
    )


def split_type(text: str) -> Hinted:
    """A type as Triton's ahead-of-time compiler writes it: `*fp32:16` is a pointer divisible by 16."""
    type_, _, hint = text.partition(":")
    return Hinted(type_.strip(), hint.strip() == "16")


def module_text(fn: Any, types: Mapping[str, Hinted], constants: Mapping[str, Any]) -> str:
    """The module of a `JITFunction` for these parameter types and values of `tl.constexpr` parameters.

    Raises what Triton raises for a kernel that its front end refuses.
    """
    from teeny.triton.compiler import CpuBackend

    ir = load("_C.libtriton").ir
    target = load("backends.compiler").GPUTarget(*_TARGET)
    backend = CpuBackend(target)
    options = backend.parse_options({})
    context = ir.context()
    ir.load_dialects(context)
    signature = {p.name: "constexpr" if p.name in constants else types[p.name].type for p in fn.params}
    attributes = {(p.num,): [["tt.divisibility", 16]] for p in fn.params if p.name in types and types[p.name].divisible}
    source = load("compiler").ASTSource(fn=fn, signature=signature, constexprs=dict(constants), attrs=attributes)
    implementation = backend.get_codegen_implementation(options)
    with standard_error([]), standard_output([]), warnings.catch_warnings(action="ignore"):
        return str(source.make_ir(target, options, implementation, backend.get_module_map(), context))
