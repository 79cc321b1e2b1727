"""Stand-ins for modules that are missing while a file is read for its kernels alone."""

from __future__ import annotations

import ast
import importlib.abc
import importlib.machinery
import os
import sys
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from inspect import currentframe
from pathlib import Path
from types import ModuleType
from typing import Any

__all__ = ["stubbing"]

_NEVER = ("triton", "teeny")


class Stub:
    """Anything that a missing module might hold: can be called, subscripted, compared, subclassed, and says nothing."""

    def __init__(self, name: str) -> None:
        self.__name__ = name

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        """A function that is decorated stays what it is."""
        return args[0] if len(args) == 1 and not keywords and callable(args[0]) else Stub(f"{self.__name__}()")

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        return Stub(f"{self.__name__}.{name}")

    def __getitem__(self, key: object) -> Stub:
        return self

    def __iter__(self) -> Iterator[Any]:
        return iter(())

    def __bool__(self) -> bool:
        return False

    def __int__(self) -> int:
        return 0

    def __str__(self) -> str:
        return ""

    def __lt__(self, other: object) -> bool:
        return False

    __le__ = __gt__ = __ge__ = __lt__

    def __mro_entries__(self, bases: tuple[Any, ...]) -> tuple[type, ...]:
        """A class that is based on it is based on nothing."""
        return ()


class _StubModule(ModuleType):
    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        return Stub(f"{self.__name__}.{name}")


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Asked last, when nobody else has a module. Answers files of one folder alone."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.names: list[str] = []

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname.partition(".")[0] in _NEVER or not self._asked_here():
            return None
        parent = sys.modules.get(fullname.rpartition(".")[0])
        if parent is not None and not isinstance(parent, _StubModule):
            return None  # a package that is there lacks this module
        return importlib.machinery.ModuleSpec(fullname, self, is_package=True)

    def _asked_here(self) -> bool:
        """Whether the import stands in a file of the folder, and not where the file is ready for its failure."""
        frame = currentframe()
        while frame is not None and ("importlib" in frame.f_code.co_filename or frame.f_code.co_filename == __file__):
            frame = frame.f_back
        if frame is None:
            return False
        name = frame.f_code.co_filename
        return name.startswith(self.folder + os.sep) and not any(frame.f_lineno in lines for lines in _guarded(name))

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        self.names.append(spec.name)
        return _StubModule(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        """There is nothing in it."""


@lru_cache(maxsize=64)
def _guarded(path: str) -> list[range]:
    """The lines of a file's `try` statements."""
    try:
        with open(path, "rb") as file:
            tree = ast.parse(file.read())
    except (OSError, SyntaxError, ValueError):
        return []
    return [range(n.lineno, (n.end_lineno or n.lineno) + 1) for n in ast.walk(tree) if isinstance(n, ast.Try)]


@contextmanager
def stubbing(path: Path) -> Generator[list[str]]:
    """Within, modules that files beside `path` import and that cannot be found are empty; gives the names of those.

    Imports in a `try` fail as they would.

    Afterwards they are forgotten, so that nothing else sees them.
    """
    finder = _Finder(str(path.parent))
    sys.meta_path.append(finder)
    try:
        yield finder.names
    finally:
        sys.meta_path.remove(finder)
        for name in finder.names:
            sys.modules.pop(name, None)
