"""The installed Triton: its version, without importing it, and its import."""

from __future__ import annotations

import importlib
import sys
from functools import cache
from importlib import metadata
from typing import Any

from teeny.diag.diagnostic import report
from teeny.diag.errors import CompileError

OLDEST, NEWEST = (3, 6), (3, 9)
_INSTALL = 'install it from a checkout of teeny with `pip install ".[triton]"`, on Linux'


def version() -> str:
    """The version of the installed Triton, which the key of any cache of its results must hold.

    Raises `CompileError` (X001) where Triton is missing or not of version 3.6 to 3.9. Does not import it.
    """
    try:
        found = metadata.version("triton")
    except metadata.PackageNotFoundError:
        raise CompileError((report("X001", "the package `triton` is not installed", help=(_INSTALL,)),)) from None
    if not supported(found):
        message = f"triton {found} is installed, and teeny works with 3.6 to 3.9"
        raise CompileError((report("X001", message, help=(_INSTALL,)),))
    return found


def release() -> tuple[int, ...]:
    """The first two numbers of `version()`, to compare."""
    return tuple(map(int, version().split(".")[:2]))


def supported(found: str) -> bool:
    """Whether teeny works with a version of Triton."""
    parts = found.split(".")[:2]
    return all(part.isdigit() for part in parts) and OLDEST <= tuple(map(int, parts)) <= NEWEST


@cache
def load(name: str) -> Any:
    """The module `triton.<name>`. Raises `CompileError` (X001) where it cannot be imported."""
    version()
    try:
        return importlib.import_module(f"triton.{name}")
    except Exception as error:
        message = f"triton {version()} cannot be imported: {error}"
        python = ".".join(map(str, sys.version_info[:3]))
        raise CompileError((report("X001", message, notes=(f"Python {python} on {sys.platform}",)),)) from error
