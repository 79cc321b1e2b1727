"""Which teeny this is, as a part of keys: results that another one left in the cache are not taken."""

from __future__ import annotations

import os
from functools import cache
from hashlib import sha256

from teeny import __version__

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


@cache
def build(*layers: str) -> str:
    """The version; where teeny is being worked on, also a hash of the times and sizes of the files of these layers."""
    if os.sep + "site-packages" + os.sep in _PACKAGE:
        return f"{__version__} {os.stat(os.path.join(_PACKAGE, '__init__.py')).st_mtime_ns}"
    parts = sorted(part for layer in layers for part in _files(os.path.join(_PACKAGE, layer)))
    return f"{__version__} {sha256(repr(parts).encode()).hexdigest()}"


def _files(folder: str) -> list[tuple[str, int, int]]:
    found: list[tuple[str, int, int]] = []
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir():
                found += _files(entry.path)
            elif entry.name.endswith((".py", ".md")):
                status = entry.stat()
                found.append((entry.path, status.st_mtime_ns, status.st_size))
    return found
