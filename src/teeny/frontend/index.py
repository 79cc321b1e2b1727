"""Indexing: elements of tuples, new axes of tiles."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from teeny.frontend.context import Context
from teeny.frontend.execute import evaluate
from teeny.frontend.pointers import indexed
from teeny.frontend.values import UNKNOWN, Unset, is_faulty, is_tuple, show
from teeny.ir.guard import TRUE
from teeny.ir.poly import Poly
from teeny.ir.types import ViewType, element_of, typed
from teeny.language.tensor import Ptr
from teeny.ops.function import Operand
from teeny.ops.shape import expand_dims_, splat

if TYPE_CHECKING:
    from teeny.frontend.signature import Term
    from teeny.ir.core import Value


def subscript(c: Context, node: ast.Subscript) -> Any:
    base = evaluate(c, node.value)
    if is_faulty(base) and not is_tuple(base):
        return UNKNOWN
    if base is Ptr:
        return indexed(c, node)
    if is_tuple(base):
        return _element(c, node, base)
    if isinstance(base, Unset) and base.kind is tuple:
        return _unset_element(c, node, base)
    if not isinstance(base, Operand):
        return c.fault("E001", f"{show(base)} cannot be indexed in a kernel", node)
    items = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    kept: list[bool] = []
    for item in items:
        if isinstance(item, ast.Slice) and item.lower is None and item.upper is None and item.step is None:
            kept.append(True)
        elif isinstance(item, ast.Constant) and item.value is None:
            kept.append(False)
        else:
            return c.fault(
                "E001",
                f"`{c.text(node)}`: a block is indexed with `:` and None alone",
                node,
                help="lanes cannot be picked out; use a mask and a reduction, or load what is needed",
            )
    return _expand(c, node, base, kept)


def _element(c: Context, node: ast.Subscript, base: tuple[Any, ...]) -> Any:
    if isinstance(node.slice, ast.Slice):
        ends = [None if e is None else evaluate(c, e) for e in (node.slice.lower, node.slice.upper, node.slice.step)]
        if all(e is None or isinstance(e, int) for e in ends):
            return base[slice(*ends)]
        return c.fault("E008", "the ends of a slice must be known at compile time", node.slice)
    index = evaluate(c, node.slice)
    if is_faulty(index):
        return UNKNOWN
    if not isinstance(index, int):
        if isinstance(index, Poly | Unset):
            return c.join(tuple((TRUE, one) for one in base)) if len(base) == 1 else UNKNOWN
        return _no_index(c, node, index)
    if not -len(base) <= index < len(base):
        return c.fault("S003", f"index {index} is outside a tuple of {len(base)}", node)
    return base[index]


def _unset_element(c: Context, node: ast.Subscript, base: Unset) -> Any:
    """An element or a slice of a Const tuple whose length is not known yet."""
    term: Term = base.parts[-1]
    text = c.text(node)
    if isinstance(node.slice, ast.Slice):
        ends = [None if e is None else evaluate(c, e) for e in (node.slice.lower, node.slice.upper, node.slice.step)]
        if all(e is None or isinstance(e, int | Poly) for e in ends):
            return Unset(tuple, text, ("slice", base, *ends, term))
        return c.fault("E008", "the ends of a slice must be known at compile time", node.slice)
    index = evaluate(c, node.slice)
    if is_faulty(index):
        return UNKNOWN
    if not isinstance(index, int | Poly | Unset):
        return _no_index(c, node, index)
    kinds = {one.kind for one in (term.inner[0].inner if term.inner[0].kind == "union" else term.inner)}
    parts = ("element", base, index)
    if kinds == {"int"}:
        return c.opaque(text, parts)
    if kinds == {"tuple"} and term.inner[0].many:
        return Unset(tuple, text, (*parts, term.inner[0]))
    kind = {"float": float, "bool": bool, "str": str}.get(kinds.pop()) if len(kinds) == 1 else None
    return UNKNOWN if kind is None else Unset(kind, text, parts)


def _no_index(c: Context, node: ast.Subscript, index: Any) -> Any:
    text = f"an index of a tuple must be a known Const int; `{c.text(node.slice)}` is {show(index)}"
    return c.fault("E008", text, node.slice)


def _expand(c: Context, node: ast.AST, base: Operand, kept: list[bool]) -> Any:
    if isinstance(base.type, ViewType):
        return c.fault("T005", f"{show(base)} cannot be indexed", node, help="load its block first")
    rank = len(base.shape)
    if sum(kept) > rank or (rank and sum(kept) < rank):
        return c.fault(
            "S005",
            f"`{c.text(node)}` names {sum(kept)} axes with `:`, and {show(base)} has {rank}",
            node,
            help="write one `:` an axis and None where a new axis goes",
        )
    c.b.loc = c.location(node, "[]")
    value: Value = base.value
    if not rank:
        value = c.b.create(splat, value, type=typed((1,) * len(kept), element_of(value.type)))
    else:
        for axis, keep in enumerate(kept):
            if not keep:
                value = c.b.create(expand_dims_, value, axis=axis)
    return Operand(value, base.dtype)
