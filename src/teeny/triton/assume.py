"""Types and constants for a kernel of which nobody states them: guesses in the order in which they are tried."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from typing import Any

from teeny.triton.roles import Roles

__all__ = ["guesses"]

_BLOCK, _OTHER = 64, 4
_FLOATS = (
    "eps",
    "scale",
    "alpha",
    "beta",
    "lr",
    "decay",
    "prob",
    "p",
    "temperature",
    "cap",
    "softcap",
    "theta",
    "gamma",
)
_ELEMENTS = ("fp32", "fp16", "bf16", "i32", "i64", "fp8e5")
_NO_DEFAULT = object()


def guesses(jit: Any, roles: Roles, stated: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Choices for `TritonKernel.specialize`, the likeliest first; each keeps what is `stated`."""
    pointers = [p.name for p in jit.params if not p.is_constexpr and _is_pointer(p.name, roles)]
    first = _first(jit, roles, pointers)
    yield {**first, **stated}
    flags = [n for n in roles.flags if n in first and first[n] is False and n not in stated]
    if flags:
        yield {**first, **dict.fromkeys(flags, True), **stated}
    free = [p for p in pointers if p not in stated and p not in roles.indices]
    for element in _ELEMENTS[1:]:
        yield {**first, **dict.fromkeys(free, f"*{element}"), **stated}
    numbers = [n for n, t in first.items() if t == "i32" and n not in stated]
    yield {**first, **dict.fromkeys(numbers, "fp32"), **stated}


def _is_pointer(name: str, roles: Roles) -> bool:
    return name in roles.pointers or name.lower().endswith(("_ptr", "_ptrs", "pointer"))


def _first(jit: Any, roles: Roles, pointers: list[str]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for parameter in jit.params:
        name = parameter.name
        default = parameter.default if parameter.has_default else _NO_DEFAULT
        if parameter.is_constexpr:
            if default is _NO_DEFAULT:
                found[name] = _constant(name, roles)
        elif name in pointers:
            found[name] = "*i32" if name in roles.indices else "*fp32"
        elif isinstance(default, float) or name.lower().split("_")[-1] in _FLOATS:
            found[name] = "fp32"
        else:
            found[name] = "i32"
    return found


def _constant(name: str, roles: Roles) -> Any:
    """A value for a constexpr."""
    if name in roles.text:
        return roles.text[name]
    if name in roles.dtypes:
        from teeny.backends.triton.wheel import load

        return load("language").float32
    lower = name.lower()
    if name in roles.sizes or "block" in lower or "tile" in lower or lower.endswith("size"):
        return _BLOCK
    if name in roles.flags or lower.startswith(("is_", "has_", "use_", "with_", "enable_", "do_")) or lower == "causal":
        return False
    return _BLOCK if len(name) <= 2 or lower.startswith(("head", "dim", "n_", "num_")) else _OTHER


def functions_of(tree: ast.Module) -> dict[str, ast.FunctionDef]:
    """The functions of a file by name."""
    return {n.name: n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef)}
