"""Launches that one thread does at once: a block in memory and one call of native code with its address."""

from __future__ import annotations

import ctypes
import struct
from typing import TYPE_CHECKING, Any

from teeny.backends.cpu.pool import ALONE_NS, native

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Block", "SmallLaunch"]

LARGEST = 1 << 16
"""Bytes of scratch memory that a block brings along at most."""
_ALIGNMENT = 64

Block = tuple[Any, int, int, Any]
"""A block, its address, the address of its scratch memory, and what keeps that alive."""


class SmallLaunch:
    """Launches of the kernel at `address` of `most` programs at most; 0 where it needs much scratch memory.

    A block holds the kernel, scratch memory, the number of programs, and the slots of the arguments and the grid:
    numbers of 64 bits with sign. `run` takes its address; `free` are blocks that no launch uses, `made` makes another.
    """

    def __init__(self, address: int, arguments: int, scratch_bytes: int, cost_ns_per_program: float) -> None:
        self.address = address
        self.most = 0 if scratch_bytes > LARGEST else max(1, int(ALONE_NS / max(cost_ns_per_program, 1.0)))
        self.run: Callable[[int], None] = native().small
        self.free: list[Block] = []
        self._layout = struct.Struct(f"={arguments + 6}q")
        self._scratch = scratch_bytes
        self.pack_into: Callable[..., None] = self._layout.pack_into

    def made(self) -> Block:
        """A new block."""
        block = bytearray(self._layout.size)
        memory = ctypes.create_string_buffer(self._scratch + _ALIGNMENT)
        start = -(-ctypes.addressof(memory) // _ALIGNMENT) * _ALIGNMENT
        return block, ctypes.addressof(ctypes.c_char.from_buffer(block)), start, memory

    def __call__(self, programs: int, slots: tuple[int, ...]) -> None:
        """Run programs 0 to `programs` - 1, which are no more than `most`."""
        free = self.free
        entry = free.pop() if free else self.made()
        self.pack_into(entry[0], 0, self.address, entry[2], programs, *slots)
        self.run(entry[1])
        free.append(entry)
