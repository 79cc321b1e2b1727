"""Operations that come from outside the package, as a part of keys: their rules change without teeny changing."""

from __future__ import annotations

import linecache
import os
from collections.abc import Callable, Iterator
from dataclasses import fields
from hashlib import sha256
from types import CellType, CodeType
from typing import TYPE_CHECKING, Any

from teeny.ir.core import walk_function

if TYPE_CHECKING:
    from teeny.ir.core import Module
    from teeny.ir.schema import OpDef

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_known: dict[str, tuple[OpDef, str]] = {}


def foreign(module: Module) -> dict[str, str]:
    """For each operation of the module from outside the package, a hash of the files that its rules lie in."""
    used = {op.schema.name: op.schema for function in module.functions for op in walk_function(function)}
    found = {f"operation {name}": _origin(schema) for name, schema in used.items()}
    return {name: origin for name, origin in found.items() if origin}


def _origin(schema: OpDef) -> str:
    known = _known.get(schema.name)
    if known is not None and known[0] is schema:
        return known[1]
    rules = [getattr(schema, field.name) for field in fields(schema)]
    files = {file for rule in rules if callable(rule) for file in _files(rule) if not _is_own(file)}
    texts = [_content(file) for file in sorted(files)]
    found = sha256(b"\0".join(texts)).hexdigest() if texts else ""
    _known[schema.name] = schema, found
    return found


def _files(rule: Callable[..., Any]) -> Iterator[str]:
    """The file of a function, and those of the functions that it closes over."""
    code: CodeType | None = getattr(rule, "__code__", None)
    if code is not None:
        yield code.co_filename
    cells: tuple[CellType, ...] = getattr(rule, "__closure__", None) or ()
    for cell in cells:
        if callable(cell.cell_contents):
            yield from _files(cell.cell_contents)


def _is_own(file: str) -> bool:
    return os.path.abspath(file).startswith(_PACKAGE)


def _content(file: str) -> bytes:
    try:
        with open(file, "rb") as opened:
            return opened.read()
    except OSError:  # a notebook's cell
        return "".join((file, *linecache.getlines(file))).encode()
