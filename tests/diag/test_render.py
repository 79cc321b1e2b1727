"""Properties of the rendering that hold for any text; `golden.md` shows how it looks."""

from __future__ import annotations

import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from teeny.diag import Diagnostic, Location, SourceFile, Span, also, at, report
from teeny.diag.display import MAX_WIDTH, DisplayLine, clean, display_width
from teeny.diag.render import render, render_all, render_concise, summary
from teeny.diag.span import byte_length
from tests.diag.sources import LETTERS, diagnostics, spans, wild_spans

ANSI = re.compile(r"\x1b\[[0-9;]*m")


def columns(text: str) -> int:
    """The display width by another way than the renderer's: wide characters as two letters, then `expandtabs`."""
    kept = (c for c in text if not unicodedata.combining(c))
    return len("".join("xx" if unicodedata.east_asian_width(c) in "WF" else c for c in kept).expandtabs(4))


@given(diagnostics(wild_spans))
def test_any_span_in_any_text_is_rendered(diagnostic: Diagnostic) -> None:
    plain = render(diagnostic)
    assert ANSI.search(plain) is None
    assert "\x1b" not in plain
    assert plain.startswith(f"{diagnostic.severity}[{diagnostic.code}]: ")
    assert "\n" not in render_concise(diagnostic)


@given(diagnostics(spans()))
def test_colour_changes_no_character(diagnostic: Diagnostic) -> None:
    colored = ANSI.sub("", render(diagnostic, color=True))
    assert [line.rstrip() for line in colored.split("\n")] == [line.rstrip() for line in render(diagnostic).split("\n")]


@given(st.text(alphabet=LETTERS, max_size=40), st.data())
def test_carets_lie_below_what_they_mark(line: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(line)))
    end = data.draw(st.integers(start, len(line)))
    span = Span(SourceFile("a.py", line), 1, byte_length(line[:start]), 1, byte_length(line[:end]))
    rows = render(report("E001", "m", at(Location(span)))).split("\n")
    if not line:
        assert len(rows) == 2
        return
    assert rows[1] == f"  --> a.py:1:{start + 1}"
    assert rows[3] == f" 1 | {DisplayLine.of(line).cut(0, columns(line))}".rstrip()
    before, width = columns(line[:start]), columns(line[:end]) - columns(line[:start])
    assert rows[4] == "   | " + " " * before + "^" * max(width, 1)
    assert len(rows) == 5


@given(st.integers(0, 2000), st.integers(1, 30), st.integers(0, 2000))
def test_long_lines_are_cut_around_the_label(before: int, width: int, after: int) -> None:
    line = "a" * before + "b" * width + "c" * after
    span = Span(SourceFile("a.py", line), 1, before, 1, before + width)
    shown, marks = render(report("E001", "m", at(Location(span)))).split("\n")[3:]
    assert len(shown) <= MAX_WIDTH + 2 * len("...") + len(" 1 | ")
    assert [i for i, c in enumerate(shown) if c == "b"] == [i for i, c in enumerate(marks) if c == "^"]
    assert marks.count("^") == width
    assert shown[5:].strip(".") in line
    if len(line) <= MAX_WIDTH:
        assert shown == f" 1 | {line}"


def test_a_label_longer_than_the_window_shows_its_beginning() -> None:
    line = "x = " + "a" * 1000
    span = Span(SourceFile("a.py", line), 1, 4, 1, 1004)
    shown, marks = render(report("E001", "m", at(Location(span), "text"))).split("\n")[3:]
    assert shown.startswith(" 1 | x = aaa")
    assert marks.startswith("   |     ^^^^")
    assert marks.endswith("^^^ text")
    assert len(shown) < 160


def test_control_and_direction_characters_cannot_reach_the_terminal() -> None:
    assert clean("a\x1b[31m\u202eb\nc") == "a\u241b[31m\ufffdb\nc"
    file = SourceFile("a.py", "x = '\x1b[31m\u202e'")
    rows = render(report("E001", "m", at(Location(Span(file, 1, 0, 1, 1))))).split("\n")
    assert rows[3] == " 1 | x = '\u241b[31m\ufffd'"


@pytest.mark.parametrize(
    ("text", "width"), [("", 0), ("abc", 3), ("日本", 4), ("e\u0301", 1), ("\t", 4), ("ab\t", 4), ("日\tx", 5)]
)
def test_display_width(text: str, width: int) -> None:
    assert display_width(text) == width


def test_half_of_a_wide_character_becomes_a_space() -> None:
    assert DisplayLine.of("日本語").cut(1, 5) == " 本 "


def test_colour_is_in_the_text_only_when_asked_for() -> None:
    file = SourceFile("a.py", "x = y")
    diagnostic = report("E002", "name `y` not found", at(Location(Span(file, 1, 4, 1, 5)), "here"))
    assert render(diagnostic, color=True).split("\n") == [
        "\x1b[1;31merror[E002]\x1b[0m\x1b[1m: name `y` not found\x1b[0m",
        "\x1b[1;34m  --> \x1b[0ma.py:1:5",
        "\x1b[1;34m   |\x1b[0m",
        "\x1b[1;34m 1 |\x1b[0m x = y",
        "\x1b[1;34m   |\x1b[0m     \x1b[1;31m^\x1b[0m \x1b[1;31mhere\x1b[0m",
    ]


def test_concise_form() -> None:
    file = SourceFile("softmax.py", "\n\nx = ü + y")
    place = at(Location(Span(file, 3, 9, 3, 10)))
    assert render_concise(report("E002", "name `y` not found", place)) == (
        "softmax.py:3:9: error[E002]: name `y` not found"
    )
    assert render_concise(report("L008", "no grid", kernel="softmax")) == "softmax: error[L008]: no grid"
    assert render_concise(report("X001", "no triton")) == "error[X001]: no triton"


def test_all_are_sorted_and_counted() -> None:
    first, second = SourceFile("a.py", "1\n2\n3"), SourceFile("b.py", "1")
    found = [
        report("F003", "d", at(Location(Span(second, 1, 0, 1, 1)))),
        report("E002", "c", at(Location(Span(first, 3, 0, 3, 1)))),
        report("E002", "e"),
        report("E001", "b", at(Location(Span(first, 1, 0, 1, 1)))),
        report("E002", "c", at(Location(Span(first, 3, 0, 3, 1)))),
    ]
    assert render_all(found, concise=True).split("\n") == [
        "a.py:1:1: error[E001]: b",
        "a.py:3:1: error[E002]: c",
        "b.py:1:1: warning[F003]: d",
        "error[E002]: e",
        "3 errors, 1 warning",
    ]
    assert render_all([]) == ""
    assert summary([]) == "no findings"
    assert summary(found[:1]) == "1 warning"


def test_text_that_was_never_read_or_has_changed_is_not_shown() -> None:
    unread, changed = SourceFile("a.py", ""), SourceFile("b.py", "x = 1")
    diagnostic = report(
        "F001",
        "m",
        at(Location(Span(unread, 9, 21, 9, 30)), "enters"),
        also(Location(Span(changed, 7, 2, 7, 4)), "born"),
    )
    assert render(diagnostic).split("\n") == [
        "error[F001]: m",
        "  --> a.py:9:22",
        "  ::: b.py:7:3",
        "   = enters",
        "   = born",
    ]
