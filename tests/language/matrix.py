"""The matrix of functions x dtypes x executors, from recorded outcomes.

    python -m tests.language.matrix              print it: each function with each dtype, and every reason
    python -m tests.language.matrix host         try changed cells on the reference and the CPU
    python -m tests.language.matrix compile      compile changed cells for every target with the installed Triton
    python -m tests.language.matrix gpu          run changed cells on the CUDA device
    python -m tests.language.matrix accept WHY   leave GPU results that have gone stale for a later run

Exit status 1 where something failed or is missing. `--all` tries unchanged cells too, `--only` those that a regular
expression finds.
"""

from __future__ import annotations

import argparse
import re
import sys
import time
from collections import Counter
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from teeny.diag.errors import TeenyError
from tests.language import outcomes, workers
from tests.language.cells import cells
from tests.language.cover import Row, rows
from tests.language.outcomes import HOST, OK, TARGETS
from tests.language.records import COMMANDS, PARTS, Part, read

JOBS = {"host": "host_cell", "gpu": "gpu_cell"}
COLUMNS = (
    *((name, "host", name) for name in HOST),
    *((f"{target} ({triton})", triton, target) for triton in PARTS[1:3] for target in TARGETS),
    ("gpu", "gpu", "cuda"),
)
"""Heading, part and executor."""
SHOWN = 80
"""Failures that are printed at most."""


def main(arguments: list[str] | None = None) -> int:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m tests.language.matrix", description=__doc__)
    parser.add_argument("what", nargs="?", choices=("show", "host", "compile", "gpu", "accept"), default="show")
    parser.add_argument("why", nargs="?", default="")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--only", default="")
    parser.add_argument("--jobs", type=int, default=0)
    given = parser.parse_args(arguments)
    if given.what == "show":
        return show()
    if given.what == "accept":
        return accept(given.why)
    name = ".".join(outcomes.installed().split(".")[:2]) if given.what == "compile" else given.what
    if name not in PARTS:
        print(f"matrix: {given.what} needs Triton {PARTS[1]} or {PARTS[2]}, found {name or 'none'}")
        return 1
    labels = [label for label in cells() if re.search(given.only, label)]
    failed = refresh(name, labels, jobs=given.jobs, every=given.all)
    print("\n".join([*failed[:SHOWN], *([f"and {len(failed) - SHOWN} more"] if len(failed) > SHOWN else [])]))
    return 1 if failed else 0


def refresh(name: str, labels: list[str], *, jobs: int = 0, every: bool = False) -> list[str]:
    """Try cells whose kernels have changed (or all), keep what they gave; the failures among these cells."""
    part = Part(name) if every and len(labels) == len(cells()) else read(name)
    part.about = about(name)
    started, tried = time.monotonic(), 0
    job = f"tests.language.outcomes:{JOBS.get(name, 'compiled_cell')}"
    argument = "*" if every else name
    try:
        with TemporaryDirectory() as folder:
            environment = {"TEENY_CACHE_DIR": folder}
            for label, result in workers.run(job, labels, argument=argument, jobs=jobs, environment=environment):
                if not result.get("kept"):
                    tried += 1
                    part.note(label, result)
                if tried % 50 == 49:
                    part.keep(cells())
    finally:
        part.keep(cells())
    failed = part.failures(labels)
    spent = time.monotonic() - started
    print(f"matrix: {name}: {tried} of {len(labels)} cells tried in {spent:.0f} s, {len(failed)} failed", flush=True)
    return failed


def about(name: str) -> dict[str, str]:
    """Versions and devices."""
    found: dict[str, str] = {}
    if name != "host":
        found["triton"] = outcomes.installed()
    if name == "gpu":
        from teeny.runtime.cuda import cuda_device

        device = cuda_device(0)
        found |= {"device": device.model, "architecture": device.architecture}
    return found


@cache
def hashes(labels: tuple[str, ...]) -> dict[str, str]:
    """The hash of each cell's kernels as they are now; what is wrong where they have a fault."""
    found: dict[str, str] = {}
    with TemporaryDirectory() as folder:
        for label in labels:
            try:
                found[label] = outcomes.hash_of(outcomes.kernels(outcomes.sheet_of(label), Path(folder)))
            except TeenyError as error:
                found[label] = outcomes.short(str(error))
    return found


def stale(part: Part, labels: tuple[str, ...]) -> list[str]:
    """Cells whose recorded result is about other kernels than theirs, or that have none; accepted ones left out."""
    now = hashes(labels)
    known = {label: part.cells.get(label, {}).get("hash") for label in labels}
    return [label for label in labels if known[label] != now[label] and label not in part.accepted]


def accept(why: str) -> int:
    """Leave stale results of the GPU, with the reason."""
    if not why:
        print("matrix: say why stale results are left")
        return 1
    from tests.agreement import sides

    now = {"gpu": hashes(tuple(cells())), "agreement": sides.hashes()}
    for name, current in now.items():
        part = read(name)
        found = [label for label, hashed in current.items() if part.cells.get(label, {}).get("hash") != hashed]
        part.accepted |= {label: why for label in found if label not in part.accepted}
        part.keep(current)
        print(f"matrix: {len(found)} results of {name} are left: {why}")
    return 0


def cell_of(row: Row, part: Part, executor: str) -> str:
    """What a row's cells gave: the worst of them."""
    found = [part.outcome(label, executor) for label in row.cells]
    for wrong in ("failed", "refused"):
        said = next((one for one in found if one.startswith(wrong)), None)
        if said is not None:
            return said
    if "" in found:
        left = next((part.accepted[label] for label in row.cells if label in part.accepted), "")
        return f"later: {left}" if left else "MISSING"
    return OK


def show() -> int:
    """Print the matrix with a number for each reason, and the reasons below. Exit status 1 where anything is amiss."""
    parts = {name: read(name) for name in PARTS}
    reasons: dict[str, int] = {}
    counts: Counter[str] = Counter()
    heads = [head for head, _, _ in COLUMNS]
    print(f"{'function':24} {'dtype':10} " + " ".join(head.rjust(12) for head in heads))
    for row in rows():
        if not row.cells:
            said = row.reason or "MISSING"
            counts["MISSING" if not row.reason else said.split(":")[0] if ":" in said else "elsewhere"] += 1
            shown = said if said == "MISSING" else f"[{reasons.setdefault(said, len(reasons) + 1)}]"
            print(f"{row.function:24} {row.dtype:10} {shown}")
            continue
        cells_: list[str] = []
        for _, name, executor in COLUMNS:
            said = cell_of(row, parts[name], executor)
            kind = said.split(":")[0]
            counts[kind] += 1
            cells_.append(said if said in (OK, "MISSING") else f"{kind} [{reasons.setdefault(said, len(reasons) + 1)}]")
        print(f"{row.function:24} {row.dtype:10} " + " ".join(cell.rjust(12) for cell in cells_))
    print()
    for said, number in reasons.items():
        print(f"[{number}] {said}")
    print("\n" + ", ".join(f"{count} {kind}" for kind, count in counts.most_common()))
    for name in PARTS:
        print(f"{name}: {', '.join(parts[name].about.values())} ({COMMANDS[name]})")
    return 1 if counts["failed"] or counts["MISSING"] else 0


if __name__ == "__main__":
    sys.exit(main())
