"""A launch's arguments matched with the parameters of a kernel of Triton: types, constants, and what is passed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from teeny.backends.triton.wheel import load
from teeny.diag.errors import LaunchError
from teeny.triton.choose import filled_in
from teeny.triton.source import Hinted

__all__ = ["Bound", "bind", "binder"]


@dataclass(frozen=True, slots=True)
class Bound:
    """`types` and `values` of the parameters that a launch passes, `constants` of the others, `arguments` all by name.

    `others`: the parameters that take tuples or descriptors; they are in neither.
    """

    types: dict[str, Hinted]
    constants: dict[str, Any]
    values: dict[str, Any]
    arguments: dict[str, Any]
    others: tuple[str, ...]


@lru_cache(maxsize=256)
def binder(jit: Any) -> Any:
    """Triton's own function from arguments to types and hints, as the backend `cpu` has it."""
    target = load("backends.compiler").GPUTarget("cpu", "", 1)
    from teeny.triton.compiler import CpuBackend  # after Triton, which imports it

    return load("runtime.jit").create_function_from_signature(jit.signature, jit.params, CpuBackend(target))


def bind(fn: Any, jit: Any, args: Sequence[Any], keywords: Mapping[str, Any]) -> Bound:
    """Match a launch's arguments; what is not given is of the first configuration, the heuristics, or the default.

    Raises LaunchError (L001) for arguments that do not fit the parameters, (L002) for those that Triton does not take.
    """
    names = [p.name for p in jit.params]
    if len(args) > len(names):
        raise LaunchError.of(
            "L001", f"`{jit.__name__}` takes {len(names)} arguments", kernel=str(jit.__name__), found=f"{len(args)}",
            needed=", ".join(names),
        )  # fmt: skip
    given = dict(zip(names, args, strict=False))
    for name, value in keywords.items():
        if name in given or name not in names:
            said = f"has two values for `{name}`" if name in given else f"has no parameter `{name}`"
            raise LaunchError.of(
                "L001", f"`{jit.__name__}` {said}", kernel=str(jit.__name__), argument=name, found=repr(value),
                needed=", ".join(names),
            )  # fmt: skip
        given[name] = value
    filled = filled_in(fn, given)
    for parameter in jit.params:
        if parameter.name not in filled and not parameter.has_default:
            raise LaunchError.of(
                "L001", f"`{jit.__name__}` lacks `{parameter.name}`", kernel=str(jit.__name__),
                argument=parameter.name, found="nothing", needed="a value",
            )  # fmt: skip
    try:
        arguments, specialization, _ = binder(jit)(**{n: v for n, v in filled.items() if n in names})
    except (TypeError, ValueError, OverflowError) as error:  # a value of which it knows no type
        raise LaunchError.of(
            "L002", f"Triton does not take the arguments of `{jit.__name__}`: {error}", kernel=str(jit.__name__),
            needed="tensors, arrays, numbers, and tuples of them",
        ) from error  # fmt: skip
    return bound(arguments, specialization)


def bound(arguments: Mapping[str, Any], specialization: Sequence[Any]) -> Bound:
    """What Triton's binder says of arguments."""
    made = Bound({}, {}, {}, dict(arguments), ())
    others: list[str] = []
    for (name, value), (type_, *hint) in zip(arguments.items(), specialization, strict=True):
        if not isinstance(type_, str) or type_.startswith("tensordesc"):
            others.append(name)
        elif type_ == "constexpr":
            made.constants[name] = value
        else:
            made.types[name] = Hinted(type_, bool(hint) and isinstance(hint[0], str) and "D" in hint[0])
            made.values[name] = value
    return Bound(made.types, made.constants, made.values, made.arguments, tuple(others))
