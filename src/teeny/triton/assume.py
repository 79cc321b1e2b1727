"""Types and constants for a kernel of which nobody states them: guesses in the order in which they are tried."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from teeny.backends.triton.wheel import load
from teeny.triton.choose import filled_in
from teeny.triton.roles import Roles
from teeny.triton.stubs import Stub

__all__ = ["Assumed", "assume", "functions_of", "guesses", "shown"]

_BLOCK, _SHORT, _OTHER, _LENGTH = 64, 16, 4, 2
_SIZES = (32, 16, 128)
"""Sizes of blocks that are tried after 64."""
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
_EXAMPLE = {"i32": 1000, "fp32": 1.0}
"""What heuristics are told of numbers."""


@dataclass(slots=True)
class Assumed:
    """`first`: the likeliest choices. Of those, `sizes` and `flags` are varied, and `fixed` are constants that are not.

    Types are in none of these.
    """

    first: dict[str, Any] = field(default_factory=dict[str, Any])
    pointers: list[str] = field(default_factory=list[str])
    sizes: list[str] = field(default_factory=list[str])
    flags: list[str] = field(default_factory=list[str])
    fixed: list[str] = field(default_factory=list[str])


def assume(fn: Any, jit: Any, roles: Roles, stated: Mapping[str, Any]) -> Assumed:
    """What is likely of the parameters of a kernel that are not `stated`."""
    made = Assumed(pointers=[p.name for p in jit.params if not p.is_constexpr and _is_pointer(p.name, roles)])
    for parameter in jit.params:
        name = parameter.name
        default = parameter.default if parameter.has_default else _NO_DEFAULT
        if name in stated:
            made.first[name] = stated[name]
        elif parameter.is_constexpr:
            if default is _NO_DEFAULT or isinstance(default, Stub):
                made.first[name] = _constant(name, roles, made)
        elif name in roles.descriptors:
            made.first[name] = f"tensordesc<fp32[{', '.join([str(_BLOCK)] * roles.descriptors[name])}]>"
            made.fixed.append(name)
        elif name in roles.sequences:
            part = "*fp32" if name in made.pointers else "i32"
            made.first[name] = (part,) * (roles.sequences[name] or _LENGTH)
            made.fixed.append(name)
        elif name in made.pointers:
            made.first[name] = "*i32" if name in roles.indices else "*fp32"
            if name in roles.indices:
                made.fixed.append(name)
        elif isinstance(default, float) or name.lower().split("_")[-1] in _FLOATS:
            made.first[name] = "fp32"
        else:
            made.first[name] = "i32"
    _configured(fn, made, stated)
    return made


def _configured(fn: Any, made: Assumed, stated: Mapping[str, Any]) -> None:
    """Constants that the first configuration and the heuristics say take the place of assumed ones."""
    ruled, configured = _ruled(fn)
    example = {
        name: _EXAMPLE.get(value, value) if isinstance(value, str) else value
        for name, value in made.first.items()
        if name in stated or name not in ruled | configured
    }
    said = filled_in(fn, example)
    for name in (ruled | configured) - set(stated):
        if name in said and not isinstance(said[name], Stub):
            made.first[name] = said[name]
            if name in configured:  # what the file says is no guess
                for group in (made.sizes, made.flags, made.fixed):
                    if name in group:
                        group.remove(name)


def _ruled(fn: Any) -> tuple[set[str], set[str]]:
    """The names that heuristics rule, and those that the first configurations state."""
    ruled, configured = set[str](), set[str]()
    while fn is not None and not hasattr(fn, "params"):
        rules, configs = getattr(fn, "values", None), getattr(fn, "configs", None)
        if isinstance(rules, Mapping):
            ruled |= set(cast("Mapping[str, Any]", rules))
        if configs:
            configured |= set(configs[0].kwargs)
        fn = getattr(fn, "fn", None)
    return ruled, configured


def guesses(made: Assumed, roles: Roles, stated: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Choices for `TritonKernel.specialize`, the likeliest first, each once; each keeps what is `stated`."""
    seen: list[dict[str, Any]] = []
    for change in _changes(made, roles):
        choices = {**made.first, **change, **stated}
        if choices not in seen:
            seen.append(choices)
            yield choices


def _changes(made: Assumed, roles: Roles) -> Iterator[dict[str, Any]]:
    yield {}
    yield dict.fromkeys(made.flags, True)
    yield dict.fromkeys((n for n in made.first if n in roles.optional), None)
    free = [p for p in made.pointers if isinstance(made.first.get(p), str) and p not in roles.indices]
    for element in _ELEMENTS[1:]:
        yield dict.fromkeys(free, f"*{element}")
    yield dict.fromkeys((n for n, t in made.first.items() if t == "i32"), "fp32")
    for size in _SIZES:
        yield dict.fromkeys(made.sizes, size)
    yield {name: (16, 32, 64, 128)[at % 4] for at, name in enumerate(made.sizes)}
    for name in made.fixed:
        for value in dict.fromkeys(roles.literals.get(name, ())):
            yield {name: value}


def _is_pointer(name: str, roles: Roles) -> bool:
    return name in roles.pointers or name.lower().endswith(("_ptr", "_ptrs", "pointer"))


def identity(first: Any, *others: Any) -> Any:
    """Stands for a function that a kernel is given."""
    return first


def _constant(name: str, roles: Roles, made: Assumed) -> Any:
    """A value for a constexpr, noted in the group that says whether it is varied."""
    lower = name.lower()
    value: Any = None
    group = made.fixed
    if roles.literals.get(name):
        value = roles.literals[name][0]
    elif name in roles.functions:
        value = identity
    elif name in roles.sequences:
        value = (_SHORT,) * (roles.sequences[name] or _LENGTH)
    elif name in roles.dtypes or lower.endswith("dtype"):
        value = load("language").float32
    elif name in roles.sizes or "block" in lower or "tile" in lower or lower.endswith("size"):
        value, group = _BLOCK, made.sizes
    elif name in roles.flags or lower.startswith(_SWITCHES) or lower == "causal":
        value, group = False, made.flags
    elif name in roles.optional:
        value = None
    else:
        value = _BLOCK if len(name) <= 2 or lower.startswith(("head", "dim", "n_", "num_")) else _OTHER
    group.append(name)
    return value


_SWITCHES = ("is_", "has_", "use_", "with_", "enable_", "do_", "even_")


def shown(value: Any) -> str:
    """An assumed value as a user would write it."""
    if value is identity:
        return "(a function that gives its first argument)"
    if type(value).__name__ == "dtype":
        return f"tl.{value}" if not str(value).startswith("fp") else f"tl.float{str(value)[2:]}"
    return value if isinstance(value, str) else getattr(value, "__name__", None) or repr(value)


def functions_of(tree: ast.Module) -> dict[str, ast.FunctionDef]:
    """The functions of a file by name."""
    return {n.name: n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef)}
