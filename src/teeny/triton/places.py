"""Places in a user's file, from the line and column that Triton's front end keeps of each syntax node."""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Callable
from functools import cache, lru_cache
from importlib.util import find_spec

from teeny.backends.triton.wheel import version
from teeny.diag.span import Location, SourceFile, Span, byte_column, user_location

__all__ = ["Reader", "expression_at", "in_user_file", "readers", "word_at"]

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


Reader = Callable[[str, int, int], "Span | None"]
_EXACT = (3, 8)
"""From this version on Triton's text says where an operation's expression starts, in columns from 1."""


def readers() -> tuple[Reader, Reader]:
    """How the places in the text of the installed Triton are read: as expressions, and, at less cost, as words.

    Older versions say where the part of the expression starts that they visited last, in columns from 0, of the kernel
    moved to the left margin.
    """
    if tuple(map(int, version().split(".")[:2])) >= _EXACT:
        return expression_at, word_at
    return _around, lambda path, line, column: word_at(path, line, column + 1 + _indent(path, line))


def _around(path: str, line: int, column: int) -> Span | None:
    """The expression whose part starts at a place; `column` counts from 0. Where there is none, the word there."""
    source = _source(path)
    if source is None:
        return None
    column += 1 + _indent(path, line)
    found = _wholes(source).get((line, byte_column(source.line(line), column)))
    return word_at(path, line, column) if found is None else Span(source, *found)


def _indent(path: str, line: int) -> int:
    """How far the function that a line belongs to is indented."""
    source = _source(path)
    return 0 if source is None else max((n for n, lines in _functions(source) if line in lines), default=0)


@lru_cache(maxsize=16)
def _functions(source: SourceFile) -> list[tuple[int, range]]:
    """Indentation and lines of a file's functions."""
    try:
        tree = ast.parse(source.text)
    except (SyntaxError, ValueError):
        return []
    found = (n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef))
    return [(n.col_offset, range(n.lineno, (n.end_lineno or n.lineno) + 1)) for n in found]


@lru_cache(maxsize=16)
def _wholes(source: SourceFile) -> dict[tuple[int, int], tuple[int, int, int, int]]:
    """For the place where an expression starts, of the largest such what it is a part of: from here to there."""
    found: dict[tuple[int, int], tuple[int, int, int, int]] = {}
    try:
        stack: list[tuple[ast.AST, ast.expr | None]] = [(ast.parse(source.text), None)]
    except (SyntaxError, ValueError):
        return found
    while stack:  # wholes before their parts
        node, whole = stack.pop()
        if isinstance(node, ast.stmt):
            whole = None
        elif isinstance(node, ast.expr):
            shown = whole or node
            end = shown.end_lineno or shown.lineno, shown.end_col_offset or shown.col_offset
            found.setdefault((node.lineno, node.col_offset), (shown.lineno, shown.col_offset, *end))
            whole = node
        stack += [(child, whole) for child in ast.iter_child_nodes(node)]
    return found


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
