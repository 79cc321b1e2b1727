"""Small kernels in Triton-dialect text: inputs for the tests of everything that reads the IR."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import teeny.language  # the registry's operations
from teeny.ir.text import parse_module

if TYPE_CHECKING:
    from teeny.ir.core import Module

FOLDER = Path(__file__).parent
NAMES = tuple(sorted(path.stem for path in FOLDER.glob("*.ttir")))
assert teeny.language


def source(name: str) -> str:
    """The text of a kernel of this folder."""
    return (FOLDER / f"{name}.ttir").read_text()


def load(name: str) -> Module:
    """The module of a kernel of this folder."""
    return parse_module(source(name), f"{name}.ttir")
