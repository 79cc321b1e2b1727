"""Which of Triton's drivers is active: the CPU's from now on, or for one launch."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from functools import cache
from typing import Any

from teeny.backends.triton.wheel import load

__all__ = ["activate", "on_cpu"]


def activate() -> None:
    """Let `kernel[grid](...)` of Triton run on the CPU from now on, in the whole process.

    `TRITON_DEFAULT_BACKEND=cpu` does the same from Triton 3.7 on; where there is no GPU neither is needed.
    Raises CompileError (X001) where Triton is missing or of an unsupported version.
    """
    _config().set_active(_driver())


@contextmanager
def on_cpu() -> Generator[None]:
    """Within, launches of Triton kernels run on the CPU. Other threads see that too."""
    config, ours = _config(), _driver()
    before = _now(config)
    if before is ours:
        yield
        return
    config.set_active(ours)
    try:
        yield
    finally:
        config.set_active(before)


def _config() -> Any:
    return load("runtime.driver").driver


def _now(config: Any) -> Any:
    """The active driver; where there is no GPU and the entry point was not found, the CPU's."""
    try:
        return config.active
    except RuntimeError:
        return _driver()


@cache
def _driver() -> Any:
    """The one driver of the CPU, known to Triton also where it does not look for entry points."""
    from teeny.triton.compiler import CpuBackend
    from teeny.triton.driver import CpuDriver

    backends = load("backends")
    known = backends.backends.setdefault("cpu", backends.Backend(CpuBackend, CpuDriver))
    current = _config()
    try:
        active = current.active
    except RuntimeError:
        active = None
    return active if isinstance(active, known.driver) else known.driver()
