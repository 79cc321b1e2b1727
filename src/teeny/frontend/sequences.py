"""Tuples: displays, with starred parts too, and what is unpacked into names. A list display is read as a tuple."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from teeny.frontend.execute import evaluate
from teeny.frontend.signature import Term
from teeny.frontend.values import UNKNOWN, Unset, is_faulty, is_tuple, show
from teeny.ir.poly import Poly

if TYPE_CHECKING:
    from teeny.frontend.context import Context

_ANY = Term("tuple", None, (Term("any"),), many=True)


def display(c: Context, node: ast.Tuple | ast.List) -> Any:
    """A tuple; of a part whose length is not known yet one of unknown length."""
    found = elements(c, node.elts)
    if found is None:
        return UNKNOWN
    values, _ = found
    if not any(isinstance(one, Rest) for one in values):
        return tuple(values)
    return together(c, node, [one.whole if isinstance(one, Rest) else (one,) for one in values])


class Rest:
    """The elements of a tuple whose length is not known yet, among those of another."""

    __slots__ = ("whole",)

    def __init__(self, whole: Unset) -> None:
        self.whole = whole


def elements(c: Context, nodes: Sequence[ast.expr]) -> tuple[list[Any], list[ast.expr]] | None:
    """The values of expressions, some of which may be starred, and the node of each; None after a fault."""
    values: list[Any] = []
    sources: list[ast.expr] = []
    for node in nodes:
        if not isinstance(node, ast.Starred):
            values.append(evaluate(c, node))
            sources.append(node)
            continue
        whole = evaluate(c, node.value)
        if is_tuple(whole):
            values += whole
            sources += [node.value] * len(whole)
        elif isinstance(whole, Unset) and whole.kind is tuple:
            values.append(Rest(whole))
            sources.append(node.value)
        else:
            if not is_faulty(whole):
                c.fault("T010", f"`{c.text(node)}` needs a tuple; `{c.text(node.value)}` is {show(whole)}", node)
            return None
    return values, sources


def together(c: Context, node: ast.AST, parts: Sequence[Any]) -> Unset:
    """Tuples, one of which has an unknown length, one after another."""
    terms = {_term(part) for part in parts}
    return Unset(tuple, c.text(node), ("together", *parts, terms.pop() if len(terms) == 1 else _ANY))


def _term(part: Any) -> Term:
    """What the annotation of a tuple would be."""
    if isinstance(part, Unset):
        return part.parts[-1]
    kinds = {"int" if isinstance(one, Poly) else type(one).__name__ for one in part}
    kind = kinds.pop() if len(kinds) == 1 else ""
    if kind in ("int", "float", "bool", "str"):
        return Term("tuple", None, (Term(kind),), many=True)
    return _ANY


def assign_to(c: Context, target: ast.expr, value: Any) -> None:
    """Give the names in a target of an assignment their values."""
    if isinstance(target, ast.Name):
        c.bind(target.id, value, c.location(target))
    elif isinstance(target, ast.Tuple | ast.List):
        _unpack(c, target, value)
    elif isinstance(target, ast.Starred):
        c.fault("E001", "a starred target stands among others", target, help="first, *rest = values")
    elif isinstance(target, ast.Subscript):
        _element(c, target)
    else:
        c.fault("E001", f"`{c.text(target)}` cannot be assigned in a kernel", target)


def _element(c: Context, target: ast.Subscript) -> None:
    if is_tuple(evaluate(c, target.value)):
        text, help = "a tuple keeps its elements", "make a new one: values = (*values[:1], new, *values[2:])"
    else:
        text, help = "a block's lanes cannot be set", "choose lanes with tl.where, or store through a pointer"
    c.fault("E001", f"`{c.text(target)}` cannot be assigned: {text}", target, help=help)


def _unpack(c: Context, target: ast.Tuple | ast.List, value: Any) -> None:
    names = target.elts
    starred = [at for at, one in enumerate(names) if isinstance(one, ast.Starred)]
    if is_tuple(value):
        if len(value) == len(names) and not starred:
            for one, part in zip(names, value, strict=True):
                assign_to(c, one, part)
            return
        if len(starred) == 1 and len(value) >= len(names) - 1:
            at, rest = starred[0], len(value) - len(names) + 1
            parts = (*value[:at], value[at : at + rest], *value[at + rest :])
            for one, part in zip(names, parts, strict=True):
                assign_to(c, one.value if isinstance(one, ast.Starred) else one, part)
            return
        c.fault("T010", f"{len(names)} names for a tuple of {len(value)}", target)
    elif not is_faulty(value) and not (isinstance(value, Unset) and value.kind is tuple):
        c.fault("T010", f"{show(value)} cannot be unpacked", target)
    for one in names:
        assign_to(c, one.value if isinstance(one, ast.Starred) else one, UNKNOWN)
