"""Drawing the source lines of one file with the marks of its labels below them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from teeny.diag.diagnostic import Label, Severity
from teeny.diag.display import MAX_WIDTH, DisplayLine, Style, Window, clean, paint
from teeny.diag.span import SourceFile, character_index


@dataclass(frozen=True, slots=True)
class Mark:
    """A label in display columns of its file. `lane` is the margin column of a mark over several lines, else None."""

    first: int
    start: int
    last: int
    end: int
    text: str
    primary: bool
    lane: int | None = None

    @property
    def sign(self) -> str:
        return "^" if self.primary else "-"


@dataclass(frozen=True, slots=True)
class Snippet:
    """The part of one file that a diagnostic shows."""

    source: SourceFile
    marks: tuple[Mark, ...]
    lines: tuple[int, ...]

    @classmethod
    def of(cls, source: SourceFile, labels: Iterable[Label]) -> Snippet:
        marks = _lanes([_mark(label) for label in labels])
        return cls(source, marks, _shown_lines(marks))

    @property
    def last_line(self) -> int:
        return self.lines[-1] if self.lines else 0

    def draw(self, gutter: int, severity: Severity, color: bool) -> list[str]:
        """Source lines and marks; line numbers are right-aligned in `gutter` characters."""
        return _Pen(self, gutter, severity, color).draw()


def visible(label: Label) -> bool:
    """Whether the file's text has the line of the label: it may have been changed or never been read."""
    span = label.location.span
    return bool(span.source.text) and 1 <= span.line <= len(span.source.lines)


def _mark(label: Label) -> Mark:
    span = label.location.span.clamped().without_last_newline()
    first, last = span.source.line(span.line), span.source.line(span.end_line)
    start = DisplayLine.of(first).columns[character_index(first, span.column)]
    end = DisplayLine.of(last).columns[_end_index(last, span.end_column)]
    if span.line == span.end_line:
        end = max(end, start + 1)
    text = " ".join(clean(label.text).split("\n"))
    return Mark(span.line, start, span.end_line, max(end, 1), text, label.primary)


def _end_index(line: str, column: int) -> int:
    """The index after the last character that ends at or reaches over the byte `column`."""
    return character_index(line, column - 1) + 1 if column > 0 and line else 0


def _lanes(marks: list[Mark]) -> tuple[Mark, ...]:
    """Give each mark over several lines the first margin lane that is free on all its lines, longest first."""
    done: list[Mark] = []
    taken: list[list[tuple[int, int]]] = []
    for mark in sorted(marks, key=lambda m: (m.first, -m.last, m.start)):
        if mark.first == mark.last:
            done.append(mark)
            continue
        lane = 0
        while lane < len(taken) and any(first <= mark.last and mark.first <= last for first, last in taken[lane]):
            lane += 1
        if lane == len(taken):
            taken.append([])
        taken[lane].append((mark.first, mark.last))
        done.append(Mark(mark.first, mark.start, mark.last, mark.end, mark.text, mark.primary, lane))
    return tuple(done)


def _shown_lines(marks: Iterable[Mark]) -> tuple[int, ...]:
    """The lines of all marks; of a longer mark the first and last two; single lines between shown ones as well."""
    wanted: set[int] = set()
    for mark in marks:
        wanted |= {mark.first, min(mark.first + 1, mark.last), max(mark.last - 1, mark.first), mark.last}
    wanted |= {line + 1 for line in wanted if line + 2 in wanted}
    return tuple(sorted(wanted))


class _Row:
    """A line being composed: characters at columns (0 is just after the gutter's bar), then at most one text."""

    __slots__ = ("cells",)

    def __init__(self, lanes: Iterable[tuple[int, str, Style]] = ()) -> None:
        self.cells: dict[int, tuple[str, Style]] = {}
        for lane, sign, style in lanes:
            self.put(_lane_column(lane), _lane_column(lane) + 1, sign, style)

    def put(self, start: int, end: int, sign: str, style: Style) -> None:
        for column in range(start, end):
            self.cells[column] = (sign, style)

    def shown(self, color: bool, width: int = 0) -> str:
        """The characters, at least `width` columns of them."""
        parts: list[str] = []
        run = ""
        style: Style = "plain"
        for column in range(max(max(self.cells, default=-1) + 1, width)):
            sign, wanted = self.cells.get(column, (" ", "plain"))
            if wanted != style:
                parts.append(paint(run, style, color))
                run, style = "", wanted
            run += sign
        return "".join((*parts, paint(run, style, color)))


class _Pen:
    """Draws one snippet from top to bottom; `open` holds the lanes of marks begun and not yet ended."""

    def __init__(self, snippet: Snippet, gutter: int, severity: Severity, color: bool) -> None:
        self.snippet = snippet
        self.gutter = gutter
        self.severity: Style = severity
        self.color = color
        lanes = [mark.lane for mark in snippet.marks if mark.lane is not None]
        self.margin = 2 * (max(lanes) + 1) + 1 if lanes else 1
        self.open: dict[int, Mark] = {}
        self.out: list[str] = []

    def draw(self) -> list[str]:
        before = 0
        for line in self.snippet.lines:
            if before and line > before + 1:
                dots = paint("...".ljust(self.gutter + 3), "frame", self.color)
                self.out.append((dots + self.row().shown(self.color)).rstrip())
            self.draw_line(line)
            before = line
        return self.out

    def draw_line(self, line: int) -> None:
        shown = DisplayLine.of(self.snippet.source.line(line))
        marks = [mark for mark in self.snippet.marks if line in (mark.first, mark.last)]
        single = [mark for mark in marks if mark.lane is None]
        window = _window(shown.width, marks, line)
        text = window.text(shown)
        indent = len(text) - len(text.lstrip())

        row = self.row()
        edges: list[tuple[Mark, int]] = []
        for mark in marks:
            if mark.lane is not None and mark.first == line:
                if window.place(mark.start) <= indent:
                    row.put(_lane_column(mark.lane), _lane_column(mark.lane) + 1, "/", self.style(mark))
                    self.open[mark.lane] = mark
                else:
                    edges.append((mark, window.place(mark.start)))
        edges += [(m, window.place(m.end) - 1) for m in reversed(marks) if m.lane is not None and m.last == line]

        self.emit(row, text, line=line)
        self.draw_single([(mark, *_placed(mark, window)) for mark in single])
        for mark, column in edges:
            self.draw_edge(mark, column)

    def draw_single(self, placed: list[tuple[Mark, int, int]]) -> None:
        """The marks within one line: one text beside the last mark, the others hung below their marks."""
        if not placed:
            return
        row = self.row()
        owner: dict[int, int] = {}
        for index in sorted(range(len(placed)), key=lambda i: (placed[i][1] - placed[i][2], placed[i][0].primary)):
            mark, start, end = placed[index]
            row.put(start + self.margin, end + self.margin, mark.sign, self.style(mark))
            owner |= dict.fromkeys(range(start, end), index)

        texts = [index for index in range(len(placed)) if placed[index][0].text]
        right = max(end for _, _, end in placed)
        beside = owner[right - 1] if owner[right - 1] in texts else None
        if beside is None:
            self.emit(row)
        else:
            self.emit(row, placed[beside][0].text, self.style(placed[beside][0]))

        hung: list[tuple[int, Mark]] = []
        for index in texts:
            if index != beside:
                mark, start, end = placed[index]
                hung.append((next((c for c in range(start, end) if owner[c] == index), start), mark))
        hung.sort(key=lambda entry: entry[0], reverse=True)
        if hung:
            self.emit(self.hangers(hung))
        for index, (column, mark) in enumerate(hung):
            row = self.hangers([entry for entry in hung[index:] if entry[0] < column])
            self.emit(row, mark.text, self.style(mark), indent=column)

    def draw_edge(self, mark: Mark, column: int) -> None:
        """The line that ties the first or last character of a mark over several lines to its lane."""
        assert mark.lane is not None
        closing = mark.lane in self.open
        style = self.style(mark)
        row = self.row()
        row.put(_lane_column(mark.lane) + 1, self.margin + column, "_", style)
        row.put(self.margin + column, self.margin + column + 1, mark.sign, style)
        if closing:
            del self.open[mark.lane]
            self.emit(row, mark.text, style)
        else:
            self.open[mark.lane] = mark
            self.emit(row)

    def row(self) -> _Row:
        return _Row((lane, "|", self.style(mark)) for lane, mark in self.open.items())

    def hangers(self, hung: Iterable[tuple[int, Mark]]) -> _Row:
        row = self.row()
        for column, mark in hung:
            row.put(column + self.margin, column + self.margin + 1, "|", self.style(mark))
        return row

    def style(self, mark: Mark) -> Style:
        return self.severity if mark.primary else "frame"

    def emit(
        self, row: _Row, text: str = "", style: Style = "plain", *, indent: int | None = None, line: int | None = None
    ) -> None:
        """Add one line: gutter, row, then `text`: as source at the margin, at `indent`, or one space after the row."""
        gutter = paint(f" {'' if line is None else line:>{self.gutter}} |", "frame", self.color)
        if line is not None:
            cells = row.shown(self.color, self.margin)
        elif indent is not None:
            cells = row.shown(self.color, self.margin + indent)
        else:
            cells = row.shown(self.color) + (" " if text else "")
        self.out.append((gutter + cells + paint(text, style, self.color)).rstrip())


def _lane_column(lane: int) -> int:
    return 1 + 2 * lane


def _placed(mark: Mark, window: Window) -> tuple[int, int]:
    """The columns to mark in the visible text: at least one, under the dots for what is left out."""
    end = max(window.place(mark.end), 1)
    return min(window.place(mark.start), end - 1), end


def _window(width: int, marks: Iterable[Mark], line: int) -> Window:
    """The part of a line to show: around all its marks if they fit, else around the primary ones."""
    spots = [
        (mark.start if mark.first == line else mark.end - 1, mark.end if mark.last == line else mark.start + 1, mark)
        for mark in marks
    ]
    if not spots:
        return Window.around(width, 0, 0)
    first, last = min(start for start, _, _ in spots), max(end for _, end, _ in spots)
    primary = [(start, end) for start, end, mark in spots if mark.primary]
    if last - first > MAX_WIDTH and primary:
        first, last = min(start for start, _ in primary), max(end for _, end in primary)
    return Window.around(width, first, last)
