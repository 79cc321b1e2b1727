"""Recursion as deep as a kernel is long: an unrolled loop makes chains of thousands of operations."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import TypeVar

__all__ = ["with_depth"]

T = TypeVar("T")
ORDINARY = 150
"""Operations that Python's own limit allows for."""
FRAMES = 12
"""Frames an operation takes at most."""
_STACK = 256 << 20
_lock = threading.Lock()


def with_depth(operations: int, work: Callable[[], T]) -> T:
    """The result of `work`, which may recurse through that many operations; long ones run on a stack of their own."""
    if operations <= ORDINARY:
        return work()
    found: list[T] = []
    failed: list[BaseException] = []

    def run() -> None:
        try:
            found.append(work())
        except BaseException as error:
            failed.append(error)

    with _lock:
        limit, stack = sys.getrecursionlimit(), threading.stack_size(_STACK)
        sys.setrecursionlimit(max(limit, FRAMES * operations + 1000))
        try:
            thread = threading.Thread(target=run, name="teeny-lower")
            thread.start()
            threading.stack_size(stack)
            thread.join()
        finally:
            sys.setrecursionlimit(limit)
    if failed:
        raise failed[0]
    return found[0]
