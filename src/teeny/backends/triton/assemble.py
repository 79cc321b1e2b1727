"""NVIDIA's assemblers of the wheel: which is right for some PTX, and whether portable PTX is what it claims to be."""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from typing import Any

from teeny.backends.triton.goal import Goal
from teeny.backends.triton.wheel import load

_TARGET = re.compile(r"^\.target sm_\w+", re.MULTILINE)
_TO_FLOAT8 = re.compile(r"\bcvt\.\S*\.e(?:4m3|5m2)x2\.")
RIGHT = (13, 0)
"""ptxas 12.8 and 12.9 read another register where a pair of 8-bit floats is both stored by itself and packed with
another pair (seen in the machine code that they make, and in wrong numbers on an H200); 13.1 does not."""


class AssemblerError(Exception):
    """What the assembler says about PTX that it refuses."""


def choose_assembler(ptx: str, goal: Goal) -> None:
    """Set Triton's knobs so that code with conversions to 8-bit floats goes to an assembler that is right about them.

    To be called within a scope of `knobs.nvidia`. The wheels from 3.7 on have one beside an older one.
    """
    if not _TO_FLOAT8.search(ptx):
        return
    nvidia = load("knobs").nvidia
    used, other = load("backends.nvidia.compiler").get_ptxas(goal.capability), nvidia.ptxas_blackwell
    if _version(used) < RIGHT <= _version(other):
        nvidia.ptxas = other.path


def _version(tool: Any) -> tuple[int, ...]:
    return tuple(map(int, str(tool.version).split(".")))


def portable_ptx(ptx: str, goal: Goal) -> str:
    """The PTX with the goal's plain architecture as its target. Raises AssemblerError where that lacks an instruction.

    Only the assembler knows every instruction's architectures, so it is asked; the code that it makes is thrown away.
    """
    made = _TARGET.sub(f".target {goal.name}", ptx, count=1)
    with tempfile.TemporaryDirectory(prefix="teeny-") as folder:
        file = os.path.join(folder, "kernel.ptx")
        with open(file, "w", encoding="utf-8") as out:
            out.write(made)
        tool = load("backends.nvidia.compiler").get_ptxas(goal.capability).path
        command = [tool, f"--gpu-name={goal.name}", file, "-o", os.path.join(folder, "kernel.cubin")]
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    if done.returncode:
        raise AssemblerError(f"{done.stderr}{done.stdout}".replace(file, "kernel.ptx").strip())
    return made
