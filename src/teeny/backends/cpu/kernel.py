"""A compiled kernel: from IR to a function in this process, and its launch on one thread or on the pool's."""

from __future__ import annotations

import ctypes
import gc
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from teeny.backends.cpu.engine import compile_object, load
from teeny.backends.cpu.lower.entry import LoweredKernel, lower
from teeny.backends.cpu.lower.state import Options
from teeny.backends.cpu.target import Level

if TYPE_CHECKING:
    from teeny.ir.core import Module

__all__ = ["CpuKernel", "compile_module"]

Grid = tuple[int, int, int]
_ENTRY = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64, ctypes.c_void_p)


@dataclass(slots=True, eq=False)
class CpuKernel:
    """`call(block, start, end, scratch)` runs the programs [start, end) of the grid in the packed block."""

    lowered: LoweredKernel
    object_bytes: bytes
    address: int
    _call: object = field(repr=False)

    def launch(self, args: Sequence[int], grid: Grid) -> None:
        """Run all programs on this thread. An argument is an address or a scalar's bits, one slot each."""
        count = grid[0] * grid[1] * grid[2]
        if count == 0:
            return
        block = (ctypes.c_uint64 * (len(args) + 3))(*[a & (1 << 64) - 1 for a in args], *grid)
        size = self.lowered.scratch_bytes
        scratch = ctypes.create_string_buffer(size + 64)
        at = (ctypes.addressof(scratch) + 63) & ~63
        _ENTRY(self.address)(ctypes.addressof(block), 0, count, at)


def compile_module(module: Module, level: Level = "native", *, options: Options | None = None) -> CpuKernel:
    """Compile the kernel of a concrete, verified module into this process."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        lowered = lower(module, level=level, options=options)
        code = compile_object(lowered.ir_text, level)
        return CpuKernel(lowered, code, load(code, lowered.symbol), None)
    finally:
        if collecting:
            gc.enable()
