"""`while`, and loops with `break`, which become one: a flag says whether there is another iteration."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from teeny.frontend.branch import run_body
from teeny.frontend.consts import as_condition
from teeny.frontend.context import Context, Maybe
from teeny.frontend.execute import evaluate
from teeny.frontend.jumps import Effect, broken, jumps, straight
from teeny.frontend.loop import after, carry, enter, labels_of, leave
from teeny.frontend.operators import as_scalar
from teeny.frontend.ranges import NO_MOTION
from teeny.frontend.recover import assigned
from teeny.frontend.regions import Region, outputs, visible
from teeny.frontend.values import is_faulty, show
from teeny.ir.core import Block, Value
from teeny.ir.core import Region as IrRegion
from teeny.ir.dtype import BOOL, I64, U32, U64, DType
from teeny.ops.arith import addi, subi
from teeny.ops.compare import compare, select
from teeny.ops.constant import constant
from teeny.ops.control import condition_, yield_
from teeny.ops.control import while_ as scf_while
from teeny.ops.function import Operand, function_of


def while_(c: Context, node: ast.While) -> None:
    """A `while`: the first region tests, the second is the body."""
    test, attrs = _hinted(c, node.test)
    node = ast.copy_location(ast.While(test, node.body, []), node)
    if jumps(node.body, (ast.Break,)):
        _flagged(c, node, test, _flag(c, test), lambda: _flag(c, test), attrs)
    else:
        _tested(c, node, straight(c, node.body), attrs)


def _hinted(c: Context, node: ast.expr) -> tuple[ast.expr, dict[str, object]]:
    """The condition inside `tl.condition(...)`, and the loop's attributes."""
    if not isinstance(node, ast.Call) or len(node.args) != 1 or any(k.arg != "disable_licm" for k in node.keywords):
        return node, {}
    function = function_of(evaluate(c, node.func))
    if function is None or function.construct != "condition":
        return node, {}
    still: Any = evaluate(c, node.keywords[0].value) if node.keywords else False
    if isinstance(still, Operand):
        c.fault("E008", f"`disable_licm` of {function.display} must be known at compile time", node.keywords[0].value)
    elif not is_faulty(still) and c.truth(as_condition(c, node, still)):
        return node.args[0], {"llvm.loop_annotation": NO_MOTION}
    return node.args[0], {}


def _tested(c: Context, node: ast.While, statements: list[ast.stmt], attrs: dict[str, object], index: str = "") -> None:
    """A loop with these statements as its body. `index` is a name that each iteration sets anew."""
    names = assigned(statements)
    names.pop(index, None)
    carried = carry(c, node, names)
    inits = outputs([one.value for one in carried])
    types, labels = tuple(v.type for v in inits), tuple(labels_of(carried))
    before, body = Block(types, labels), Block(types, labels)
    with Region(c, before):
        enter(c, carried, before.args)
        flag = _condition(c, node)
        c.b.loc = c.location(node.test, "while")
        if flag is not None:
            c.b.op(condition_, (flag, *before.args))
    if flag is None:
        return
    with Region(c, body):
        c.frame.loops += 1
        enter(c, carried, body.args)
        run_body(c, statements)
        c.frame.loops -= 1
        leaving = leave(c, node, carried)
        c.stamp()
        c.b.loc = c.location(node.test, "while")
        c.b.op(yield_, outputs(leaving))
    c.b.loc = c.location(node.test, "while")
    made = c.b.op(scf_while, inits, attrs, (IrRegion([before]), IrRegion([body])), types)
    after(c, node, carried, made.results, names)


def _condition(c: Context, node: ast.While) -> Value | None:
    """The condition; None where it is false from the start, as in `while FLAG and x > 0` without the flag."""
    test = evaluate(c, node.test)
    if isinstance(test, Operand) and not test.shape and test.dtype is BOOL:
        return test.value
    if isinstance(test, Operand):
        _no_condition(c, node.test, test)
    elif not is_faulty(test):
        if c.truth(as_condition(c, node.test, test)) is False:
            return None
        c.fault(
            "E016",
            f"`while {c.text(node.test)}` never changes: its condition is known at compile time",
            node.test,
            help="end the loop with `break`",
        )
    return constant(c.b, BOOL, False)


def _no_condition(c: Context, node: ast.AST, test: Operand) -> Any:
    what = "a block" if test.shape else show(test)
    return c.fault("T007", f"the condition of `while` must be a scalar bool; `{c.text(node)}` is {what}", node)


def _flag(c: Context, node: ast.expr) -> Any:
    """A condition as a run-time bool, a compile-time one too."""
    test = evaluate(c, node)
    if is_faulty(test) or (isinstance(test, Operand) and not test.shape and test.dtype is BOOL):
        return test
    return (
        _no_condition(c, node, test) if isinstance(test, Operand) else as_scalar(c, node, as_condition(c, node, test))
    )


# ---- with `break` -------------------------------------------------------------------------------------------------


def _flagged(
    c: Context,
    node: ast.For | ast.While,
    test: ast.expr,
    first: Any,
    following: Callable[[], Any],
    attrs: dict[str, object],
    index: Callable[[], Any] | None = None,
    moved: tuple[str, ...] = (),
) -> None:
    """The flag is `first` before the first iteration, what `following` gives at the end of one that went through, and
    false after a `break`. `following` gives the names in `moved` values, too. `index` gives that of a `for`.
    """
    where, going, ended = c.location(test), f"going {node.lineno}:{node.col_offset}", broken(node)

    def set_flags(goes_on: Any, name: str = "", value: bool = False) -> None:
        c.bind(going, goes_on, where)
        if name:
            c.bind(name, as_scalar(c, test, value), where)

    set_flags(first, ended, False)
    body = straight(
        c,
        node.body,
        [Effect(lambda: set_flags(following()), (going, *moved), node.body[0])],
        [Effect(lambda: set_flags(as_scalar(c, test, False), ended, True), (going, ended), node.body[0])],
    )
    target = ""
    if index is not None:
        assert isinstance(node, ast.For)
        assert isinstance(node.target, ast.Name)
        target, place = node.target.id, c.location(node.target)
        body.insert(0, Effect(lambda: c.bind(target, index(), place), (target,), node.body[0]))
    condition = ast.copy_location(ast.Name(going, ast.Load()), test)
    _tested(c, ast.copy_location(ast.While(condition, body, []), node), body, attrs, target)


def counted(c: Context, node: ast.For, bounds: list[Value], dtype: DType, step: int | None) -> None:
    """A `for` with `break`; `step` where it is known. Whether there is a next index is decided before it is computed,
    so that none wraps around."""
    assert isinstance(node.target, ast.Name)
    b, (start, end, by) = c.b, bounds
    place, where = c.location(node.iter, "tl.range"), c.location(node.target)
    name = f"index {node.lineno}:{node.col_offset}"
    zero = constant(b, dtype, 0)
    up = compare(b, "gt", dtype, by, zero) if step is None else None
    size = by if step is not None and step > 0 else b.create(subi, zero, by)
    size = size if up is None else b.create(select, up, by, size)

    def either(forward: Callable[[], Value], backward: Callable[[], Value]) -> Value:
        if up is not None:
            return b.create(select, up, forward(), backward())
        return forward() if step is not None and step > 0 else backward()

    def here() -> Operand:
        found: Any = visible(c, name)
        assert found is not None
        return found[1]

    def following() -> Operand:
        b.loc = place
        at = here().value
        left = either(lambda: b.create(subi, end, at), lambda: b.create(subi, at, end))
        c.bind(name, Operand(b.create(addi, at, by), dtype), where)
        return Operand(compare(b, "gt", U64 if dtype is I64 else U32, left, size), BOOL)

    c.bind(name, Operand(start, dtype), where)
    first = either(lambda: compare(b, "lt", dtype, start, end), lambda: compare(b, "gt", dtype, start, end))
    _flagged(c, node, node.iter, Operand(first, BOOL), following, {}, here, (name,))
    c.bind(node.target.id, Maybe("", where, index=True), where)
