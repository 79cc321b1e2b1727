"""What would falsify a measurement, taken out of this process and its children before numpy is imported."""

from __future__ import annotations

import os

_FOREIGN = ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE", "PYTHONDONTWRITEBYTECODE")
"""Choices of kernels and block sizes for numpy's BLAS, set for another machine; and imports without compiled files."""


def clean() -> None:
    """Forget the variables."""
    for name in _FOREIGN:
        os.environ.pop(name, None)
