"""What a kernel is compiled for."""

from __future__ import annotations

import re
from dataclasses import dataclass

from teeny.diag.diagnostic import report
from teeny.diag.errors import CompileError

NVIDIA = ("sm_75", "sm_80", "sm_86", "sm_87", "sm_89", "sm_90", "sm_100", "sm_120")
AMD = ("gfx942", "gfx950")


@dataclass(frozen=True, slots=True)
class Target:
    """A target: "cpu", an NVIDIA architecture ("sm_90") or an AMD one ("gfx942").

    Triton's sm_90, sm_100 and sm_120 mean the exact architecture (sm_90a), whose code loads nowhere else;
    `portable=True` makes plain PTX that later architectures of NVIDIA take too. Raises CompileError X007 for others.
    """

    name: str
    portable: bool = False

    def __post_init__(self) -> None:
        if self.name not in ("cpu", *NVIDIA, *AMD):
            close = re.sub(r"a$", "", self.name)
            help = (f'write "{close}": the exact architecture is the default',) if close in NVIDIA else ()
            known = ", ".join(("cpu", *NVIDIA, *AMD))
            raise CompileError((report("X007", f"{self.name!r} is no target", help=help, facts=(("needed", known),)),))
        if self.portable and self.name not in NVIDIA:
            raise CompileError((report("X007", f"portable code is PTX, which {self.name} does not take"),))

    def __str__(self) -> str:
        return f"{self.name}, portable" if self.portable else self.name

    @property
    def kind(self) -> str:
        """ "cpu", "cuda" or "hip"."""
        return "cpu" if self.name == "cpu" else "cuda" if self.name in NVIDIA else "hip"


def target_of(target: Target | str) -> Target:
    return target if isinstance(target, Target) else Target(str(target))


def target_of_device(architecture: str) -> Target:
    """The target for a device of NVIDIA's: its own, else portable code for the next older one that is known.

    Raises CompileError X007 where there is none: the device is older than all of them.
    """
    if architecture in NVIDIA:
        return Target(architecture)
    number = _number(architecture)
    older = [name for name in NVIDIA if _number(name) < number]
    return Target(max(older, key=_number), portable=True) if older else Target(architecture)


def _number(architecture: str) -> int:
    return int(architecture.removeprefix("sm_"))
