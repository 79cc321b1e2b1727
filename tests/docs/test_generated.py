"""docs/reference and docs/errors are what `make docs` writes, and each page of a code shows that code at its line."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from teeny.diag.codes import Code, catalogue
from teeny.frontend.describe import descriptions
from tools.docs import DOCS, generated
from tools.pages import blocks_of
from tools.reference import example, examples

PAGES = generated()
SHOWN = [code for code in catalogue().values() if "```python" in code.text]


def without_output(page: str) -> str:
    """The page with empty blocks for what its code prints: that is `test_docs`'s matter."""
    return re.sub(r"^```text\n.*?^```$", "```text\n```", page, flags=re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(DOCS)))
def test_the_page_is_what_make_docs_writes(path: Path) -> None:
    assert path.exists(), "run `make docs`"
    assert without_output(path.read_text("utf-8")) == PAGES[path], "run `make docs`"


def test_no_page_is_left_over() -> None:
    assert {path for folder in {page.parent for page in PAGES} for path in folder.iterdir()} == set(PAGES)


def test_every_function_has_a_page_and_an_example() -> None:
    for one in descriptions().values():
        page = (DOCS / "reference" / f"{one.family}.md").read_text("utf-8")
        assert f"\n## {one.name}\n" in page
        assert example(one) in page
    assert set(examples()) <= set(descriptions())


@pytest.mark.parametrize("code", SHOWN, ids=lambda code: code.id)
def test_the_message_has_the_code_at_the_marked_line(code: Code) -> None:
    blocks = blocks_of((DOCS / "errors" / f"{code.id}.md").read_text("utf-8"))
    faulty, message, mended = blocks
    assert (faulty.gives, message.kind, mended.gives) == (code.id, "text", None)
    assert set(re.findall(r"^(?:error|warning|note)\[(\w+)\]", message.text, re.MULTILINE)) == {code.id}
    marked = next(n for n, line in enumerate(faulty.text.splitlines(), 1) if f"# {code.id}" in line)
    places = [int(line) for line in re.findall(r"--> faulty\.py:(\d+):", message.text)]
    assert places == ([marked] if (code.id[0] in "ETSF" and code.id != "E007") or code.id == "L017" else [])
