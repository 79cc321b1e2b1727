"""Catching what Triton's compiler writes: MLIR to standard error, from C++; its driver of ptxas to `sys.stdout`."""

from __future__ import annotations

import contextlib
import io
import os
import sys
import tempfile
import threading
from collections.abc import Generator

_ONE_AT_A_TIME = threading.RLock()


@contextlib.contextmanager
def standard_error(log: list[str]) -> Generator[None]:
    """Put what is written to file descriptor 2 during the block into `log`. One thread at a time.

    Where the block ends well, what was caught is passed on: it may be another thread's.
    """
    with _ONE_AT_A_TIME, tempfile.TemporaryFile() as file:
        _flush()
        try:
            saved = os.dup(2)
        except OSError:  # a process without standard error
            yield
            return
        os.dup2(file.fileno(), 2)
        well = False
        try:
            yield
            well = True
        finally:
            _flush()
            os.dup2(saved, 2)
            os.close(saved)
            file.seek(0)
            raw = file.read()
            if well and raw:
                os.write(2, raw)
            log.append(raw.decode("utf-8", "replace"))


@contextlib.contextmanager
def standard_output(log: list[str]) -> Generator[None]:
    """Put what Python prints during the block into `log`; passed on where the block ends well."""
    printed = io.StringIO()
    well = False
    try:
        with _ONE_AT_A_TIME, contextlib.redirect_stdout(printed):
            yield
        well = True
    finally:
        if well and printed.getvalue():
            sys.stdout.write(printed.getvalue())
        log.append(printed.getvalue())


def _flush() -> None:
    with contextlib.suppress(AttributeError, OSError, ValueError):
        sys.stderr.flush()
