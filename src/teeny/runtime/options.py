"""Reserved keywords of a launch, which are no parameters of the kernel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from teeny.diag.errors import LaunchError

RESERVED = ("num_warps", "num_stages", "stream")


@dataclass(frozen=True, slots=True)
class Options:
    """How a kernel is compiled for a GPU: warps of a program (a power of two up to 32), stages of pipelined loops."""

    num_warps: int = 4
    num_stages: int = 3


DEFAULT = Options()


def options_of(kernel: str, given: dict[str, Any]) -> Options:
    """Options from keywords. Raises LaunchError L014."""
    made: Any = Options(**{k: v for k, v in given.items() if k != "stream" and v is not None})
    for name, value, low, high in (("num_warps", made.num_warps, 1, 32), ("num_stages", made.num_stages, 1, 64)):
        whole = isinstance(value, int) and not isinstance(value, bool)
        if not whole or not low <= value <= high or (name == "num_warps" and value & (value - 1)):
            needed = f"a power of two from {low} to {high}" if name == "num_warps" else f"an int from {low} to {high}"
            raise LaunchError.of(
                "L014",
                f"`{kernel}` cannot run with {name}={value!r}",
                kernel=kernel,
                argument=name,
                found=repr(value),
                needed=needed,
            )
    return made
