"""The types of a kernel's parameters and the values of its constexprs, from what a user states."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from teeny.diag.errors import LaunchError
from teeny.triton.host import type_of
from teeny.triton.source import Hinted, split_type

__all__ = ["Choice", "choose", "filled_in"]

_MULTIPLE = 16


@dataclass(slots=True)
class Choice:
    """`types` of the parameters that a launch passes, `constants` of the others, by name in the kernel's order."""

    types: dict[str, Hinted] = field(default_factory=dict[str, Hinted])
    constants: dict[str, Any] = field(default_factory=dict[str, Any])


def choose(fn: Any, jit: Any, choices: Mapping[str, Any]) -> Choice:
    """Match choices with the parameters of a kernel; `fn` may have autotuning and heuristics around `jit`.

    Raises LaunchError (L001) for what is missing or unknown, (L002) for a value that says no type.
    """
    kernel = str(jit.__name__)
    names = [p.name for p in jit.params]
    for name in choices:
        if name not in names:
            raise LaunchError.of(
                "L001", f"`{kernel}` has no parameter `{name}`", kernel=kernel, argument=name,
                found=repr(choices[name]), needed=", ".join(names),
            )  # fmt: skip
    filled = filled_in(fn, choices)
    chosen = Choice()
    for parameter in jit.params:
        name = parameter.name
        if name not in filled:
            if not parameter.has_default:
                needed = "a value" if parameter.is_constexpr else 'a type such as "*fp32" or "i32"'
                raise LaunchError.of(
                    "L001", f"`{kernel}` lacks `{name}`", kernel=kernel, argument=name, found="nothing", needed=needed
                )
            filled[name] = parameter.default
        if parameter.is_constexpr or filled[name] is None:
            chosen.constants[name] = filled[name]
        else:
            _of_value(kernel, name, filled[name], chosen)
    return chosen


def filled_in(fn: Any, choices: Mapping[str, Any]) -> dict[str, Any]:
    """Choices with what the first configuration of the autotuner and the heuristics say, outermost first."""
    filled = dict(choices)
    while fn is not None and not hasattr(fn, "params"):
        configs = getattr(fn, "configs", None)
        if configs:
            for name, value in configs[0].kwargs.items():
                filled.setdefault(name, value)
        heuristics = getattr(fn, "values", None)
        if isinstance(heuristics, Mapping):
            for name, rule in cast("Mapping[str, Any]", heuristics).items():
                if name not in filled:
                    try:
                        filled[name] = rule(dict(filled))
                    except Exception:  # it needs real arguments
                        continue
        fn = getattr(fn, "fn", None)
    return filled


def _of_value(kernel: str, name: str, value: Any, chosen: Choice) -> None:
    if isinstance(value, tuple):
        parts = Choice()
        for at, part in enumerate(cast("tuple[Any, ...]", value)):
            _of_value(kernel, f"{name}[{at}]", 2 if part == 1 else part, parts)  # a 1 is an int like others here
        chosen.types[name] = Hinted(tuple(hinted.type for hinted in parts.types.values()))
        return
    if isinstance(value, str):
        chosen.types[name] = split_type(value)
        return
    if isinstance(value, bool):
        chosen.types[name] = Hinted("u1")
        return
    if isinstance(value, int):
        if value == 1:
            chosen.constants[name] = 1
        else:
            wide = "i32" if -(1 << 31) <= value < 1 << 31 else "i64" if value < 1 << 63 else "u64"
            chosen.types[name] = Hinted(wide, value % _MULTIPLE == 0)
        return
    if isinstance(value, float):
        chosen.types[name] = Hinted("fp32")
        return
    element = type_of(value)
    if element is None:
        raise LaunchError.of(
            "L002", f"`{name}` of `{kernel}` does not say a type", kernel=kernel, argument=name,
            found=f"a {type(value).__name__}", needed='a type such as "*fp32" or "i32", an array or a number',
        )  # fmt: skip
    chosen.types[name] = Hinted(f"*{element}")
