"""Places in source files: file, span, and location with the chain of inlined calls.

Lines are 1-based; columns are 0-based utf-8 bytes, as in Python's `ast`. `Span` and `Location` are named tuples, not
dataclasses: the front end makes one a syntax node, and a tuple costs a third of a frozen dataclass.
"""

from __future__ import annotations

import os
import re
from typing import NamedTuple
from weakref import WeakValueDictionary

_NEWLINE = re.compile(r"\r\n|\r|\n")
_BOM = "\ufeff"
_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


class SourceFile:
    """A named text. Interned: the same name and text give the same object, so files compare by identity.

    `name` is kept as given (a path, or a label such as `<string>`); `text` is what Python was given to parse, with or
    without a byte order mark.
    """

    __slots__ = ("__weakref__", "_lines", "_starts", "name", "text")

    name: str
    text: str
    _lines: tuple[str, ...] | None
    _starts: tuple[int, ...] | None

    def __new__(cls, name: str, text: str) -> SourceFile:
        known = _FILES.get((name, text))
        if known is not None:
            return known
        made = super().__new__(cls)
        made.name = name
        made.text = text
        made._lines = None
        made._starts = None
        _FILES[name, text] = made
        return made

    def __reduce__(self) -> tuple[type[SourceFile], tuple[str, str]]:
        return SourceFile, (self.name, self.text)

    def __repr__(self) -> str:
        return f"SourceFile({self.name!r}, {len(self.text)} characters)"

    @property
    def display_name(self) -> str:
        """`name`, made relative to the current folder when it is a path below it."""
        if not os.path.isabs(self.name):
            return self.name
        try:
            relative = os.path.relpath(self.name)
        except (OSError, ValueError):
            return self.name
        return self.name if relative.startswith("..") else relative

    @property
    def lines(self) -> tuple[str, ...]:
        """The lines without their ends, split as Python's tokenizer does (not at form feeds)."""
        if self._lines is None:
            text = self.text.removeprefix(_BOM)
            self._lines = tuple(_NEWLINE.split(text) if "\r" in text else text.split("\n"))
        return self._lines

    @property
    def line_starts(self) -> tuple[int, ...]:
        """For each line, the index in `text` of its first character."""
        if self._starts is None:
            first = 1 if self.text.startswith(_BOM) else 0
            self._starts = (first, *(match.end() for match in _NEWLINE.finditer(self.text)))
        return self._starts

    def line(self, number: int) -> str:
        """Line `number` (from 1) without its end, or an empty string outside the file."""
        return self.lines[number - 1] if 1 <= number <= len(self.lines) else ""


_FILES: WeakValueDictionary[tuple[str, str], SourceFile] = WeakValueDictionary()


class Span(NamedTuple):
    """The characters from (line, column) up to, not including, (end_line, end_column)."""

    source: SourceFile
    line: int
    column: int
    end_line: int
    end_column: int

    def clamped(self) -> Span:
        """The nearest span that lies inside the file and does not end before it starts."""
        source = self.source
        line, column = _inside(source, self.line, self.column)
        end_line, end_column = _inside(source, self.end_line, self.end_column)
        if (end_line, end_column) < (line, column):
            return Span(source, line, column, line, column)
        return Span(source, line, column, end_line, end_column)

    def without_last_newline(self) -> Span:
        """This span, ended at the end of the line before when it ends at the start of one."""
        source, line, column, end_line, end_column = self
        while end_line > line and end_column == 0:
            end_line -= 1
            end_column = byte_length(source.line(end_line))
        return Span(source, line, column, end_line, end_column)

    @property
    def position(self) -> str:
        """`file:line:column` as shown to people: the column counts characters from 1."""
        line = max(self.line, 1)
        return f"{self.source.display_name}:{line}:{shown_column(self.source.line(line), self.column)}"

    @property
    def text(self) -> str:
        """The source text covered."""
        span = self.clamped()
        first, last = span.source.line(span.line), span.source.line(span.end_line)
        start = span.source.line_starts[span.line - 1] + character_index(first, span.column)
        end = span.source.line_starts[span.end_line - 1] + character_index(last, span.end_column)
        return span.source.text[start:end]

    def to(self, other: Span) -> Span:
        """From the start of this span to the end of `other` in the same file."""
        return Span(self.source, self.line, self.column, other.end_line, other.end_column)


class Location(NamedTuple):
    """Where a value or a fault comes from.

    `name` says what is called here (`tl.max`; for a call that was inlined, the helper's name), so that a message can
    say it. `call` is the place of the call whose body `span` lies in, when that body was inlined; None in the kernel.
    """

    span: Span
    name: str | None = None
    call: Location | None = None

    @property
    def frames(self) -> tuple[Location, ...]:
        """This place, then the calls that lead to it, innermost first."""
        found: list[Location] = []
        place: Location | None = self
        while place is not None:
            found.append(place)
            place = place.call
        return tuple(found)

    def called(self, call: Location) -> Location:
        """This place in a function that is called at `call`: behind the calls that lead to it already."""
        return self._replace(call=call if self.call is None else self.call.called(call))

    @property
    def outermost(self) -> Location:
        """The place in the kernel itself."""
        return self.frames[-1]


def user_location(location: Location, libraries: tuple[str, ...] = (_PACKAGE,)) -> Location:
    """The innermost frame whose file lies in none of the folders `libraries` (the outermost where all do).

    Library functions written in the language are inlined like a user's own; a fault in one is shown at the user's call.
    """
    for place in location.frames:
        name = place.span.source.name
        if not any(name.startswith(folder + os.sep) for folder in libraries):
            return place
    return location.outermost


def byte_length(text: str) -> int:
    """Length of `text` in utf-8 bytes."""
    return len(text) if text.isascii() else sum(map(_bytes_of, text))


def character_index(line: str, byte_column: int) -> int:
    """The index of the character at or around `byte_column` of `line`, clamped to the line."""
    if line.isascii():
        return min(max(byte_column, 0), len(line))
    passed = 0
    for index, character in enumerate(line):
        passed += _bytes_of(character)
        if passed > byte_column:
            return index
    return len(line)


def shown_column(line: str, byte_column: int) -> int:
    """The column shown to people: characters counted from 1; past the end of a line (unseen text) it counts on."""
    return character_index(line, byte_column) + 1 + max(0, byte_column - byte_length(line))


def byte_column(line: str, shown: int) -> int:
    """The inverse of `shown_column`."""
    character = max(shown - 1, 0)
    return byte_length(line[:character]) + max(0, character - len(line))


def _inside(source: SourceFile, line: int, column: int) -> tuple[int, int]:
    if line < 1:
        return 1, 0
    if line > len(source.lines):
        return len(source.lines), byte_length(source.lines[-1])
    return line, min(max(column, 0), byte_length(source.line(line)))


def _bytes_of(character: str) -> int:
    code = ord(character)
    return 1 if code < 0x80 else 2 if code < 0x800 else 3 if code < 0x10000 else 4
