"""Places in a user's file, from the line and column that Triton's front end keeps of each syntax node."""

from __future__ import annotations

import ast
import os
import re
from functools import cache, lru_cache
from importlib.util import find_spec

from teeny.diag.span import Location, SourceFile, Span, byte_column, user_location

__all__ = ["expression_at", "in_user_file", "word_at"]

_WORD = re.compile(r"[\w.]+|.")


@lru_cache(maxsize=64)
def _source(path: str) -> SourceFile | None:
    try:
        with open(path, encoding="utf-8", errors="replace", newline="") as file:
            return SourceFile(path, file.read())
    except (OSError, ValueError):
        return None


def word_at(path: str, line: int, column: int) -> Span | None:
    """The word at a place; line and column count from 1. None where the file cannot be read."""
    source = _source(path)
    if source is None:
        return None
    text = source.line(line)
    start = byte_column(text, column)
    word = _WORD.match(text, min(column - 1, len(text)))
    return Span(source, line, start, line, start + (len(word[0].encode()) if word else 1)).clamped()


def expression_at(path: str, line: int, column: int) -> Span | None:
    """The largest expression that starts at a place; where there is none, the word there."""
    source = _source(path)
    if source is None:
        return None
    end = _expressions(source).get((line, byte_column(source.line(line), column)))
    return (
        word_at(path, line, column) if end is None else Span(source, line, byte_column(source.line(line), column), *end)
    )


@lru_cache(maxsize=16)
def _expressions(source: SourceFile) -> dict[tuple[int, int], tuple[int, int]]:
    """For the place where an expression starts, the furthest end of one that starts there."""
    found: dict[tuple[int, int], tuple[int, int]] = {}
    try:
        tree = ast.parse(source.text)
    except (SyntaxError, ValueError):
        return found
    for node in ast.walk(tree):
        if isinstance(node, ast.expr) and node.end_lineno is not None and node.end_col_offset is not None:
            start, end = (node.lineno, node.col_offset), (node.end_lineno, node.end_col_offset)
            found[start] = max(found.get(start, end), end)
    return found


@cache
def _libraries() -> tuple[str, ...]:
    """The folders of Triton and of teeny."""
    found = find_spec("triton")
    ours = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    return (ours,) if found is None or found.origin is None else (ours, os.path.dirname(found.origin))


def in_user_file(place: Location) -> Location:
    """A place without its innermost frames in Triton's own library, where a frame outside of that is left."""
    return user_location(place, _libraries())
