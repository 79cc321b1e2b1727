"""Inside a process that `teeny record` watches: launches of Triton kernels are checked in the place of being run."""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import json
import os
import sys
import traceback
from collections.abc import Sequence
from inspect import currentframe
from types import ModuleType
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from teeny.triton.bound import Bound

__all__ = ["VARIABLE", "watch"]

VARIABLE = "TEENY_RECORD"
"""Names the file that findings are appended to, a JSON object a line."""
_MODULE = "triton.runtime.jit"


def watch() -> None:
    """Have launches recorded as soon as Triton is imported."""
    if _MODULE in sys.modules:
        _install(sys.modules[_MODULE])
    else:
        sys.meta_path.insert(0, _Finder())


class _Finder(importlib.abc.MetaPathFinder):
    """Patches one module once it is imported."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname != _MODULE:
            return None
        sys.meta_path.remove(self)
        spec = importlib.machinery.PathFinder.find_spec(fullname, path)
        if spec is not None and spec.loader is not None:
            spec.loader = _Loader(spec.loader)
        return spec


class _Loader(importlib.abc.Loader):
    def __init__(self, inner: Any) -> None:
        self.inner = inner

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType | None:
        return self.inner.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        self.inner.exec_module(module)
        _install(module)


class _Done:
    """What a launch gives back where a compiled kernel is expected."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return 0


def _install(module: Any) -> None:
    recorder = Recorder(os.environ[VARIABLE])

    def run(self: Any, *args: Any, grid: Any, warmup: bool = False, **keywords: Any) -> Any:
        if not warmup:
            recorder.launch(self, args, grid, keywords)
        return _Done()

    module.JITFunction.run = run


class Recorder:
    """Checks each distinct launch once and appends what it finds to a file."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.seen: dict[str, int] = {}

    def launch(self, jit: Any, args: tuple[Any, ...], grid: Any, keywords: dict[str, Any]) -> None:
        """Look at one launch. What goes wrong with its arguments is the user's error; anything else is written down."""
        from teeny.triton.bound import binder, bound

        found = bound(*binder(jit)(*args, **keywords)[:2])
        size: Any = grid(found.arguments) if callable(grid) else grid
        full, faults = _normalised(size, str(jit.__name__))
        memory = [(slot.name, _layout(slot.value)) for slot in found.slots]
        key = repr((jit.__module__, jit.__qualname__, found.specialization, memory, found.constants, full or size))
        self.seen[key] = self.seen.get(key, 0) + 1
        if self.seen[key] > 1:
            return
        about: dict[str, Any] = {
            "kernel": str(jit.__name__), "place": _caller(), "grid": list(full or cast("tuple[Any, ...]", size)),
            "arguments": {name: _shown(value) for name, value in found.arguments.items()},
        }  # fmt: skip
        try:
            about |= self._checked(jit, found, full) if full else {"findings": faults}
        except Exception:
            about |= {"findings": [], "failed": traceback.format_exc()}
        with open(self.path, "a", encoding="utf-8") as file:
            file.write(json.dumps(about) + "\n")

    def _checked(self, jit: Any, bound: Bound, grid: tuple[int, int, int]) -> dict[str, Any]:
        from teeny.checks.fill import check_fills
        from teeny.diag.errors import TeenyError
        from teeny.diag.export import to_json
        from teeny.triton.read import read_module
        from teeny.triton.refusal import refused
        from teeny.triton.sample import sample

        try:
            text = bound.text(jit)
        except Exception as error:
            return {"findings": [to_json(d) for d in refused(jit, error).diagnostics]}
        try:
            module = read_module(text, f"<{jit.__name__}>", spans=True)
        except TeenyError as error:
            return {"findings": [], "note": f"not checked: {error.diagnostics[0].message}"}
        ran = sample(module, [s.name for s in bound.slots], [s.value for s in bound.slots], grid)
        note = f"not run: {ran.reason}" if ran.reason else f"{ran.programs} programs run"
        return {"findings": [to_json(d) for d in (*check_fills(module.kernel), *ran.findings)], "note": note}


def _normalised(grid: Any, kernel: str) -> tuple[tuple[int, int, int] | None, list[Any]]:
    """The grid in full, or None and what is wrong with it, of which Triton itself says nothing."""
    from teeny.diag.errors import LaunchError
    from teeny.diag.export import to_json
    from teeny.runtime.grid import normalise

    try:
        return normalise(grid, {}, kernel), []
    except LaunchError as error:
        return None, [to_json(d) for d in error.diagnostics]


def _layout(value: Any) -> Any:
    """What makes a launch another one: sizes and strides of a tensor, the value of a number."""
    shape = getattr(value, "shape", None)
    return value if shape is None else (tuple(shape), str(getattr(value, "dtype", "")), _strides(value))


def _strides(value: Any) -> tuple[int, ...]:
    found: Any = getattr(value, "stride", None)
    strides: Any = found() if callable(found) else getattr(value, "strides", ())
    return tuple(strides)


def _caller() -> str:
    """Where the launch stands: the innermost frame outside of Triton and teeny."""
    libraries = [os.path.dirname(os.path.dirname(os.path.abspath(__file__)))]
    triton = sys.modules.get("triton")
    if triton is not None and triton.__file__:
        libraries.append(os.path.dirname(triton.__file__))
    frame = currentframe()
    while frame is not None and any(frame.f_code.co_filename.startswith(f + os.sep) for f in libraries):
        frame = frame.f_back
    return f"{frame.f_code.co_filename}:{frame.f_lineno}" if frame is not None else "?"


def _shown(value: Any) -> str:
    """A value in the report: of a tensor its dtype and sizes, of a descriptor those of its tensor and the block."""
    if isinstance(value, tuple):
        parts = [_shown(one) for one in cast("tuple[Any, ...]", value)]
        return f"({', '.join(parts)}{',' if len(parts) == 1 else ''})"
    if hasattr(value, "block_shape"):
        return f"descriptor of {_shown(value.base)} in blocks of {list(value.block_shape)}"
    shape = getattr(value, "shape", None)
    if shape is not None:
        return f"{str(getattr(value, 'dtype', '')).removeprefix('torch.')}{list(shape)}"
    name = getattr(value, "__name__", None)
    return str(value) if name is None else str(name)
