"""Python's builtins that kernels may call: on compile-time values; `min`, `max` and `abs` on run-time ones too."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from teeny.frontend.call import call_language
from teeny.frontend.consts import as_condition
from teeny.frontend.values import UNKNOWN, Comparison, Condition, Unset, is_const, is_tuple, show
from teeny.ir import poly
from teeny.ir.poly import Poly
from teeny.language.constexpr import Held
from teeny.ops.arith import abs as absolute
from teeny.ops.arith import maximum, minimum
from teeny.ops.function import Operand, function_of

if TYPE_CHECKING:
    from teeny.frontend.context import Context

Builtin = Callable[..., Any]


def _refuse(c: Context, node: ast.AST, name: str, value: Any, help: str) -> Any:
    return c.fault(
        "E008", f"`{name}` works on compile-time values; `{c.text(node)}` has {show(value)}", node, help=help
    )


def _convert(kind: type, help: str) -> Builtin:
    def rule(c: Context, node: ast.AST, value: Any = 0) -> Any:
        if isinstance(value, Operand):
            return _refuse(c, node, kind.__name__, value, help)
        if kind is bool:
            return as_condition(c, node, value)
        if isinstance(value, Poly) and kind is int:
            return value
        if isinstance(value, Unset | Condition | Comparison | Poly):
            if isinstance(value, Unset) and value.kind not in (float, bool, str):
                return c.fault("E009", f"`{c.text(node)}` cannot be computed from {show(value)}", node)
            parts = (kind.__name__, value)
            return c.opaque(c.text(node), parts) if kind is int else Unset(kind, c.text(node), parts)
        try:
            return kind(value)
        except (TypeError, ValueError, OverflowError):
            return c.fault("E009", f"`{c.text(node)}` cannot be computed from {show(value)}", node)

    return rule


def _length(c: Context, node: ast.AST, value: Any) -> Any:
    if is_tuple(value):
        return len(value)
    if isinstance(value, Unset) and value.kind is tuple:
        return c.opaque(c.text(node), ("len", value))
    return c.fault(
        "E004", f"`len` takes a tuple, found {show(value)}", node, help="the sizes of a block are in its .shape"
    )


def _extreme(name: str, dims: Callable[[Any, Any], Any], plain: Callable[..., Any]) -> Builtin:
    def rule(c: Context, node: ast.AST, *values: Any) -> Any:
        alone: Any = values[0] if len(values) == 1 else None
        items = alone if is_tuple(alone) else values
        if isinstance(alone, Unset) and alone.kind is tuple:
            whole = alone.parts[-1].inner[0].kind == "int"
            return c.opaque(c.text(node), (name, alone)) if whole else Unset(float, c.text(node), (name, alone))
        if any(isinstance(value, Operand) for value in items):
            return _lane_by_lane(c, node, name, items)
        for value in items:
            number = isinstance(value, Poly | int | float) or (isinstance(value, Unset) and value.kind is float)
            if not number:
                return c.fault("E009", f"`{c.text(node)}` cannot be computed from {show(value)}", node)
        if not items:
            return c.fault("E005", f"`{name}` needs values", node)
        if any(isinstance(v, Unset) for v in items) or (
            any(isinstance(v, Poly) for v in items) and any(isinstance(v, float) for v in items)
        ):
            return Unset(float, c.text(node), (name, *items))
        result = items[0]
        for value in items[1:]:
            result = (
                dims(result, value) if isinstance(result, Poly) or isinstance(value, Poly) else plain(result, value)
            )
        return result

    return rule


def _lane_by_lane(c: Context, node: ast.AST, name: str, items: tuple[Any, ...]) -> Any:
    """Of run-time values `tl.maximum` or `tl.minimum`. Tensors come first, for a literal takes their dtype."""
    if len(items) == 1:
        help = f"use tl.{name} along an axis; `{name}` of several values takes them lane by lane"
        return _refuse(c, node, name, items[0], help)
    function = function_of(maximum if name == "max" else minimum)
    assert function is not None
    given = node.args if isinstance(node, ast.Call) else []
    nodes = given if len(given) == len(items) else [node] * len(items)
    ordered = sorted(zip(items, nodes, strict=True), key=lambda pair: not isinstance(pair[0], Operand))
    (result, first), *rest = ordered
    for value, place in rest:
        result = call_language(c, node, function, (result, value), {}, (first, place), {})
    return result


def _absolute(c: Context, node: ast.AST, value: Any) -> Any:
    if isinstance(value, Operand):
        function = function_of(absolute)
        assert function is not None
        return call_language(c, node, function, (value,), {}, tuple(getattr(node, "args", ())), {})
    if isinstance(value, Poly):
        return poly.maximum(value, poly.neg(value))
    if isinstance(value, Unset) and value.kind is float:
        return Unset(float, c.text(node), ("abs", value))
    if isinstance(value, int | float):
        return abs(value)
    return c.fault("E009", f"`{c.text(node)}` cannot be computed from {show(value)}", node)


def _const(c: Context, node: ast.AST, value: Any) -> Any:
    if is_const(value):
        return value
    return c.fault("E008", f"`{c.text(node)}` needs a compile-time value; found {show(value)}", node)


def _tuple(c: Context, node: ast.AST, value: Any = ()) -> Any:
    if is_tuple(value) or (isinstance(value, Unset) and value.kind is tuple):
        return value
    return c.fault("E009", f"`{c.text(node)}` needs a tuple; found {show(value)}", node)


def _enumerate(c: Context, node: ast.AST, value: Any) -> Any:
    return _zip(c, node, tuple(range(len(value))), value) if is_tuple(value) else _zip(c, node, value)


def _zip(c: Context, node: ast.AST, *values: Any) -> Any:
    for value in values:
        if not is_tuple(value):
            return UNKNOWN if isinstance(value, Unset) and value.kind is tuple else _tuple(c, node, value)
    return tuple(zip(*values, strict=False))


def strict_zip(c: Context, node: ast.AST, *values: Any) -> Any:
    """`zip(..., strict=True)`."""
    lengths = list(dict.fromkeys(len(value) for value in values if is_tuple(value)))
    if len(lengths) > 1:
        return c.fault("E009", f"`{c.text(node)}`: tuples of {lengths[0]} and {lengths[1]} differ in length", node)
    return _zip(c, node, *values)


BUILTINS: dict[Any, tuple[Builtin, int, int]] = {
    float: (_convert(float, "convert with .to(tl.f32)"), 0, 1),
    int: (_convert(int, "convert with .to(tl.i32)"), 0, 1),
    bool: (_convert(bool, "compare with 0"), 0, 1),
    len: (_length, 1, 1),
    max: (_extreme("max", poly.maximum, max), 1, 99),
    min: (_extreme("min", poly.minimum, min), 1, 99),
    abs: (_absolute, 1, 1),
    Held: (_const, 1, 1),
    tuple: (_tuple, 0, 1),
    list: (_tuple, 0, 1),
    enumerate: (_enumerate, 1, 1),
    zip: (_zip, 1, 99),
}
"""By the builtin: the rule, called with the values, and the number of arguments it takes at least and at most."""
