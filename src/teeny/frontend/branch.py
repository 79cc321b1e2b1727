"""`if`: a compile-time condition chooses, or puts both sides under guards; a run-time one becomes `scf.if`.

Where a branch may return, the statements after the `if` are lowered inside the branches, so that returns
become structure.
"""

from __future__ import annotations

import ast
from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from teeny.diag.span import Location
from teeny.frontend.consts import as_condition
from teeny.frontend.context import Context, Env, Maybe, Returned
from teeny.frontend.execute import evaluate, execute
from teeny.frontend.jumps import spread
from teeny.frontend.recover import assigned
from teeny.frontend.regions import (
    Region,
    changes_fixed,
    equal_consts,
    fixed,
    flat,
    name_values,
    outputs,
    rebuilt,
    runtime,
    same,
    shown,
    visible,
    where_set,
)
from teeny.frontend.values import UNKNOWN, Unset, is_faulty, is_tuple, show
from teeny.ir.core import Block
from teeny.ir.core import Region as IrRegion
from teeny.ir.dtype import BOOL
from teeny.ir.guard import TRUE
from teeny.ops.control import if_ as scf_if
from teeny.ops.control import phi_, yield_
from teeny.ops.function import Operand


def run_body(c: Context, body: Sequence[ast.stmt]) -> None:
    """Lower statements in order, up to one that is never reached; an `if` that may return takes the rest along."""
    body = spread(body)
    for at, node in enumerate(body):
        if c.unreachable:
            return
        if isinstance(node, ast.If) and not c.frame.loops and returns(node):
            execute(c, ast.copy_location(Tail(node, list(body[at + 1 :])), node))
            return
        execute(c, node)


class Tail(ast.If):
    """An `if` of which a branch may return, with the statements after it."""

    def __init__(self, node: ast.If, rest: list[ast.stmt]) -> None:
        super().__init__(test=node.test, body=node.body, orelse=node.orelse)
        self.rest = rest


def returns(node: ast.stmt) -> bool:
    """Whether a return ends some path through a statement, outside of loops."""
    if isinstance(node, ast.If):
        return any(map(returns, spread(node.body))) or any(map(returns, spread(node.orelse)))
    return isinstance(node, ast.Return)


def _always_returns(body: list[ast.stmt]) -> bool:
    return any(
        isinstance(node, ast.Return)
        or (isinstance(node, ast.If) and _always_returns(node.body) and _always_returns(node.orelse))
        for node in spread(body)
    )


def if_(c: Context, node: ast.If) -> None:
    test = evaluate(c, node.test)
    rest = node.rest if isinstance(node, Tail) else []
    if c.copies >= MAX_COPIES and rest and any(map(_copies, (node.body, node.orelse))):
        text, help = "too many branches of branches return", "join the conditions with `and`, so that one `if` returns"
        if all(one.message != text for one in c.faults):
            c.fault("E010", text, _header(c, node), help=help)
        rest = []
    if isinstance(test, Operand):
        if not test.shape and test.dtype is BOOL:
            _runtime(c, node, test, rest)
            return
        what = "a block" if test.shape else show(test)
        compared = (
            f"write `{c.text(node.test)} is not None`" if test.is_pointer else "compare it, for example with `!= 0`"
        )
        test = c.fault(
            "T007",
            f"the condition of `if` must be a scalar bool; `{c.text(node.test)}` is {what}",
            node.test,
            help="choose lane by lane with tl.where, or reduce the condition" if test.shape else compared,
        )
    if not is_faulty(test):
        test = as_condition(c, node.test, test)
        truth = c.truth(test)
        if truth is not None:
            run_body(c, [*(node.body if truth else node.orelse), *rest])
            return
    if is_faulty(test):
        doubtful, capped = c.doubtful, c.capped
        c.doubtful = c.capped = True
        _untracked(c, node)
        c.doubtful, c.capped = doubtful, capped
    elif isinstance(test, Unset):
        _untracked(c, node)
    else:
        _guarded(c, node, test.guard, rest)
    run_body(c, rest)


# ---- compile-time conditions -----------------------------------------------------------------------------------


def _guarded(c: Context, node: ast.If, condition: int, rest: list[ast.stmt]) -> None:
    """Both sides under guards. A side that may return at run time takes the rest along."""
    guard, facts, dead = c.guard, c.facts, c.frame.dead
    for case, body in ((condition, node.body), (TRUE ^ condition, node.orelse)):
        c.enter(guard & case)
        c.learn()
        if rest and _copies(body):
            with _copied(c):
                run_body(c, [*body, *rest])
            finish(c, c.location(node))
        else:
            run_body(c, body)
        c.facts = facts
    c.enter(guard)
    if c.frame.dead != dead:
        c.learn()


MAX_COPIES = 32
"""Branches into which one statement is lowered at most, since they may return."""


@contextmanager
def _copied(c: Context) -> Generator[None]:
    """Within, each statement is lowered twice as often."""
    c.copies *= 2
    try:
        yield
    finally:
        c.copies //= 2


def _copies(body: list[ast.stmt]) -> bool:
    """Whether a body may return or not, so that the statements after it are lowered inside as well."""
    return any(isinstance(one, ast.If) and returns(one) for one in spread(body)) and not _always_returns(body)


def finish(c: Context, where: Location) -> None:
    """The function ends here without a value, where it has not returned before."""
    if not c.unreachable:
        active = c.active
        c.frame.returns.append(Returned(active, None, where))
        c.frame.dead |= active
        c.stamp()


def _untracked(c: Context, node: ast.If) -> None:
    """A condition without a guard: both sides are read, and a name has the value of either."""
    frame, place = c.frame, c.location(node)
    before, dead = frame.env, frame.dead
    sides: list[Env] = []
    for body in (node.body, node.orelse):
        frame.env, frame.dead = dict(before), dead
        c.stamp()
        run_body(c, body)
        sides.append(frame.env)
    frame.env, frame.dead = dict(before), dead
    c.stamp()
    for name in assigned([*node.body, *node.orelse]):
        found = [one[1] for env in sides if (one := _in(c, env, name, c.b.block)) is not None]
        if not found:
            continue
        x, y = found[0], found[-1]
        value = x if equal_consts(x, y) else UNKNOWN
        if isinstance(x, Operand) and isinstance(y, Operand) and same(x, y) and x is not y:
            c.b.loc = place
            value = Operand(c.b.create(phi_, x.value, y.value, guards=(c.active, c.active)), x.dtype)
        c.bind(name, value, place)


def _in(c: Context, env: Env, name: str, block: Block) -> tuple[int, Any] | None:
    """What a name is at the end of a block, where `env` is what names mean."""
    with Region(c, block):
        c.frame.env = dict(env)
        return visible(c, name)


# ---- run-time conditions ---------------------------------------------------------------------------------------


class _Side(NamedTuple):
    block: Block
    env: Env
    returned: Any
    where: Location | None


def _runtime(c: Context, node: ast.If, test: Operand, rest: list[ast.stmt]) -> None:
    ends = not c.frame.loops and returns(node)
    place = c.location(node.test)
    bodies = [node.body, node.orelse]
    copied = bool(rest) and not any(map(_always_returns, bodies))
    if ends:
        bodies = [body if _always_returns(body) else [*body, *rest] for body in bodies]
    if copied:
        with _copied(c):
            yes, no = (_side(c, node, body, ends) for body in bodies)
    else:
        yes, no = (_side(c, node, body, ends) for body in bodies)
    merged = [] if ends else _merge(c, node, yes, no, assigned([*node.body, *node.orelse]))
    if ends:
        merged.append(("", _returned(c, node, yes, no)))
    for at, side in enumerate((yes, no)):
        with Region(c, side.block):
            c.b.loc = place
            c.b.op(yield_, outputs([m.sides[at] for _, m in merged]))
    c.b.loc = place
    values = [one for _, m in merged for one in flat(m.sides[0])]
    made = c.b.op(
        scf_if, (test.value,), {}, (IrRegion([yes.block]), IrRegion([no.block])), tuple(v.value.type for v in values)
    )
    results = list(made.results)
    for name, joined in merged:
        value = rebuilt(joined.sides[0], results)
        if ends:
            c.frame.returns.append(Returned(c.active, value, joined.where))
            c.frame.dead |= c.active
            c.stamp()
            continue
        name_values(flat(value), name)
        if joined.lost:
            c.lost.update((one.value, joined.where) for one in flat(value))
        c.bind(name, value, joined.where, joined.under)


def _side(c: Context, node: ast.If, body: list[ast.stmt], ends: bool) -> _Side:
    """Lower one side. Where it ends the function, the returns inside are taken out and joined to the side's value."""
    frame = c.frame
    kept, dead = frame.returns, frame.dead
    returned: Any = None
    where: Location | None = None
    with Region(c, Block()) as region:
        if ends:
            frame.returns = []
        run_body(c, body)
        if ends:
            finish(c, c.location(node))
            c.enter(c.guard)
            found, frame.returns, frame.dead = frame.returns, kept, dead
            c.stamp()
            returned, where = join_returns(c, found)
    return _Side(region.block, region.env, returned, where)


def join_returns(c: Context, found: list[Returned]) -> tuple[Any, Location | None]:
    """The one value of several returns under compile-time conditions, and a place where it is returned."""
    given = [one for one in found if one.value is not None]
    if not given:
        return None, None
    if len(given) != len(found):
        name = c.frame.fn.__name__
        return c.fault(
            "E010", f"`{name}` returns a value on some paths only", given[0].where, help="return one on every path"
        ), given[0].where
    return c.join(tuple((one.guard, one.value) for one in given)), given[0].where


def _returned(c: Context, node: ast.If, yes: _Side, no: _Side) -> _Joined:
    """The value that the function returns after both sides have ended it."""
    place = c.location(node)
    a, b = yes.returned, no.returned
    if (a is None) != (b is None) and not is_faulty(a) and not is_faulty(b):
        where = yes.where or no.where or place
        name = c.frame.fn.__name__
        unknown = c.fault(
            "E010", f"`{name}` returns a value on some paths only", where, help="return one on every path"
        )
        return _Joined((unknown, unknown), place)
    return _Joined(_pair(c, node, place, "", a, b, yes, no), place)


class _Joined(NamedTuple):
    """A value as it leaves each side, with run-time values of the same types, under a guard.

    `lost`: it was a compile-time int.
    """

    sides: tuple[Any, Any]
    where: Location
    lost: bool = False
    under: int = TRUE


def _merge(c: Context, node: ast.If, yes: _Side, no: _Side, names: Iterable[str]) -> list[tuple[str, _Joined]]:
    """The names that leave the branches with a value from each side; the others become Maybe, or stay as they are."""
    merged: list[tuple[str, _Joined]] = []
    for name in names:
        a, b = _in(c, yes.env, name, yes.block), _in(c, no.env, name, no.block)
        if a is None or b is None:
            env = no.env if a is None else yes.env
            if a is not b:
                where = env[name][-1].where
                c.bind(name, Maybe("only where the condition is " + ("false" if a is None else "true"), where), where)
            continue
        before = c.frame.env.get(name)
        where = yes.env[name][-1].where
        if before is not None and where == before[-1].where:
            where = no.env[name][-1].where
        x, y = a[1], b[1]
        under = a[0] & b[0]
        if equal_consts(x, y):
            c.bind(name, x, where, under)
            continue
        lost = not isinstance(x, Operand | tuple) or not isinstance(y, Operand | tuple)
        merged.append((name, _Joined(_pair(c, node, where, name, x, y, yes, no), where, lost, under)))
    return merged


def _pair(
    c: Context, node: ast.If, where: Location, name: str, x: Any, y: Any, yes: _Side, no: _Side
) -> tuple[Any, Any]:
    """Both sides' values made run-time values of one type; unknown after a fault. An empty name: the returned value."""
    if is_faulty(x) or is_faulty(y):
        return UNKNOWN, UNKNOWN
    if equal_consts(x, y):
        return x, y
    if is_tuple(x) and is_tuple(y) and len(x) == len(y):
        parts = [_pair(c, node, where, name, p, q, yes, no) for p, q in zip(x, y, strict=True)]
        return tuple(p for p, _ in parts), tuple(q for _, q in parts)
    what = f"`{name}`" if name else f"the value of `{c.frame.fn.__name__}`"
    if (fixed(x) and fixed(y)) and name:
        return (changes_fixed(c, name, x, y, where, "a branch"),) * 2
    if not fixed(x) and not fixed(y) and not is_tuple(x) and not is_tuple(y):
        made: list[Any] = []
        for value, side in ((x, yes), (y, no)):
            place = side.env[name][-1].where if name else node.test
            with Region(c, side.block):
                made.append(runtime(c, place, value))
        a, b = made
        if is_faulty(a) or is_faulty(b):
            return UNKNOWN, UNKNOWN
        if same(a, b):
            return a, b
        x, y = a, b
    labels = (*where_set(name, yes.env, shown(x, y)), *where_set(name, no.env, shown(y, x))) if name else ()
    c.fault(
        "T009" if name else "T013",
        f"{what} is {shown(x, y)} after one branch and {shown(y, x)} after the other",
        _header(c, node),
        *labels,
        help="give it one type on both paths",
    )
    return UNKNOWN, UNKNOWN


def _header(c: Context, node: ast.If) -> Location:
    """`if` and its condition."""
    whole, test = c.location(node), c.location(node.test)
    return Location(whole.span.to(test.span), None, whole.call)
