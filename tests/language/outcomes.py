"""What a cell of the matrix gives on one executor: "ok", "refused: why", or "failed: why"."""

from __future__ import annotations

import contextlib
import hashlib
from functools import cache
from pathlib import Path
from typing import Any

from teeny.backends.triton.compile import compile_module
from teeny.backends.triton.goal import goal
from teeny.backends.triton.limits import limits
from teeny.backends.triton.older import for_version
from teeny.backends.triton.wheel import version
from teeny.diag.errors import CompileError, TeenyError
from teeny.ir.core import Module
from teeny.ir.text import print_module
from teeny.passes.expand import expand
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


def modules(sheet: Sheet, folder: Path) -> list[Module]:
    """The concrete modules of every kernel that a cell launches."""
    if type(sheet).check is Sheet.check:
        return [executors.kernel_of(sheet.text(), folder).specialize().module]
    executors.recorded.clear()
    with contextlib.suppress(AssertionError):  # nothing was computed
        sheet.check(folder, ("record",))
    return [made.module for made in executors.recorded]


def text_of(module: Module, triton: str) -> str:
    """The text of a kernel for a version of Triton, without locations."""
    return for_version(print_module(expand(module), contracts=False), triton)


def hash_of(found: list[Module], triton: str = "3.9.0") -> str:
    """What tells whether a recorded result is still about the kernels of a cell."""
    texts = "".join(text_of(module, triton) for module in found)
    return hashlib.sha256(texts.encode()).hexdigest()[:16]


def on_host(label: str, folder: Path, executor: str) -> str:
    """On the reference or on the CPU."""
    try:
        sheet_of(label).check(folder, (executor,))
    except (AssertionError, TeenyError) as error:
        return "failed: " + short(str(error))
    return OK


def compiled(module: Module, target: str) -> str:
    """What Triton's compiler makes of it for one target. What the target lacks is refused before."""
    lacks = limits(module, goal(target))
    if lacks:
        return "refused: " + short(lacks[0].message)
    try:
        compile_module(expand(module), target)
    except CompileError as error:
        return "failed: " + short(str(error))
    return OK


def _known(part: str, label: str, hashed: str) -> bool:
    """Whether a record (of a part; "*" for none) is still right."""
    from tests.language import records

    return part != "*" and cache(records.read)(part).good(label, hashed)


def compiled_cell(label: str, folder: Path, part: str) -> dict[str, Any]:
    """A job: a cell's kernels for each target with the installed Triton.

    Of a sheet the first expressions of each rank are compiled: the others have the same operations.
    """
    sheet = sheet_of(label)
    full = modules(sheet, folder)
    hashed = hash_of(full)
    if _known(part, label, hashed):
        return {"kept": True}
    small = [executors.kernel_of(sheet.text(3), folder).specialize().module] if plain(sheet) else full
    found: dict[str, str] = {}
    for target in TARGETS:
        outcomes = [compiled(module, target) for module in small]
        found[target] = next((one for one in outcomes if one != OK), OK)
    return {"hash": hashed, "outcomes": found}


def plain(sheet: Sheet) -> bool:
    """Whether a cell is a sheet and nothing more."""
    return type(sheet).check is Sheet.check


def host_cell(label: str, folder: Path, part: str) -> dict[str, Any]:
    """A job: a cell on the reference and on the CPU."""
    hashed = hash_of(modules(sheet_of(label), folder))
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
    found = modules(sheet, folder)
    hashed = hash_of(found)
    if _known(part, label, hashed):
        return {"kept": True}
    lacks = [one for module in found for one in limits(module, goal(device.architecture))]
    outcome = "refused: " + short(lacks[0].message) if lacks else OK
    try:
        if not lacks:
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
