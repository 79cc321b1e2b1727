"""Outcomes of the matrix that are kept in files: what each cell gave on each executor, and the hash of its kernels."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.language.outcomes import HOST, OK, TARGETS

FOLDER = Path(__file__).with_name("records")
OLDEST, NEWEST = "3.6", "3.9"
PARTS = ("host", OLDEST, NEWEST, "gpu")
"""The files: the reference and the CPU, the oldest and the newest supported Triton, a CUDA device. Beside them stands
`agreement`, of the same kernels in Triton and here."""
COMMANDS = {
    "host": "python -m tests.language.matrix host",
    OLDEST: "make matrix TRITON=3.6.0",
    NEWEST: "python -m tests.language.matrix compile",
    "gpu": "python -m bench.gpu, or python -m tests.language.matrix gpu, on a machine with a CUDA device",
}
"""What makes the results of a part anew. Only cells whose kernels have changed are tried again."""


_FOLDERS = re.compile(r"(?:/[\w.-]+)+/(?=[\w.-]+)")
"""Folders of one machine, in what compilers say."""


@dataclass(slots=True)
class Part:
    """One file. `cells`: by label the hash, then the outcome by executor. `about`: versions and devices.

    `accepted`: by label why a result that has gone stale is left as it is for now.
    """

    name: str
    about: dict[str, str] = field(default_factory=dict[str, str])
    cells: dict[str, dict[str, Any]] = field(default_factory=dict[str, dict[str, Any]])
    accepted: dict[str, str] = field(default_factory=dict[str, str])

    @property
    def executors(self) -> tuple[str, ...]:
        """The columns that it fills, by the names that `outcome` takes."""
        return {"host": HOST, "gpu": ("cuda",), "agreement": ("cuda",)}.get(self.name, TARGETS)

    @property
    def path(self) -> Path:
        return FOLDER / f"{self.name}.json"

    def outcome(self, label: str, executor: str) -> str:
        """What a cell gave; empty where nothing is recorded."""
        found = self.cells.get(label)
        return "" if found is None else found.get("not", {}).get(executor, OK)

    def note(self, label: str, result: dict[str, Any]) -> None:
        """Keep a job's answer. Only what is not "ok" is written out."""
        outcomes: dict[str, str] = result.get("outcomes", {})
        if "died" in result:
            outcomes = dict.fromkeys(self.executors, f"failed: {result['died']}")
        wrong = {executor: _FOLDERS.sub("", said) for executor, said in outcomes.items() if said != OK}
        self.cells[label] = {"hash": result.get("hash", "")}
        if result.get("error"):
            self.cells[label]["ulp"] = result["error"]
        if wrong:
            self.cells[label]["not"] = wrong
        self.accepted.pop(label, None)

    def good(self, label: str, hashed: str) -> bool:
        """Whether there is a fresh result that is no failure."""
        found = self.cells.get(label)
        return found is not None and found["hash"] == hashed and not self.failures([label])

    def failures(self, labels: Iterable[str]) -> list[str]:
        """The outcomes that are failures, with their cells, one line for all executors that fail alike."""
        found: dict[tuple[str, str], list[str]] = {}
        for label in labels:
            for executor, said in self.cells.get(label, {}).get("not", {}).items():
                if said.startswith("failed"):
                    found.setdefault((label, said), []).append(executor)
        return [f"{label} on {', '.join(executors)}: {said}" for (label, said), executors in found.items()]

    def keep(self, labels: Iterable[str]) -> None:
        """Write the file, without cells that there are no more. One line a cell."""
        known = set(labels)
        FOLDER.mkdir(exist_ok=True)
        head = {"about": self.about, "accepted": {k: v for k, v in sorted(self.accepted.items()) if k in known}}
        lines = [
            f"  {json.dumps(label)}: {json.dumps(self.cells[label])}" for label in sorted(self.cells) if label in known
        ]
        text = json.dumps(head, indent=1)[:-2] + ',\n "cells": {\n' + ",\n".join(lines) + "\n }\n}\n"
        whole = self.path.with_suffix(".new")
        whole.write_text(text, encoding="utf-8")
        whole.replace(self.path)


def read(name: str) -> Part:
    """What a file says; nothing where there is none."""
    part = Part(name)
    if part.path.is_file():
        found = json.loads(part.path.read_text("utf-8"))
        part.about, part.cells, part.accepted = found["about"], found["cells"], found["accepted"]
    return part
