"""Simple statements: assignments, expressions, returns."""

from __future__ import annotations

import ast
from typing import Any

from teeny.frontend.context import Context, Frame, Returned
from teeny.frontend.execute import evaluate
from teeny.frontend.inline import lookup_of
from teeny.frontend.operators import binary
from teeny.frontend.outer import name as name_
from teeny.frontend.overload import fits
from teeny.frontend.sequences import assign_to
from teeny.frontend.signature import AnnotationError, Param, Term, terms_of
from teeny.frontend.values import UNKNOWN, is_const, is_faulty, show


def assign(c: Context, node: ast.Assign) -> None:
    value = evaluate(c, node.value)
    for target in node.targets:
        assign_to(c, target, value)


def augassign(c: Context, node: ast.AugAssign) -> None:
    if not isinstance(node.target, ast.Name):
        c.fault("E001", f"`{c.text(node.target)}` cannot be assigned in a kernel", node.target)
        return
    name = node.target.id
    old = name_(c, ast.copy_location(ast.Name(name, ast.Load()), node.target))
    value = binary(c, node, node.op, old, evaluate(c, node.value), node.target, node.value)
    c.bind(name, value, c.location(node.target))


def annassign(c: Context, node: ast.AnnAssign) -> None:
    """`name: annotation = value`: the annotation is checked; `Const[...]` demands a compile-time value."""
    if node.value is None or not isinstance(node.target, ast.Name):
        c.fault("E001", "an annotation needs a name and a value in a kernel", node)
        return
    value = evaluate(c, node.value)
    try:
        terms: tuple[Term, ...] = terms_of(node.annotation, lookup_of(c.frame.fn))
    except AnnotationError as error:
        c.fault("E006", str(error), node.annotation)
        terms = (Term("any"),)
    name = node.target.id
    if not is_faulty(value):
        if any(t.kind == "const" for t in terms) and not is_const(value):
            c.fault("E009", f"`{name}` is declared Const, and `{c.text(node.value)}` is {show(value)}", node.value)
            value = UNKNOWN
        elif fits(Param(name, terms), value, {}, c.pin) is not None:
            c.fault(
                "T010",
                f"`{name}` is declared {ast.unparse(node.annotation)}, and `{c.text(node.value)}` is {show(value)}",
                node.value,
            )
            value = UNKNOWN
    c.bind(name, value, c.location(node.target))


def expression(c: Context, node: ast.Expr) -> None:
    if isinstance(node.value, ast.Constant):
        return
    evaluate(c, node.value)


def return_(c: Context, node: ast.Return) -> None:
    value = None if node.value is None else evaluate(c, node.value)
    frame = c.frame
    if frame.outer is None and value is not None:
        c.fault("E010", "a kernel returns nothing", node, help="store the result through a pointer")
    if frame.loops:
        c.fault(
            "E010",
            "a return inside a loop is outside the language",
            node,
            help="leave the loop with `break`, and return after it",
        )
        return
    if frame.outer is not None and frame.result and not is_faulty(value):
        value = _as_declared(c, node, frame, value)
    active = c.active
    frame.returns.append(Returned(active, value if frame.outer is not None else None, c.location(node)))
    frame.dead |= active
    c.stamp()


def _as_declared(c: Context, node: ast.Return, frame: Frame, value: Any) -> Any:
    """The returned value, checked against the annotation."""
    if fits(Param("return", frame.result), value, frame.subst, c.pin) is None:
        return value
    assert frame.source.tree.returns is not None
    written = ast.unparse(frame.source.tree.returns)
    known = ", ".join(f"{v.name} is {d.name}" for v, d in frame.subst.items() if v is not d)
    note = f" (where {known})" if known else ""
    return c.fault(
        "T013", f"`{frame.fn.__name__}` is declared to return {written}{note}, and returns {show(value)}", node
    )


def pass_(c: Context, node: ast.Pass) -> None:
    """Nothing."""
