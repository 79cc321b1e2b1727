"""Calls of language functions: arguments bound and matched, shapes checked, operations emitted."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from teeny.diag.errors import InternalError
from teeny.frontend.dims import CallShapes
from teeny.frontend.explain import explain
from teeny.frontend.overload import Match, match, signatures
from teeny.frontend.signature import LANGUAGE_VARIABLES
from teeny.frontend.values import UNKNOWN, is_faulty
from teeny.ir.dtype import ANY, I32, I64, LEAVES, integer_range, storage
from teeny.ir.poly import Dim
from teeny.ir.schema import SchemaError
from teeny.ir.types import typed
from teeny.ops.cast import convert
from teeny.ops.constant import constant
from teeny.ops.function import LanguageFunction, Operand
from teeny.ops.shape import broadcast_value

if TYPE_CHECKING:
    from teeny.frontend.context import Context

Nodes = tuple[ast.AST, ...]


def bind(
    c: Context, node: ast.AST, function: LanguageFunction, args: tuple[Any, ...], keywords: dict[str, Any]
) -> dict[str, Any] | None:
    """Arguments by parameter name; None after a fault."""
    params = signatures(function)[0].params
    positional = [p.name for p in params if not p.keyword_only]
    names = {p.name for s in signatures(function) for p in s.params}
    if len(args) > len(positional):
        c.fault("E005", f"{function.display} takes {len(positional)} arguments, found {len(args)}", node)
        return None
    values = dict(zip(positional, args, strict=False))
    for name, value in keywords.items():
        if name not in names:
            c.fault("E005", f"{function.display} has no argument `{name}`", node, help=f"it takes {', '.join(p.name for p in params)}")
            return None
        if name in values:
            c.fault("E005", f"{function.display} gets `{name}` twice", node)
            return None
        values[name] = value
    return values


def call_language(
    c: Context, node: ast.AST, function: LanguageFunction, args: tuple[Any, ...], keywords: dict[str, Any],
    arg_nodes: Nodes, keyword_nodes: dict[str, ast.AST],
) -> Any:  # fmt: skip
    """Call a language function on values; the nodes are where they stem from."""
    values = bind(c, node, function, args, keywords)
    if values is None:
        return UNKNOWN
    nodes = dict(zip((p.name for p in signatures(function)[0].params), arg_nodes, strict=False)) | keyword_nodes
    found = match(function, values, c.same_dtype)
    if not isinstance(found, Match):
        return explain(c, node, function, found, values, nodes)
    if any(is_faulty(v) for v in values.values()):
        return UNKNOWN
    _exclude(c, function, found)
    if not _literals(c, function, found, nodes):
        return UNKNOWN
    return _emit(c, node, function, found)


def _exclude(c: Context, function: LanguageFunction, found: Match) -> None:
    """Members that a variable's class admits and the operation lacks: they leave the kernel's supported dtypes."""
    for name, leaves in function.exclude.items():
        dtype = found.subst.get(LANGUAGE_VARIABLES[name])
        if dtype is not None and dtype.is_variable:
            lacking = {leaf for leaf in leaves if LEAVES[leaf].mask & dtype.mask}
            if lacking:
                c.exclusions.setdefault(dtype.name, set()).update(lacking)


def _literals(c: Context, function: LanguageFunction, found: Match, nodes: dict[str, ast.AST]) -> bool:
    """Check the range of int literals against the dtype they take."""
    for param in found.signature.params:
        value = found.arguments.get(param.name)
        if isinstance(value, bool) or not isinstance(value, int):
            continue
        if all(t.kind == "const" for t in param.terms):
            continue
        dtype = found.literal(param)
        if dtype.kind not in ("signed", "unsigned"):
            if dtype.kind == "bool":
                c.fault("T006", f"the int literal {value} does not fit a bool", nodes[param.name], help="use True, False or a comparison")
                return False
            continue
        low, high = integer_range(dtype)
        if not low <= value <= high:
            c.fault("T006", f"the literal {value} does not fit {dtype.name}, which holds {low} to {high}", nodes[param.name])
            return False
    return True


def _emit(c: Context, node: ast.AST, function: LanguageFunction, found: Match) -> Any:
    place = c.location(node, function.symbol or f"tl.{function.name}")
    c.b.loc = place
    shapes = CallShapes(c, node, place.name or "")
    arguments = found.arguments
    dtype = found.result()
    shape: tuple[Dim, ...]
    if function.elementwise:
        shape = shapes.broadcast(*(v.shape for v in arguments.values() if isinstance(v, Operand)))
        if shapes.failed:
            return UNKNOWN
        arguments = _lanes(c, found, arguments, shape)
    else:
        assert function.shape is not None
        shape = function.shape(shapes, **arguments)
        if shapes.failed:
            return UNKNOWN
    if any(isinstance(v, Operand) and v.dtype is ANY for v in arguments.values()):
        return UNKNOWN
    assert function.emit is not None
    try:
        value = function.emit(c.b, shape, dtype, **arguments)
    except SchemaError as error:
        raise InternalError(f"{function.display}: {error}", place, c.kernel) from error
    if value is None:
        return None
    assert dtype is not None
    return Operand(value, dtype)


def _lanes(c: Context, found: Match, arguments: dict[str, Any], shape: tuple[Dim, ...]) -> dict[str, Any]:
    """The arguments of an elementwise function at the common shape: i32 widened beside i64, literals made constants."""
    wide = {v.dtype for v in arguments.values() if isinstance(v, Operand)} >= {I32, I64}
    made: dict[str, Any] = {}
    for param in found.signature.params:
        value = arguments[param.name]
        if isinstance(value, Operand):
            if wide and value.dtype is I32:
                value = Operand(convert(c.b, value.value, I32, I64), I64)
            made[param.name] = Operand(broadcast_value(c.b, value.value, shape), value.dtype)
        elif all(t.kind == "const" for t in param.terms):
            made[param.name] = value
        else:
            dtype = I64 if wide and found.literal(param) is I32 else found.literal(param)
            made[param.name] = Operand(constant(c.b, typed(shape, storage(dtype)), value), dtype)
    return made
