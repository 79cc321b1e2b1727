"""Catching what compiled code writes to standard error, which is where MLIR puts its messages."""

from __future__ import annotations

import contextlib
import io
import os
import sys
import tempfile
import threading
from collections.abc import Generator
from dataclasses import dataclass

_ONE_AT_A_TIME = threading.RLock()


@dataclass(slots=True)
class Caught:
    """`text` is there once the block has ended."""

    text: str = ""


@contextlib.contextmanager
def standard_error() -> Generator[Caught]:
    """Catch file descriptor 2, and what Python prints, for the time of the block. One thread at a time.

    Where the block ends well, what was caught is passed on: it may be another thread's.
    """
    caught = Caught()
    with _ONE_AT_A_TIME, tempfile.TemporaryFile() as file:
        _flush()
        try:
            saved = os.dup(2)
        except OSError:  # a process without standard error
            yield caught
            return
        os.dup2(file.fileno(), 2)
        printed = io.StringIO()
        well = False
        try:
            with contextlib.redirect_stdout(printed):
                yield caught
            well = True
        finally:
            _flush()
            os.dup2(saved, 2)
            os.close(saved)
            file.seek(0)
            raw = file.read()
            caught.text = raw.decode("utf-8", "replace") + printed.getvalue()
            if well and raw:
                os.write(2, raw)
            if well and printed.getvalue():
                sys.stdout.write(printed.getvalue())


def _flush() -> None:
    with contextlib.suppress(AttributeError, OSError, ValueError):
        sys.stderr.flush()
