"""The code in README.md and docs/*.md runs, and prints what the page says.

Each ```python block of a page runs, in order, in one namespace; a second word names the file that its messages show. A
```text block right after it is what it prints, where `...` stands for anything; TEENY_UPDATE_GOLDEN=1 writes what is
printed now. `<!-- needs triton -->` before a block leaves it out where that package is missing. A ```console block has
commands and what they print, in a folder with the page's named blocks as files; `<!-- FILE without: TEXT -->` before it
takes a text out of a file.
"""

from __future__ import annotations

import contextlib
import io
import linecache
import os
import re
import shlex
import subprocess
import sys
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

import pytest

import teeny.language

ROOT = Path(__file__).resolve().parent.parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^(?:<!-- ([^\n]*) -->\n)?```(\w+) ?([\w.]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
UPDATE = bool(os.environ.get("TEENY_UPDATE_GOLDEN"))


@dataclass(frozen=True, slots=True)
class Block:
    """`start` and `end` are where the content lies in the page; `note` is the comment before it."""

    kind: str
    name: str
    text: str
    start: int
    end: int
    note: str

    @property
    def missing(self) -> bool:
        """Whether a package that the block needs is not installed."""
        return self.note.startswith("needs ") and find_spec(self.note.removeprefix("needs ")) is None


def blocks_of(page: str) -> list[Block]:
    return [Block(m[2], m[3], m[4], m.start(4), m.end(4), m[1] or "") for m in BLOCK.finditer(page)]


def shows(expected: str, printed: str) -> bool:
    """Whether `expected` is what was printed; `...` in it stands for anything."""
    pattern = ".*".join(re.escape(part) for part in expected.strip().split("..."))
    return re.fullmatch(pattern, printed.strip(), re.DOTALL) is not None


def run_python(block: Block, module: ModuleType, number: int) -> str:
    """What the block prints. The compiler finds its source as it would in a notebook."""
    name = block.name or f"block_{number}.py"
    linecache.cache[name] = (len(block.text), None, block.text.splitlines(keepends=True), name)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(block.text, name, "exec"), vars(module))
    return printed.getvalue()


def run_console(block: Block, folder: Path) -> str:
    """The commands of a block, each with what it printed."""
    name, without, text = block.note.partition(" without: ")
    if without:
        file = folder / name
        assert text in file.read_text()
        file.write_text(file.read_text().replace(text, ""))
    shown: list[str] = []
    for line in block.text.splitlines():
        if line.startswith("$ "):
            command = shlex.split(line[2:])
            assert command[0] == "teeny", f"only `teeny` can be tried: {line}"
            environment = {**os.environ, "NO_COLOR": "1"}
            call = [sys.executable, "-m", "teeny", *command[1:]]
            done = subprocess.run(call, capture_output=True, text=True, cwd=folder, env=environment, check=False)
            shown += [line, (done.stdout + done.stderr).rstrip()]
    return "\n".join(shown) + "\n"


@pytest.mark.filterwarnings("ignore::teeny.KernelWarning")
@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_a_page_does_what_it_says(path: Path, tmp_path: Path) -> None:
    page = path.read_text("utf-8")
    module = ModuleType(path.stem)
    written: list[tuple[Block, str]] = []
    faults: list[str] = []
    printed: str | None = None
    for number, block in enumerate(blocks_of(page), 1):
        if block.missing:
            printed = None
        elif block.kind == "python":
            printed = run_python(block, module, number)
            if block.name:
                (tmp_path / block.name).write_text(block.text)
        elif block.kind == "text" and printed is not None:
            if not shows(block.text, printed):
                written.append((block, printed))
                faults.append(f"expected:\n{block.text}\nprinted:\n{printed}")
            printed = None
        elif block.kind == "console":
            found = run_console(block, tmp_path)
            if not shows(block.text, found):
                written.append((block, found))
                faults.append(f"expected:\n{block.text}\nprinted:\n{found}")
    if UPDATE and written:
        for block, text in reversed(written):
            page = page[: block.start] + text.rstrip() + "\n" + page[block.end :]
        path.write_text(page, "utf-8")
    assert not faults or UPDATE, "\n\n".join(faults)


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
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
