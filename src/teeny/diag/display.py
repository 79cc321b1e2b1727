"""How text looks in a terminal: columns of tabs and wide characters, safe text, long lines, colour."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

TAB = 4
MAX_WIDTH = 140
_LEAD = 20
_CUT = "..."

Style = Literal["error", "warning", "note", "frame", "help", "bold", "plain"]
_SGR = {"error": "1;31", "warning": "1;33", "note": "1;36", "frame": "1;34", "help": "1;32", "bold": "1"}


def paint(text: str, style: Style, color: bool) -> str:
    """`text` in ANSI colour when `color` is asked for."""
    return f"\x1b[{_SGR[style]}m{text}\x1b[0m" if color and text and style != "plain" else text


def clean(text: str) -> str:
    """`text` with control and direction characters replaced, so that it cannot disturb a terminal; newlines stay."""
    if text.isprintable():
        return text
    return "".join(c if c == "\n" or c.isprintable() else _piece(c, 0)[0] for c in text)


def display_width(text: str) -> int:
    """Terminal columns that `text` takes when it starts at column 0."""
    return DisplayLine.of(text).width


@dataclass(frozen=True, slots=True)
class DisplayLine:
    """One source line as shown: `pieces` hold the text of each character, `columns[i]` is where character i starts.

    `columns` has one entry more than there are characters: the width of the line.
    """

    pieces: Sequence[str]
    columns: Sequence[int]

    @classmethod
    def of(cls, line: str) -> DisplayLine:
        if line.isascii() and line.isprintable():
            return cls(line, range(len(line) + 1))
        pieces: list[str] = []
        columns = [0]
        for character in line:
            piece, width = _piece(character, columns[-1])
            pieces.append(piece)
            columns.append(columns[-1] + width)
        return cls(pieces, columns)

    @property
    def width(self) -> int:
        return self.columns[-1]

    def cut(self, start: int, stop: int) -> str:
        """The text between two columns; half a wide character becomes a space."""
        if start == 0 and stop >= self.width:
            return "".join(self.pieces)
        shown: list[str] = []
        for index, piece in enumerate(self.pieces):
            left, right = self.columns[index], self.columns[index + 1]
            if start <= left and right <= stop:
                shown.append(piece)
            elif left < stop and right > start:
                shown.append(" " * (min(right, stop) - max(left, start)))
        return "".join(shown)


@dataclass(frozen=True, slots=True)
class Window:
    """The part of a line that is shown: columns `start` to `stop` of a line of `width` columns."""

    start: int
    stop: int
    width: int

    @classmethod
    def around(cls, width: int, first: int, last: int) -> Window:
        """A window of at most MAX_WIDTH columns that shows columns `first` to `last`, or their beginning."""
        if width <= MAX_WIDTH:
            return cls(0, width, width)
        start = 0 if last <= MAX_WIDTH else max(0, min(first - _LEAD, width - MAX_WIDTH))
        return cls(start, min(width, start + MAX_WIDTH), width)

    def text(self, line: DisplayLine) -> str:
        """The visible text, with `...` where something is left out."""
        before = _CUT if self.start else ""
        after = _CUT if self.stop < self.width else ""
        return f"{before}{line.cut(self.start, self.stop)}{after}"

    def place(self, column: int) -> int:
        """Where a column of the line lies in the visible text; columns left out move to the far end of the dots."""
        before = len(_CUT) if self.start else 0
        if column < self.start:
            return 0
        if column > self.stop and self.stop < self.width:
            return before + self.stop - self.start + len(_CUT)
        return before + column - self.start


def _piece(character: str, column: int) -> tuple[str, int]:
    if character.isascii() and character.isprintable():
        return character, 1
    if character == "\t":
        width = TAB - column % TAB
        return " " * width, width
    code = ord(character)
    if code < 0x20:
        return chr(0x2400 + code), 1
    from unicodedata import category, east_asian_width

    kind = category(character)
    if kind in ("Mn", "Me") or code in (0x200C, 0x200D):
        return character, 0
    if kind in ("Cc", "Cf", "Cs", "Zl", "Zp", "Cn", "Co"):
        return "\ufffd", 1
    return character, 2 if east_asian_width(character) in ("W", "F") else 1
