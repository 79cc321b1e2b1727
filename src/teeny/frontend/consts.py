"""Arithmetic on compile-time values: Python's own on values, polynomials on symbolic ints, guards on conditions."""

from __future__ import annotations

import ast
import operator
from typing import TYPE_CHECKING, Any

from teeny.frontend.dims import compare_dims
from teeny.frontend.values import Condition, Unset
from teeny.ir import poly
from teeny.ir.dtype import DType, members
from teeny.ir.guard import TRUE
from teeny.ir.poly import Poly
from teeny.ir.predicate import Op

if TYPE_CHECKING:
    from teeny.frontend.context import Context

_PLAIN: dict[type[ast.operator], Any] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv, ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod, ast.Pow: operator.pow, ast.LShift: operator.lshift, ast.RShift: operator.rshift, ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_, ast.BitXor: operator.xor,
}  # fmt: skip
_DIMS: dict[type[ast.operator], Any] = {
    ast.Add: poly.add, ast.Sub: poly.sub, ast.Mult: poly.mul, ast.FloorDiv: poly.floordiv, ast.Mod: poly.mod, ast.Pow: poly.power,
}  # fmt: skip
_COMPARE: dict[type[ast.cmpop], Op] = {
    ast.Eq: "eq", ast.NotEq: "ne", ast.Lt: "lt", ast.LtE: "le", ast.Gt: "gt", ast.GtE: "ge",
}  # fmt: skip
_PYTHON: dict[type[ast.cmpop], Any] = {
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt,
    ast.GtE: operator.ge, ast.Is: operator.is_, ast.IsNot: operator.is_not,
}  # fmt: skip


def _is_int(value: object) -> bool:
    return isinstance(value, int | Poly) and not isinstance(value, bool)


def binary(c: Context, node: ast.AST, op: ast.operator, x: Any, y: Any) -> Any:
    """A binary operator on compile-time values."""
    kind = type(op)
    if isinstance(x, Condition) or isinstance(y, Condition):
        return _conditions(c, node, kind, x, y)
    try:
        if isinstance(x, Poly) or isinstance(y, Poly):
            if _is_int(x) and _is_int(y) and kind in _DIMS:
                return _DIMS[kind](x, y)
            if _is_int(x) and _is_int(y) and kind in (ast.LShift, ast.RShift):
                return (poly.mul if kind is ast.LShift else poly.floordiv)(x, poly.power(2, y))
            return _unset(c, node, x, y)
        if isinstance(x, Unset) or isinstance(y, Unset):
            return _unset(c, node, x, y)
        return _PLAIN[kind](x, y)
    except ZeroDivisionError:
        return c.fault("E009", f"`{c.text(node)}` divides a Const by zero", node)
    except (TypeError, ValueError, OverflowError, ArithmeticError):
        return c.fault("E009", f"`{c.text(node)}` cannot be computed at compile time from {x!r} and {y!r}", node)


def _unset(c: Context, node: ast.AST, x: Any, y: Any) -> Unset:
    text = any(isinstance(v, str) or (isinstance(v, Unset) and v.kind is str) for v in (x, y))
    whole = all(_is_int(v) for v in (x, y)) and not isinstance(getattr(node, "op", None), ast.Div)
    return Unset(str if text else int if whole else float, c.text(node))


def _conditions(c: Context, node: ast.AST, kind: type[ast.operator], x: Any, y: Any) -> Any:
    a, b = guard_of(x), guard_of(y)
    if a is None or b is None or kind not in (ast.BitAnd, ast.BitOr, ast.BitXor):
        return c.fault("E009", f"`{c.text(node)}` computes with a Const bool; use it as a condition", node)
    found = a & b if kind is ast.BitAnd else a | b if kind is ast.BitOr else a ^ b
    return Condition(found)


def guard_of(value: Any) -> int | None:
    """The guard of a compile-time bool."""
    if isinstance(value, Condition):
        return value.guard
    if isinstance(value, bool):
        return TRUE if value else 0
    return None


def unary(c: Context, node: ast.AST, op: ast.unaryop, x: Any) -> Any:
    """A unary operator on a compile-time value."""
    if isinstance(op, ast.Not):
        return negation(c, node, x)
    if isinstance(x, Unset):
        return Unset(x.kind, c.text(node))
    if isinstance(x, Condition):
        return Condition(TRUE ^ x.guard) if isinstance(op, ast.Invert) else c.fault("E009", "a Const bool has no sign", node)
    if isinstance(op, ast.USub):
        return poly.neg(x) if isinstance(x, Poly) else _try(c, node, operator.neg, x)
    if isinstance(op, ast.UAdd):
        return x
    return poly.sub(-1, x) if isinstance(x, Poly) else _try(c, node, operator.invert, x)


def _try(c: Context, node: ast.AST, f: Any, x: Any) -> Any:
    try:
        return f(x)
    except TypeError:
        return c.fault("E009", f"`{c.text(node)}` cannot be computed at compile time from {x!r}", node)


def negation(c: Context, node: ast.AST, x: Any) -> Any:
    """`not x` of a compile-time value."""
    x = as_condition(c, node, x)
    return Condition(TRUE ^ x.guard) if isinstance(x, Condition) else not x


def as_condition(c: Context, node: ast.AST, x: Any) -> Any:
    """A compile-time value as a condition: Python's truth, a `Condition` for symbolic ones."""
    if isinstance(x, Poly):
        return compare_dims(c, "ne", x, 0, c.text(node))
    if isinstance(x, Unset):
        guard = c.table.atom(("truth", x), c.text(node))
        return True if guard is None else Condition(guard)
    return x


def compare(c: Context, node: ast.AST, op: ast.cmpop, x: Any, y: Any) -> Any:
    """A comparison of compile-time values."""
    kind = type(op)
    if isinstance(op, ast.In | ast.NotIn):
        return _member(c, node, x, y, isinstance(op, ast.In))
    if isinstance(x, DType) or isinstance(y, DType):
        return _dtypes(c, node, kind, x, y)
    if isinstance(x, Poly) or isinstance(y, Poly):
        if _is_int(x) and _is_int(y) and kind in _COMPARE:
            return compare_dims(c, _COMPARE[kind], x, y, c.text(node))
        return _opaque(c, node, kind, x, y)
    if isinstance(x, Unset | Condition) or isinstance(y, Unset | Condition):
        return _opaque(c, node, kind, x, y)
    try:
        return bool(_PYTHON[kind](x, y))
    except TypeError:
        return c.fault("E009", f"`{c.text(node)}` cannot be compared at compile time", node)


def _member(c: Context, node: ast.AST, x: Any, y: Any, positive: bool) -> Any:
    if not isinstance(y, tuple):
        return c.fault("E009", f"`{c.text(node)}`: only a tuple of Consts can be searched", node)
    found: Any = False
    for item in y:
        one = compare(c, node, ast.Eq(), x, item)
        a, b = guard_of(found), guard_of(one)
        if a is None or b is None:
            return one
        union = a | b
        found = True if union == TRUE else Condition(union) if union else False
    return found if positive else negation(c, node, found)


def _opaque(c: Context, node: ast.AST, kind: type[ast.cmpop], x: Any, y: Any) -> Any:
    """A comparison that a specialisation decides: an atom of its own, one for `==` and `!=` of the same two."""
    if kind in (ast.Is, ast.IsNot) and (x is None or y is None):
        return kind is ast.IsNot
    a, b = guard_of(x), guard_of(y)
    if a is not None and b is not None and kind in (ast.Eq, ast.NotEq, ast.Is, ast.IsNot):
        same = TRUE ^ (a ^ b)
        return Condition(same if kind in (ast.Eq, ast.Is) else TRUE ^ same)
    flip = kind in (ast.NotEq, ast.IsNot)
    key = ("compare", ast.Eq if flip or kind is ast.Is else kind, x, y)
    text = c.text(node)
    guard = c.table.atom(key, text.replace("!=", "==").replace("is not", "is") if flip else text)
    if guard is None:
        return True
    if isinstance(y, str):
        _exclusive(c, key, guard)
    return Condition(TRUE ^ guard if flip else guard)


def _exclusive(c: Context, key: tuple[Any, ...], guard: int) -> None:
    """One name equals one string at most."""
    for other in c.table.keys:
        if isinstance(other, tuple) and other != key and other[:3] == key[:3]:
            atom = c.table.atom(other, "")
            if atom is not None:
                c.table.exclude(atom & guard)


def _dtypes(c: Context, node: ast.AST, kind: type[ast.cmpop], x: Any, y: Any) -> Any:
    flip = kind in (ast.NotEq, ast.IsNot)
    if not isinstance(x, DType) or not isinstance(y, DType) or kind not in (ast.Eq, ast.NotEq, ast.Is, ast.IsNot):
        return flip
    if x is y:
        return not flip
    if not x.mask & y.mask:
        return flip
    if x.is_variable and y.is_variable:
        return _opaque(c, node, kind, x, y)
    variable, leaf = (x, y) if x.is_variable else (y, x)
    guard = dtype_atom(c, variable, leaf)
    if guard is None:
        return True
    return Condition(TRUE ^ guard if flip else guard)


def dtype_atom(c: Context, variable: DType, leaf: DType) -> int | None:
    """The condition that a dtype variable is this leaf; the conditions of one variable exclude each other."""
    key = ("dtype", variable, leaf)
    known = key in c.table.keys
    guard = c.table.atom(key, f"{variable.name} is {leaf.name}")
    if guard is None or known:
        return guard
    covered = guard
    for other in members(variable):
        if other is not leaf and ("dtype", variable, other) in c.table.keys:
            atom = c.table.atom(("dtype", variable, other), "")
            if atom is not None:
                c.table.exclude(atom & guard)
                covered |= atom
    if all(("dtype", variable, m) in c.table.keys for m in members(variable)):
        c.table.assume(covered)
    return guard
