"""A place in the text that is being read, and the error that names it."""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import NoReturn

from teeny.diag.diagnostic import at as label
from teeny.diag.diagnostic import report
from teeny.diag.errors import TeenyError
from teeny.diag.span import Location, SourceFile, Span, byte_length

_SPACE = re.compile(r"(?:\s+|//[^\n]*)*")
_WORD = re.compile(r"[\w$.#@%^!]+|.", re.DOTALL)


class TextError(TeenyError):
    """Text that is no Triton dialect, or has an operation that teeny does not."""


class Cursor:
    """`pos` always stands on the next thing: blanks and comments are passed over after each."""

    __slots__ = ("_starts", "pos", "source", "text")

    def __init__(self, source: SourceFile) -> None:
        self.source = source
        self.text = source.text
        self._starts = source.line_starts
        self.pos = 0
        self._advance(0)

    def _advance(self, pos: int) -> None:
        found = _SPACE.match(self.text, pos)
        self.pos = pos if found is None else found.end()

    @property
    def done(self) -> bool:
        return self.pos == len(self.text)

    def peek(self, word: str) -> bool:
        """Whether `word` comes next, as a whole word."""
        if not self.text.startswith(word, self.pos):
            return False
        end = self.pos + len(word)
        return not (word[-1].isalnum() and end < len(self.text) and (self.text[end].isalnum() or self.text[end] in "_$."))

    def accept(self, word: str) -> bool:
        """Pass over `word` if it comes next."""
        if not self.peek(word):
            return False
        self._advance(self.pos + len(word))
        return True

    def expect(self, word: str) -> None:
        if not self.accept(word):
            self.fail(f"expected `{word}`, found `{self.next_word()}`" if not self.done else f"expected `{word}`, found the end")

    def match(self, pattern: re.Pattern[str]) -> str | None:
        """Pass over what `pattern` matches here, and return it."""
        found = pattern.match(self.text, self.pos)
        if found is None:
            return None
        self._advance(found.end())
        return found[0]

    def move(self, pos: int) -> None:
        """Go on at `pos`."""
        self._advance(pos)

    def next_word(self) -> str:
        found = _WORD.match(self.text, self.pos)
        return found[0] if found else ""

    def location(self, pos: int, length: int = 1) -> Location:
        """The place of `length` characters at `pos`."""
        line = bisect_right(self._starts, pos)
        start = self._starts[line - 1]
        column = byte_length(self.text[start:pos])
        return Location(Span(self.source, line, column, line, column + byte_length(self.text[pos : pos + length])))

    def fail(self, message: str, pos: int | None = None, length: int | None = None, help: tuple[str, ...] = ()) -> NoReturn:
        """Raise the error (X006) that points at `pos`, by default at the next word."""
        where = self.pos if pos is None else pos
        place = self.location(where, length or max(1, len(self.next_word()) if pos is None else 1))
        raise TextError((report("X006", message, label(place), help=help),))
