"""A place in the text that is being read, and the error that names it."""

from __future__ import annotations

import re
from bisect import bisect_right

from teeny.diag.diagnostic import at as label
from teeny.diag.diagnostic import report
from teeny.diag.errors import TeenyError
from teeny.diag.span import Location, SourceFile, Span, byte_length

_SPACE = re.compile(r"(?:\s+|//[^\n]*)*")
_WORD = re.compile(r"[\w$.#@%^!]+|.", re.DOTALL)


class TextError(TeenyError):
    """Text that is no Triton dialect, or has an operation that teeny does not."""


class Cursor:
    """`pos` always stands on the next thing: blanks and comments are passed over after each.

    `aliases`: what names such as `#loop_annotation` stand for.
    """

    __slots__ = ("_starts", "aliases", "pos", "source", "text")

    def __init__(self, source: SourceFile) -> None:
        self.source = source
        self.text = source.text
        self._starts = source.line_starts
        self.aliases: dict[str, str] = {}
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
        following = self.text[self.pos + len(word) : self.pos + len(word) + 1]
        return not (word[-1].isalnum() and (following.isalnum() or following in ("_", "$", ".")))

    def accept(self, word: str) -> bool:
        """Pass over `word` if it comes next."""
        if not self.peek(word):
            return False
        self._advance(self.pos + len(word))
        return True

    def expect(self, word: str) -> None:
        if not self.accept(word):
            raise self.error(f"expected `{word}`, found {'the end' if self.done else f'`{self.next_word()}`'}")

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

    def error(self, message: str, pos: int | None = None, length: int = 1, help: tuple[str, ...] = ()) -> TextError:
        """The error (X006) that points at `length` characters at `pos`, by default at the next word."""
        place = self.location(self.pos, max(1, len(self.next_word()))) if pos is None else self.location(pos, length)
        return TextError((report("X006", message, label(place), help=help),))
