"""What one lowering carries along: the builder, what values are bound to, the arena, the plan."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from teeny.backends.cpu.lower.values import BYTES, memory_name, size
from teeny.diag.errors import InternalError
from teeny.ir.lanes import Lane

if TYPE_CHECKING:
    from collections.abc import Mapping

    from teeny.backends.cpu.builder import Builder
    from teeny.backends.cpu.lower.plan import Plan
    from teeny.ir.core import Op, Value

__all__ = ["Arena", "Buffer", "Hook", "Options", "State", "row_major"]

ALIGN = 64


@dataclass(frozen=True, slots=True)
class Options:
    """How to lower.

    `width`: lanes of a vector, None for what suits the level. `disjoint`: the caller vouches that different pointer
    arguments lead to disjoint memory. `exact`: take the general version of every nest (for tests).
    """

    width: int | None = None
    disjoint: bool = False
    exact: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Buffer:
    """A tile in the arena, elements as they lie in memory (`i1` as a byte)."""

    at: Lane
    shape: tuple[int, ...]
    dtype: str
    strides: tuple[int, ...]
    """Elements from one index to the next, an axis each."""
    carried: bool = False
    """Overwritten by a loop: it must not stand for another value."""


def row_major(dims: tuple[int, ...]) -> tuple[int, ...]:
    """The strides of a dense tile whose last axis is contiguous."""
    found: list[int] = []
    step = 1
    for dim in reversed(dims):
        found.append(step)
        step *= dim
    return tuple(reversed(found))


@dataclass(slots=True)
class Arena:
    """Scratch memory of a program: a stack of buffers; what a block allocates is free again after it."""

    top: int = 0
    high: int = 0

    def take(self, bytes_: int) -> int:
        at = self.top
        self.top += (bytes_ + ALIGN - 1) // ALIGN * ALIGN
        self.high = max(self.high, self.top)
        return at


@dataclass(frozen=True, slots=True, eq=False)
class Hook:
    """A function of the launch, the program's number in the grid, and the number of each print and assertion."""

    address: Lane
    program: Lane
    sites: Mapping[Op, int]


@dataclass(slots=True)
class State:
    b: Builder
    options: Options
    plan: Plan
    scratch: Lane
    bound: dict[Value, Lane | Buffer]
    """What each value seen so far is: a scalar's lane, a materialised tile's buffer."""
    grid: tuple[Lane, Lane, Lane]
    program: tuple[Lane, Lane, Lane]
    arena: Arena = field(default_factory=Arena)
    reads: frozenset[Value | None] = frozenset()
    """The pointer arguments that the kernel loads from, with None where that is not plain."""
    turning: set[Value] = field(default_factory=set["Value"])
    """Tiles that are being copied as they lie, to be turned afterwards."""
    hook: Hook | None = None
    """What prints and failed assertions call, where there are any."""
    streamed: bool = False
    """Whether stores went past the cache."""
    cost: float = 0.0
    """Rough nanoseconds a program."""
    trips: float = 1.0
    """How often the block being lowered runs in a program, guessed."""

    def buffer(self, dims: tuple[int, ...], dtype: str, *, carried: bool = False) -> Buffer:
        """A new buffer, valid until the block being lowered ends."""
        at = self.arena.take(size(dims) * BYTES[memory_name(dtype)])
        pointer = self.b.offset(self.scratch, self.b.const("i64", at), "i8")
        return Buffer(pointer, dims, dtype, row_major(dims), carried)

    def scalar(self, value: Value) -> Lane:
        """The lane of a scalar."""
        found = self.bound.get(self.plan.source(value))
        if not isinstance(found, Lane):
            raise InternalError(f"the scalar {value!r} has no lane")
        return found
