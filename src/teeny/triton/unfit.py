"""Why a launch of a kernel of Triton failed: which of its arguments does not fit, as a diagnostic."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, cast

from teeny.backends.triton.wheel import load
from teeny.diag.errors import LaunchError
from teeny.triton.roles import roles_of

__all__ = ["chosen_twice", "is_refusal", "not_pointers", "of_triton", "untaken"]

_NEEDED = "a tensor, an array, a number, None, or a tuple of them"


def untaken(kernel: str, name: str, value: Any) -> LaunchError | None:
    """The error (L002) of an argument of which Triton knows no type; None where it knows one."""
    if isinstance(value, tuple):
        parts = [untaken(kernel, f"{name}[{at}]", part) for at, part in enumerate(cast("tuple[Any, ...]", value))]
        return next((p for p in parts if p is not None), None)
    if isinstance(value, int) and not -(1 << 63) <= value < 1 << 64:
        return _unfit(kernel, name, f"the int {value}", "an int of at most 64 bits")
    if isinstance(value, str):
        return _unfit(kernel, name, _described(value), f"{_NEEDED}; a text is for a tl.constexpr parameter")
    if value is None or isinstance(value, bool | int | float) or _is_known(value):
        return None
    dtype = getattr(value, "dtype", None)
    if dtype is not None:
        return _unfit(kernel, name, f"an array of {dtype}", "an array of a dtype that kernels have")
    return _unfit(kernel, name, _described(value), _NEEDED)


def _is_known(value: Any) -> bool:
    """Whether it is a tensor, a descriptor, or one of Triton's own objects."""
    return any(hasattr(value, n) for n in ("data_ptr", "block_shape", "cache_key", "__triton_type__")) or (
        type(value).__module__.partition(".")[0] == "triton"
    )


def not_pointers(jit: Any, arguments: Mapping[str, Any]) -> LaunchError | None:
    """The error (L002) of a refused kernel that got something else for a parameter that it uses as a pointer."""
    roles = roles_of(jit.parse().body[0], {})
    for parameter in jit.params:
        name = parameter.name
        if name in arguments and name in roles.pointers and not parameter.is_constexpr:
            value = arguments[name]
            empty = value is None and name not in roles.optional
            tuples = isinstance(value, tuple) and name not in roles.sequences
            if empty or tuples or isinstance(value, bool | int | float):
                needed = "a tensor or an array: it is used as a pointer"
                return _unfit(str(jit.__name__), name, _described(value), needed)
    return None


def chosen_twice(fn: Any, kernel: str, names: Sequence[str]) -> LaunchError | None:
    """The error (L001) of a launch that gives what the autotuner chooses."""
    while fn is not None and not hasattr(fn, "params"):
        for config in getattr(fn, "configs", None) or ():
            for name in names:
                if name in config.all_kwargs():
                    return LaunchError.of(
                        "L001", f"`{name}` of `{kernel}` is chosen by the autotuner", kernel=kernel, argument=name,
                        found="a value in the launch too", needed="a launch without it",
                    )  # fmt: skip
        fn = getattr(fn, "fn", None)
    return None


def is_refusal(error: BaseException) -> bool:
    """Whether Triton's front end says it of a kernel."""
    return isinstance(error, load("compiler.errors").CompilationError)


def of_triton(error: BaseException) -> bool:
    """Whether it was raised where Triton looks at a launch's arguments, and not by a function of the user's."""
    found = error.__traceback__
    while found is not None and found.tb_next is not None:
        found = found.tb_next
    name = "" if found is None else found.tb_frame.f_code.co_filename
    return name.startswith((os.path.dirname(str(load("runtime").__file__)), "<"))


def _described(value: Any) -> str:
    if value is None:
        return "None"
    kind = type(value).__name__
    if isinstance(value, bool | int | float | str):
        return f"the {kind} {value!r}"
    return f"a {kind}"


def _unfit(kernel: str, name: str, found: str, needed: str) -> LaunchError:
    return LaunchError.of(
        "L002", f"`{name}` of `{kernel}` does not fit", kernel=kernel, argument=name, found=found, needed=needed
    )
