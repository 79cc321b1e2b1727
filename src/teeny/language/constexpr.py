"""Names of Triton for what is known at compile time, so that ported kernels need fewer changes."""

from __future__ import annotations

import builtins
from typing import TYPE_CHECKING, Any


class Held:
    """`constexpr`. As an annotation: a Const of any kind. Around a global value of a module: kernels may read it.

    In a kernel `tl.constexpr(x)` is x, which must be a Const. `Const[int]` says more: with it a kernel is checked at
    its definition, not only at its first specialisation.
    """

    def __init__(self, value: object) -> None:
        self.value = value.value if isinstance(value, Held) else value

    def __repr__(self) -> str:
        return f"constexpr({self.value!r})"

    def __eq__(self, other: object) -> bool:
        return self.value == (other.value if isinstance(other, Held) else other)

    def __hash__(self) -> int:
        return hash(self.value)

    def __index__(self) -> int:
        if isinstance(self.value, int):
            return self.value
        raise TypeError(f"{self!r} is no integer")


if TYPE_CHECKING:
    constexpr = Any
else:
    constexpr = Held
tuple = builtins.tuple  # Triton has a class of its own under this name

__all__ = ["constexpr", "tuple"]
