"""The messages of MLIR, LLVM and ptxas as diagnostics at lines of the user's."""

from __future__ import annotations

import linecache
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from teeny.backends.triton.advice import advice
from teeny.backends.triton.assemble import AssemblerError
from teeny.diag.diagnostic import Diagnostic, at, report
from teeny.diag.span import Location, SourceFile, Span, byte_column, user_location

if TYPE_CHECKING:
    from teeny.backends.triton.goal import Goal
    from teeny.backends.triton.stages import Trail

Place = tuple[str, int, int]
"""File, line and column, both from 1, as MLIR shows them."""

_ERROR = re.compile(
    r'^(?:loc\()?(?:callsite\()*"?([^"\n]+?)"?:(\d+):(\d+)(?:\)?| at [^\n]*?): error: (.*)$', re.MULTILINE
)
_BARE = (
    re.compile(r"^ptxas[^\n]*?(?:error|fatal)\s*: (.*)$", re.MULTILINE),
    re.compile(r"^(?:<unknown>:0: )?error: (.*)$", re.MULTILINE),
)
_FURTHER = re.compile(r"^.*\b(?:error|fatal|note)\s*: .*$", re.MULTILINE)
_SUMMARY = "Failures have been detected while processing"
_NO_REASON = "PassManager::run failed"
_SHOWN = 8

_PTX_LINE = re.compile(r"^ptxas[^\n]*?(?:, line (\d+); |at line (\d+) in function)", re.MULTILINE)
_IN_PTX = re.compile(r"^ptxas[^\n]*?, line \d+; (?:error|fatal)\s*: ")
_LOC = re.compile(r"^\s*\.loc\s+(\d+) (\d+) (\d+)")
_FILE = re.compile(r'^\s*\.file\s+(\d+) "([^"]*)"', re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Asked:
    """What a compilation was asked for."""

    goal: Goal
    num_ctas: int
    kernel: str | None


def complaint(
    error: Exception, trail: Trail, text: SourceFile, file: str, places: Mapping[Place, Location], asked: Asked
) -> Diagnostic:
    """The diagnostic (X002) for a failed compilation.

    `trail` holds what was written and made meanwhile. `file` is the path under which Triton read `text`; `places` are
    the locations that the text gives to its operations.
    """
    what = str(error) or type(error).__name__
    caught = "".join(trail.log) + (f"\n{what}" if isinstance(error, AssemblerError) else "")
    found = next((m for m in _ERROR.finditer(caught) if not m[4].startswith(_SUMMARY)), None)
    if found is not None:
        place: Place = (found[1], int(found[2]), int(found[3]))
        location = places.get(place) or _place(text if place[0] == file else _read(place[0]), place[1], place[2])
        message, caught = found[4], caught.replace(file, text.name)
    else:
        reasons = (match for match in (pattern.search(caught) for pattern in _BARE) if match is not None)
        bare = next(reasons, None)
        message = bare[1] if bare is not None else (what.strip().splitlines() or [""])[0]
        if message in ("", _NO_REASON):
            message = f"it cannot make the form `{trail.stage}` of the kernel, and does not say why"
        location = _behind_ptx(caught, trail.made.get("ptx"), places)
    return report(
        "X002",
        f"Triton's compiler failed: {message}",
        *(() if location is None else (at(user_location(location)),)),
        help=advice(f"{message}\n{caught}", asked.goal, asked.num_ctas),
        notes=_notes(caught, message),
        kernel=asked.kernel,
    )


def _notes(caught: str, message: str) -> tuple[str, ...]:
    """The compiler's further errors and notes, each once; not the dumps of modules between them."""
    noise = (message, _SUMMARY, "Pipeline failed while executing", "Repro command", "Ptx assembly aborted")
    lines = {_IN_PTX.sub("", line.strip()): None for line in _FURTHER.findall(caught)}
    return tuple(line for line in lines if not any(word in line for word in noise))[:_SHOWN]


def _behind_ptx(caught: str, ptx: str | None, places: Mapping[Place, Location]) -> Location | None:
    """The line of the kernel behind the first line of PTX that the assembler names."""
    named = _PTX_LINE.search(caught)
    if named is None or ptx is None:
        return None
    before = ptx.splitlines()[: int(named[1] or named[2])]
    loc = next((match for match in map(_LOC.match, reversed(before)) if match is not None), None)
    names = dict(_FILE.findall(ptx))
    if loc is None or loc[1] not in names:
        return None
    place: Place = (names[loc[1]], int(loc[2]), int(loc[3]))
    return places.get(place) or _place(_read(place[0]), place[1], place[2])


def _read(name: str) -> SourceFile:
    return SourceFile(name, "".join(linecache.getlines(name)))


def _place(source: SourceFile, line: int, column: int) -> Location:
    """One word of a file, or its line where the column is none."""
    content = source.line(line)
    start = byte_column(content, column)
    word = re.match(r"[\w.%]+", content[max(column - 1, 0) :])
    return Location(Span(source, line, start, line, start + max(1, len(word[0].encode()) if word is not None else 1)))
