"""Places in source files."""

from __future__ import annotations

import ast
import gc
import os
import pickle
import timeit
import weakref
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import teeny
from teeny.diag import Location, SourceFile, Span, user_location
from teeny.diag.span import byte_column, byte_length, character_index, shown_column
from tests.diag.sources import spans, texts


def test_files_are_interned_by_name_and_text() -> None:
    file = SourceFile("a.py", "x = 1")
    assert SourceFile("a.py", "x = " + str(1)) is file
    assert SourceFile("a.py", "x = 2") is not file
    assert SourceFile("b.py", "x = 1") is not file
    assert pickle.loads(pickle.dumps(file)) is file


def test_files_no_longer_used_are_forgotten() -> None:
    file = SourceFile("a.py", "never read")
    reference = weakref.ref(file)
    del file
    gc.collect()
    assert reference() is None


def test_lines_end_where_python_ends_them() -> None:
    text = "a\nb\r\nc\rd\x0ce\u2028f\x1cg\n"
    assert SourceFile("a.py", text).lines == ("a", "b", "c", "d\x0ce\u2028f\x1cg", "")
    assert SourceFile("a.py", text).line_starts == (0, 2, 5, 7, 17 - 2)
    assert SourceFile("a.py", "\ufeffa\nb").lines == ("a", "b")
    assert SourceFile("a.py", "\ufeffa\nb").line_starts == (1, 3)
    assert [SourceFile("a.py", "a\nb").line(n) for n in (-1, 0, 1, 2, 3)] == ["", "", "a", "b", ""]


def test_names_below_the_current_folder_are_shown_relative(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    below, above = str(tmp_path / "here" / "k.py"), str(tmp_path / "k.py")
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    assert SourceFile(below, "").display_name == "k.py"
    assert SourceFile(below, "").name == below
    assert SourceFile(above, "").display_name == above
    assert SourceFile("../k.py", "").display_name == "../k.py"
    assert SourceFile("<string>", "").display_name == "<string>"


def test_spans_of_python_nodes_give_their_text() -> None:
    text = "größe = 'ü' + f(\n    a,\n    日本)\n"
    file = SourceFile("a.py", text)
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.expr):
            assert node.end_lineno is not None
            assert node.end_col_offset is not None
            span = Span(file, node.lineno, node.col_offset, node.end_lineno, node.end_col_offset)
            assert span.text == ast.get_source_segment(text, node)


def test_positions_count_characters_from_one() -> None:
    file = SourceFile("a.py", "ü = x")
    assert Span(file, 1, 5, 1, 6).position == "a.py:1:5"
    assert Span(SourceFile("a.py", ""), 12, 7, 12, 9).position == "a.py:12:8"


@pytest.mark.parametrize(
    ("given", "inside"),
    [
        ((1, 1, 2, 1), (1, 1, 2, 1)),
        ((0, 5, 2, 1), (1, 0, 2, 1)),
        ((1, 1, 9, 0), (1, 1, 3, 2)),
        ((9, 1, 9, 4), (3, 2, 3, 2)),
        ((2, 1, 1, 3), (2, 1, 2, 1)),
        ((0, 0, 0, 9), (1, 0, 1, 0)),
        ((1, -4, 1, 99), (1, 0, 1, 3)),
    ],
)
def test_clamping(given: tuple[int, int, int, int], inside: tuple[int, int, int, int]) -> None:
    file = SourceFile("a.py", "abc\nde\nfg")
    assert Span(file, *given).clamped() == Span(file, *inside)


@given(spans())
def test_a_span_inside_stays(span: Span) -> None:
    assert span.clamped() == span


@pytest.mark.parametrize(
    ("given", "shorter"),
    [
        ((1, 0, 2, 0), (1, 0, 1, 3)),
        ((1, 0, 4, 0), (1, 0, 2, 2)),
        ((1, 3, 2, 0), (1, 3, 1, 3)),
        ((2, 0, 2, 0), (2, 0, 2, 0)),
        ((1, 0, 2, 1), (1, 0, 2, 1)),
    ],
)
def test_the_last_newline_can_be_left_out(given: tuple[int, int, int, int], shorter: tuple[int, int, int, int]) -> None:
    file = SourceFile("a.py", "abc\nde\n\nfg")
    assert Span(file, *given).without_last_newline() == Span(file, *shorter)


@given(texts, st.data())
def test_columns_of_characters_and_bytes(text: str, data: st.DataObject) -> None:
    index = data.draw(st.integers(0, len(text)))
    column = len(text[:index].encode("utf-8", "surrogatepass"))
    assert byte_length(text[:index]) == column
    assert character_index(text, column) == index
    assert shown_column(text, column) == index + 1
    assert byte_column(text, index + 1) == column
    assert shown_column(text, byte_length(text) + 5) == len(text) + 6
    assert byte_column(text, len(text) + 6) == byte_length(text) + 5


def test_a_column_inside_a_character_means_that_character() -> None:
    assert [character_index("a日b", column) for column in range(-1, 7)] == [0, 0, 1, 1, 1, 2, 3, 3]


def test_frames_lead_from_the_place_to_the_kernel() -> None:
    file = SourceFile("a.py", "x")
    kernel = Location(Span(file, 9, 0, 9, 1), "outer")
    middle = Location(Span(file, 5, 0, 5, 1), "inner", kernel)
    place = Location(Span(file, 1, 0, 1, 1), "tl.exp", middle)
    assert place.frames == (place, middle, kernel)
    assert place.outermost is kernel
    assert kernel.frames == (kernel,)


def test_faults_in_library_functions_are_shown_at_the_users_call() -> None:
    folder = os.path.dirname(teeny.__file__)
    user = Location(Span(SourceFile("a.py", "tl.sigmoid(x)"), 1, 0, 1, 13), "tl.sigmoid")
    library = SourceFile(os.path.join(folder, "language", "library.py"), "x")
    inner = Location(Span(library, 1, 0, 1, 1), "tl.exp", user)
    assert user_location(inner) is user
    assert user_location(user) is user
    assert user_location(Location(library_span := Span(library, 1, 0, 1, 1))).span is library_span
    assert user_location(inner, libraries=()) is inner


def test_to_spans_from_one_to_the_other() -> None:
    file = SourceFile("a.py", "abc\nde")
    assert Span(file, 1, 1, 1, 2).to(Span(file, 2, 0, 2, 1)) == Span(file, 1, 1, 2, 1)


def test_a_location_is_cheap_to_make() -> None:
    file = SourceFile("a.py", "x")
    took = min(timeit.repeat(lambda: Location(Span(file, 1, 0, 1, 1), None, None), number=2000, repeat=7)) / 2000
    assert took < 5e-6, "about 0.5 us are usual"
