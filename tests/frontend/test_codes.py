"""The catalogue's snippets through the front end: the faulty one gives its code at its line, the mended one nothing."""

from __future__ import annotations

import ast
import linecache
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import teeny.diag
from teeny.diag import Code, KernelError, catalogue
from teeny.runtime.definition import collecting
from tests.frontend.corpus import language_faults

PYTHON = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
CODES = [code for code in catalogue().values() if code.id[0] in "ETS" and PYTHON.search(code.text)]
PREAMBLE = PYTHON.findall(Path(teeny.diag.__file__).with_name("codes.md").read_text("utf-8"))[0]
ELSEWHERE = {"E007": "a lambda raises where it is made"}


def run(name: str, text: str) -> Counter[tuple[int, str]]:
    """Run a snippet after the preamble; the faults by line of the snippet and code, those of specialisations too."""
    whole = PREAMBLE + text
    linecache.cache[name] = (len(whole), None, whole.splitlines(keepends=True), name)
    scope: dict[str, Any] = {"__name__": "snippet"}
    found: list[Any] = []
    tree = ast.parse(whole, name)
    for statement in tree.body:
        code = compile(
            ast.Module([statement], []), name, "exec", flags=__import__("__future__").annotations.compiler_flag
        )
        with collecting() as collected:
            try:
                exec(code, scope)
            except KernelError as error:
                collected.extend(error.diagnostics)
        found.extend(collected)
    before = PREAMBLE.count("\n")
    return Counter({(line - before, code): n for (line, code), n in language_faults(found, name).items()})


@pytest.mark.parametrize("code", [c for c in CODES if c.id not in ELSEWHERE], ids=lambda code: code.id)
def test_the_faulty_snippet_has_one_fault_and_the_mended_one_none(code: Code) -> None:
    faulty, mended = PYTHON.findall(code.text)
    line = next(n for n, text in enumerate(faulty.splitlines(), 1) if f"# {code.id}" in text)
    assert run(f"<{code.id} faulty>", faulty) == {(line, code.id): 1}
    assert run(f"<{code.id} mended>", mended) == {}
