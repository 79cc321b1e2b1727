"""Pages of Markdown whose code runs: their blocks, and running them.

Each ```python block of a page runs, in order, in one namespace; a second word names the file that its messages show. A
```text block right after it is what it prints, where `...` stands for anything. A ```console block has commands and
what they print, in a folder with the page's named blocks as files. A comment before a block says more:

- `<!-- needs triton -->` leaves it out where that package is missing,
- `<!-- gives F001 -->` expects a diagnostic of that code, whose text counts as printed,
- `<!-- FILE without: TEXT -->`, of a console, takes a text out of a file first.

`<!-- begins with README.md -->` at the top of a page runs the code of that page first.
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
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

from teeny.diag.errors import TeenyError
from teeny.ir.schema import registry

BLOCK = re.compile(r"^(?:<!-- ([^\n]*) -->\n)?```(\w+) ?([\w.]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_ADDRESS = re.compile(r"address \d{5,}")
FIRST = re.compile(r"\A<!-- begins with ([\w./]+) -->$", re.MULTILINE)


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
        needed = self._said("needs")
        return needed is not None and find_spec(needed) is None

    @property
    def gives(self) -> str | None:
        """The code of the diagnostic that the block is to give."""
        return self._said("gives")

    def _said(self, verb: str) -> str | None:
        return next((p.removeprefix(f"{verb} ") for p in self.note.split("; ") if p.startswith(f"{verb} ")), None)


@dataclass(frozen=True, slots=True)
class Shown:
    """A block with a text: what the page says, and what came out."""

    block: Block
    printed: str

    @property
    def right(self) -> bool:
        return shows(self.block.text, self.printed)


def blocks_of(page: str) -> list[Block]:
    return [Block(m[2], m[3], m[4], m.start(4), m.end(4), m[1] or "") for m in BLOCK.finditer(page)]


def shows(expected: str, printed: str) -> bool:
    """Whether `expected` is what was printed; `...` in it stands for anything."""
    pattern = ".*".join(re.escape(part) for part in expected.strip().split("..."))
    return re.fullmatch(pattern, printed.strip(), re.DOTALL) is not None


def run_page(path: Path, folder: Path, page: str | None = None) -> Iterator[Shown]:
    """Run a page (or `page` as its text) and give each block of text with what was printed; `folder` gets its files."""
    text = path.read_text("utf-8") if page is None else page
    module = ModuleType(path.stem)
    operations = set(registry())
    try:
        yield from _run(path, folder, text, module)
    finally:
        for name in set(registry()) - operations:  # those that the page defines
            if name.startswith("example."):
                del registry()[name]


def _run(path: Path, folder: Path, text: str, module: ModuleType) -> Iterator[Shown]:
    before = FIRST.match(text)
    if before is not None:
        for number, block in enumerate(blocks_of((path.parent / before[1]).read_text("utf-8")), 1):
            if block.kind == "python":
                run_python(block, module, number)
    printed: str | None = None
    for number, block in enumerate(blocks_of(text), 1):
        if block.missing:
            printed = None
        elif block.kind == "python":
            printed = run_python(block, module, number)
            if block.name:
                (folder / block.name).write_text(block.text)
        elif block.kind == "text" and printed is not None:
            yield Shown(block, printed)
            printed = None
        elif block.kind == "console":
            yield Shown(block, run_console(block, folder))


def run_python(block: Block, module: ModuleType, number: int) -> str:
    """What the block prints. The compiler finds its source as it would in a notebook."""
    name = block.name or f"block_{number}.py"
    linecache.cache[name] = (len(block.text), None, block.text.splitlines(keepends=True), name)
    printed = io.StringIO()
    code = compile(block.text, name, "exec")
    with contextlib.redirect_stdout(printed), warnings.catch_warnings(record=block.gives is not None) as caught:
        if block.gives is None:
            exec(code, vars(module))
            return printed.getvalue()
        warnings.simplefilter("always")
        try:
            exec(code, vars(module))
        except TeenyError as error:
            return f"{printed.getvalue()}{error}"
    return printed.getvalue() + "\n".join(str(one.message).strip() for one in caught or ())


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


def with_output(path: Path, page: str, folder: Path) -> str:
    """The page with what its code prints now."""
    for shown in reversed(list(run_page(path, folder, page))):
        text = _ADDRESS.sub("address ...", shown.printed.rstrip())
        page = f"{page[: shown.block.start]}{text}\n{page[shown.block.end :]}"
    return page
