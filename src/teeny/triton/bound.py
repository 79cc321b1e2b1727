"""A launch's arguments matched with the parameters of a kernel of Triton: types, constants, and what is passed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from teeny.backends.triton.wheel import load
from teeny.diag.errors import LaunchError
from teeny.triton.choose import filled_in
from teeny.triton.slots import Slot, slots_of
from teeny.triton.source import launch_text
from teeny.triton.unfit import untaken

__all__ = ["Bound", "bind", "binder", "bound"]


@dataclass(frozen=True, slots=True)
class Bound:
    """`arguments` by name, what Triton's binder says of them, and the slots that a launch passes."""

    arguments: dict[str, Any]
    specialization: tuple[tuple[Any, ...], ...]
    slots: tuple[Slot, ...]

    @property
    def constants(self) -> dict[str, Any]:
        """The arguments that are part of the code."""
        pairs = zip(self.arguments.items(), self.specialization, strict=True)
        return {name: value for (name, value), said in pairs if said[0] == "constexpr"}

    def text(self, jit: Any) -> str:
        """The module for these arguments. Raises what Triton raises."""
        return launch_text(jit, self.arguments, self.specialization)


@lru_cache(maxsize=256)
def binder(jit: Any) -> Any:
    """Triton's own function from arguments to types and hints, as the backend `cpu` has it."""
    target = load("backends.compiler").GPUTarget("cpu", "", 1)
    from teeny.triton.compiler import CpuBackend  # after Triton, which imports it

    return load("runtime.jit").create_function_from_signature(jit.signature, jit.params, CpuBackend(target))


@lru_cache(maxsize=1)
def _options() -> frozenset[str]:
    """Options of a GPU that a launch may state; they mean nothing here."""
    target = load("backends.compiler").GPUTarget("cpu", "", 1)
    from teeny.triton.compiler import CpuBackend  # after Triton, which imports it

    return frozenset(vars(CpuBackend(target).parse_options({})))


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
        if name not in names and name in _options():
            continue
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
    passed = {n: v for n, v in filled.items() if n in names}
    try:
        arguments, specialization, _ = binder(jit)(**passed)
    except (TypeError, ValueError, OverflowError) as error:  # a value of which it knows no type
        plain = {p.name for p in jit.params if not p.is_constexpr}
        for name, value in passed.items():
            if name in plain and (unfit := untaken(str(jit.__name__), name, value)) is not None:
                raise unfit from error
        raise LaunchError.of(
            "L002", f"Triton does not take the arguments of `{jit.__name__}`: {error}", kernel=str(jit.__name__),
            needed="tensors, arrays, numbers, and tuples of them",
        ) from error  # fmt: skip
    return bound(arguments, specialization)


def bound(arguments: Mapping[str, Any], specialization: Sequence[Any]) -> Bound:
    """What Triton's binder says of arguments."""
    said = tuple(tuple(s) for s in specialization)
    slots = [slot for (n, v), s in zip(arguments.items(), said, strict=True) for slot in slots_of(n, s[0], v)]
    return Bound(dict(arguments), said, tuple(slots))
