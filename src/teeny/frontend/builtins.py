"""Python's builtins that kernels may call, on compile-time values."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from teeny.frontend.values import Condition, Unset, show
from teeny.ir import poly
from teeny.ir.poly import Poly
from teeny.ops.function import Operand

if TYPE_CHECKING:
    from teeny.frontend.context import Context

Builtin = Callable[..., Any]


def _refuse(c: Context, node: ast.AST, name: str, value: Any, help: str) -> Any:
    return c.fault("E008", f"`{name}` works on compile-time values; `{c.text(node)}` has {show(value)}", node, help=help)


def _convert(kind: type, help: str) -> Builtin:
    def rule(c: Context, node: ast.AST, value: Any = 0) -> Any:
        if isinstance(value, Operand):
            return _refuse(c, node, kind.__name__, value, help)
        if isinstance(value, Unset | Condition):
            return Unset(kind, c.text(node))
        if isinstance(value, Poly):
            return value if kind is int else Unset(kind, c.text(node))
        try:
            return kind(value)
        except (TypeError, ValueError, OverflowError):
            return c.fault("E009", f"`{c.text(node)}` cannot be computed at compile time", node)

    return rule


def _length(c: Context, node: ast.AST, value: Any) -> Any:
    if isinstance(value, tuple):
        return len(value)
    return c.fault("E004", f"`len` takes a tuple, found {show(value)}", node, help="the sizes of a block are in its .shape")


def _extreme(name: str, dims: Callable[[Any, Any], Any], plain: Callable[..., Any]) -> Builtin:
    def rule(c: Context, node: ast.AST, *values: Any) -> Any:
        items = values[0] if len(values) == 1 and isinstance(values[0], tuple) else values
        for value in items:
            if isinstance(value, Operand):
                return _refuse(c, node, name, value, f"use tl.{name}imum, lane by lane, or tl.{name} along an axis")
        if not items:
            return c.fault("E005", f"`{name}` needs values", node)
        if any(isinstance(v, Unset) for v in items):
            return Unset(float, c.text(node))
        result = items[0]
        for value in items[1:]:
            result = dims(result, value) if isinstance(result, Poly) or isinstance(value, Poly) else plain(result, value)
        return result

    return rule


def _absolute(c: Context, node: ast.AST, value: Any) -> Any:
    if isinstance(value, Operand):
        return _refuse(c, node, "abs", value, "use tl.abs")
    if isinstance(value, Poly):
        return poly.maximum(value, poly.neg(value))
    return Unset(value.kind, c.text(node)) if isinstance(value, Unset) else abs(value)


BUILTINS: dict[Any, Builtin] = {
    float: _convert(float, "convert with .to(tl.f32)"),
    int: _convert(int, "convert with .to(tl.i32)"),
    bool: _convert(bool, "compare with 0"),
    len: _length,
    max: _extreme("max", poly.maximum, max),
    min: _extreme("min", poly.minimum, min),
    abs: _absolute,
}
