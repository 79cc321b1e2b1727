"""Kernels that a file defines within classes and functions."""

from __future__ import annotations

import ast
from collections.abc import Iterator

__all__ = ["is_jit", "nested"]

Closures = dict[str, tuple[str, tuple[str, ...]]]


def is_jit(node: ast.expr) -> bool:
    """Whether a decorator is Triton's `jit`."""
    head = node.func if isinstance(node, ast.Call) else node
    return (isinstance(head, ast.Attribute) and head.attr == "jit") or (isinstance(head, ast.Name) and head.id == "jit")


def nested(tree: ast.Module) -> tuple[list[ast.FunctionDef], Closures]:
    """The kernels in classes and functions that can be made outside of them, and those that cannot.

    The latter need values of the function that makes them: its name, and the names of those. `staticmethod` is taken
    off the former.
    """
    found: list[ast.FunctionDef] = []
    closures: Closures = {}
    for holder in _holders(tree):
        for node in ast.walk(holder):
            if node is holder or not isinstance(node, ast.FunctionDef) or not any(map(is_jit, node.decorator_list)):
                continue
            needed = sorted(_loaded(node) & (_locals(holder, node) - _stored(node))) if _makes(holder) else []
            if needed:
                closures[node.name] = (holder.name, tuple(needed))
                continue
            node.decorator_list = [d for d in node.decorator_list if not _is_static(d)]
            found.append(node)
    return found, closures


Holder = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def _holders(node: ast.AST) -> Iterator[Holder]:
    """The outermost classes and functions."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, Holder):
            yield child
        elif isinstance(child, ast.stmt):
            yield from _holders(child)


def _makes(holder: Holder) -> bool:
    """Whether there is a function in whose scope a kernel may stand."""
    return not isinstance(holder, ast.ClassDef) or any(
        isinstance(n, ast.FunctionDef) and not any(map(is_jit, n.decorator_list)) for n in ast.walk(holder)
    )


def _locals(holder: Holder, kernel: ast.FunctionDef) -> set[str]:
    """The names that functions around a kernel define."""
    around = [n for n in ast.walk(holder) if isinstance(n, ast.FunctionDef) and n is not kernel]
    return {name for n in around if kernel in ast.walk(n) for name in _stored(n) - _stored(kernel)}


def _stored(function: ast.FunctionDef) -> set[str]:
    names = {n.id for n in ast.walk(function) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    names |= {n.arg for n in ast.walk(function) if isinstance(n, ast.arg)}
    return names | {n.name for n in ast.walk(function) if isinstance(n, ast.FunctionDef) and n is not function}


def _loaded(function: ast.FunctionDef) -> set[str]:
    return {n.id for n in ast.walk(function) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}


def _is_static(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id == "staticmethod"
