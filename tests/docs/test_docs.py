"""The code in README.md and docs/ runs, and prints what the page says (`tools/pages.py` tells how a page is written).

TEENY_UPDATE_GOLDEN=1 writes what is printed now.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

import teeny.language
from tools.pages import run_page, shows, with_output

ROOT = Path(__file__).resolve().parent.parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
UPDATE = bool(os.environ.get("TEENY_UPDATE_GOLDEN"))


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.mark.filterwarnings("ignore::teeny.KernelWarning")
@pytest.mark.parametrize("path", PAGES, ids=name_of)
def test_a_page_does_what_it_says(path: Path, tmp_path: Path) -> None:
    if UPDATE:
        path.write_text(with_output(path, path.read_text("utf-8"), tmp_path), "utf-8")
        return
    wrong = [shown for shown in run_page(path, tmp_path) if not shown.right]
    assert not wrong, "\n\n".join(f"expected:\n{one.block.text}\nprinted:\n{one.printed}" for one in wrong)


@pytest.mark.parametrize("path", PAGES, ids=name_of)
def test_links_lead_somewhere(path: Path) -> None:
    page = re.sub(r"^```.*?^```$|`[^`\n]*`", "", path.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
    targets = [target for target in re.findall(r"\]\(([^)#]+)", page) if "://" not in target]
    assert [target for target in targets if not (path.parent / target).exists()] == []


def test_what_is_said_to_be_missing_is_missing() -> None:
    section = (ROOT / "docs" / "porting.md").read_text("utf-8").partition("## Not there yet")[2]
    names = re.findall(r"`tl\.(\w+)`", section)
    assert names
    assert [name for name in names if hasattr(teeny.language, name)] == []


def test_expected_text_may_leave_parts_open() -> None:
    assert shows("a ... d\n", "a b c d")
    assert shows("a\n...\n", "a\nb\nc\n")
    assert not shows("a ... d", "a b c")
    assert not shows("a\n", "a\nb\n")
