"""Run-time loops: `tl.range` and `range` become `scf.for`; what enters a loop, goes round in it, and leaves it.

Carried are the names that the body assigns and that have a value before. Types never join: what leaves an iteration
must have the type that entered it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from teeny.diag.diagnostic import Edit, Fix, Label
from teeny.diag.span import Location, Span, character_index
from teeny.frontend.branch import run_body
from teeny.frontend.context import Context, Maybe
from teeny.frontend.jumps import broken, straight
from teeny.frontend.operators import as_scalar
from teeny.frontend.recover import assigned
from teeny.frontend.regions import (
    Region,
    changes_fixed,
    fixed,
    flat,
    name_values,
    outputs,
    rebuilt,
    runtime,
    same,
    shown,
    visible,
)
from teeny.frontend.values import UNKNOWN, Unset, is_const, is_faulty, is_tuple, kind_of, show
from teeny.ir.core import Block, Value
from teeny.ir.core import Region as IrRegion
from teeny.ir.dtype import I32, I64, INT, DType
from teeny.ops.arith import subi
from teeny.ops.cast import convert
from teeny.ops.constant import constant
from teeny.ops.control import for_ as scf_for
from teeny.ops.control import yield_
from teeny.ops.function import Operand

_LITERAL = re.compile(r"""\s*=\s*(-?(?:float\(["'][-+\w]+["']\)|[\w.]+(?:[eE][-+]?\d+)?))\s*(?:#.*)?$""")
"""What follows the name in an assignment of a literal."""


class Carried(NamedTuple):
    """A name that a loop carries: the guard under which it has a value before, that value, and the value that enters.

    `where` it is set before, and `changed` in the body. Compile-time values without a run-time form enter as they are.
    """

    name: str
    guard: int
    before: Any
    value: Any
    where: Location
    changed: Location

    @property
    def lost(self) -> bool:
        """Whether a compile-time int becomes a run-time one by being carried."""
        return isinstance(self.value, Operand) and not isinstance(self.before, Operand)


def bounds_of(c: Context, node: ast.For, bounds: list[Any]) -> tuple[list[Value], DType] | None:
    """Start, end and step as run-time integers of one dtype; None after a fault."""
    values: list[Operand] = []
    for bound in bounds:
        if is_tuple(bound) or isinstance(bound, str | float | bool | Unset | None):
            c.fault("E016", f"the bounds of a loop are integers; found {show(bound)}", node.iter)
            return None
        one = bound if isinstance(bound, Operand) else as_scalar(c, node.iter, bound)
        if not isinstance(one, Operand):
            return None
        if one.shape or not isinstance(one.dtype, DType) or not one.dtype.within(INT):
            c.fault("E016", f"the bounds of a loop are scalar integers; found {show(one)}", node.iter)
            return None
        if one.dtype is not I32 and one.dtype is not I64:
            c.fault(
                "E016",
                f"the bounds of a loop are i32 or i64; found {show(one)}",
                node.iter,
                help="convert with .to(tl.i32)",
            )
            return None
        values.append(one)
    if isinstance(bounds[2], int) and bounds[2] == 0:
        c.fault("E016", "the step of a loop is 0", node.iter)
        return None
    dtype = I64 if any(v.dtype is I64 for v in values) else I32
    c.b.loc = c.location(node.iter, "tl.range")
    return [convert(c.b, v.value, v.dtype, dtype) for v in values if isinstance(v.dtype, DType)], dtype


def ranged(c: Context, node: ast.For, bounds: list[Value], dtype: DType, step: Any, attrs: dict[str, object]) -> None:
    """A loop over `tl.range(start, end, step)`; `step` as it is written, `attrs` those of the operation."""
    place = c.location(node.iter, "tl.range")
    if isinstance(step, int) and step < 0:
        return _downwards(c, node, bounds, dtype, -step, place, attrs)
    return _loop(c, node, bounds, dtype, place, None, attrs)


def body_alone(c: Context, node: ast.For) -> None:
    """After a fault in the header: the body is read once, so that its own faults show."""
    if isinstance(node.target, ast.Name):
        c.bind(node.target.id, UNKNOWN, c.location(node.target))
    c.bind(broken(node), UNKNOWN, c.location(node.target))
    c.frame.loops += 1
    run_body(c, straight(c, node.body))
    c.frame.loops -= 1


def _downwards(
    c: Context, node: ast.For, bounds: list[Value], dtype: DType, step: int, place: Location, attrs: dict[str, object]
) -> None:
    """A negative step: count up from 0 and mirror the index, as Triton does."""
    start, end, _ = bounds
    zero, distance = constant(c.b, dtype, 0), c.b.create(subi, start, end)
    upward = [zero, distance, constant(c.b, dtype, step)]
    _loop(c, node, upward, dtype, place, lambda counter: c.b.create(subi, start, counter), attrs)


def _loop(
    c: Context,
    node: ast.For,
    bounds: list[Value],
    dtype: DType,
    place: Location,
    index: Callable[[Value], Value] | None,
    attrs: dict[str, object],
) -> None:
    assert isinstance(node.target, ast.Name)
    target, where = node.target.id, c.location(node.target)
    names = assigned(node.body)
    names.pop(target, None)
    carried = carry(c, node, names)
    inits = outputs([one.value for one in carried])
    body = Block((dtype, *(v.type for v in inits)), (target if index is None else None, *labels_of(carried)))
    with Region(c, body):
        c.frame.loops += 1
        c.b.loc = place
        counter = body.args[0] if index is None else index(body.args[0])
        c.bind(target, Operand(counter, dtype), where)
        enter(c, carried, body.args[1:])
        run_body(c, straight(c, node.body))
        c.frame.loops -= 1
        leaving = leave(c, node, carried)
        c.stamp()
        c.b.loc = place
        c.b.op(yield_, outputs(leaving))
    made = c.b.op(scf_for, (*bounds, *inits), attrs, (IrRegion([body]),))
    after(c, node, carried, made.results, names)
    c.bind(target, Maybe("", where, index=True), where)


def labels_of(carried: list[Carried]) -> list[str]:
    return [one.name for one in carried for _ in flat(one.value)]


def carry(c: Context, node: ast.For | ast.While, names: Mapping[str, ast.AST], unrolled: bool = False) -> list[Carried]:
    """What enters the loop: the names assigned in the body that have a value before.

    In a run-time loop Const numbers enter as scalars; in one that is unrolled later they stay what they are.
    """
    carried: list[Carried] = []
    for name, changed in names.items():
        found = visible(c, name)
        if found is None:
            continue
        guard, value = found
        where = c.frame.env[name][-1].where
        before = value
        if not unrolled:
            value = runtime(c, node.iter if isinstance(node, ast.For) else node.test, value)
        if is_faulty(value):
            c.bind(name, UNKNOWN, where)
        else:
            carried.append(Carried(name, guard, before, value, where, c.location(changed)))
    return carried


def _instead(where: Location, title: str, form: str) -> Fix | None:
    """An edit of the literal that is assigned at a place, where the line has no more than that."""
    source, line, _, _, column = where.span
    text = source.line(line)
    at = character_index(text, column)
    found = _LITERAL.match(text, at)
    if found is None:
        return None
    start = column + len(text[at : found.start(1)].encode())
    span = Span(source, line, start, line, start + len(found[1].encode()))
    return Fix(title, (Edit(span, form.format(found[1])),))


def enter(c: Context, carried: list[Carried], arguments: tuple[Value, ...]) -> None:
    """In the body the carried names stand for the block's arguments."""
    left = list(arguments)
    for one in carried:
        _bind(c, one, rebuilt(one.value, left))


def _bind(c: Context, one: Carried, value: Any) -> None:
    if one.lost:
        c.lost.update((v.value, one.changed) for v in flat(value))
    c.bind(one.name, value, one.where, one.guard)


def leave(c: Context, node: ast.For | ast.While, carried: list[Carried], unrolled: bool = False) -> list[Any]:
    """The values at the end of an iteration, of the types that entered."""
    leaving: list[Any] = []
    for one in carried:
        found = visible(c, one.name)
        value = UNKNOWN if found is None else found[1]
        if not unrolled:
            value = runtime(c, one.changed, value)
        if not _stays(one.value, value, unrolled):
            if fixed(one.value) and fixed(value):
                changes_fixed(c, one.name, one.value, value, one.changed, "a loop")
            else:
                _changed(c, node, one, value)
            value = UNKNOWN
        leaving.append(one.value if is_faulty(value) else value)
    return leaving


def _stays(entered: Any, left: Any, unrolled: bool) -> bool:
    """Whether a value leaves as it entered: of its type; a compile-time value unchanged, or unrolled of its kind."""
    if is_tuple(entered) and is_tuple(left):
        return len(entered) == len(left) and all(_stays(a, b, unrolled) for a, b in zip(entered, left, strict=True))
    if unrolled and is_const(entered) and is_const(left):
        return kind_of(entered) is kind_of(left)
    return same(entered, left)


def _changed(c: Context, node: ast.For | ast.While, one: Carried, left: Any) -> None:
    help = "give it one type: convert where it is assigned, or start with the other type"
    fix: Fix | None = None
    entered = one.value
    if isinstance(entered, Operand) and isinstance(left, Operand) and entered.dtype is I32 and left.dtype is I64:
        start = entered.value.op.loc if entered.value.op is not None else None
        if one.lost:
            help = "start with an i64: tl.full((), ..., tl.i64)"
            fix = _instead(one.where, help, "tl.full((), {}, tl.i64)")
        elif start is not None:
            help = "start with .to(tl.i64)"
            source, _, _, line, column = start.span
            fix = Fix(help, (Edit(Span(source, line, column, line, column), ".to(tl.i64)"),))
    text = f"enters the loop as {shown(entered, left)} and leaves an iteration as {shown(left, entered)}"
    c.fault(
        "T008",
        f"`{one.name}` {text}",
        node.iter if isinstance(node, ast.For) else node.test,
        Label(one.where, f"starts as {shown(entered, left)}", primary=False),
        Label(one.changed, f"leaves as {shown(left, entered)}", primary=False),
        help=help,
        fix=fix,
    )


def after(
    c: Context,
    node: ast.For | ast.While,
    carried: list[Carried],
    results: tuple[Value, ...],
    names: Mapping[str, ast.AST],
) -> None:
    """After the loop the carried names stand for its results; those set in it alone may be undefined."""
    left = list(results)
    for one in carried:
        value = rebuilt(one.value, left)
        name_values(flat(value), one.name)
        _bind(c, one, value)
    held = {one.name for one in carried}
    for name, changed in names.items():
        if name not in held and visible(c, name) is None:
            where = c.location(changed)
            c.bind(name, Maybe("in a loop that may not run", where), where)
