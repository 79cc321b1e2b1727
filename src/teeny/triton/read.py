"""The module that Triton's front end makes of a kernel, read into IR: one structured function without calls.

The places of operations are in the files of whoever wrote the kernel.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

import teeny.language  # the operations
from teeny.diag.span import SourceFile, Span, byte_column
from teeny.ir.text import parse_module
from teeny.ir.verify import verify
from teeny.passes.inline import inline
from teeny.passes.structure import structure

if TYPE_CHECKING:
    from teeny.ir.core import Module

__all__ = ["read_module", "resolve"]

assert teeny.language
_WORD = re.compile(r"[\w.]+|.")


def read_module(text: str, name: str) -> Module:
    """The kernel of a module in Triton's dialect; `name` is what messages call the text.

    Raises TextError (X006) for text that is none, and for an operation that teeny does not have.
    """
    module = inline(structure(parse_module(text, name, resolve)))
    verify(module, concrete=True)
    return module


@lru_cache(maxsize=64)
def _source(path: str) -> SourceFile | None:
    try:
        with open(path, encoding="utf-8", errors="replace", newline="") as file:
            return SourceFile(path, file.read())
    except (OSError, ValueError):
        return None


def resolve(path: str, line: int, column: int) -> Span | None:
    """The word at a place in a file; None where the file cannot be read."""
    source = _source(path)
    if source is None:
        return None
    text = source.line(line)
    start = byte_column(text, column)
    word = _WORD.match(text, min(column - 1, len(text)))
    return Span(source, line, start, line, start + (len(word[0].encode()) if word else 1)).clamped()
