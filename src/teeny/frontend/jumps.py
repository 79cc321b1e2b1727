"""`break` and `continue` as structure: what follows an `if` that may jump moves into its branches.

A jump becomes the statements that it stands for: what the loop does before its next iteration, or that there is none.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from teeny.frontend.context import Context

MAX_NODES = 4000
"""Statements of a rewritten body at most: those after an `if` of which a part may jump are written twice."""


class Effect(ast.stmt):
    """A statement that the loop adds: it gives `names` values."""

    def __init__(self, run: Callable[[], None], names: tuple[str, ...], like: ast.stmt) -> None:
        super().__init__()
        self.run = run
        self.names = names
        ast.copy_location(self, like)


def effect(c: Context, node: Effect) -> None:
    node.run()


class TooLongError(Exception):
    """The body would be written too often; `node` is where."""

    def __init__(self, node: ast.stmt) -> None:
        super().__init__("a loop body with too many jumps")
        self.node = node


def jumps(body: Sequence[ast.stmt], kinds: tuple[type[ast.stmt], ...]) -> list[ast.stmt]:
    """The jumps of these kinds that belong to the loop whose body this is."""
    found: list[ast.stmt] = []
    for node in body:
        if isinstance(node, kinds):
            found.append(node)
        elif isinstance(node, ast.If):
            found += jumps([*node.body, *node.orelse], kinds)
        elif isinstance(node, ast.For | ast.While):
            found += jumps(node.orelse, kinds)
    return found


def broken(node: ast.For | ast.While) -> str:
    """The name of the flag that a loop with `break` leaves behind: whether one ended it. No name of Python's."""
    return f"broken {node.lineno}:{node.col_offset}"


def spread(body: Sequence[ast.stmt]) -> Sequence[ast.stmt]:
    """The body with what stands in the `else` of a loop after that loop, under an `if` where it may be broken off."""
    if not any(isinstance(node, ast.For | ast.While) and node.orelse for node in body):
        return body
    made: list[ast.stmt] = []
    for node in body:
        if not isinstance(node, ast.For | ast.While) or not node.orelse:
            made.append(node)
            continue
        parts: dict[str, Any] = {**{name: getattr(node, name) for name in node._fields}, "orelse": []}
        made.append(ast.copy_location(type(node)(**parts), node))
        if not jumps(node.body, (ast.Break,)):
            made += spread(node.orelse)
            continue
        flag = ast.copy_location(ast.Name(broken(node), ast.Load()), node.orelse[0])
        whole = ast.copy_location(ast.UnaryOp(ast.Not(), flag), flag)
        made.append(ast.copy_location(ast.If(whole, list(node.orelse), []), node.orelse[0]))
    return made


def straight(
    c: Context, body: Sequence[ast.stmt], following: Sequence[ast.stmt] = (), stopping: Sequence[ast.stmt] = ()
) -> list[ast.stmt]:
    """The body of a loop without jumps: each path ends in `following`, or in `stopping` after a `break`."""
    try:
        return _Rewriter(list(following), list(stopping)).run(list(body))
    except TooLongError as error:
        help = "join conditions with `and` and `or`, so that fewer statements jump"
        c.fault("E016", "too many branches of this loop jump", error.node, help=help)
        return []


class _Rewriter:
    def __init__(self, following: list[ast.stmt], stopping: list[ast.stmt]) -> None:
        self.following = following
        self.stopping = stopping
        self.count = 0

    def run(self, body: list[ast.stmt]) -> list[ast.stmt]:
        made: list[ast.stmt] = []
        body = list(spread(body))
        for at, node in enumerate(body):
            self.count += 1
            if self.count > MAX_NODES:
                raise TooLongError(node)
            if isinstance(node, ast.Break):
                return [*made, *self.stopping]
            if isinstance(node, ast.Continue):
                return [*made, *self.following]
            if isinstance(node, ast.If) and jumps([node], (ast.Break, ast.Continue)):
                rest = body[at + 1 :]
                sides: Any = [self.run([*node.body, *rest]), self.run([*node.orelse, *rest])]
                return [*made, ast.copy_location(ast.If(node.test, *sides), node)]
            made.append(node)
        return [*made, *self.following]
