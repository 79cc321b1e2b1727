"""The catalogue of codes, read from `codes.md` beside this file: one heading a code, its explanation below.

A code is never reused and never changes its meaning. To add one, add its section to `codes.md`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import Literal, get_args

Severity = Literal["error", "warning", "note"]

FAMILIES: Mapping[str, str] = MappingProxyType(
    {
        "E": "language",
        "T": "types",
        "S": "shapes",
        "F": "fills",
        "B": "bounds",
        "O": "overflow",
        "R": "races",
        "C": "coverage",
        "P": "precision",
        "L": "launch",
        "X": "outside compiler",
        "I": "internal",
    }
)

_SECTION = re.compile(r"^## ([A-Z]\d{3}) (\w+): ([^\n]+)\n(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
_SEVERITIES: Mapping[str, Severity] = {name: name for name in get_args(Severity)}


@dataclass(frozen=True, slots=True)
class Code:
    """One entry: `text` is Markdown, usually with a faulty and a mended snippet."""

    id: str
    title: str
    severity: Severity
    text: str


@cache
def catalogue() -> Mapping[str, Code]:
    """Every code by its id, in the order of the catalogue."""
    with open(os.path.join(os.path.dirname(__file__), "codes.md"), encoding="utf-8") as file:
        sections = _SECTION.findall(file.read())
    return MappingProxyType(
        {name: Code(name, title, _SEVERITIES[severity], text.strip()) for name, severity, title, text in sections}
    )


def code_of(name: str) -> Code:
    """The entry for a code id such as `F001`. Raises KeyError when there is none."""
    return catalogue()[name]


def explain(name: str) -> str:
    """The explanation of a code for a terminal: headline, then the Markdown text. Raises KeyError when unknown."""
    code = code_of(name.upper())
    return f"{code.severity}[{code.id}]: {code.title}\n\n{code.text}\n"
