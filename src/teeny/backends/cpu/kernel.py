"""A compiled kernel: from IR to code in this process, and its launch."""

from __future__ import annotations

import ctypes
import gc
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from teeny.backends.cpu import pool
from teeny.backends.cpu.engine import compile_object, load
from teeny.backends.cpu.lower.entry import LoweredKernel, lower
from teeny.backends.cpu.lower.state import Options
from teeny.backends.cpu.report import Reporter
from teeny.backends.cpu.target import Level

if TYPE_CHECKING:
    from teeny.ir.core import Module

__all__ = ["CpuKernel", "compile_module"]

Grid = tuple[int, int, int]
_SLOT = (1 << 64) - 1


@dataclass(frozen=True, slots=True, eq=False)
class CpuKernel:
    """Code at `address`, loaded from `object_bytes`; `lowered` says what its arguments are."""

    lowered: LoweredKernel
    object_bytes: bytes
    address: int

    def launch(self, args: Sequence[int], grid: Grid) -> None:
        """Run all programs; returns when they are done.

        An argument is a pointer's address, or a scalar's bits (an integer may be negative), in the order of the
        parameters. The arguments are not checked. Raises LaunchError L017 for an assertion that fails.
        """
        lowered = self.lowered
        reporter = Reporter(lowered.symbol.removesuffix("__programs"), lowered.reports, grid)
        block = (ctypes.c_uint64 * (len(args) + 4))(*[a & _SLOT for a in args], *grid, reporter.address)
        x, y, z = grid
        try:
            run = pool.launch_together if lowered.waits else pool.launch
            run(self.address, block, x * y * z, lowered.scratch_bytes, lowered.cost_ns_per_program)
        finally:
            reporter.finish()


def compile_module(module: Module, level: Level = "native", *, options: Options | None = None) -> CpuKernel:
    """Compile the kernel of a concrete, verified module into this process; `level` as in `target`."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        lowered = lower(module, level=level, options=options)
        code = compile_object(lowered.ir_text, level)
        return CpuKernel(lowered, code, load(code, lowered.symbol))
    finally:
        if collecting:
            gc.enable()
