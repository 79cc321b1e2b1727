"""The locations that a text carries: `loc("file.py":3:5)`, aliases of them, call sites, names.

By default they are passed over, since the place of an operation is its place in the text that is read. With a `Resolve`
it is the place that the text states: in the file of whoever wrote the kernel, with the calls that led there.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from teeny.diag.span import Location, Span

if TYPE_CHECKING:
    from teeny.ir.text.cursor import Cursor

__all__ = ["Places", "Resolve"]

Resolve = Callable[[str, int, int], "Span | None"]
"""`resolve(file, line, column)`, both from 1, gives the span in the file; None where the file cannot be read."""

_ALIAS = re.compile(r"^(#[\w$.-]+) = loc\((.*)\)[ \t]*$", re.MULTILINE)
_FILE = re.compile(r'"((?:[^"\\]|\\.)*)":([0-9]+):([0-9]+)')
_NAME = re.compile(r'"((?:[^"\\]|\\.)*)"(\()?')
_REFERENCE = re.compile(r"#[\w$.-]+")
_FUSED = re.compile(r"fused(?:<[^\[\]]*>)?\[")
_DEEPEST = 100


class Place(NamedTuple):
    """Where an operation comes from, and the variable that its value was made for."""

    location: Location | None
    name: str | None = None


NOWHERE = Place(None)


class Places:
    """Reads the locations of one text."""

    __slots__ = ("_aliases", "_known", "_resolve")

    def __init__(self, text: str, resolve: Resolve | None) -> None:
        self._resolve = resolve
        self._aliases = dict(_ALIAS.findall(text)) if resolve is not None else {}
        self._known: dict[str, Place] = {}

    def after(self, at: Cursor) -> Place:
        """Pass over `loc(...)` where it comes next; what it says, where locations are wanted."""
        if not at.accept("loc"):
            return NOWHERE
        start, depth, quotes = at.pos, 0, False
        for pos in range(start, len(at.text)):
            mark = at.text[pos]
            if mark == '"' and at.text[pos - 1] != "\\":
                quotes = not quotes
            elif not quotes:
                depth += {"(": 1, ")": -1}.get(mark, 0)
                if depth == 0:
                    at.move(pos + 1)
                    return NOWHERE if self._resolve is None else self._read(at.text[start + 1 : pos].strip(), 0)
        raise at.error("expected `)`", start)

    def _read(self, text: str, depth: int) -> Place:
        """The place that `text` writes. One that is malformed is none."""
        if depth > _DEEPEST:
            return NOWHERE
        if text not in self._known:
            self._known[text] = NOWHERE  # of an alias that leads to itself
            self._known[text] = self._parsed(text, depth + 1)
        return self._known[text]

    def _parsed(self, text: str, depth: int) -> Place:
        if _REFERENCE.fullmatch(text):
            return self._read(self._aliases.get(text, "unknown"), depth)
        if text.startswith("callsite(") and text.endswith(")"):
            callee, caller = _halves(text[len("callsite(") : -1])
            inner, outer = self._read(callee, depth), self._read(caller, depth)
            if inner.location is None or outer.location is None:
                return Place(inner.location or outer.location, inner.name)
            return Place(inner.location.called(outer.location), inner.name)
        file = _FILE.match(text)
        if file is not None and self._resolve is not None:
            span = self._resolve(_plain(file[1]), int(file[2]), int(file[3]))
            return NOWHERE if span is None else Place(Location(span))
        name = _NAME.match(text)
        if name is not None:
            inside = self._read(text[name.end() : -1], depth) if name[2] and text.endswith(")") else NOWHERE
            return Place(inside.location, _plain(name[1]))
        fused = _FUSED.match(text)
        return self._read(text[fused.end() :].split(",")[0].rstrip("]").strip(), depth) if fused else NOWHERE


def _plain(text: str) -> str:
    return text.replace('\\"', '"').replace("\\\\", "\\")


def _halves(text: str) -> tuple[str, str]:
    """What stands before and after the ` at ` of a call site."""
    depth = 0
    for pos, mark in enumerate(text):
        depth += {"(": 1, ")": -1}.get(mark, 0)
        if depth == 0 and text.startswith(" at ", pos):
            return text[:pos].strip(), text[pos + 4 :].strip()
    return text, "unknown"
