"""The messages of MLIR and ptxas as diagnostics at lines of the user's."""

from __future__ import annotations

import linecache
import re
from collections.abc import Mapping

from teeny.diag.diagnostic import Diagnostic, at, report
from teeny.diag.span import Location, SourceFile, Span, byte_column

Place = tuple[str, int, int]
"""File, line and column, both from 1, as MLIR shows them."""

_ERROR = re.compile(
    r'^(?:loc\()?(?:callsite\()*"?([^"\n]+?)"?:(\d+):(\d+)(?:\)?| at [^\n]*?): error: (.*)$', re.MULTILINE
)
_BARE = (
    re.compile(r"^ptxas[^\n]*?error\s*: (.*)$", re.MULTILINE),
    re.compile(r"^ptxas fatal\s*: (.*)$", re.MULTILINE),
    re.compile(r"^(?:<unknown>:0: )?error: (.*)$", re.MULTILINE),
)
_FURTHER = re.compile(r"^.*\b(?:error|fatal|note)\s*: .*$", re.MULTILINE)
_SUMMARY = "Failures have been detected while processing"
_SHOWN = 8


def complaint(
    what: str, caught: str, text: SourceFile, file: str, places: Mapping[Place, Location], kernel: str | None
) -> Diagnostic:
    """The diagnostic (X002) for a failed compilation.

    `what` is the exception's message, `caught` what was written meanwhile. `file` is the path under which Triton read
    `text`; `places` are the locations that the text gives to its operations.
    """
    found = next((m for m in _ERROR.finditer(caught) if not m[4].startswith(_SUMMARY)), None)
    if found is None:
        reasons = (match for match in (pattern.search(caught) for pattern in _BARE) if match is not None)
        bare = next(reasons, None)
        message = bare[1] if bare is not None else (what.strip().splitlines() or ["no reason given"])[0]
        return report("X002", f"Triton's compiler failed: {message}", notes=_notes(caught, message), kernel=kernel)
    name, line, column = found[1], int(found[2]), int(found[3])
    location = places.get((name, line, column))
    if location is None:
        location = _place(text if name == file else SourceFile(name, "".join(linecache.getlines(name))), line, column)
    notes = _notes(caught.replace(file, text.name), found[4])
    return report("X002", f"Triton's compiler failed: {found[4]}", at(location), notes=notes, kernel=kernel)


def _notes(caught: str, message: str) -> tuple[str, ...]:
    """The compiler's further errors and notes; not the dumps of modules between them."""
    lines = [line.strip() for line in _FURTHER.findall(caught)]
    noise = (message, _SUMMARY, "Pipeline failed while executing", "Repro command")
    return tuple(line for line in lines if not any(word in line for word in noise))[:_SHOWN]


def _place(source: SourceFile, line: int, column: int) -> Location:
    """One word of a file, or its line where the column is none."""
    content = source.line(line)
    start = byte_column(content, column)
    word = re.match(r"[\w.%]+", content[max(column - 1, 0) :])
    return Location(Span(source, line, start, line, start + max(1, len(word[0].encode()) if word is not None else 1)))
