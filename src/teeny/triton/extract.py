"""The kernels of a Python file, made without running the file: what they need of it is run, and nothing else.

A kernel needs the names that its body and its decorators read, then what the statements that define those need, and so
on. Imports that no kernel needs are left out, so that a file's heavy or missing dependencies do not matter.
"""

from __future__ import annotations

import ast
import builtins
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

from teeny.triton.nested import is_jit, nested
from teeny.triton.source import is_kernel
from teeny.triton.stubs import stubbing

__all__ = ["Extracted", "extract", "mentions_kernels"]

_OURS = ("triton", "jit", "autotune", "heuristics", "tl")


@dataclass(slots=True)
class Extracted:
    """`kernels` by name in the order of the file; the syntax `tree`; imports left out and modules stubbed.

    `closures`: for a kernel that a function makes with values of its own, the function and the names of those.
    `namespace` has the values of the module's names as far as they were made; `defined` are all names it may define,
    and more where it is `open_ended`.
    """

    kernels: dict[str, Any]
    tree: ast.Module
    unneeded: list[str] = field(default_factory=list[str])
    stubbed: list[str] = field(default_factory=list[str])
    dropped: list[str] = field(default_factory=list[str])
    closures: dict[str, tuple[str, tuple[str, ...]]] = field(default_factory=dict[str, tuple[str, tuple[str, ...]]])
    namespace: dict[str, Any] = field(default_factory=dict[str, Any])

    @property
    def defined(self) -> set[str]:
        """The names that statements of the module define, run or not."""
        return {name for statement in self.tree.body for name in _bound(statement)}

    @property
    def open_ended(self) -> bool:
        """Whether it takes all names of a module of which nothing is known."""
        return any(
            (self.stubbed if s.level else s.module in self.stubbed or s.module not in sys.modules)
            and any(a.name == "*" for a in s.names)
            for s in ast.walk(self.tree)
            if isinstance(s, ast.ImportFrom)
        )


def mentions_kernels(text: bytes) -> bool:
    """Whether a file may hold kernels of Triton."""
    return b"triton" in text and b"jit" in text


def extract(path: Path, text: str, name: str) -> Extracted:
    """The kernels of a file whose module is called `name`.

    Raises SyntaxError for a file that is no Python, and what the statements that are needed raise.
    """
    tree = ast.parse(text, str(path))
    tree.body = [part for statement in tree.body for part in _parts(statement)]
    inner, closures = nested(tree)
    tree.body += inner
    dropped = list(_strip(tree))
    needed = _needed(tree)
    module = ModuleType(name)
    module.__file__ = str(path)
    module.__package__ = name.rpartition(".")[0]
    before = sys.modules.get(name)
    sys.modules[name] = module
    body = [s for s in tree.body if s in needed]
    try:
        with stubbing(path) as stubbed:
            exec(compile(ast.Module(body, []), str(path), "exec", dont_inherit=True), module.__dict__)
    finally:
        if before is None:
            sys.modules.pop(name, None)
        else:
            sys.modules[name] = before
    names = [n for s in body for n in _jitted(s)]
    found = {n: module.__dict__[n] for n in names if is_kernel(module.__dict__.get(n))}
    unneeded = [n for s in tree.body if s not in needed for n in _imports(s)]
    return Extracted(found, tree, unneeded, list(stubbed), dropped, closures, module.__dict__)


def _parts(node: ast.stmt) -> list[ast.stmt]:
    """An import of several modules as several imports."""
    if not isinstance(node, ast.Import):
        return [node]
    return [ast.copy_location(ast.Import([alias]), node) for alias in node.names]


def _functions(node: ast.stmt) -> Iterator[ast.FunctionDef]:
    """The functions that a top-level statement defines at the top level, in branches too."""
    if isinstance(node, ast.FunctionDef):
        yield node
    elif isinstance(node, ast.If | ast.Try | ast.With):
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.stmt):
                yield from _functions(child)


def _jitted(node: ast.stmt) -> Iterator[str]:
    for function in _functions(node):
        if any(map(is_jit, function.decorator_list)):
            yield function.name


def _strip(tree: ast.Module) -> Iterator[str]:
    """Take decorators that are none of Triton's off the kernels; how they are written."""
    ours = {*_OURS, *_names_of_triton(tree)}
    for statement in tree.body:
        for function in _functions(statement):
            if any(map(is_jit, function.decorator_list)):
                kept = [d for d in function.decorator_list if _root(d) in ours]
                yield from (ast.unparse(d) for d in function.decorator_list if d not in kept)
                function.decorator_list = kept


def _names_of_triton(tree: ast.Module) -> Iterator[str]:
    """What a file calls Triton's modules and functions."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (a.asname for a in node.names if a.asname and a.name.partition(".")[0] == "triton")
        elif isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "triton" and not node.level:
            yield from (a.asname or a.name for a in node.names)


def _root(node: ast.expr) -> str:
    while isinstance(node, ast.Call | ast.Attribute):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""


def _bound(node: ast.stmt) -> Iterator[str]:
    """The names that a statement defines in its module."""
    if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef):
        yield node.name
        return
    if isinstance(node, ast.Import | ast.ImportFrom):
        yield from ((a.asname or a.name).partition(".")[0] for a in node.names)
        return
    for child in ast.walk(node):
        if isinstance(child, ast.Name) and isinstance(child.ctx, ast.Store):
            yield child.id
        elif child is not node and isinstance(child, ast.FunctionDef | ast.ClassDef | ast.Import | ast.ImportFrom):
            yield from _bound(child)


def _read(node: ast.stmt) -> set[str]:
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}


def _imports(node: ast.stmt) -> Iterable[str]:
    if isinstance(node, ast.Import):
        return [a.name for a in node.names]
    return [node.module or "."] if isinstance(node, ast.ImportFrom) else []


def _needed(tree: ast.Module) -> set[ast.stmt]:
    """The statements that kernels need."""
    makers: dict[str, list[ast.stmt]] = {}
    stars: list[ast.stmt] = []
    for statement in tree.body:
        for name in _bound(statement):
            makers.setdefault(name, []).append(statement)
        if isinstance(statement, ast.ImportFrom) and any(a.name == "*" for a in statement.names):
            stars.append(statement)
    stack = [s for s in tree.body if next(_jitted(s), None) is not None]
    stack += [s for s in tree.body if isinstance(s, ast.Import) and s.names[0].name in ("triton", "triton.language")]
    found: set[ast.stmt] = {s for s in tree.body if isinstance(s, ast.ImportFrom) and s.module == "__future__"}
    known = set(dir(builtins))
    while stack:
        statement = stack.pop()
        if statement in found:
            continue
        found.add(statement)
        for name in _read(statement):
            stack += makers.get(name, ())
            if name not in makers and name not in known:
                stack += stars
    return found
