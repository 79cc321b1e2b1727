"""What a cell of the matrix gives on one executor: "ok", "refused: why", or "failed: why"."""

from __future__ import annotations

import contextlib
import hashlib
from functools import cache
from pathlib import Path
from typing import Any

from teeny.backends.triton.goal import goal
from teeny.backends.triton.limits import limits
from teeny.backends.triton.wheel import version
from teeny.diag.errors import CompileError, TeenyError
from teeny.runtime.compilers import form_for, hinted
from teeny.runtime.program import compile
from teeny.runtime.specialization import Specialization
from teeny.runtime.target import Target
from tests.language import executors
from tests.language.cells import cells
from tests.language.sheet import Sheet

TARGETS = ("sm_75", "sm_80", "sm_90", "sm_100", "sm_120", "gfx942")
"""What text is compiled for."""
HOST = ("reference", "cpu")
OK = "ok"
_all_cells = cache(cells)


def sheet_of(label: str) -> Sheet:
    return _all_cells()[label][1]()


def kernels(sheet: Sheet, folder: Path) -> list[Specialization]:
    """Every kernel that a cell launches."""
    if plain(sheet):
        return [executors.kernel_of(sheet.text(), folder).specialize()]
    executors.recorded.clear()
    with contextlib.suppress(AssertionError):  # nothing was computed
        sheet.check(folder, ("record",))
    return list(executors.recorded)


def plain(sheet: Sheet) -> bool:
    """Whether a cell is a sheet and nothing more."""
    return type(sheet).check is Sheet.check


def hash_of(found: list[Specialization]) -> str:
    """What tells whether a recorded result is still about the kernels of a cell: their text without locations."""
    return hashlib.sha256("".join(kernel.mlir for kernel in found).encode()).hexdigest()[:16]


def on_host(label: str, folder: Path, executor: str) -> str:
    """On the reference or on the CPU."""
    try:
        sheet_of(label).check(folder, (executor,))
    except (AssertionError, TeenyError) as error:
        return "failed: " + short(str(error))
    return OK


def compiled(kernel: Specialization, target: str) -> str:
    """What Triton's compiler makes of it for one target. What the target lacks is refused before."""
    try:
        compile(kernel, target)
    except CompileError as error:
        said = lacks(kernel, target) or [d.message for d in error.diagnostics if "the kernel needs" in d.message]
        return "refused: " + short(said[0]) if said else "failed: " + short(str(error))
    return OK


def lacks(kernel: Specialization, target: str) -> list[str]:
    """What a target or the installed Triton has not, of what a kernel uses."""
    module = hinted(form_for(kernel, Target(target)), (), asserts=True)
    return [one.message for one in limits(module, goal(target))]


@cache
def _recorded(part: str) -> Any:
    """The records of a part as they were at the start: they are written while jobs run."""
    from tests.language import records

    return records.read(part)


def _known(part: str, label: str, hashed: str) -> bool:
    """Whether a record (of a part; "*" for none) is still right."""
    return part != "*" and _recorded(part).good(label, hashed)


def compiled_cell(label: str, folder: Path, part: str) -> dict[str, Any]:
    """A job: a cell's kernels for each target with the installed Triton.

    Of a sheet the first expressions of each rank are compiled: the others have the same operations.
    """
    sheet = sheet_of(label)
    full = kernels(sheet, folder)
    hashed = hash_of(full)
    if _known(part, label, hashed):
        return {"kept": True}
    small = [executors.kernel_of(sheet.text(3), folder).specialize()] if plain(sheet) else full
    found: dict[str, str] = {}
    for target in TARGETS:
        outcomes = [compiled(kernel, target) for kernel in small]
        found[target] = next((one for one in outcomes if one != OK), OK)
    return {"hash": hashed, "outcomes": found}


def host_cell(label: str, folder: Path, part: str) -> dict[str, Any]:
    """A job: a cell on the reference and on the CPU."""
    hashed = hash_of(kernels(sheet_of(label), folder))
    if _known(part, label, hashed):
        return {"kept": True}
    found = {executor: on_host(label, folder, executor) for executor in HOST}
    return {"hash": hashed, "outcomes": found}


def gpu_cell(label: str, folder: Path, part: str) -> dict[str, Any]:
    """A job: a cell on the CUDA device, compared with its meaning. `error`: the largest one in ulp.

    A fault of the device ends the process after the answer, since nothing can run in it any more.
    """
    from teeny.runtime.cuda import cuda_device, synchronize

    device = cuda_device(0)
    sheet = sheet_of(label)
    found = kernels(sheet, folder)
    hashed = hash_of(found)
    if _known(part, label, hashed):
        return {"kept": True}
    refused = [said for kernel in found for said in lacks(kernel, device.architecture)]
    outcome = "refused: " + short(refused[0]) if refused else OK
    try:
        if not refused:
            sheet.check(folder, ("cuda",))
    except AssertionError as error:
        outcome = "failed: " + short(str(error))
    except TeenyError as error:
        outcome = f"failed: {type(error).__name__}: " + short(str(error))
    try:
        synchronize(device)
    except TeenyError as error:
        outcome = outcome if outcome != OK else f"failed: {short(str(error))}"
        return {"hash": hashed, "outcomes": {"cuda": outcome}, "last": True}
    worst = max((one.worst for segments in sheet.segments.values() for one in segments), default=0.0)
    return {"hash": hashed, "outcomes": {"cuda": outcome}, "error": round(min(worst, 1e30), 2)}


def short(text: str) -> str:
    """One line of at most 300 characters."""
    return " ".join(text.split())[:300]


def installed() -> str:
    """The version of Triton that is installed; empty where there is none."""
    try:
        return version()
    except CompileError:
        return ""
