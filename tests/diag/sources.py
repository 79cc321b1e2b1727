"""Texts and spans for the property tests: letters, wide and combining characters, tabs, and every kind of line end."""

from __future__ import annotations

from hypothesis import strategies as st

from teeny.diag import Diagnostic, Edit, Fix, Label, Location, SourceFile, Span
from teeny.diag.span import byte_length

LETTERS = "ab_(=é日本\U0001f600\u0301\t "
ODD = "\x00\x0c\x1b\u2028\u202e\u200d\ufeff\ud800\U000e0001"
texts = st.text(alphabet=LETTERS + ODD + "\n\r", max_size=60)
words = st.text(alphabet=LETTERS + "\n\x1b", max_size=8)
sources = st.builds(SourceFile, st.sampled_from(("a.py", "<string>", "dir/ü b.py")), texts)


@st.composite
def spans(draw: st.DrawFn, files: st.SearchStrategy[SourceFile] = sources) -> Span:
    """A span that lies in its file, at character boundaries."""
    file = draw(files)
    places: list[tuple[int, int]] = []
    for _ in range(2):
        line = draw(st.integers(1, len(file.lines)))
        text = file.line(line)
        places.append((line, byte_length(text[: draw(st.integers(0, len(text)))])))
    first, last = sorted(places)
    return Span(file, *first, *last)


wild_spans = st.builds(Span, sources, *[st.integers(-3, 70) for _ in range(4)])


def locations(of: st.SearchStrategy[Span]) -> st.SearchStrategy[Location]:
    """Locations up to a few calls deep."""
    flat = st.builds(Location, of, st.none() | words, st.none())
    return st.recursive(flat, lambda inner: st.builds(Location, of, st.none() | words, inner), max_leaves=3)


def diagnostics(of: st.SearchStrategy[Span]) -> st.SearchStrategy[Diagnostic]:
    """Diagnostics with everything they can hold."""
    listed = st.lists(words, max_size=2).map(tuple)
    fixes = st.builds(Fix, words, st.lists(st.builds(Edit, of, words), max_size=3).map(tuple))
    return st.builds(
        Diagnostic,
        code=st.sampled_from(("E001", "F001", "L003")),
        severity=st.sampled_from(("error", "warning", "note")),
        message=words,
        labels=st.lists(st.builds(Label, locations(of), words, st.booleans()), max_size=4).map(tuple),
        help=listed,
        notes=listed,
        fixes=st.lists(fixes, max_size=2).map(tuple),
        kernel=st.none() | st.just("softmax"),
        facts=st.lists(st.tuples(st.sampled_from(("argument", "found")), words), max_size=2).map(tuple),
    )
