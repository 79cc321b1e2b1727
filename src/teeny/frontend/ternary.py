"""`a if condition else b`: a compile-time condition picks or joins under guards, a run-time one chooses or branches."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from teeny.frontend import consts
from teeny.frontend.call import call_language
from teeny.frontend.execute import evaluate
from teeny.frontend.operators import as_scalar, is_scalar_flag
from teeny.frontend.regions import Region, same
from teeny.frontend.values import UNKNOWN, Condition, Unset, is_faulty, show
from teeny.ir.core import Block, Op
from teeny.ir.core import Region as IrRegion
from teeny.ir.guard import TRUE
from teeny.ops.compare import where
from teeny.ops.constant import constant
from teeny.ops.control import if_ as scf_if
from teeny.ops.control import yield_
from teeny.ops.function import Operand, function_of

if TYPE_CHECKING:
    from teeny.frontend.context import Context
    from teeny.ir.core import Value


def ifexp(c: Context, node: ast.IfExp) -> Any:
    test = evaluate(c, node.test)
    if is_faulty(test):
        evaluate(c, node.body)
        evaluate(c, node.orelse)
        return UNKNOWN
    if not isinstance(test, Operand):
        return _of_const(c, node, consts.as_condition(c, node.test, test))
    if not is_scalar_flag(c, node.test, test, "if", "tl.where"):
        return UNKNOWN
    return _runtime(c, node, test)


def _of_const(c: Context, node: ast.IfExp, test: Any) -> Any:
    truth = c.truth(test)
    if truth is not None:
        return evaluate(c, node.body if truth else node.orelse)
    guard, facts, active = c.guard, c.facts, c.active
    one = test.guard if isinstance(test, Condition) else TRUE
    other = TRUE ^ one if isinstance(test, Condition) else TRUE
    cases: list[tuple[int, Any]] = []
    for case, side in ((one, node.body), (other, node.orelse)):
        c.enter(guard & case)
        c.learn()
        cases.append((active & case, evaluate(c, side)))
        c.facts = facts
    c.enter(guard)
    c.b.loc = c.location(node)
    if isinstance(test, Unset):
        return cases[0][1] if cases[0][1] == cases[1][1] else UNKNOWN
    return c.join(tuple(cases))


def _runtime(c: Context, node: ast.IfExp, test: Operand) -> Any:
    """Both sides are computed and one is chosen, where that does nothing else; else the side that counts runs alone."""
    blocks: list[Block] = []
    values: list[Any] = []
    for side in (node.body, node.orelse):
        with Region(c, Block()) as region:
            values.append(evaluate(c, side))
        blocks.append(region.block)
    if any(map(is_faulty, values)):
        return UNKNOWN
    if all(_pure(op) for block in blocks for op in block.ops):
        for block in blocks:
            for op in block.ops:
                c.b.block.append(op)
        return _chosen(c, node, test, *values)
    return _branched(c, node, test, blocks, values)


def _pure(op: Op) -> bool:
    return op.schema.pure and not op.regions


def _branched(c: Context, node: ast.IfExp, test: Operand, blocks: list[Block], values: list[Any]) -> Any:
    """An `scf.if` whose sides give their values; where these are not of one type, each gives the other's as zeros."""
    c.b.loc = place = c.location(node, "if")
    x, y = values
    one = isinstance(x, Operand) and isinstance(y, Operand) and same(x, y)
    given = [(at, v) for at, v in enumerate(values) if isinstance(v, Operand)]
    if not one and any(v.is_pointer for _, v in given):
        text = f"`{c.text(node)}` gives {show(x)} or {show(y)}"
        return c.fault("T009", text, node, help="give both sides one dtype and shape")
    for at, block in enumerate(blocks):
        with Region(c, block):
            c.b.loc = place
            outputs = [values[at].value] if one else [v.value if at == n else _zeros(c, v) for n, v in given]
            c.b.op(yield_, tuple(outputs))
    types = tuple(v.type for _, v in (given[:1] if one else given))
    made = c.b.op(scf_if, (test.value,), {}, tuple(IrRegion([block]) for block in blocks), types)
    if one:
        return Operand(made.results[0], x.dtype)
    for result, (at, value) in zip(made.results, given, strict=True):
        values[at] = Operand(result, value.dtype)
    return _chosen(c, node, test, *values)


def _zeros(c: Context, value: Operand) -> Value:
    return constant(c.b, value.type, 0)


def _chosen(c: Context, node: ast.IfExp, test: Operand, x: Any, y: Any) -> Any:
    """The value that the condition says, of two that are there."""
    if not isinstance(x, Operand) and not isinstance(y, Operand):
        if type(x) is type(y) and x == y:
            return x
        x = as_scalar(c, node.body, x)
        if is_faulty(x):
            return UNKNOWN
    choose = function_of(where)
    assert choose is not None
    return call_language(c, node, choose, (test, x, y), {}, (node.test, node.body, node.orelse), {})
