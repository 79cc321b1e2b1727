"""Signatures that a user states for kernels of Triton: on the command line, or in pyproject.toml.

`softmax: x_ptr=*fp32, n_cols=i32, BLOCK=1024` has Triton's types for parameters and values for constexprs; in
pyproject.toml the table `[tool.teeny.signatures]` has a line `softmax = "x_ptr=*fp32, n_cols=i32, BLOCK=1024"`.
"""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any, cast

__all__ = ["SignatureError", "in_project", "read_signature", "read_signatures"]

_KERNEL = re.compile(r"\s*([A-Za-z_]\w*)\s*:(.*)", re.DOTALL)
_ITEM = re.compile(r"\s*([A-Za-z_]\w*)\s*=\s*((?:\([^()]*\)|<[^<>]*>|'[^']*'|\"[^\"]*\"|[^,'\"()<>])+)\s*(?:,|$)")
_DTYPE = re.compile(r"(?:tl|triton\.language)\.(\w+)")


class SignatureError(Exception):
    """A signature that cannot be read; the text is one sentence without a full stop."""


def read_signatures(texts: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Choices by kernel, from `kernel: name=type, ...`. Raises SignatureError."""
    found: dict[str, dict[str, Any]] = {}
    for text in texts:
        match = _KERNEL.fullmatch(text)
        if match is None:
            raise SignatureError(f"`{text}` is no signature, such as `softmax: x_ptr=*fp32, n=i32, BLOCK=64`")
        found[match[1]] = read_signature(match[2])
    return found


def read_signature(text: str) -> dict[str, Any]:
    """Choices from `name=type, name=value`. Raises SignatureError."""
    found: dict[str, Any] = {}
    at = 0
    while text[at:].strip():
        match = _ITEM.match(text, at)
        if match is None:
            raise SignatureError(f"`{text[at:].strip()}` is no `name=type` or `name=value`")
        found[match[1]] = _value(match[2].strip())
        at = match.end()
    return found


def _value(text: str) -> Any:
    dtype = _DTYPE.fullmatch(text)
    if dtype is not None:
        from teeny.backends.triton.wheel import load

        found = getattr(load("language"), dtype[1], None)
        if found is None:
            raise SignatureError(f"`{text}` is no dtype of Triton")
        return found
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text


def in_project(path: Path) -> dict[str, dict[str, Any]]:
    """The signatures of the pyproject.toml nearest to a file, upwards. Raises SignatureError."""
    for folder in path.resolve().parents:
        file = folder / "pyproject.toml"
        if file.is_file():
            try:
                data = tomllib.loads(file.read_text("utf-8"))
            except (OSError, ValueError) as error:
                raise SignatureError(f"{file} cannot be read: {error}") from None
            table: Any = data.get("tool", {}).get("teeny", {}).get("signatures", {})
            if not isinstance(table, dict):
                raise SignatureError(f"[tool.teeny.signatures] of {file} is no table of texts")
            rows = cast("dict[str, object]", table)
            return {name: read_signature(text) for name, text in rows.items() if isinstance(text, str)}
    return {}
