"""Constructs that are outside the language: what they are called, and what to write instead."""

from __future__ import annotations

import ast
from typing import NamedTuple

from teeny.frontend.jumps import Effect


class Foreign(NamedTuple):
    """A construct in words, what to write instead, and the code of the fault."""

    what: str
    instead: str
    code: str = "E001"


_TRY = Foreign("a try statement", "errors cannot be caught in a kernel; check conditions with an `if`")
_NESTED = Foreign("a nested function", "define the helper beside the kernel")
_FOREIGN: dict[str, Foreign] = {
    "Lambda": Foreign("a lambda", "write a typed function beside the kernel and call it"),
    "ListComp": Foreign("a list comprehension", "write a loop over tl.static_range"),
    "GeneratorExp": Foreign("a generator expression", "write a loop over tl.static_range"),
    "SetComp": Foreign("a set comprehension", "write a loop over tl.static_range"),
    "DictComp": Foreign("a dict comprehension", "pass single Const parameters"),
    "Dict": Foreign("a dict", "pass single Const parameters"),
    "Set": Foreign("a set", "use a tuple"),
    "Try": _TRY,
    "TryStar": _TRY,
    "With": Foreign("a with statement", "write the statements without it"),
    "AsyncWith": Foreign("a with statement", "write the statements without it"),
    "AsyncFor": Foreign("async for", "use for"),
    "Break": Foreign("this `break`", "let an `if` alone stand between it and its loop", "E016"),
    "Continue": Foreign("this `continue`", "let an `if` alone stand between it and its loop", "E016"),
    "FunctionDef": _NESTED,
    "AsyncFunctionDef": _NESTED,
    "ClassDef": Foreign("a class", "pass single parameters"),
    "Delete": Foreign("del", "leave it out"),
    "Global": Foreign("global", "a kernel cannot change globals; store through a pointer"),
    "Nonlocal": Foreign("nonlocal", "a kernel cannot change outer names; return the value"),
    "Raise": Foreign("raise", "use tl.static_assert for compile-time conditions and tl.require for arguments"),
    "Import": Foreign("an import", "import at the top of the module"),
    "ImportFrom": Foreign("an import", "import at the top of the module"),
    "Await": Foreign("await", "kernels are not asynchronous"),
    "Yield": Foreign("yield", "store results through a pointer"),
    "YieldFrom": Foreign("yield", "store results through a pointer"),
    "NamedExpr": Foreign("an assignment expression", "assign on a line of its own"),
    "TemplateStr": Foreign("a template string", "use a plain string"),
    "Starred": Foreign("a starred expression", "write the arguments out"),
    "Match": Foreign("a match statement", "use if and elif"),
    "TypeAlias": Foreign("a type alias", "define it beside the kernel"),
    "Slice": Foreign("a slice", "a block is indexed with `:` and None alone"),
}


def foreign(node: ast.AST) -> Foreign:
    """What a syntax node that has no rule is."""
    kind = type(node).__name__
    return _FOREIGN.get(kind, Foreign(f"`{kind}`", ""))


def assigned(body: list[ast.stmt]) -> dict[str, ast.AST]:
    """The names that statements give a value, in order of first appearance, and where last."""
    found: dict[str, ast.AST] = {}
    _collect(body, found)
    return found


def _collect(body: list[ast.stmt], found: dict[str, ast.AST]) -> None:
    for node in body:
        if isinstance(node, ast.Assign):
            for target in node.targets:
                targets(target, found)
        elif isinstance(node, ast.AugAssign | ast.AnnAssign):
            targets(node.target, found)
        elif isinstance(node, ast.If | ast.While):
            _collect(node.body, found)
            _collect(node.orelse, found)
        elif isinstance(node, ast.For):
            targets(node.target, found)
            _collect(node.body, found)
            _collect(node.orelse, found)
        elif isinstance(node, Effect):
            found.update(dict.fromkeys(node.names, node))
        elif not isinstance(node, ast.Expr | ast.Return | ast.Pass | ast.Assert | ast.Break | ast.Continue):
            _collect_foreign(node, found)


def _collect_foreign(node: ast.stmt, found: dict[str, ast.AST]) -> None:
    """The names that a statement outside the language sets."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        found[node.name] = node
    elif isinstance(node, ast.Import | ast.ImportFrom):
        found.update(((one.asname or one.name).partition(".")[0], one) for one in node.names)
    else:
        found.update(
            (one.id, one) for one in ast.walk(node) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)
        )


def targets(node: ast.expr, found: dict[str, ast.AST]) -> None:
    """The names in a target of an assignment."""
    if isinstance(node, ast.Name):
        found[node.id] = node
    elif isinstance(node, ast.Tuple | ast.List):
        for one in node.elts:
            targets(one, found)
    elif isinstance(node, ast.Starred):
        targets(node.value, found)
