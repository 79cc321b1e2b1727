"""One matrix of functions x dtypes x shapes x executors against the meaning in plain NumPy.

Every cell runs by default on one of the executors in turn for the wide dtypes; `TEENY_FULL=1` runs all of them on both.
"""

from __future__ import annotations

import os
import zlib
from pathlib import Path

import pytest

from teeny.ops.function import functions
from tests.language.cells import FORMS, MIRRORED, SWAPPED, cells
from tests.language.meaning import EXACT, MEANING
from tests.language.rounding import DTYPES
from tests.language.values import ALL, CLASSES
from tests.language.executors import kernel_of
from tests.language.sheet import spelled
from teeny.diag.errors import KernelError

FULL = bool(os.environ.get("TEENY_FULL"))
CELLS = cells()


def chosen(label: str) -> bool:
    """All cells in a full run; else a third of them, the same each time, f32 and i32 always."""
    return FULL or zlib.crc32(label.encode()) % 3 == 0 or label.split("-")[1:2] in (["f32"], ["i32"])


@pytest.mark.parametrize("label", [label for label in CELLS if chosen(label)])
def test_cell(label: str, tmp_path: Path) -> None:
    CELLS[label][1]().check(tmp_path)
