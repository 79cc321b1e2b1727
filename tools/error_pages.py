"""The pages of docs/errors: one a code, from the catalogue, with what the faulty code says."""

from __future__ import annotations

import re
from pathlib import Path

import teeny.diag
from teeny.diag.codes import FAMILIES, Code, catalogue
from tools.reference import GENERATED

_CATALOGUE = Path(teeny.diag.__file__).with_name("codes.md")
_PYTHON = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_SOURCE = GENERATED.format(source="src/teeny/diag/codes.md")
_INTRODUCTION = """\
Every finding of teeny has one of these codes; `teeny explain F001` prints the text of its page. A code is never
reused and never changes its meaning. Errors of language, types and shapes are raised where a kernel is defined;
findings about fills warn there, and are errors of `teeny check`, of a specialisation and of a launch."""


def pages() -> dict[str, str]:
    """The text of each page by its name in docs/errors, with empty blocks for the messages."""
    return {"README.md": _index(), **{f"{code.id}.md": _page(code) for code in catalogue().values()}}


def preamble() -> str:
    """The code that all snippets stand after."""
    return _PYTHON.findall(_CATALOGUE.read_text("utf-8"))[0]


def _index() -> str:
    parts = [
        _SOURCE,
        "# Codes of diagnostics",
        _INTRODUCTION,
    ]
    for letter, title in FAMILIES.items():
        members = [code for code in catalogue().values() if code.id[0] == letter]
        if members:
            rows = "\n".join(f"| [{code.id}]({code.id}.md) | {code.severity} | {code.title} |" for code in members)
            parts.append(f"## {letter}: {title}\n\n| | | |\n|---|---|---|\n{rows}")
    parts.append(f"## What the code on these pages stands after\n\n```python double.py\n{preamble()}```")
    return "\n\n".join(parts) + "\n"


def _page(code: Code) -> str:
    """The text of the catalogue, its first snippet with the message that it gives, its second as what is right."""
    head = f"<!-- begins with README.md -->\n{_SOURCE}\n\n# {code.id}: {code.title}\n\n*{code.severity}*"
    after = "The code stands after [these lines](README.md#what-the-code-on-these-pages-stands-after)."
    parts = _PYTHON.split(code.text)
    if len(parts) == 1:
        return f"{head}\n\n{code.text}\n"
    text, faulty, between, mended, rest = parts
    shown = f"<!-- gives {code.id} -->\n```python faulty.py\n{faulty}```\n```text\n```"
    words = between.strip() or "Mended:"
    body = f"{text.strip()}\n\n{shown}\n\n{words}\n\n```python mended.py\n{mended}```\n\n{rest.strip()}".rstrip()
    return f"{head}\n\n{body}\n\n{after}\n"
