"""Lowering one expression or statement: by the rule of its kind, once for each case where a name has no one value."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from teeny.frontend.context import Context, SplitError
from teeny.frontend.recover import assigned, foreign
from teeny.frontend.values import UNKNOWN


def evaluate(c: Context, node: ast.AST) -> Any:
    """The value of an expression."""
    rule = c.expressions.get(type(node))
    if rule is not None:
        return rule(c, node)
    found = foreign(node)
    if isinstance(node, ast.NamedExpr):
        c.bind(node.target.id, UNKNOWN, c.location(node))
    return c.fault(found.code, f"{found.what} is outside the language", node, help=found.instead)


MAX_SPLITS = 16
"""Cases of a name, and of a statement with what is in it, at most; past that, what they differ in is not checked."""


def execute(c: Context, node: ast.stmt) -> None:
    """Lower one statement, once for each alternative of the names in it where these cannot be joined."""
    rule = c.statements.get(type(node))
    if rule is None:
        _skip(c, node)
        return
    c.stamp()
    if not c.generic:
        rule(c, node)
        return
    frame, block, guard, facts, region = c.frame, c.b.block, c.guard, c.facts, c.region
    env, dead, loops, returns, undefined = dict(frame.env), frame.dead, frame.loops, frame.returns, frame.undefined
    marks = len(block.ops), len(c.faults), len(returns), len(c.obligations)
    try:
        rule(c, node)
    except SplitError as split:

        def back() -> None:
            c.frame, c.b.block, c.facts, c.region = frame, block, facts, region
            frame.returns, frame.loops = returns, loops
            c.enter(guard)

        back()
        del block.ops[marks[0] :], c.faults[marks[1] :], returns[marks[2] :], c.obligations[marks[3] :]
        frame.env, frame.dead, frame.undefined = env, dead, undefined
        _apart(c, node, split.guards, back)


def _apart(c: Context, node: ast.stmt, guards: tuple[int, ...], back: Callable[[], None]) -> None:
    """Lower a statement under each guard, and under what they leave; past the cap once, and what differs is unknown."""
    apart, capped, guard = c.apart, c.capped, c.guard
    cases = [one & guard for one in (*guards, ~c.table.or_(*guards))]
    cases = [one for one in cases if not c.table.is_false(one & ~c.frame.dead)]
    if apart * len(cases) > MAX_SPLITS:
        c.capped = c.partial = True
        execute(c, node)
        c.capped = capped
        return
    c.apart = apart * len(cases)
    simple, reported = not hasattr(node, "body"), 0
    for case in cases:
        if not c.table.is_false(case & ~c.frame.dead):
            c.enter(case)
            c.learn()
            before = len(c.faults)
            execute(c, node)
            if simple and reported:
                del c.faults[before:]
            reported = reported or len(c.faults) - before
            back()
    c.apart = apart


def _skip(c: Context, node: ast.stmt) -> None:
    """Report a statement that is outside the language; the names that it sets are unknown from there on."""
    found = foreign(node)
    c.fault(found.code, f"{found.what} is outside the language", node, help=found.instead)
    for name in assigned([node]):
        c.bind(name, UNKNOWN, c.location(node))
