"""What code is made for: the architectures of NVIDIA and AMD, and what a block of threads gets on each."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from teeny.diag.diagnostic import report
from teeny.diag.errors import CompileError

ARCHITECTURES = (75, 80, 86, 87, 89, 90, 100, 120)
"""Compute capabilities, times ten, that code can be made for."""
AMD_ARCHITECTURES = ("gfx942", "gfx950")

_SHARED = {
    "sm_75": 64, "sm_80": 163, "sm_86": 99, "sm_87": 163, "sm_89": 99, "sm_90": 227, "sm_100": 227, "sm_120": 99,
    "gfx942": 64, "gfx950": 160,
}  # fmt: skip
"""KiB of shared memory that a block can have. (CUDA programming guide, "Compute capabilities"; AMD's CDNA 3 and CDNA 4
instruction set manuals, "Local data share")"""
_OLDEST_ISA = {75: 63, 80: 70, 86: 71, 87: 74, 89: 78, 90: 80, 100: 86, 120: 87}
"""The first version of PTX that knows an architecture. With an older one LLVM ends the process."""
_PORTABLE_ISA = 80
"""What portable PTX is written in, where its architecture is no younger: every driver since CUDA 12.0 takes it."""
_COMMON, _MOSTLY_COMMON = 89, 90
"""Up to the first, Triton's passes know no instructions of one architecture alone; up to the second, none but those for
products and tensor descriptors. Portable code goes through the passes of these."""
TENSOR_MEMORY = 512
"""Columns of tensor memory, where there is some (sm_100)."""
_MOST_THREADS = 1024

_NVIDIA_NAME = re.compile(r"(?:sm_?)?(\d+)a?")


@dataclass(frozen=True, slots=True)
class Goal:
    """An architecture to make code for. `portable`: PTX that younger architectures take too.

    `capability` is NVIDIA's times ten, 0 for AMD; `passes` the one that Triton's passes are told, which is older where
    code is portable.
    """

    name: str
    capability: int
    passes: int
    portable: bool = False

    @property
    def backend(self) -> Literal["cuda", "hip"]:
        """As Triton names its backends."""
        return "cuda" if self.capability else "hip"

    @property
    def threads(self) -> int:
        """Threads of a warp."""
        return 32 if self.capability else 64

    @property
    def most_warps(self) -> int:
        """Warps of a block at most."""
        return _MOST_THREADS // self.threads

    @property
    def shared(self) -> int:
        """Bytes of shared memory that a block can have."""
        return _SHARED[self.name] * 1024

    @property
    def stages(self) -> int:
        """Stages of pipelined loops, as Triton's backends choose by default."""
        return 3 if self.capability else 2

    @property
    def oldest_isa(self) -> int:
        """The first version of PTX (86 for 8.6) that knows the architecture; 0 for AMD."""
        return _OLDEST_ISA.get(self.capability, 0)

    def isa(self, chosen: int | None) -> int | None:
        """The version of PTX to ask for, None for the newest. Raises CompileError where it lacks the architecture."""
        if not self.capability:
            return None
        if chosen is None:
            return max(self.oldest_isa, _PORTABLE_ISA) if self.portable else None
        if chosen < self.oldest_isa:
            known, needed = (f"{v // 10}.{v % 10}" for v in (chosen, self.oldest_isa))
            message = f"PTX of version {known} has no {self.name}; it needs {needed}"
            raise CompileError((report("X002", message),))
        return chosen


def goal(arch: int | str, *, portable: bool = False, num_ctas: int = 1, special: bool = False) -> Goal:
    """The goal called 90, "sm_90", "sm_90a" or "gfx942". Raises CompileError (X002) for one that is unknown.

    `special` says whether the kernel has products or tensor descriptors; `num_ctas`, how many blocks share a program:
    clusters begin with sm_90.
    """
    if arch in AMD_ARCHITECTURES:
        return Goal(str(arch), 0, 0)
    match = _NVIDIA_NAME.fullmatch(str(arch))
    capability = int(match[1]) if match is not None else 0
    if capability not in ARCHITECTURES:
        known = ", ".join((*(f"sm_{a}" for a in ARCHITECTURES), *AMD_ARCHITECTURES))
        message = f"code for {arch if isinstance(arch, str) else f'sm_{arch}'} cannot be made"
        raise CompileError((report("X002", message, help=(f"the architectures are {known}",)),))
    newest = _COMMON if special and num_ctas == 1 else _MOSTLY_COMMON
    return Goal(f"sm_{capability}", capability, min(capability, newest) if portable else capability, portable)
