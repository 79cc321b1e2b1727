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
from typing import Any

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
        from teeny.triton.bound import binder

        bound, specialization, _ = binder(jit)(*args, **keywords)
        size: Any = grid(bound) if callable(grid) else grid
        full = tuple(int(n) for n in (*size, 1, 1)[:3])
        types = [s[0] for s in specialization]
        hints = [s[1] if len(s) > 1 and s[0] != "constexpr" else "" for s in specialization]
        tensors = [v for v in bound.values() if hasattr(v, "untyped_storage")]
        shapes = [(tuple(v.shape), tuple(v.stride())) for v in tensors]
        numbers = [v for v in bound.values() if isinstance(v, bool | int | float | str | None)]
        key = repr((jit.__module__, jit.__qualname__, types, hints, shapes, numbers, full))
        self.seen[key] = self.seen.get(key, 0) + 1
        if self.seen[key] > 1:
            return
        about: dict[str, Any] = {
            "kernel": str(jit.__name__), "place": _caller(), "grid": list(full),
            "arguments": {name: _shown(value) for name, value in bound.items()},
        }  # fmt: skip
        try:
            about |= self._checked(jit, bound, types, hints, full)
        except Exception:
            about |= {"findings": [], "failed": traceback.format_exc()}
        with open(self.path, "a", encoding="utf-8") as file:
            file.write(json.dumps(about) + "\n")

    def _checked(
        self, jit: Any, bound: dict[str, Any], types: list[Any], hints: list[Any], grid: tuple[int, ...]
    ) -> dict[str, Any]:
        from teeny.checks.fill import check_fills
        from teeny.diag.errors import TeenyError
        from teeny.diag.export import to_json
        from teeny.triton.read import read_module
        from teeny.triton.refusal import refused
        from teeny.triton.sample import sample
        from teeny.triton.source import Hinted, module_text

        passed = {n: Hinted(t, "D" in h) for n, t, h in zip(bound, types, hints, strict=True) if _is_plain(t)}
        constants = {n: bound[n] for n, t in zip(bound, types, strict=True) if t == "constexpr"}
        if len(passed) + len(constants) != len(bound):
            return {"findings": [], "note": "not checked: tuples and descriptors as arguments"}
        try:
            text = module_text(jit, passed, constants)
        except Exception as error:
            return {"findings": [to_json(d) for d in refused(jit, error).diagnostics]}
        try:
            module = read_module(text, f"<{jit.__name__}>", spans=True)
        except TeenyError as error:
            return {"findings": [], "note": f"not checked: {error.diagnostics[0].message}"}
        ran = sample(module, list(passed), [bound[n] for n in passed], (grid[0], grid[1], grid[2]))
        note = f"not run: {ran.reason}" if ran.reason else f"{ran.programs} programs run"
        return {"findings": [to_json(d) for d in (*check_fills(module.kernel), *ran.findings)], "note": note}


def _is_plain(type_: Any) -> bool:
    return isinstance(type_, str) and type_ != "constexpr" and not type_.startswith("tensordesc")


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
    shape = getattr(value, "shape", None)
    if shape is not None:
        return f"{str(getattr(value, 'dtype', '')).removeprefix('torch.')}{list(shape)}"
    return str(value)
