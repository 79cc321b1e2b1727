"""What can go wrong while a program runs: each names the operation, its place, the program and the lane."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from teeny.ir.core import Op

Index = tuple[int, ...]


class ExecutionError(Exception):
    """A program went wrong at `op`. `program` is its place in the grid, `lane` the index in the tile."""

    def __init__(self, message: str, op: Op, program: Index, lane: Index | None = None) -> None:
        self.message = message
        self.op = op
        self.program = program
        self.lane = lane
        super().__init__(message, op, program, lane)

    def __str__(self) -> str:
        where = f"program {self.program}" + (f", lane {self.lane}" if self.lane else "")
        place = f" at {self.op.loc.span.position}" if self.op.loc is not None else ""
        name = self.op.loc.name if self.op.loc is not None and self.op.loc.name else self.op.name
        return f"{name}{place}: {self.message} ({where})"


class AccessError(ExecutionError):
    """An access outside its buffer, or a write to a read-only one.

    `argument` is the number of the pointer argument that the address was made from, `offset` the element's distance
    from it in bytes, `size` the bytes of an element.
    """

    def __init__(
        self, message: str, op: Op, program: Index, lane: Index, argument: int, offset: int, size: int
    ) -> None:
        super().__init__(message, op, program, lane)
        self.argument = argument
        self.offset = offset
        self.size = size


class PoisonError(ExecutionError):
    """An undefined lane decides what the program does: a branch, a loop bound, a mask, an address that is accessed."""


class FailedAssertionError(ExecutionError):
    """A `tl.device_assert` does not hold."""
