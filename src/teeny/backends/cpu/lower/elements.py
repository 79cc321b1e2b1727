"""Elements of buffers at indices that code computes: what runs over buffers alone needs no nest."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from teeny.backends.cpu.lower.nest import Carried, counted
from teeny.backends.cpu.lower.values import BYTES, memory_name

if TYPE_CHECKING:
    from teeny.backends.cpu.builder import Builder
    from teeny.backends.cpu.lower.state import Buffer
    from teeny.ir.lanes import Lane

__all__ = ["Indices", "get", "over", "place", "put"]

Indices = Mapping[int, "Lane"]
"""An i64 by axis; an axis that is left out is at 0."""


def place(b: Builder, buffer: Buffer, at: Indices) -> Lane:
    """The address of an element; what is computed in outer loops comes first."""
    memory = memory_name(buffer.dtype)
    found = buffer.at
    for axis in sorted(at, key=lambda a: at[a].scope.depth):
        found = b.offset(found, b.mul(at[axis], b.const("i64", buffer.strides[axis])), memory)
    return found


def get(b: Builder, buffer: Buffer, at: Indices, width: int = 1) -> Lane:
    """The element, or `width` of them from there on along the axis whose stride is 1."""
    memory = memory_name(buffer.dtype)
    lane = b.load(place(b, buffer, at), memory, width, align=BYTES[memory])
    return b.icmp("ne", lane, b.const("i8", 0)) if buffer.dtype == "i1" else lane


def put(b: Builder, buffer: Buffer, at: Indices, value: Lane) -> None:
    """Set as many elements as the value has lanes. No load made later in this epoch may see it."""
    memory = memory_name(buffer.dtype)
    lane = b.zext(value, memory) if buffer.dtype == "i1" else value
    b.store(place(b, buffer, at), lane, align=BYTES[memory], kills=False)


def over(
    b: Builder, dims: Sequence[int], axes: Sequence[int], steps: Mapping[int, int], body: Callable[[Indices], None]
) -> None:
    """Run over some axes of a shape, the first outermost, each in steps of 1 or what `steps` says."""

    def level(number: int, at: dict[int, Lane]) -> None:
        if number == len(axes):
            body(at)
            return
        axis = axes[number]

        def inside(index: Lane, carried: Carried) -> Carried:
            level(number + 1, at | {axis: index})
            return carried

        counted(b, b.const("i64", 0), b.const("i64", dims[axis]), steps.get(axis, 1), (), inside)

    b.epoch += 1
    level(0, {})
    b.epoch += 1
