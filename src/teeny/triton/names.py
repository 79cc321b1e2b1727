"""Names that kernels read and that nothing defines: found in the syntax, in every branch, whatever the types."""

from __future__ import annotations

import ast
import builtins
import importlib.util
from collections.abc import Collection, Iterator, Mapping
from difflib import get_close_matches
from types import ModuleType
from typing import Any

from teeny.diag.diagnostic import Diagnostic, Edit, Fix, at, report
from teeny.diag.span import Location, SourceFile, Span
from teeny.triton.nested import is_jit

__all__ = ["bound_in", "unknown_names"]

_GIVEN = frozenset((*dir(builtins), "__name__", "__file__", "__doc__", "__package__", "__spec__", "__loader__"))
_WRITERS = frozenset(("globals", "vars", "exec", "setattr"))
"""A file that calls one of these may define names in ways that its syntax does not show."""
_NEAR = 0.6


def unknown_names(
    tree: ast.Module, source: SourceFile, namespace: Mapping[str, Any], defined: Collection[str], open_ended: bool
) -> list[Diagnostic]:
    """A finding (E002) for each name in a kernel that is defined nowhere, and each that a module of Triton lacks.

    `namespace` has the values of the module's names as far as they were made, `defined` all names that it may define.
    `open_ended`: whether it may define more than that, so that plain names say nothing.
    """
    found: list[Diagnostic] = []
    closed = not open_ended and not any(
        isinstance(n, ast.Call) and isinstance(n.func, ast.Name) and n.func.id in _WRITERS for n in ast.walk(tree)
    )
    for function, around, guarded in _kernels(tree):
        scope = _Scope(function.name, source, namespace, bound_in(function) | around)
        known = {*scope.local, *namespace, *defined, *_GIVEN}
        for node in _body(function):
            if closed and isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id not in known:
                known.add(node.id)  # each is told once
                found.append(scope.fault(f"`{node.id}` is not defined", node, node.id, [*scope.local, *namespace]))
        if not guarded:
            found.extend(_members(function, scope))
    return found


def bound_in(function: ast.AST) -> frozenset[str]:
    """All names that a function gives a value to, its parameters among them."""
    names: set[str] = set()
    for node in ast.walk(function):
        match node:
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()) | ast.arg(arg=name):
                names.add(name)
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name) if node is not function:
                names.add(name)
            case ast.Import(names=aliases) | ast.ImportFrom(names=aliases):
                names.update((a.asname or a.name).partition(".")[0] for a in aliases)
            case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                names.add(name)
            case ast.Global(names=declared) | ast.Nonlocal(names=declared):
                names.update(declared)
            case _:
                pass
    return frozenset(names)


def _kernels(tree: ast.Module) -> Iterator[tuple[ast.FunctionDef, frozenset[str], bool]]:
    """The functions under @triton.jit, each once, with the names of the functions and classes that hold them.

    The last: whether a branch of the file holds it, which may ask first what there is.
    """
    seen: set[int] = set()
    stack: list[tuple[ast.AST, frozenset[str], bool]] = [(tree, frozenset(), False)]
    while stack:
        one, names, guarded = stack.pop()
        for child in ast.iter_child_nodes(one):
            if isinstance(child, ast.FunctionDef) and any(map(is_jit, child.decorator_list)):
                if id(child) not in seen and not _hoisted(child, one, tree):
                    seen.add(id(child))
                    yield child, names, guarded
            elif isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                stack.append((child, names | bound_in(child), guarded))
            elif isinstance(child, ast.stmt | ast.ExceptHandler | ast.match_case):
                stack.append((child, names, guarded or isinstance(child, ast.If | ast.Try | ast.Match)))


def _hoisted(function: ast.FunctionDef, holder: ast.AST, tree: ast.AST) -> bool:
    """Whether a kernel stands in the body of the module and, within a class or function, in another place too."""
    return holder is tree and function.col_offset > 0


def _body(function: ast.FunctionDef) -> Iterator[ast.AST]:
    for statement in function.body:
        yield from (n for n in ast.walk(statement) if not isinstance(n, ast.arg))


class _Scope:
    """Where names of one kernel are looked up."""

    def __init__(self, kernel: str, source: SourceFile, namespace: Mapping[str, Any], local: frozenset[str]) -> None:
        self.kernel = kernel
        self.source = source
        self.namespace = namespace
        self.local = local

    def value(self, node: ast.expr) -> Any:
        """The module of Triton that an expression names; None for anything else."""
        if isinstance(node, ast.Name):
            found = None if node.id in self.local else self.namespace.get(node.id)
        elif isinstance(node, ast.Attribute):
            found = getattr(self.value(node.value), node.attr, None)
        else:
            found = None
        return found if isinstance(found, ModuleType) and _is_triton(found) else None

    def fault(self, message: str, node: ast.expr, name: str, others: Collection[str]) -> Diagnostic:
        """At the end of the node, where the name stands."""
        line, end = node.end_lineno or node.lineno, node.end_col_offset or node.col_offset
        span = Span(self.source, line, end - len(name.encode()), line, end)
        close = get_close_matches(name, [n for n in others if not n.startswith("_")], 1, _NEAR)
        label = at(Location(span))
        if not close:
            return report("E002", message, label, kernel=self.kernel)
        help = f"did you mean `{close[0]}`?"
        fix = Fix(help, (Edit(span, close[0]),))
        return report("E002", message, label, help=(help,), fixes=(fix,), kernel=self.kernel)


def _is_triton(module: ModuleType) -> bool:
    return module.__name__.partition(".")[0] == "triton" and getattr(module, "__file__", None) is not None


def _members(function: ast.FunctionDef, scope: _Scope) -> Iterator[Diagnostic]:
    """Names that a module of Triton lacks, except where the kernel asks first what there is."""
    stack: list[ast.AST] = list(function.body)
    while stack:
        node = stack.pop()
        if isinstance(node, ast.If | ast.IfExp) and _asks(node.test, scope):
            continue
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
            module = scope.value(node.value)
            if module is not None and not hasattr(module, node.attr) and not _submodule(module, node.attr):
                name = ast.unparse(node)
                yield scope.fault(
                    f"`{name}` does not exist in the Triton that is installed", node, node.attr, dir(module)
                )
        stack += ast.iter_child_nodes(node)


def _asks(test: ast.expr, scope: _Scope) -> bool:
    """Whether a condition looks at more than the kernel's own names: at its module, or whether something is there."""
    names = {n.id for n in ast.walk(test) if isinstance(n, ast.Name)}
    return any(
        n == "hasattr"
        or (
            n not in scope.local
            and n not in _GIVEN
            and scope.namespace.get(n) is not None
            and not isinstance(scope.namespace.get(n), ModuleType)
        )
        for n in names
    )


def _submodule(module: ModuleType, name: str) -> bool:
    try:
        return importlib.util.find_spec(f"{module.__name__}.{name}") is not None
    except (ImportError, ValueError):
        return False
