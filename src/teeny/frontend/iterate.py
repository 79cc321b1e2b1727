"""`for`: what it runs over, and `tl.static_range`, which is unrolled.

While the bounds of a static_range are symbolic its body is lowered once, for an index between them.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import Any

from teeny.frontend.branch import run_body
from teeny.frontend.context import Context, Maybe
from teeny.frontend.execute import evaluate
from teeny.frontend.jumps import jumps, straight
from teeny.frontend.loop import after, body_alone, bounds_of, carry, enter, leave, ranged
from teeny.frontend.ranges import iterator
from teeny.frontend.recover import assigned, targets
from teeny.frontend.regions import Region, outputs, visible
from teeny.frontend.sequences import assign_to
from teeny.frontend.values import UNKNOWN, Unset, is_faulty, is_tuple, kind_of, show
from teeny.frontend.whiles import counted
from teeny.ir.core import Block
from teeny.ir.core import Region as IrRegion
from teeny.ir.dtype import I32
from teeny.ir.poly import Dim, Poly
from teeny.ir.predicate import Predicate
from teeny.ops.constant import constant
from teeny.ops.control import for_ as scf_for
from teeny.ops.control import yield_
from teeny.ops.function import function_of

MAX_UNROLL = 4096
"""Iterations of a static_range at most."""


def for_(c: Context, node: ast.For) -> None:
    values = _values(c, node.iter)
    if values is not None:
        return _each(c, node, values)
    if not isinstance(node.target, ast.Name):
        c.fault("E001", "a loop has one index", node.target, help="for i in tl.range(n):")
        names: dict[str, ast.AST] = {}
        targets(node.target, names)
        for name in names:
            c.bind(name, UNKNOWN, c.location(node.target))
        return body_alone(c, node)
    found = iterator(c, node.iter)
    if found is None:
        return body_alone(c, node)
    if found.kind == "static_range":
        return _static(c, node, found.bounds)
    made = bounds_of(c, node, found.bounds)
    if made is None:
        return body_alone(c, node)
    step = found.bounds[2]
    if jumps(node.body, (ast.Break,)):
        return counted(c, node, *made, step if isinstance(step, int) else None)
    return ranged(c, node, *made, step, found.attrs)


def _static(c: Context, node: ast.For, bounds: list[Any]) -> None:
    for bound in bounds:
        if not isinstance(bound, int | Poly) or isinstance(bound, bool):
            c.fault(
                "E008",
                f"the bounds of tl.static_range must be Const ints; found {show(bound)}",
                node.iter,
                help="use tl.range",
            )
            return body_alone(c, node)
    if _broken(c, node):
        return body_alone(c, node)
    start, end, step = bounds
    if isinstance(step, int) and step == 0:
        c.fault("E016", "the step of a loop is 0", node.iter)
        return body_alone(c, node)
    if not all(isinstance(b, int) for b in bounds):
        return _symbolic(c, node, start, end, step)
    indices = range(start, end, step)
    if len(indices) > MAX_UNROLL:
        c.fault(
            "E016",
            f"tl.static_range unrolls {len(indices)} iterations; at most {MAX_UNROLL} are allowed",
            node.iter,
            help="use tl.range",
        )
        return body_alone(c, node)
    return _unrolled(c, node, indices)


def _broken(c: Context, node: ast.For) -> bool:
    """Whether an unrolled loop has a `break`, which is reported."""
    stops = jumps(node.body, (ast.Break,))
    if stops:
        text, help = (
            "`break` cannot end a loop that is unrolled",
            "use tl.range, or put the rest of the body under an `if`",
        )
        c.fault("E016", text, stops[0], help=help)
    return bool(stops)


def _unrolled(c: Context, node: ast.For, values: Iterable[Any]) -> None:
    c.frame.loops += 1
    body = straight(c, node.body)
    for value in values:
        assign_to(c, node.target, value)
        run_body(c, body)
    c.frame.loops -= 1


def _values(c: Context, node: ast.expr) -> Any:
    """The tuple that is looped over; None for a range."""
    if isinstance(node, ast.Call):
        target = evaluate(c, node.func)
        function = function_of(target)
        if is_faulty(target) or target is range or (function is not None and function.construct):
            return None
    found = evaluate(c, node)
    if is_tuple(found) or is_faulty(found) or (isinstance(found, Unset) and found.kind is tuple):
        return found
    return None


def _each(c: Context, node: ast.For, values: Any) -> None:
    """A loop over the elements of a tuple, unrolled; of one whose length is not known yet the body is read once."""
    if not is_tuple(values):
        assign_to(c, node.target, UNKNOWN)
        return body_alone(c, node)
    return body_alone(c, node) if _broken(c, node) else _unrolled(c, node, values)


def _symbolic(c: Context, node: ast.For, start: Dim, end: Dim, step: Dim) -> None:
    """Bounds that are not known yet: a loop of generic IR, in which the Consts that the body changes are unknown."""
    assert isinstance(node.target, ast.Name)
    target, where = node.target.id, c.location(node.target)
    names = assigned(node.body)
    names.pop(target, None)
    index = c.opaque(target, _key(c))
    for name in names:
        _loosen(c, name)
    carried = carry(c, node, names, unrolled=True)
    c.b.loc = c.location(node.iter, "tl.static_range")
    ends = [constant(c.b, I32, n) for n in (start, end, step)]
    inits = outputs([one.value for one in carried])
    body = Block((I32, *(v.type for v in inits)), (target,))
    with Region(c, body):
        c.frame.loops += 1
        if isinstance(step, int):
            first, last = ("ge", "lt") if step > 0 else ("le", "gt")
            c.facts = c.facts.assume(Predicate(first, index, start), Predicate(last, index, end))
        c.bind(target, index, where)
        enter(c, carried, body.args[1:])
        run_body(c, straight(c, node.body))
        c.frame.loops -= 1
        leaving = leave(c, node, carried, unrolled=True)
        c.stamp()
        c.b.op(yield_, outputs(leaving))
    made = c.b.op(scf_for, (*ends, *inits), {}, (IrRegion([body]),))
    after(c, node, carried, made.results, names)
    for name in names:
        _loosen(c, name)
    c.bind(target, Maybe("", where, index=True), where)


def _key(c: Context) -> tuple[Any, ...]:
    """What no other loop of this lowering has."""
    c.serial += 1
    return ("loop", c.serial)


def _loosen(c: Context, name: str) -> None:
    """The compile-time values in a name that the body assigns are unknown from there on."""
    found = visible(c, name)
    if found is not None:
        c.bind(name, _loose(c, name, found[1], _key(c)), c.frame.env[name][-1].where, found[0])


def _loose(c: Context, text: str, value: Any, key: tuple[Any, ...]) -> Any:
    if is_tuple(value):
        return tuple(_loose(c, f"{text}[{at}]", part, key) for at, part in enumerate(value))
    kind = kind_of(value)
    if kind is int:
        return c.opaque(text, (*key, text))
    return Unset(kind, text, (*key, text)) if kind in (bool, float, str) else value
