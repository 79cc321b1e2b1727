"""The CPU's feature level that kernels are compiled for: the machine's own, or a lower one that is asked for."""

from __future__ import annotations

import os

from teeny.backends.cpu.target import LEVELS, Level, supported_levels
from teeny.diag.errors import LaunchError

VARIABLE = "TEENY_CPU_LEVEL"


def chosen_level() -> Level:
    """`TEENY_CPU_LEVEL` (`x86-64-v2`, `x86-64-v3`, ...), else "native". Raises LaunchError L014 for what cannot be."""
    asked = os.environ.get(VARIABLE)
    if not asked:
        return "native"
    found = next((level for level in LEVELS if level == asked), None)
    if found is None or found not in supported_levels():
        raise LaunchError.of(
            "L014",
            f"{VARIABLE} names a level that this machine does not run",
            argument=VARIABLE,
            found=repr(asked),
            needed=f"one of {', '.join(supported_levels())}",
        )
    return found
