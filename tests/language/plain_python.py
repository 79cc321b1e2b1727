"""A kernel of scalars run by Python itself: the meaning of control flow without a front end.

The text of the kernel is executed with a stand-in for `tl`, whose pointers are places in arrays. Numbers are Python's:
they do not wrap, and division rounds down, so that tests keep to numbers for which that is the same.
"""

from __future__ import annotations

import builtins
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Place:
    """An element of an array."""

    array: Any
    at: int = 0

    def __add__(self, offset: int) -> Place:
        return Place(self.array, self.at + int(offset))

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


class Language:
    """The stand-in for `teeny.language` in one program."""

    Ptr = Const = Tensor = constexpr = Anything()
    i32, i64 = "i32", "i64"
    minimum, maximum, abs = builtins.min, builtins.max, builtins.abs

    def __init__(self, program: int) -> None:
        self.program = program
        self.Scalar = Anything()

    def range(self, *args: Any, **hints: Any) -> Any:
        named = [hints[name] for name in ("start", "end", "step") if name in hints]
        return map(Scalar, builtins.range(*map(int, [*args[:3], *named])))

    def static_range(self, *args: Any) -> Any:
        return self.range(*args)

    def load(self, place: Place, mask: bool = True, other: int = 0) -> Scalar:
        return Scalar(place.array[place.at]) if mask else Scalar(other)

    def store(self, place: Place, value: Any, mask: bool = True) -> None:
        if mask:
            place.array[place.at] = value

    def program_id(self, axis: int) -> Scalar:
        return Scalar(self.program if axis == 0 else 0)

    def condition(self, cond: bool, disable_licm: bool = False) -> bool:
        return cond

    def static_assert(self, cond: bool, msg: str = "") -> None:
        assert cond, msg

    device_assert = static_assert


def run(text: str, arrays: list[Any], scalars: list[Any], consts: dict[str, Any], programs: int = 1) -> None:
    """Run `kernel` of a text on arrays, which change in place; None for a pointer that is absent."""
    for program in range(programs):
        scope: dict[str, Any] = {"tl": Language(program), "tn": _Decorators}
        exec(compile(text, "<kernel>", "exec", dont_inherit=True), scope)
        places = [None if a is None else Place(a) for a in arrays]
        scope["kernel"](*places, *map(Scalar, scalars), **consts)


class _Decorators:
    @staticmethod
    def kernel(fn: Any) -> Any:
        return fn
