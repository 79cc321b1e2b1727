"""Python files as the command line takes them: finding, importing as Python would, and faults of their import."""

from __future__ import annotations

import importlib
import importlib.util
import os
import re
import sys
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType, TracebackType

from teeny.cli.usage import UsageError
from teeny.diag.diagnostic import Diagnostic, at, report
from teeny.diag.errors import TeenyError
from teeny.diag.span import Location, SourceFile, Span, byte_length

_DECORATED = re.compile(rb"^[ \t]*@(?:[\w.]+\.)?kernel\b", re.MULTILINE)
_JIT = re.compile(rb"^[ \t]*@(?:[\w.]+\.)?jit\b", re.MULTILINE)
_SKIPPED = {"__pycache__", "node_modules", "site-packages"}


class ImportFailedError(TeenyError):
    """A file cannot be imported; the diagnostics say where and why."""


@dataclass(frozen=True, slots=True)
class SourcePath:
    """A file with the place that Python would import it from: `root` on the module path, `name` below it."""

    path: Path
    root: Path
    name: str

    @classmethod
    def of(cls, path: Path) -> SourcePath:
        """By the packages (folders with `__init__.py`) around the file, if any."""
        path = path.resolve()
        parts = [] if path.name == "__init__.py" else [path.stem]
        root = path.parent
        while (root / "__init__.py").exists() and root.parent != root:
            parts.insert(0, root.name)
            root = root.parent
        return cls(path, root, ".".join(parts) or path.stem)


def python_files(paths: Iterable[str]) -> Iterator[Path]:
    """The files named, and in folders those that may define kernels; each once, in order.

    Raises UsageError for a path that is not there or is no Python file.
    """
    seen: set[Path] = set()
    for text in paths:
        path = Path(text)
        if path.is_dir():
            found = sorted(_below(path))
        elif path.exists():
            if path.suffix != ".py":
                raise UsageError(f"`{text}` is no Python file")
            if not path.is_file():
                raise UsageError(f"`{text}` is no regular file")
            found = [path]
        else:
            raise UsageError(f"there is no file or folder `{text}`")
        for one in found:
            if one.resolve() not in seen:
                seen.add(one.resolve())
                yield one


def _below(folder: Path) -> Iterator[Path]:
    for here, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not _skipped(here, name)]
        for name in names:
            path = Path(here, name)
            if not name.endswith(".py"):
                continue
            if path.is_file():
                if holds_teeny(path) or holds_triton(path):
                    yield path
            elif path.exists():  # reading a pipe or a device may never end
                print(f"{path}: skipped, for it is no regular file", file=sys.stderr)


def _skipped(here: str, name: str) -> bool:
    return name.startswith(".") or name in _SKIPPED or os.path.exists(os.path.join(here, name, "pyvenv.cfg"))


def _text(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


def holds_teeny(path: Path) -> bool:
    """Whether a file may define kernels with teeny."""
    text = _text(path)
    return (b"teeny" in text and b"kernel" in text) or _DECORATED.search(text) is not None


def holds_triton(path: Path) -> bool:
    """Whether a file may define kernels of Triton."""
    text = _text(path)
    return b"triton" in text and _JIT.search(text) is not None


@contextmanager
def importing(root: Path) -> Generator[None]:
    """Within, modules are found in `root` first, then in the current folder; afterwards those found are forgotten."""
    before, path = set(sys.modules), list(sys.path)
    folders = (root, Path.cwd())
    sys.path[:0] = [str(folder) for folder in folders]
    importlib.invalidate_caches()
    try:
        yield
    finally:
        sys.path[:] = path
        new = set(sys.modules) - before
        ours = {name for name in new if "." not in name and _lies_in(sys.modules[name], folders)}
        for name in new:
            if name.partition(".")[0] in ours:
                del sys.modules[name]


def _lies_in(module: ModuleType, folders: Sequence[Path]) -> bool:
    """Whether a top-level module is a file of one of the folders, or a package in it."""
    places = [Path(place).parent for place in getattr(module, "__path__", ())]
    name = getattr(module, "__file__", None)
    if isinstance(name, str) and not places:
        places = [Path(name).parent]
    return any(place in folders for place in places)


def load(source: SourcePath) -> ModuleType:
    """Import a file under its own name, with what it prints on standard error. Call it within `importing(root)`.

    Raises ImportFailedError, or the TeenyError that the file's own code raises.
    """
    known = sys.modules.get(source.name)
    if known is not None and getattr(known, "__file__", None) == str(source.path):
        return known
    try:
        with redirect_stdout(sys.stderr), _arguments(source.path):
            return _executed(source, known)
    except TeenyError:
        raise
    except (Exception, SystemExit) as error:
        raise ImportFailedError((import_fault(error, source.path),)) from error


def _executed(source: SourcePath, known: ModuleType | None) -> ModuleType:
    package = source.name.rpartition(".")[0]
    if package:
        importlib.import_module(package)
    spec = importlib.util.spec_from_file_location(source.name, source.path)
    if spec is None or spec.loader is None:
        raise ImportError(f"Python cannot import {source.path.name}")
    module = importlib.util.module_from_spec(spec)
    sys.modules[source.name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        sys.modules.pop(source.name, None)
        raise
    finally:
        if known is not None:  # a module of the library that the file is named like
            sys.modules[source.name] = known
    return module


@contextmanager
def _arguments(path: Path) -> Generator[None]:
    """The file sees no arguments of ours."""
    ours = sys.argv
    sys.argv = [str(path)]
    try:
        yield
    finally:
        sys.argv = ours


def import_fault(error: BaseException, path: Path) -> Diagnostic:
    """An exception at import as a finding, at the line of the file where it began."""
    if isinstance(error, SyntaxError) and error.filename and error.lineno:
        return report("E017", f"{Path(error.filename).name} is no valid Python: {error.msg}", at(_syntax_place(error)))
    message = f"{path.name} cannot be imported: {_sentence(error)}"
    own, deepest = _frames(error.__traceback__, path)
    notes = (f"raised at {deepest}",) if deepest is not None else ()
    return report("E017", message, at(Location(own or Span(_source(path), 1, 0, 1, 0))), notes=notes)


def _sentence(error: BaseException) -> str:
    if isinstance(error, SystemExit):
        return "it ends the program"
    text = str(error).strip().split("\n")[0]
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def _syntax_place(error: SyntaxError) -> Location:
    source = _source(Path(error.filename or ""))
    line = error.lineno or 1
    text = source.line(line)
    first = max((error.offset or 1) - 1, 0)
    last = error.end_offset - 1 if error.end_lineno == line and error.end_offset else first + 1
    start, end = byte_length(text[:first]), byte_length(text[: max(last, first + 1)])
    return Location(Span(source, line, start, line, end))


def _frames(traceback: TracebackType | None, path: Path) -> tuple[Span | None, str | None]:
    """The last place in the file itself, and the deepest place where that is another one."""
    own: Span | None = None
    deepest: str | None = None
    while traceback is not None:
        code = traceback.tb_frame.f_code
        if code.co_filename == str(path):
            positions = list(code.co_positions())
            line, end_line, column, end_column = positions[traceback.tb_lasti // 2]
            number = line or traceback.tb_lineno
            own = Span(_source(path), number, column or 0, end_line or number, end_column or 0)
            deepest = None
        elif not code.co_filename.startswith("<frozen"):
            deepest = f"{SourceFile(code.co_filename, '').display_name}:{traceback.tb_lineno}"
        traceback = traceback.tb_next
    return own, deepest


def _source(path: Path) -> SourceFile:
    try:
        return SourceFile(str(path), path.read_bytes().decode("utf-8", "replace"))
    except OSError:
        return SourceFile(str(path), "")
