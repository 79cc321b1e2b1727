"""Inside a process that `teeny record` watches: launches of Triton kernels are checked in the place of being run."""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import json
import os
import sys
import traceback
from collections.abc import Callable, Sequence
from functools import partial
from inspect import currentframe
from types import ModuleType
from typing import TYPE_CHECKING, Any, cast

from teeny.triton.without_gpu import install, truly

if TYPE_CHECKING:
    from teeny.triton.bound import Bound

__all__ = ["VARIABLE", "watch"]

VARIABLE = "TEENY_RECORD"
"""Names the file that findings are appended to, a JSON object a line."""


def watch() -> None:
    """Have launches recorded as soon as Triton is imported."""
    recorder = Recorder(os.environ[VARIABLE])
    patches: dict[str, Callable[[Any], None]] = {
        "triton.runtime.jit": partial(_launches, recorder),
        "triton.runtime.autotuner": partial(_benchmarks, recorder),
        "triton.testing": _timings,
        "torch": install,
    }
    for name in [n for n in patches if n in sys.modules]:
        patches.pop(name)(sys.modules[name])
    sys.meta_path.insert(0, _Finder(patches))


class _Finder(importlib.abc.MetaPathFinder):
    """Patches modules once they are imported."""

    def __init__(self, patches: dict[str, Callable[[Any], None]]) -> None:
        self.patches = patches

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        patch = self.patches.pop(fullname, None)
        if patch is None:
            return None
        spec = importlib.machinery.PathFinder.find_spec(fullname, path)
        if spec is not None and spec.loader is not None:
            spec.loader = _Loader(spec.loader, patch)
        return spec


class _Loader(importlib.abc.Loader):
    def __init__(self, inner: Any, patch: Callable[[Any], None]) -> None:
        self.inner = inner
        self.patch = patch

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType | None:
        return self.inner.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        self.inner.exec_module(module)
        self.patch(module)


class _Done:
    """What a launch gives back where a compiled kernel is expected."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return 0


def _launches(recorder: Recorder, module: Any) -> None:
    def run(self: Any, *args: Any, grid: Any, warmup: bool = False, **keywords: Any) -> Any:
        if not warmup:
            with truly():
                recorder.launch(self, args, grid, keywords)
        return _Done()

    module.JITFunction.run = run


def _benchmarks(recorder: Recorder, module: Any) -> None:
    """Each configuration is launched once, and the first that Triton takes wins."""
    bench = module.Autotuner._bench

    def once(self: Any, *args: Any, **keywords: Any) -> Any:
        self.__dict__["do_bench"] = _once
        recorder.tuning += 1
        try:
            return bench(self, *args, **keywords)
        finally:
            recorder.tuning -= 1

    module.Autotuner._bench = once


def _once(fn: Any, *args: Any, quantiles: Sequence[float] | None = None, return_mode: str = "mean", **_: Any) -> Any:
    """One call, said to take a millisecond."""
    fn()
    if quantiles is not None and len(quantiles) > 1:
        return [1.0] * len(quantiles)
    return [1.0] if return_mode == "all" and quantiles is None else 1.0


def _timings(module: Any) -> None:
    for name in ("do_bench", "do_bench_cudagraph", "do_bench_proton", "do_bench_cudagraph_proton"):
        if hasattr(module, name):
            setattr(module, name, _once)


class _LeftOutError(Exception):
    """Triton refuses a configuration in a way that has its autotuner take another."""

    def __init__(self, reason: Exception) -> None:
        super().__init__(reason)
        reason.__cause__ = reason.__context__ = None
        self.reason = reason.with_traceback(None)  # whose frames hold what Triton made


class Recorder:
    """Checks each distinct launch once and appends what it finds to a file."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.seen: dict[str, Exception | None] = {}
        self.tuning = 0

    def launch(self, jit: Any, args: tuple[Any, ...], grid: Any, keywords: dict[str, Any]) -> None:
        """Look at one launch. What goes wrong with its arguments is the user's error; anything else is written down."""
        from teeny.triton.bound import binder, bound

        found = bound(*binder(jit)(*args, **keywords)[:2])
        size: Any = grid(found.arguments) if callable(grid) else grid
        full, faults = _normalised(size, str(jit.__name__))
        memory = [(slot.name, _layout(slot.value)) for slot in found.slots]
        key = repr((jit.__module__, jit.__qualname__, found.specialization, memory, found.constants, full or size))
        if key in self.seen:
            left_out = self.seen[key]
            if left_out is not None:
                raise left_out
            return
        self.seen[key] = None
        about: dict[str, Any] = {
            "kernel": str(jit.__name__), "place": _caller(), "grid": list(full or cast("tuple[Any, ...]", size)),
            "arguments": {name: _shown(value) for name, value in found.arguments.items()},
        }  # fmt: skip
        try:
            about |= self._checked(jit, found, full) if full else {"findings": faults}
        except _LeftOutError as error:
            self.seen[key] = error.reason
            about |= {"findings": [], "note": "left out by the autotuner: an assertion about its constants is false"}
        except Exception:
            about |= {"findings": [], "failed": traceback.format_exc()}
        with open(self.path, "ab", buffering=0) as file:  # in one piece, since other processes write too
            file.write(f"{json.dumps(about)}\n".encode())
        if (left_out := self.seen[key]) is not None:
            raise left_out

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
            if self.tuning and type(error).__name__ == "CompileTimeAssertionFailure":
                raise _LeftOutError(error) from None
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
