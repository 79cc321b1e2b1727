"""A kernel of Triton and the module that Triton's front end makes of it, without Triton's own passes."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from teeny.backends.triton.capture import standard_error, standard_output
from teeny.backends.triton.wheel import load
from teeny.diag.errors import LaunchError

__all__ = ["Hinted", "is_kernel", "jit_function", "launch_text", "module_text", "split_type"]

_TARGET = ("cpu", "", 1)


@dataclass(frozen=True, slots=True)
class Hinted:
    """A parameter's type in Triton's words (`*fp32`, `i32`, `tensordesc<fp16[64, 64]>`), of a tuple a tuple of such.

    `divisible`: whether address or value is a multiple of 16.
    """

    type: Any
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
    signature = {p.name: "constexpr" if p.name in constants else types[p.name].type for p in fn.params}
    attributes = {(p.num,): _DIVISIBLE for p in fn.params if p.name in types and types[p.name].divisible}
    return _text(fn, signature, constants, attributes)


_DIVISIBLE = [["tt.divisibility", 16]]


def launch_text(fn: Any, arguments: Mapping[str, Any], specialization: Sequence[Sequence[Any]]) -> str:
    """The module of a `JITFunction` for what Triton's binder says of a launch: tuples and descriptors too."""
    signature = dict(zip(arguments, (s[0] for s in specialization), strict=True))
    values = list(arguments.values())
    constants = {
        path: _at(values, path) for n, s in enumerate(specialization) for path, t in _paths(s[0], n) if t == "constexpr"
    }
    hints = [(path, h) for n, s in enumerate(specialization) if len(s) > 1 for path, h in _paths(s[1], n)]
    divisible = {p: _DIVISIBLE for p, h in hints if p not in constants and isinstance(h, str) and "D" in h}
    return _text(fn, signature, constants, divisible)


def _paths(value: Any, *path: int) -> Iterator[tuple[tuple[int, ...], Any]]:
    """The parts of a tuple of tuples, with their indices."""
    if not isinstance(value, tuple):
        yield path, value
        return
    for at, part in enumerate(cast("tuple[Any, ...]", value)):
        yield from _paths(part, *path, at)


def _at(value: Any, path: Sequence[int]) -> Any:
    for index in path:
        value = value[index]
    return value


def _text(fn: Any, signature: Mapping[str, Any], constants: Mapping[Any, Any], attributes: Mapping[Any, Any]) -> str:
    from teeny.triton.compiler import CpuBackend

    ir = load("_C.libtriton").ir
    target = load("backends.compiler").GPUTarget(*_TARGET)
    backend = CpuBackend(target)
    options = backend.parse_options({})
    context = ir.context()
    ir.load_dialects(context)
    make = load("compiler").ASTSource
    source = make(fn=fn, signature=dict(signature), constexprs=dict(constants), attrs=dict(attributes))
    implementation = backend.get_codegen_implementation(options)
    with standard_error([]), standard_output([]), warnings.catch_warnings(action="ignore"):
        return str(source.make_ir(target, options, implementation, backend.get_module_map(), context))
