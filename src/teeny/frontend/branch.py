"""`if`: a compile-time condition chooses, or puts both sides under guards; a run-time one becomes `scf.if`.

A branch that ends in `return` takes the statements after the `if` into the other branch, so that returns become structure.
"""

from __future__ import annotations

import ast
from typing import Any

from teeny.frontend.consts import as_condition
from teeny.frontend.context import Context, Maybe, Returned, evaluate, execute
from teeny.frontend.regions import Env, Region, assigned, outputs, runtime, same, shown, visible, where_set
from teeny.frontend.values import UNKNOWN, Condition, Unset, is_faulty, show
from teeny.ir.core import Block
from teeny.ir.core import Region as IrRegion
from teeny.ir.dtype import BOOL
from teeny.ir.guard import TRUE
from teeny.ops.control import if_ as scf_if
from teeny.ops.control import yield_
from teeny.ops.function import Operand


def run_body(c: Context, body: list[ast.stmt]) -> None:
    """Lower statements in order; a run-time `if` that may return takes the rest of them inside."""
    for at, node in enumerate(body):
        if c.table.is_false(c.active):
            return
        if isinstance(node, ast.If) and at + 1 < len(body) and (_returns(node.body) or _returns(node.orelse)):
            rest = body[at + 1 :]
            execute(c, ast.copy_location(_Tail(node, rest), node))
            return
        execute(c, node)


class _Tail(ast.If):
    """An `if` of which a branch returns, with the statements after it."""

    def __init__(self, node: ast.If, rest: list[ast.stmt]) -> None:
        super().__init__(test=node.test, body=node.body, orelse=node.orelse)
        self.rest = rest


TAIL = _Tail


def _returns(body: list[ast.stmt]) -> bool:
    """Whether a return ends some path through these statements, outside of loops."""
    for node in body:
        if isinstance(node, ast.Return):
            return True
        if isinstance(node, ast.If) and (_returns(node.body) or _returns(node.orelse)):
            return True
    return False


def _always_returns(body: list[ast.stmt]) -> bool:
    for node in body:
        if isinstance(node, ast.Return):
            return True
        if isinstance(node, ast.If) and _always_returns(node.body) and _always_returns(node.orelse):
            return True
    return False


def if_(c: Context, node: ast.If) -> None:
    test = evaluate(c, node.test)
    rest = node.rest if isinstance(node, _Tail) else []
    if is_faulty(test):
        run_body(c, [*node.body, *node.orelse, *rest])
        return
    if isinstance(test, Operand):
        _runtime(c, node, test, rest)
        return
    _const(c, node, as_condition(c, node.test, test))
    run_body(c, rest)


def _const(c: Context, node: ast.If, test: Any) -> None:
    if isinstance(test, Unset):
        run_body(c, node.body)
        run_body(c, node.orelse)
        return
    truth = c.truth(test)
    if truth is not None:
        run_body(c, node.body if truth else node.orelse)
        return
    assert isinstance(test, Condition)
    guard, facts = c.guard, c.facts
    for case, body, holds in ((test.guard, node.body, True), (TRUE ^ test.guard, node.orelse, False)):
        c.enter(guard & case)
        c.learn(test.guard, holds)
        c.learn(TRUE ^ test.guard, not holds)
        run_body(c, body)
        c.facts = facts
    c.enter(guard)


def _runtime(c: Context, node: ast.If, test: Operand, rest: list[ast.stmt]) -> None:
    if test.shape or test.dtype is not BOOL:
        what = "a block" if test.shape else show(test)
        c.fault(
            "T007", f"the condition of `if` must be a scalar bool; `{c.text(node.test)}` is {what}", node.test,
            help="choose lane by lane with tl.where, or reduce the condition" if test.shape else "compare it, for example with `!= 0`",
        )  # fmt: skip
        return
    first, second = list(node.body), list(node.orelse)
    if rest:
        if not _always_returns(first):
            first = [*first, *rest]
        if not _always_returns(second):
            second = [*second, *rest]
    returning = bool(rest) or _always_returns(first) or _always_returns(second)
    place = c.location(node.test)
    branches: list[tuple[Block, Env, list[Returned]]] = []
    for body in (first, second):
        branches.append(_branch(c, body, returning))
    c.b.loc = place
    (yes, yes_env, yes_returns), (no, no_env, no_returns) = branches
    names = [] if returning and rest else assigned([*first, *second])
    merged = _merge(c, node, names, yes, yes_env, no, no_env)
    returned = _merge_returns(c, node, yes, yes_returns, no, no_returns) if returning else []
    values = [m[1] for m in merged] + returned
    for block, side in ((yes, 0), (no, 1)):
        saved, c.b.block = c.b.block, block
        c.b.op(yield_, outputs([v[side] for v in values]))
        c.b.block = saved
    types = tuple(v[0].value.type for v in values)
    made = c.b.op(scf_if, (test.value,), {}, (IrRegion([yes]), IrRegion([no])), types)
    for at, (name, pair) in enumerate(merged):
        c.bind(name, _named(Operand(made.results[at], pair[0].dtype), name), place)
    if returning:
        _return(c, node, [Operand(r, v[0].dtype) for r, v in zip(made.results[len(merged) :], returned, strict=True)], yes_returns, no_returns)


def _named(value: Operand, name: str) -> Operand:
    value.value.name = name
    return value


def _branch(c: Context, body: list[ast.stmt], returning: bool) -> tuple[Block, Env, list[Returned]]:
    """Lower one side. Returns inside end the side, not the function: they are taken out and joined after."""
    frame = c.frame
    kept, dead, depth = frame.returns, frame.dead, c.region
    frame.returns = []
    with Region(c, Block()) as region:
        if returning and depth == 0:
            c.region = 0
        run_body(c, body)
        c.region = depth + 1
    found, frame.returns, frame.dead = frame.returns, kept, dead
    c.stamp()
    return region.block, region.env, found


def _merge(c: Context, node: ast.If, names: list[str], yes: Block, yes_env: Env, no: Block, no_env: Env) -> list[tuple[str, tuple[Operand, Operand]]]:
    """The names that leave the branches with a value from each side; the others become Maybe, or stay as they are."""
    merged: list[tuple[str, tuple[Operand, Operand]]] = []
    for name in names:
        sides = [_side(c, block, env, name) for block, env in ((yes, yes_env), (no, no_env))]
        a, b = sides
        if a is None and b is None:
            continue
        if a is None or b is None:
            env = no_env if a is None else yes_env
            where = env[name][-1].where
            c.bind(name, Maybe("only where the condition is " + ("false" if a is None else "true"), where), where)
            continue
        x, y = a, b
        if x is y or (not isinstance(x, Operand) and not isinstance(y, Operand) and type(x) is type(y) and x == y):
            c.bind(name, x, yes_env[name][-1].where)
            continue
        pair = _pair(c, node, name, x, y, yes, yes_env, no, no_env)
        if pair is None:
            c.bind(name, UNKNOWN, c.location(node))
        else:
            merged.append((name, pair))
    return merged


def _side(c: Context, block: Block, env: Env, name: str) -> Any:
    saved_env, saved_block = c.frame.env, c.b.block
    c.frame.env, c.b.block = env, block
    try:
        found = visible(c, name)
    finally:
        c.frame.env, c.b.block = saved_env, saved_block
    return None if found is None else found[1]


def _pair(c: Context, node: ast.If, name: str, x: Any, y: Any, yes: Block, yes_env: Env, no: Block, no_env: Env) -> tuple[Operand, Operand] | None:
    if is_faulty(x) or is_faulty(y):
        return None
    made: list[Any] = []
    for value, block in ((x, yes), (y, no)):
        saved, c.b.block = c.b.block, block
        made.append(runtime(c, node.test, value))
        c.b.block = saved
    a, b = made
    if not isinstance(a, Operand) or not isinstance(b, Operand):
        return None
    if same(a, b):
        return a, b
    c.fault(
        "T009", f"`{name}` is {shown(a, b)} after one branch and {shown(b, a)} after the other", node,
        *where_set(c, name, yes_env, shown(a, b)), *where_set(c, name, no_env, shown(b, a)), help="give it one type on both paths",
    )  # fmt: skip
    return None


def _merge_returns(c: Context, node: ast.If, yes: Block, a: list[Returned], no: Block, b: list[Returned]) -> list[tuple[Operand, Operand]]:
    """The returned values of both sides, pairwise; empty where nothing is returned."""
    if not a or not b or (a[-1].value is None and b[-1].value is None):
        return []
    sides = [_flat(r[-1].value) for r in (a, b)]
    if len(sides[0]) != len(sides[1]):
        c.fault("T013", "the returns differ in the number of values", node)
        return []
    pairs: list[tuple[Operand, Operand]] = []
    for x, y in zip(*sides, strict=True):
        pair = _pair(c, node, "the returned value", x, y, yes, {}, no, {})
        if pair is not None:
            pairs.append(pair)
    return pairs


def _flat(value: Any) -> tuple[Any, ...]:
    return value if isinstance(value, tuple) else (value,)


def _return(c: Context, node: ast.If, values: list[Operand], a: list[Returned], b: list[Returned]) -> None:
    """Both sides have returned, or run to the end of the function: so does the whole."""
    if (not a) != (not b) and any(r.value is not None for r in (*a, *b)):
        c.fault("E010", "a helper returns a value on some paths only", node)
    some = a or b
    if not some and not (a or b):
        return
    value: Any = None
    if values:
        value = tuple(values) if isinstance(some[-1].value, tuple) else values[0]
    active = c.active
    c.frame.returns.append(Returned(active, value, c.location(node)))
    c.frame.dead |= active
    c.stamp()
