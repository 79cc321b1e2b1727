"""What the terminal can show: colour, and width."""

from __future__ import annotations

import os
from typing import TextIO


def colored(stream: TextIO) -> bool:
    """Whether to write colour: on a terminal that knows it, unless NO_COLOR is set (no-color.org)."""
    return not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb" and stream.isatty()
