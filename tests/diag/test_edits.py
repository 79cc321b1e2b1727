"""Edits are made on the original text, with byte columns and any line ends."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from teeny.diag import Edit, SourceFile, Span
from teeny.diag.edits import apply
from teeny.diag.span import byte_length
from tests.diag.sources import spans, texts


def edit(text: str, line: int, column: int, end_line: int, end_column: int, new: str) -> Edit:
    return Edit(Span(SourceFile("a.py", text), line, column, end_line, end_column), new)


def test_columns_are_bytes_and_line_ends_stay() -> None:
    text = "# größe\r\nx = 'ü' + f(a)\r\ny = 1\n"
    edits = [edit(text, 2, 11, 2, 15, "g(b, c)"), edit(text, 2, 0, 2, 1, "longer"), edit(text, 3, 4, 3, 5, "2")]
    assert apply(edits, text) == "# größe\r\nlonger = 'ü' + g(b, c)\r\ny = 2\n"


def test_lines_can_be_joined_and_added() -> None:
    text = "a\nb\nc"
    assert apply([edit(text, 1, 1, 3, 0, " ")], text) == "a c"
    assert apply([edit(text, 2, 1, 2, 1, "\nd")], text) == "a\nb\nd\nc"


def test_insertions_at_one_place_keep_their_order() -> None:
    text = "f()"
    assert apply([edit(text, 1, 2, 1, 2, "a"), edit(text, 1, 2, 1, 2, ", b")], text) == "f(a, b)"


def test_insertion_beside_a_replacement() -> None:
    text = "f(x)"
    assert apply([edit(text, 1, 2, 1, 3, "y"), edit(text, 1, 2, 1, 2, "*")], text) == "f(*y)"
    assert apply([edit(text, 1, 3, 1, 3, ", z"), edit(text, 1, 2, 1, 3, "y")], text) == "f(y, z)"


def test_equal_edits_count_once() -> None:
    text = "f(x)"
    assert apply([edit(text, 1, 3, 1, 3, ", z")] * 2, text) == "f(x, z)"


def test_the_byte_order_mark_is_no_column() -> None:
    assert apply([edit("\ufeffx", 1, 0, 1, 1, "y")], "\ufeffx") == "\ufeffy"


def test_form_feeds_and_other_separators_are_no_line_ends() -> None:
    text = "a\x0cb\u2028c\nd"
    assert apply([edit(text, 2, 0, 2, 1, "e")], text) == "a\x0cb\u2028c\ne"


def test_overlaps_are_refused() -> None:
    text = "\nabcdef"
    with pytest.raises(ValueError, match="two edits overlap at line 2, column 3"):
        apply([edit(text, 2, 0, 2, 3, "x"), edit(text, 2, 2, 2, 4, "y")], text)


@pytest.mark.parametrize("place", [(0, 0, 1, 0), (1, 0, 3, 0), (1, 0, 1, 9), (1, -1, 1, 1), (2, 0, 1, 0), (1, 2, 1, 1)])
def test_edits_outside_the_text_are_refused(place: tuple[int, int, int, int]) -> None:
    with pytest.raises(ValueError, match="an edit"):
        apply([edit("abc\nd", *place, "x")], "abc\nd")


@given(spans(texts.map(lambda text: SourceFile("a.py", text))), st.text(max_size=5))
def test_an_edit_replaces_just_the_text_of_its_span(span: Span, new: str) -> None:
    text = span.source.text
    assert apply([Edit(span, span.text)], text) == text
    start = span.source.line_starts[span.line - 1]
    before = len(text[start:].encode("utf-8", "surrogatepass")[: span.column].decode("utf-8", "surrogatepass"))
    edited = apply([Edit(span, new)], text)
    assert edited.startswith(text[: start + before] + new)
    assert byte_length(edited) - byte_length(new) == byte_length(apply([Edit(span, "")], text))
