"""Applying edits to the original text, so that comments and layout around them stay as they are."""

from __future__ import annotations

from collections.abc import Iterable

from teeny.diag.diagnostic import Edit
from teeny.diag.span import SourceFile, byte_length, character_index


def apply(edits: Iterable[Edit], text: str) -> str:
    """`text` with all edits made; their spans count lines and utf-8 byte columns of `text` itself.

    Equal edits count once; several insertions at one place keep their order. Raises ValueError when an edit lies
    outside the text or two overlap.
    """
    source = SourceFile("<edited>", text)
    placed = [(*_offsets(edit, source), edit.replacement) for edit in dict.fromkeys(edits)]
    placed.sort(key=lambda part: part[:2])
    parts: list[str] = []
    done = 0
    for start, end, replacement in placed:
        if start < done:
            raise ValueError(f"two edits overlap at {_where(start, source)}")
        parts += (text[done:start], replacement)
        done = end
    return "".join((*parts, text[done:]))


def _offsets(edit: Edit, source: SourceFile) -> tuple[int, int]:
    span = edit.span
    start = _offset(span.line, span.column, source)
    end = _offset(span.end_line, span.end_column, source)
    if end < start:
        raise ValueError(f"an edit ends before it starts, at {_where(start, source)}")
    return start, end


def _offset(line: int, column: int, source: SourceFile) -> int:
    if not 1 <= line <= len(source.lines) or not 0 <= column <= byte_length(source.line(line)):
        raise ValueError(f"an edit lies outside the text: line {line}, column {column}")
    return source.line_starts[line - 1] + character_index(source.line(line), column)


def _where(offset: int, source: SourceFile) -> str:
    line = sum(start <= offset for start in source.line_starts)
    return f"line {line}, column {offset - source.line_starts[line - 1] + 1}"
