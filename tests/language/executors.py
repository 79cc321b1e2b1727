"""Kernels from source text, run on each executor with the same arguments."""

from __future__ import annotations

import importlib.util
import itertools
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from teeny.backends.reference import run
from teeny.runtime.kernel import Kernel

EXECUTORS = ("reference", "cpu")
"""What every cell runs on; `launch` takes "cuda" too, and "record", which notes the launch and does nothing."""
recorded: list[Any] = []
"""The specialisations that were launched on "record"."""
HEAD = """from typing import TypeVar

import teeny as tn
import teeny.language as tl

"""
_numbers = itertools.count()


def module_of(text: str, folder: Path) -> ModuleType:
    """Import source text from a real file, as the front end needs it."""
    name = f"kernels_{next(_numbers)}"
    path = folder / f"{name}.py"
    path.write_text(HEAD + text, encoding="utf-8")
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    finally:
        del sys.modules[name]
    return module


def kernel_of(text: str, folder: Path) -> Any:
    """The kernel that the text calls `kernel`."""
    found = module_of(text, folder).kernel
    assert isinstance(found, Kernel)
    return found


def launch(
    kernel: Any,
    executor: str,
    arguments: Sequence[Any],
    grid: tuple[int, ...] = (1,),
    constants: Mapping[str, Any] | None = None,
    dtypes: Mapping[str, str] | None = None,
) -> None:
    """Run on arrays and numbers, given by position; arrays are changed in place. `dtypes`: of the type variables."""
    constants = dict(constants or {})
    if executor == "cpu":
        kernel[grid](*arguments, **constants)
        return
    if executor == "cuda":
        _on_cuda(kernel, arguments, grid, constants)
        return
    made = kernel.specialize(**(dtypes or {}), **constants)
    if executor == "record":
        recorded.append(made)
        return
    full = (*grid, 1, 1)[:3]
    run(made.module, list(arguments), (full[0], full[1], full[2]))


def _on_cuda(kernel: Any, arguments: Sequence[Any], grid: tuple[int, ...], constants: Mapping[str, Any]) -> None:
    """On copies of the arrays in the device's memory, which are copied back."""
    from teeny.runtime.cuda import cuda_device
    from teeny.runtime.cuda_buffer import from_numpy

    device = cuda_device(0)
    there = [from_numpy(device, a) if isinstance(a, np.ndarray) else a for a in arguments]
    kernel[grid](*there, **constants)
    for array, buffer in zip(arguments, there, strict=True):
        if isinstance(array, np.ndarray):
            array[...] = buffer.numpy()


def fresh(arguments: Sequence[Any]) -> list[Any]:
    """Copies of the arrays; other arguments as they are."""
    return [a.copy() if isinstance(a, np.ndarray) else a for a in arguments]
