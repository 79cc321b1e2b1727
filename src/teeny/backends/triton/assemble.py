"""NVIDIA's assembler of the wheel on PTX for a plain architecture: whether portable PTX is what it claims to be."""

from __future__ import annotations

import os
import re
import subprocess
import tempfile

from teeny.backends.triton.goal import Goal
from teeny.backends.triton.wheel import load

_TARGET = re.compile(r"^\.target sm_\w+", re.MULTILINE)


class AssemblerError(Exception):
    """What the assembler says about PTX that it refuses."""


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
