"""Scratch memory on the device for kernels that ask for it: taken anew for each launch, in the order of its stream."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from teeny.runtime.cuda import current
from teeny.runtime.cuda_driver import check
from teeny.runtime.streams import stream_handle

if TYPE_CHECKING:
    from teeny.runtime.cuda import CudaFunction, Launch
    from teeny.runtime.grid import Grid

_ALIGNED = 256
"""The driver's memory is aligned to so many bytes at least."""


@dataclass(frozen=True, slots=True)
class Scratch:
    """`place`: which parameter takes the address. `size`: bytes a program. `align`: of the address, a power of two."""

    place: int
    size: int
    align: int


def with_scratch(launch: Launch, function: CudaFunction, scratch: Scratch) -> Launch:
    """The launch with scratch memory for all programs of its grid at `scratch.place` of its slots.

    The memory comes from the pool of the device and goes back to it behind the kernel, without waiting for it, so that
    launches on several streams never share any. Raises LaunchError X003 where there is not enough.
    """
    device, name, place = function.device, function.name, scratch.place
    spare = max(scratch.align - _ALIGNED, 0)

    def run(grid: Grid, slots: Sequence[int], stream: object = None) -> None:
        if 0 in grid:
            return
        raw = stream_handle(stream, device.ordinal, name)
        size = math.prod(grid) * scratch.size + spare
        with current(device) as api:
            queue = api.CUstream(raw)
            base = check(api.cuMemAllocAsync(size, queue), f"allocating {size} bytes of scratch memory", name)
            try:
                address = -(-int(base) // scratch.align) * scratch.align
                launch(grid, (*slots[:place], address, *slots[place + 1 :]), raw)
            finally:
                check(api.cuMemFreeAsync(base, queue), "freeing scratch memory", name)

    return run
