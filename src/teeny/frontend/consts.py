"""Arithmetic on compile-time values: Python's own on values, polynomials on symbolic ints, guards on conditions."""

from __future__ import annotations

import ast
import operator
from typing import TYPE_CHECKING, Any

from teeny.frontend.dims import compare_dims
from teeny.frontend.guards import guard_of
from teeny.frontend.values import Comparison, Condition, Unknown, Unset, is_tuple, kind_of, show
from teeny.ir import poly
from teeny.ir.dtype import DType, members
from teeny.ir.guard import TRUE
from teeny.ir.poly import Poly
from teeny.ir.predicate import Op

if TYPE_CHECKING:
    from teeny.frontend.context import Context

_PLAIN: dict[type[ast.operator], str] = {
    ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "truediv", ast.FloorDiv: "floordiv", ast.Mod: "mod",
    ast.Pow: "pow", ast.LShift: "lshift", ast.RShift: "rshift", ast.BitAnd: "and_", ast.BitOr: "or_", ast.BitXor: "xor",
}  # fmt: skip
"""By operator: its function in the module `operator`."""
_DIMS: dict[type[ast.operator], Any] = {
    ast.Add: poly.add, ast.Sub: poly.sub, ast.Mult: poly.mul, ast.FloorDiv: poly.floordiv, ast.Mod: poly.mod,
    ast.Pow: poly.power,
}  # fmt: skip
_COMPARE: dict[type[ast.cmpop], Op] = {
    ast.Eq: "eq", ast.NotEq: "ne", ast.Lt: "lt", ast.LtE: "le", ast.Gt: "gt", ast.GtE: "ge",
}  # fmt: skip
_PYTHON: dict[type[ast.cmpop], Any] = {
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt,
    ast.GtE: operator.ge, ast.Is: operator.is_, ast.IsNot: operator.is_not,
}  # fmt: skip


_POSITIVE: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.NotEq: ast.Eq, ast.Is: ast.Eq, ast.IsNot: ast.Eq, ast.NotIn: ast.In,
}  # fmt: skip


MAX_BITS = 1 << 13
"""Bits of a Const int at most: what is longer is a slip, and takes long to compute."""
_FLOATS = frozenset({ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow})


def _is_int(value: object) -> bool:
    return isinstance(value, int | Poly) and not isinstance(value, bool)


def binary(c: Context, node: ast.AST, op: ast.operator, x: Any, y: Any) -> Any:
    """A binary operator on compile-time values."""
    kind = type(op)
    if isinstance(x, Condition | Comparison) or isinstance(y, Condition | Comparison) or _untracked(x) or _untracked(y):
        return _conditions(c, node, kind, x, y)
    try:
        if isinstance(x, Poly | Unset) or isinstance(y, Poly | Unset):
            return _symbolic(c, node, kind, x, y)
        if (
            kind in (ast.Pow, ast.LShift)
            and isinstance(x, int)
            and isinstance(y, int)
            and x.bit_length() * abs(y) > MAX_BITS
        ):
            raise OverflowError
        return getattr(operator, _PLAIN[kind])(x, y)
    except ZeroDivisionError:
        return c.fault("E009", f"`{c.text(node)}` divides a Const by zero", node)
    except (KeyError, TypeError, ValueError, ArithmeticError):
        return c.fault("E009", f"`{c.text(node)}` cannot be computed from {show(x)} and {show(y)}", node)


def _symbolic(c: Context, node: ast.AST, kind: type[ast.operator], x: Any, y: Any) -> Any:
    """The same where a side has no value yet. Raises TypeError for what cannot be computed with."""
    if kind in (ast.Div, ast.FloorDiv, ast.Mod) and isinstance(y, int | float) and y == 0:
        raise ZeroDivisionError
    if _is_int(x) and _is_int(y):
        if kind in _DIMS:
            return _DIMS[kind](x, y)
        if kind in (ast.LShift, ast.RShift):
            return _DIMS[ast.Mult if kind is ast.LShift else ast.FloorDiv](x, _DIMS[ast.Pow](2, y))
        if kind is ast.Div:
            return Unset(float, c.text(node), ("Div", x, y))
        return c.opaque(c.text(node), (kind.__name__, x, y))
    kinds = [v.kind if isinstance(v, Unset) else int if _is_int(v) else type(v) for v in (x, y)]
    if str in kinds:
        if kind is not ast.Add or kinds != [str, str]:
            raise TypeError
        return Unset(str, c.text(node), ("Add", x, y))
    if not {int, float}.issuperset(kinds) or kind not in _FLOATS:
        raise TypeError
    return Unset(float, c.text(node), (kind.__name__, x, y))


def _conditions(c: Context, node: ast.AST, kind: type[ast.operator], x: Any, y: Any) -> Any:
    """`&`, `|` and `^` of compile-time bools."""
    if kind not in (ast.BitAnd, ast.BitOr, ast.BitXor) or not (_is_flag(x) and _is_flag(y)):
        return c.fault("E009", f"`{c.text(node)}` computes with a Const bool; use it as a condition", node)
    a, b = guard_of(c, x), guard_of(c, y)
    if a is None or b is None:
        return Unset(bool, c.text(node), (kind.__name__, x, y))
    return Condition(a & b if kind is ast.BitAnd else a | b if kind is ast.BitOr else a ^ b)


def _untracked(value: Any) -> bool:
    return isinstance(value, Unset) and value.kind is bool


def _is_flag(value: Any) -> bool:
    """Whether a value is a compile-time bool."""
    return isinstance(value, bool | Condition | Comparison) or _untracked(value)


def unary(c: Context, node: ast.AST, op: ast.unaryop, x: Any) -> Any:
    """A unary operator on a compile-time value."""
    if isinstance(op, ast.Not):
        return negation(c, node, x)
    if _is_flag(x):
        if isinstance(op, ast.Invert):
            return c.fault("E009", f"`{c.text(node)}` flips the bits of a Const bool", node, help="write `not`")
        return c.fault("E009", "a Const bool has no sign", node)
    if isinstance(x, Unset):
        if x.kind is not float or isinstance(op, ast.Invert):
            return c.fault("E009", f"`{c.text(node)}` cannot be computed from {show(x)}", node)
        return Unset(float, c.text(node), (type(op).__name__, x))
    if isinstance(op, ast.USub):
        return poly.neg(x) if isinstance(x, Poly) else _try(c, node, operator.neg, x)
    if isinstance(op, ast.UAdd):
        return x
    return poly.sub(-1, x) if isinstance(x, Poly) else _try(c, node, operator.invert, x)


def _try(c: Context, node: ast.AST, f: Any, x: Any) -> Any:
    try:
        return f(x)
    except TypeError:
        return c.fault("E009", f"`{c.text(node)}` cannot be computed from {show(x)}", node)


def negation(c: Context, node: ast.AST, x: Any) -> Any:
    """`not x` of a compile-time value."""
    x = as_condition(c, node, x)
    if isinstance(x, Condition):
        return Condition(TRUE ^ x.guard)
    return Unset(bool, c.text(node), ("Not", x)) if isinstance(x, Unset) else not x


def as_condition(c: Context, node: ast.AST, x: Any) -> Any:
    """A compile-time value as a condition: a bool; for symbolic ones a `Condition`, or `Unset` without a guard."""
    if isinstance(x, Poly):
        x = compare_dims(c, "ne", x, 0, c.text(node))
    if isinstance(x, Comparison):
        guard = guard_of(c, x)
        return Unset(bool, x.text, ("Comparison", x.predicate)) if guard is None else Condition(guard)
    if isinstance(x, Unset) and x.kind is not bool:
        guard = c.table.atom(("truth", x), c.text(node))
        return Unset(bool, c.text(node), ("truth", x)) if guard is None else Condition(guard)
    return x if isinstance(x, Condition | Unset) else bool(x)


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
        return _order(c, node, kind, x, y)
    if isinstance(x, Unset | Condition | Comparison) or isinstance(y, Unset | Condition | Comparison):
        return _order(c, node, kind, x, y)
    try:
        return bool(_PYTHON[kind](x, y))
    except TypeError:
        return c.fault("E009", f"`{c.text(node)}` cannot be compared at compile time", node)


def _member(c: Context, node: ast.AST, x: Any, y: Any, positive: bool) -> Any:
    if isinstance(y, Unset) and y.kind is tuple:
        return _opaque(c, node, ast.In if positive else ast.NotIn, x, y)
    if not is_tuple(y):
        return c.fault("E009", f"`{c.text(node)}`: only a tuple of Consts can be searched", node)
    found: Any = False
    for item in y:
        one = compare(c, node, ast.Eq(), x, item)
        a, b = guard_of(c, found), guard_of(c, one)
        if a is None or b is None:
            return one if isinstance(one, Unknown) else Unset(bool, c.text(node), ("In", x, y))
        found = True if a | b == TRUE else Condition(a | b) if a | b else False
    return found if positive else negation(c, node, found)


def _order(c: Context, node: ast.AST, kind: type[ast.cmpop], x: Any, y: Any) -> Any:
    """A comparison with a side that has no value yet: of kinds that Python compares."""
    kinds = {kind_of(x), kind_of(y)}
    if kind in (ast.Lt, ast.LtE, ast.Gt, ast.GtE) and kinds != {str} and not kinds <= {int, float, bool}:
        return c.fault("E009", f"`{c.text(node)}` cannot be compared at compile time", node)
    return _opaque(c, node, kind, x, y)


def _opaque(c: Context, node: ast.AST, kind: type[ast.cmpop], x: Any, y: Any) -> Any:
    """A comparison that a specialisation decides: an atom of its own, one for `==` and `!=` of the same two."""
    if kind in (ast.Is, ast.IsNot) and (x is None or y is None):
        return kind is ast.IsNot
    if _is_flag(x) and _is_flag(y) and kind in (ast.Eq, ast.NotEq, ast.Is, ast.IsNot):
        a, b = guard_of(c, x), guard_of(c, y)
        if a is not None and b is not None:
            same = TRUE ^ (a ^ b)
            return Condition(same if kind in (ast.Eq, ast.Is) else TRUE ^ same)
    flip = kind in (ast.NotEq, ast.IsNot, ast.NotIn)
    text = c.text(node)
    try:
        key = ("compare", _POSITIVE.get(kind, kind), x, y)
        said = text.replace("!=", "==").replace("is not", "is").replace("not in", "in") if flip else text
        guard = c.table.atom(key, said)
    except TypeError:
        return c.fault("E009", f"`{text}` cannot be compared at compile time", node)
    if guard is None:
        return Unset(bool, text, (flip, *key))
    if isinstance(y, str):
        _exclusive(c, key, guard)
    return Condition(TRUE ^ guard if flip else guard)


def _exclusive(c: Context, key: tuple[Any, ...], guard: int) -> None:
    """One name equals one string at most."""
    for other in c.table.keys:
        if is_tuple(other) and other != key and other[:3] == key[:3]:
            atom = c.table.atom(other, "")
            if atom is not None:
                c.table.exclude(atom & guard)


def _dtypes(c: Context, node: ast.AST, kind: type[ast.cmpop], x: Any, y: Any) -> Any:
    flip = kind in (ast.NotEq, ast.IsNot)
    if not isinstance(x, DType) or not isinstance(y, DType):
        return flip
    if kind not in (ast.Eq, ast.NotEq, ast.Is, ast.IsNot):
        return c.fault("E009", f"`{c.text(node)}`: dtypes have no order", node, help="compare them with == or !=")
    if x is y:
        return not flip
    if not x.mask & y.mask:
        return flip
    if x.is_variable and y.is_variable:
        return _opaque(c, node, kind, x, y)
    variable, leaf = (x, y) if x.is_variable else (y, x)
    guard = dtype_atom(c, variable, leaf)
    if guard is None:
        return Unset(bool, c.text(node), (flip, variable, leaf))
    return Condition(TRUE ^ guard if flip else guard)


def within(c: Context, dtype: DType, mask: int, text: str) -> Any:
    """Whether a dtype is one of the leaves in `mask`; of a variable a condition, `text` in messages."""
    inside = dtype.mask & mask
    if not inside or inside == dtype.mask or not dtype.is_variable:
        return bool(inside)
    whole = [leaf for leaf in members(dtype) if leaf.mask & inside]
    if len(whole) == 1:
        guard = dtype_atom(c, dtype, whole[0])
    else:
        guard = _class_atom(c, dtype, inside, text)
    return Unset(bool, text, ("within", dtype, inside)) if guard is None else Condition(guard)


def _class_atom(c: Context, variable: DType, mask: int, text: str) -> int | None:
    """The condition that a dtype variable is one of several leaves; it is related to others of the kind."""
    key = ("dtype", variable, mask)
    if key in c.table.keys:
        return c.table.atom(key, text)
    opposite = ("dtype", variable, variable.mask & ~mask)
    if opposite in c.table.keys:
        found = c.table.atom(opposite, text)
        return None if found is None else TRUE ^ found
    guard = c.table.atom(key, text)
    if guard is not None:
        c.pinned = True
        _relate(c, variable, mask, guard)
    return guard


def _relate(c: Context, variable: DType, mask: int, guard: int) -> None:
    """Exclude the rows in which a condition on a dtype variable contradicts another."""
    for key in c.table.keys:
        if not is_tuple(key) or key[:2] != ("dtype", variable) or (other := _mask(key[2])) == mask:
            continue
        atom = c.table.atom(key, "")
        if atom is None:
            continue
        if not mask & other:
            c.table.exclude(guard & atom)
        if not mask & ~other:
            c.table.exclude(guard & ~atom)
        if not other & ~mask:
            c.table.exclude(atom & ~guard)
        if not variable.mask & ~(mask | other):
            c.table.exclude(TRUE ^ (guard | atom))


def _mask(one: Any) -> int:
    """The leaves of a condition on a dtype: a leaf, or a mask."""
    return one.mask if isinstance(one, DType) else one


def dtype_atom(c: Context, variable: DType, leaf: DType) -> int | None:
    """The condition that a dtype variable is this leaf; the conditions of one variable exclude each other."""
    key = ("dtype", variable, leaf)
    known = key in c.table.keys
    guard = c.table.atom(key, f"{variable.name} is {leaf.name}")
    if guard is None or known:
        return guard
    c.pinned = True
    covered = guard
    _relate(c, variable, leaf.mask, guard)
    for other in members(variable):
        if other is not leaf and ("dtype", variable, other) in c.table.keys:
            covered |= c.table.atom(("dtype", variable, other), "") or 0
    if all(("dtype", variable, m) in c.table.keys for m in members(variable)):
        c.table.assume(covered)
    return guard
