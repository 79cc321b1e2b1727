"""Single edits of a kernel's source: a cast dropped, names swapped, an argument gone, a literal or operator changed."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator
from typing import NamedTuple

Path = tuple[tuple[str, int | None], ...]
"""Fields and places in lists, from the function to a node."""

_OPERATORS: list[type[ast.operator]] = [
    ast.Add,
    ast.Sub,
    ast.Mult,
    ast.Div,
    ast.FloorDiv,
    ast.Mod,
    ast.BitAnd,
    ast.LShift,
    ast.Pow,
]
_COMPARISONS: list[type[ast.cmpop]] = [ast.Lt, ast.GtE, ast.Eq, ast.NotEq, ast.Is, ast.In]
_FUNCTIONS = [
    "exp",
    "max",
    "sum",
    "load",
    "store",
    "arange",
    "zeros",
    "where",
    "trans",
    "cdiv",
    "extent",
    "exq",
    "static_range",
    "lowest",
]


class Mutation(NamedTuple):
    """An edit: what is changed, the place in the tree, and what stands there then."""

    title: str
    path: Path
    changed: ast.AST | None


def mutations(tree: ast.FunctionDef) -> list[Mutation]:
    """Every single edit of a function; some leave it as it is."""
    names = sorted(
        {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        | {a.arg for a in tree.args.args}
    )
    return [
        Mutation(f"{getattr(node, 'lineno', 0)}: {title}", path, changed)
        for path, node in _nodes(tree, ())
        for title, changed in _edits(node, names)
    ]


def mutant(tree: ast.FunctionDef, edit: Mutation) -> ast.FunctionDef:
    """A changed copy of the function."""
    made = copy.deepcopy(tree)
    _put(made, edit.path, edit.changed)
    return ast.fix_missing_locations(made)


def _nodes(node: ast.AST, path: Path) -> Iterator[tuple[Path, ast.AST]]:
    for field, value in ast.iter_fields(node):
        if isinstance(value, ast.AST):
            yield (*path, (field, None)), value
            yield from _nodes(value, (*path, (field, None)))
        elif isinstance(value, list):
            for at, one in enumerate(value):
                if isinstance(one, ast.AST):
                    yield (*path, (field, at)), one
                    yield from _nodes(one, (*path, (field, at)))


def _put(tree: ast.AST, path: Path, new: ast.AST | None) -> None:
    node: ast.AST = tree
    for field, at in path[:-1]:
        found = getattr(node, field)
        node = found if at is None else found[at]
    field, at = path[-1]
    if at is None:
        setattr(node, field, new)
    elif new is None:
        items = getattr(node, field)
        del items[at]
        if not items and field == "body":
            items.append(ast.Pass())
    else:
        getattr(node, field)[at] = new


def _edits(node: ast.AST, names: list[str]) -> Iterator[tuple[str, ast.AST | None]]:
    if isinstance(node, ast.stmt) and not isinstance(node, ast.FunctionDef):
        yield "statement deleted", None
        if isinstance(node, ast.If | ast.While):
            yield "condition negated", _with(node, test=ast.UnaryOp(ast.Not(), node.test))
        if isinstance(node, ast.If):
            yield "branches swapped", _with(node, body=node.orelse or [ast.Pass()], orelse=node.body)
            yield "else dropped", _with(node, orelse=[])
        if isinstance(node, ast.Assign):
            yield (
                "made augmented",
                ast.AugAssign(node.targets[0], ast.Add(), node.value)
                if isinstance(node.targets[0], ast.Name)
                else node,
            )
            yield (
                "put under a condition",
                ast.If(
                    ast.Compare(ast.Call(_tl("program_id"), [ast.Constant(0)], []), [ast.Gt()], [ast.Constant(3)]),
                    [node],
                    [],
                ),
            )
    elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
        for name in names[:: max(1, len(names) // 4)]:
            yield f"{node.id} becomes {name}", ast.Name(name, ast.Load())
        yield "misspelt", ast.Name(node.id + "x", ast.Load())
        yield "loaded", ast.Call(_tl("load"), [node], [])
    elif isinstance(node, ast.Name):
        yield "another name is assigned", ast.Name(names[0], ast.Store())
    elif isinstance(node, ast.Constant):
        yield from _literals(node)
    elif isinstance(node, ast.BinOp):
        yield "operands swapped", _with(node, left=node.right, right=node.left)
        yield "left alone", node.left
        yield "right alone", node.right
        for operator in _OPERATORS:
            yield f"operator {operator.__name__}", _with(node, op=operator())
    elif isinstance(node, ast.Compare):
        for comparison in _COMPARISONS:
            yield f"comparison {comparison.__name__}", _with(node, ops=[comparison(), *node.ops[1:]])
    elif isinstance(node, ast.UnaryOp):
        yield "sign dropped", node.operand
    elif isinstance(node, ast.Subscript):
        yield "index dropped", node.value
        yield (
            "index reversed",
            _with(node, slice=ast.Tuple(node.slice.elts[::-1], ast.Load()))
            if isinstance(node.slice, ast.Tuple)
            else node,
        )
        yield "indexed twice", ast.Subscript(node, node.slice, ast.Load())
    elif isinstance(node, ast.Tuple):
        yield "element dropped", _with(node, elts=node.elts[1:])
        yield "element doubled", _with(node, elts=[*node.elts, *node.elts[:1]])
    elif isinstance(node, ast.Attribute):
        if isinstance(node.value, ast.Name) and node.value.id == "tl":
            for name in _FUNCTIONS:
                yield f"{node.attr} becomes {name}", _with(node, attr=name)
        else:
            yield "attribute dropped", node.value
            yield "attribute dtype", _with(node, attr="dtype")
    elif isinstance(node, ast.Call):
        yield from _calls(node)
    elif isinstance(node, ast.IfExp):
        yield "condition negated", _with(node, test=ast.UnaryOp(ast.Not(), node.test))
        yield "one side", node.body
    elif isinstance(node, ast.BoolOp):
        yield "one side", node.values[0]
        yield "other word", _with(node, op=ast.Or() if isinstance(node.op, ast.And) else ast.And())


def _literals(node: ast.Constant) -> Iterator[tuple[str, ast.AST]]:
    value = node.value
    if isinstance(value, str):
        return
    for other in (0, 1, 3, -1, 300, 1 << 40, 0.5, None, True, "text"):
        yield f"{value!r} becomes {other!r}", ast.Constant(other)


def _calls(node: ast.Call) -> Iterator[tuple[str, ast.AST]]:
    for at in range(len(node.args)):
        yield f"argument {at} dropped", _with(node, args=[*node.args[:at], *node.args[at + 1 :]])
    for at, keyword in enumerate(node.keywords):
        yield f"{keyword.arg} dropped", _with(node, keywords=[*node.keywords[:at], *node.keywords[at + 1 :]])
    yield "argument doubled", _with(node, args=[*node.args, *node.args[:1]])
    if len(node.args) > 1:
        yield "arguments swapped", _with(node, args=[node.args[1], node.args[0], *node.args[2:]])
    if isinstance(node.func, ast.Attribute) and not (
        isinstance(node.func.value, ast.Name) and node.func.value.id == "tl"
    ):
        yield "call dropped", node.func.value
    if node.args:
        yield "argument alone", node.args[0]


def _with(node: ast.AST, **fields: object) -> ast.AST:
    made = copy.copy(node)
    for name, value in fields.items():
        setattr(made, name, value)
    return made


def _tl(name: str) -> ast.expr:
    return ast.Attribute(ast.Name("tl", ast.Load()), name, ast.Load())
