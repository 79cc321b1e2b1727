"""The explicit path to a GPU's code: `tn.compile(kernel, tn.Target("sm_90"))`, no GPU needed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from teeny.diag.diagnostic import report
from teeny.diag.errors import CompileError
from teeny.runtime.executable import artifact_for
from teeny.runtime.options import options_of
from teeny.runtime.specialization import Specialization


@dataclass(frozen=True, slots=True)
class Target:
    """What to compile for: an NVIDIA architecture, "sm_75" to "sm_120"."""

    name: str

    def __post_init__(self) -> None:
        if not self.name.startswith("sm_"):
            known = "sm_75, sm_80, sm_86, sm_87, sm_89, sm_90, sm_100, sm_120"
            raise CompileError((report("X002", f"{self.name!r} is no target", facts=(("needed", known),)),))


@dataclass(frozen=True, slots=True)
class Program:
    """A kernel compiled for one architecture."""

    kernel: Specialization
    ptx: str
    cubin: bytes
    metadata: Mapping[str, Any]


def compile(kernel: Specialization, target: Target, **options: Any) -> Program:
    """Compile a specialisation. Options: num_warps, num_stages. Raises CompileError, LaunchError (L014: options)."""
    made = artifact_for(kernel, target.name, options_of(kernel.name, options))
    return Program(kernel, made.ptx, made.cubin, dict(made.metadata))
