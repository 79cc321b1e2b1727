"""The messages of MLIR and ptxas as diagnostics at lines of the user's."""

from __future__ import annotations

import linecache
import re
from collections.abc import Mapping

from teeny.diag.diagnostic import Diagnostic, at, report
from teeny.diag.span import Location, SourceFile, Span, byte_column

Place = tuple[str, int, int]
"""File, line and column, both from 1, as MLIR shows them."""

_ERROR = re.compile(r'^(?:loc\()?"?([^"\n]+?)"?:(\d+):(\d+)\)?: error: (.*)$', re.MULTILINE)
_BARE = re.compile(r"^(?:<unknown>:0: )?error: (.*)$|^(ptxas (?:fatal|error)\b.*)$", re.MULTILINE)
_SHOWN = 20


def complaint(
    what: str, caught: str, text: SourceFile, file: str, places: Mapping[Place, Location], kernel: str | None
) -> Diagnostic:
    """The diagnostic (X002) for a failed compilation.

    `what` is the exception's message, `caught` what was written meanwhile. `file` is the path under which Triton read
    `text`; `places` are the locations that the text gives to its operations.
    """
    found = _ERROR.search(caught)
    bare = _BARE.search(caught)
    tail = caught.replace(file, text.name).strip().splitlines()[:_SHOWN]
    if found is None:
        message = (
            (bare[1] or bare[2])
            if bare is not None
            else what.strip().splitlines()[0]
            if what.strip()
            else "no reason given"
        )
        return report("X002", f"Triton's compiler failed: {message}", notes=tuple(tail), kernel=kernel)
    name, line, column = found[1], int(found[2]), int(found[3])
    location = places.get((name, line, column))
    if location is None:
        location = _place(text if name == file else SourceFile(name, "".join(linecache.getlines(name))), line, column)
    notes = tuple(tail[1:]) if len(tail) > 1 else ()
    return report("X002", f"Triton's compiler failed: {found[4]}", at(location), notes=notes, kernel=kernel)


def _place(source: SourceFile, line: int, column: int) -> Location:
    """One word of a file, or its line where the column is none."""
    content = source.line(line)
    start = byte_column(content, column)
    word = re.match(r"[\w.%]+", content[max(column - 1, 0) :])
    return Location(Span(source, line, start, line, start + max(1, len(word[0].encode()) if word is not None else 1)))
