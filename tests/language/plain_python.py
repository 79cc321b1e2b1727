"""A kernel of scalars run by Python itself: the meaning of control flow without a front end.

The text of the kernel is executed with a stand-in for `tl`, whose pointers are places in arrays. Numbers are Python's:
they do not wrap, and division rounds down, so that tests keep to numbers for which that is the same.
"""

from __future__ import annotations

import builtins
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Place:
    """An element of an array."""

    array: Any
    at: int = 0
    dtype: str = ""

    def __add__(self, offset: int) -> Place:
        return Place(self.array, self.at + int(offset), self.dtype)

    __radd__ = __add__

    def __sub__(self, offset: int) -> Place:
        return self + -offset


class Anything:
    """What annotations are made of."""

    def __getitem__(self, item: object) -> Anything:
        return self

    def __or__(self, other: object) -> Anything:
        return self

    __ror__ = __or__


class Scalar(int):
    """A number with the conversion that kernels write."""

    def to(self, dtype: object) -> Scalar:
        return self

    def __add__(self, other: Any) -> Any:
        return Scalar(int(self) + other) if isinstance(other, int) else NotImplemented

    def __sub__(self, other: Any) -> Any:
        return Scalar(int(self) - other) if isinstance(other, int) else NotImplemented


def _range(*args: Any, **hints: Any) -> Any:
    named = [hints[name] for name in ("start", "end", "step") if name in hints]
    return map(Scalar, builtins.range(*map(int, [*args, *named])))


def _load(place: Place, mask: bool = True, other: int = 0) -> Scalar:
    return Scalar(place.array[place.at]) if mask else Scalar(other)


def _store(place: Place, value: Any, mask: bool = True) -> None:
    if mask:
        place.array[place.at] = value


def _static_assert(cond: bool, msg: str = "") -> None:
    assert cond, msg


def language(program: int) -> SimpleNamespace:
    """The stand-in for `teeny.language` in one program."""
    names = ("Ptr", "Scalar", "Const", "Tensor", "constexpr")
    return SimpleNamespace(
        **{name: Anything() for name in names}, i32="i32", i64="i64", range=_range, static_range=_range, load=_load,
        store=_store, program_id=lambda axis: Scalar(program if axis == 0 else 0), minimum=min, maximum=max, abs=abs,
        where=lambda c, x, y: x if c else y, static_assert=_static_assert, device_assert=_static_assert,
        static_print=lambda *values, **how: None, condition=lambda cond, **how: cond, cdiv=lambda x, y: -(-x // y),
        full=lambda shape, value, dtype: Scalar(value), multiple_of=lambda x, n: x, assume=lambda cond: None,
        debug_barrier=lambda: None,
    )  # fmt: skip


def run(text: str, arrays: list[Any], scalars: list[Any], consts: dict[str, Any], programs: int) -> None:
    """Run `kernel` of a text on arrays, which change in place; None for a pointer that is absent."""
    for program in builtins.range(programs):
        tl = language(program)
        scope: dict[str, Any] = {"tl": tl, "tn": SimpleNamespace(kernel=lambda fn: fn)}
        exec(compile(text, "<kernel>", "exec", dont_inherit=True), scope)
        places = [None if a is None else Place(a, 0, "i32") for a in arrays]
        scope["kernel"](*places, *map(Scalar, scalars), **consts)


def array(*values: int) -> Any:
    return np.array(values, np.int32)
