"""Loops: `tl.range` and `range` become `scf.for`, `while` becomes `scf.while`, `tl.static_range` is unrolled.

Carried are the names that the body assigns and that have a value before. Types never join: what leaves an iteration must
have the type that entered it.
"""

from __future__ import annotations

import ast
from typing import Any

from teeny.diag.diagnostic import Edit, Fix
from teeny.diag.span import Location, Span
from teeny.frontend.branch import run_body
from teeny.frontend.context import Alternative, Context, Maybe, evaluate
from teeny.frontend.operators import as_scalar
from teeny.frontend.regions import Region, assigned, outputs, runtime, same, shown, visible, where_set
from teeny.frontend.values import UNKNOWN, is_const, is_faulty, show
from teeny.ir.core import Block, Value
from teeny.ir.core import Region as IrRegion
from teeny.ir.dtype import BOOL, I32, I64, INT, DType
from teeny.ir.poly import Dim, Poly, symbol
from teeny.ir.predicate import Predicate
from teeny.ops.arith import subi
from teeny.ops.cast import convert
from teeny.ops.constant import constant
from teeny.ops.control import condition_, yield_
from teeny.ops.control import for_ as scf_for
from teeny.ops.control import while_ as scf_while
from teeny.ops.function import Operand, function_of

MAX_UNROLL = 4096
"""Iterations of a static_range at most."""
Carried = list[tuple[str, int, Operand]]
"""Name, the guard under which it has a value, and the value that enters the loop."""


def for_(c: Context, node: ast.For) -> None:
    if node.orelse:
        c.fault("E001", "`else` of a loop is outside the language", node.orelse[0], help="write the statements after the loop")
        return
    if not isinstance(node.target, ast.Name):
        c.fault("E001", "a loop has one index", node.target, help="for i in tl.range(n):")
        return
    kind, args = _iterator(c, node.iter)
    if kind is None:
        _body_alone(c, node)
    elif kind == "static":
        _static(c, node, args)
    else:
        _range(c, node, args)


def _body_alone(c: Context, node: ast.For) -> None:
    """After a fault in the header: the body is read once, so that its own faults show."""
    assert isinstance(node.target, ast.Name)
    c.bind(node.target.id, UNKNOWN, c.location(node.target))
    run_body(c, node.body)


def _iterator(c: Context, node: ast.expr) -> tuple[str | None, list[Any]]:
    wrong: tuple[None, list[Any]] = (None, [])
    if not isinstance(node, ast.Call):
        c.fault("E016", f"a loop runs over tl.range or tl.static_range, not over `{c.text(node)}`", node)
        return wrong
    target = evaluate(c, node.func)
    if is_faulty(target):
        return wrong
    function = function_of(target)
    kind = "range" if target is range else function.construct if function is not None else ""
    if kind not in ("range", "static_range"):
        c.fault("E016", f"a loop runs over tl.range or tl.static_range, not over `{c.text(node)}`", node)
        return wrong
    if any(isinstance(a, ast.Starred) for a in node.args) or any(k.arg is None for k in node.keywords):
        c.fault("E001", "starred arguments are outside the language", node, help="write the arguments out")
        return wrong
    args = [evaluate(c, a) for a in node.args]
    keywords = {str(k.arg): evaluate(c, k.value) for k in node.keywords}
    names = ("start", "end", "step")
    unknown = [k for k in keywords if k not in names]
    if unknown or not 1 <= len(args) + len(keywords) <= 3:
        what = f"has no argument `{unknown[0]}`" if unknown else "takes one to three arguments"
        c.fault("E005", f"`{c.text(node.func)}` {what}", node)
        return wrong
    if any(map(is_faulty, (*args, *keywords.values()))):
        return wrong
    return ("static" if kind == "static_range" else "range"), _bounds(args, keywords)


def _bounds(args: list[Any], keywords: dict[str, Any]) -> list[Any]:
    if len(args) == 1 and "end" not in keywords:
        return [0, args[0], keywords.get("step", 1)]
    full = dict(zip(("start", "end", "step"), args, strict=False)) | keywords
    return [full.get("start", 0), full.get("end"), full.get("step", 1)]


# ---- run-time loops ---------------------------------------------------------------------------------------------------


def _range(c: Context, node: ast.For, bounds: list[Any]) -> None:
    assert isinstance(node.target, ast.Name)
    if any(isinstance(b, tuple | str | float) or b is None for b in bounds):
        bad = next(b for b in bounds if isinstance(b, tuple | str | float) or b is None)
        c.fault("E016", f"the bounds of a loop are integers; found {show(bad)}", node.iter)
        return _body_alone(c, node)
    if isinstance(bounds[2], int) and bounds[2] == 0:
        c.fault("E016", "the step of a loop is 0", node.iter)
        return _body_alone(c, node)
    values: list[Operand] = []
    for bound in bounds:
        one = bound if isinstance(bound, Operand) else as_scalar(c, node.iter, bound)
        if is_faulty(one) or not isinstance(one, Operand):
            return _body_alone(c, node)
        if one.shape or not isinstance(one.dtype, DType) or not one.dtype.within(INT):
            c.fault("E016", f"the bounds of a loop are scalar integers; found {show(one)}", node.iter)
            return _body_alone(c, node)
        values.append(one)
    dtype = I64 if any(v.dtype is I64 for v in values) else I32
    if any(v.dtype is not I32 and v.dtype is not I64 for v in values):
        odd = next(v for v in values if v.dtype is not I32 and v.dtype is not I64)
        c.fault("E016", f"the bounds of a loop are i32 or i64; found {show(odd)}", node.iter, help="convert with .to(tl.i32)")
        return _body_alone(c, node)
    place = c.location(node.iter, "tl.range")
    c.b.loc = place
    operands = [convert(c.b, v.value, v.dtype, dtype) for v in values if isinstance(v.dtype, DType)]
    if isinstance(bounds[2], int) and bounds[2] < 0:
        return _downwards(c, node, operands, dtype, -bounds[2], place)
    _loop(c, node, operands, dtype, place, None)


def _downwards(c: Context, node: ast.For, bounds: list[Value], dtype: DType, step: int, place: Location) -> None:
    """A negative step: count up from 0 and mirror the index, as Triton does."""
    start, end, _ = bounds
    zero, distance = constant(c.b, dtype, 0), c.b.create(subi, start, end)
    upward = [zero, distance, constant(c.b, dtype, step)]

    def index(counter: Value) -> Value:
        return c.b.create(subi, start, counter)

    _loop(c, node, upward, dtype, place, index)


def _loop(c: Context, node: ast.For, bounds: list[Value], dtype: DType, place: Location, index: Any) -> None:
    assert isinstance(node.target, ast.Name)
    names = [n for n in assigned(node.body) if n != node.target.id]
    carried = _carry(c, node, names)
    body = Block((dtype, *(v.value.type for _, _, v in carried)), (node.target.id, *(n for n, _, _ in carried)))
    with Region(c, body):
        c.b.loc = place
        counter = body.args[0] if index is None else index(body.args[0])
        c.bind(node.target.id, Operand(counter, dtype), c.location(node.target))
        _enter(c, carried, body.args[1:])
        run_body(c, node.body)
        leaving = _leave(c, node, carried)
        c.stamp()
        c.b.loc = place
        c.b.op(yield_, outputs(leaving))
    made = c.b.op(scf_for, (*bounds, *(v.value for _, _, v in carried)), {}, (IrRegion([body]),))
    _after(c, node, carried, made.results, names)
    c.bind(node.target.id, Maybe("by the loop alone", c.location(node.target)), c.location(node.target))


def _carry(c: Context, node: Any, names: list[str]) -> Carried:
    carried: Carried = []
    for name in names:
        found = visible(c, name)
        if found is None:
            continue
        guard, value = found
        if not isinstance(value, Operand) and not is_faulty(value):
            if isinstance(value, float):
                value = _float_literal(c, node, name, value)
            elif not is_const(value) or isinstance(value, tuple | str) or value is None or callable(value) or isinstance(value, DType):
                continue
            else:
                value = as_scalar(c, node, value)
        if isinstance(value, Operand) and not is_faulty(value):
            carried.append((name, guard, value))
    return carried


def _float_literal(c: Context, node: Any, name: str, value: float) -> Any:
    where = c.frame.env[name][-1].where
    return c.fault(
        "T008", f"`{name}` enters the loop as the float {value!r}, whose dtype is not known", where,
        label="a literal", help=f"say its dtype: {name} = tl.full((), {value!r}, tl.f32)",
    )  # fmt: skip


def _enter(c: Context, carried: Carried, arguments: tuple[Value, ...]) -> None:
    for (name, guard, value), argument in zip(carried, arguments, strict=True):
        where = c.frame.env[name][-1].where
        c.frame.env[name] = (Alternative(guard, Operand(argument, value.dtype), where),)


def _leave(c: Context, node: Any, carried: Carried) -> list[Operand]:
    """The values at the end of an iteration, of the types that entered."""
    leaving: list[Operand] = []
    for name, _, entered in carried:
        found = visible(c, name)
        value = UNKNOWN if found is None else runtime(c, node, found[1])
        if isinstance(value, Operand) and not is_faulty(value) and not same(value, entered):
            _changed(c, node, name, entered, value)
            value = UNKNOWN
        leaving.append(value if isinstance(value, Operand) and same(value, entered) else entered)
    return leaving


def _changed(c: Context, node: Any, name: str, entered: Operand, left: Operand) -> None:
    first = c.frame.env[name]
    start = entered.value.op.loc if entered.value.op is not None else None
    labels = where_set(c, name, {name: first}, f"leaves as {shown(left, entered)}")
    fix, help = None, "give it one type: convert where it is assigned, or start with the other type"
    if entered.dtype is I32 and left.dtype is I64 and entered.shape == left.shape:
        help = "start with .to(tl.i64)"
        if start is not None:
            end = Span(start.span.source, start.span.end_line, start.span.end_column, start.span.end_line, start.span.end_column)
            fix = Fix("widen the initial value", (Edit(end, ".to(tl.i64)"),))
    c.fault(
        "T008", f"`{name}` enters the loop as {shown(entered, left)} and leaves an iteration as {shown(left, entered)}",
        c.location(node.iter if isinstance(node, ast.For) else node.test), *labels, help=help, fix=fix,
    )  # fmt: skip


def _after(c: Context, node: Any, carried: Carried, results: tuple[Value, ...], names: list[str]) -> None:
    place = c.location(node)
    for (name, guard, value), result in zip(carried, results, strict=True):
        result.name = name
        where = c.frame.env[name][-1].where
        c.frame.env[name] = (Alternative(guard, Operand(result, value.dtype), where),)
    kept = {name for name, _, _ in carried}
    for name in names:
        if name not in kept and visible(c, name) is None:
            c.bind(name, Maybe("in a loop that may not run", place), place)


# ---- while ------------------------------------------------------------------------------------------------------------


def while_(c: Context, node: ast.While) -> None:
    if node.orelse:
        c.fault("E001", "`else` of a loop is outside the language", node.orelse[0], help="write the statements after the loop")
        return
    names = assigned(node.body)
    carried = _carry(c, node, names)
    types = tuple(v.value.type for _, _, v in carried)
    labels = tuple(n for n, _, _ in carried)
    before, after = Block(types, labels), Block(types, labels)
    with Region(c, before):
        _enter(c, carried, before.args)
        test = evaluate(c, node.test)
        if not is_faulty(test) and not isinstance(test, Operand):
            c.fault("E016", f"`while {c.text(node.test)}` never changes: its condition is known at compile time", node.test)
            test = UNKNOWN
        elif isinstance(test, Operand) and (test.shape or test.dtype is not BOOL):
            c.fault("T007", f"the condition of `while` must be a scalar bool; `{c.text(node.test)}` is {show(test)}", node.test)
            test = UNKNOWN
        flag = test.value if isinstance(test, Operand) else constant(c.b, BOOL, False)
        c.b.loc = c.location(node.test, "while")
        c.b.op(condition_, (flag, *before.args))
    with Region(c, after):
        _enter(c, carried, after.args)
        run_body(c, node.body)
        leaving = _leave(c, node, carried)
        c.stamp()
        c.b.op(yield_, outputs(leaving))
    c.b.loc = c.location(node.test, "while")
    made = c.b.op(scf_while, tuple(v.value for _, _, v in carried), {}, (IrRegion([before]), IrRegion([after])), types)
    _after(c, node, carried, made.results, names)


# ---- static_range -----------------------------------------------------------------------------------------------------


def _static(c: Context, node: ast.For, bounds: list[Any]) -> None:
    for bound in bounds:
        if not isinstance(bound, int | Poly) or isinstance(bound, bool):
            c.fault("E008", f"the bounds of tl.static_range must be Const ints; found {show(bound)}", node.iter, help="use tl.range")
            return _body_alone(c, node)
    assert isinstance(node.target, ast.Name)
    start, end, step = bounds
    if isinstance(step, int) and step == 0:
        c.fault("E016", "the step of a loop is 0", node.iter)
        return None
    if not all(isinstance(b, int) for b in bounds):
        return _symbolic(c, node, start, end)
    indices = range(start, end, step)
    if len(indices) > MAX_UNROLL:
        c.fault("E016", f"tl.static_range unrolls {len(indices)} iterations; at most {MAX_UNROLL} are allowed", node.iter, help="use tl.range")
        return None
    for index in indices:
        c.bind(node.target.id, index, c.location(node.target))
        run_body(c, node.body)
    return None


def _symbolic(c: Context, node: ast.For, start: Dim, end: Dim) -> None:
    """A static_range whose bounds are not known yet: the body once, for an index between them, as a loop in generic IR."""
    assert isinstance(node.target, ast.Name)
    names = [n for n in assigned(node.body) if n != node.target.id]
    index = symbol(f"{node.target.id}@{node.lineno}")
    carried = _carry(c, node, names)
    c.b.loc = c.location(node.iter, "tl.static_range")
    ends = [constant(c.b, I32, n) for n in (start, end, 1)]
    body = Block((I32, *(v.value.type for _, _, v in carried)), (node.target.id, *(n for n, _, _ in carried)))
    with Region(c, body):
        c.facts = c.facts.assume(Predicate("ge", index, start), Predicate("lt", index, end))
        c.bind(node.target.id, index, c.location(node.target))
        _enter(c, carried, body.args[1:])
        run_body(c, node.body)
        leaving = _leave(c, node, carried)
        c.stamp()
        c.b.op(yield_, outputs(leaving))
    made = c.b.op(scf_for, (*ends, *(v.value for _, _, v in carried)), {}, (IrRegion([body]),))
    _after(c, node, carried, made.results, names)
