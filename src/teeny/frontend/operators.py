"""Operators: on tensors and pointers the functions bound to their classes, on compile-time values Python's own."""

from __future__ import annotations

import ast
from math import isfinite
from typing import Any

from teeny.diag.diagnostic import Edit, Fix
from teeny.diag.span import Location
from teeny.frontend import consts
from teeny.frontend.call import call_language
from teeny.frontend.context import Context
from teeny.frontend.execute import evaluate
from teeny.frontend.guards import guard_of
from teeny.frontend.sequences import together
from teeny.frontend.values import (
    UNKNOWN,
    Comparison,
    Condition,
    Unset,
    is_const,
    is_faulty,
    is_tuple,
    show,
    show_number,
)
from teeny.ir.dtype import BOOL, F32, F64, I32, I64, DType, largest
from teeny.ir.guard import TRUE
from teeny.ir.poly import Poly
from teeny.language.tensor import Ptr, Tensor
from teeny.ops.bits import andi, ori, xori
from teeny.ops.constant import constant
from teeny.ops.function import LanguageFunction, Operand, function_of

_METHODS: dict[type[ast.AST], str] = {
    ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "truediv", ast.FloorDiv: "floordiv", ast.Mod: "mod",
    ast.BitAnd: "and", ast.BitOr: "or", ast.BitXor: "xor", ast.LShift: "lshift", ast.RShift: "rshift",
    ast.Lt: "lt", ast.LtE: "le", ast.Gt: "gt", ast.GtE: "ge", ast.Eq: "eq", ast.NotEq: "ne",
    ast.USub: "neg", ast.UAdd: "pos", ast.Invert: "invert",
}  # fmt: skip
_SYMBOLS: dict[type[ast.AST], str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%", ast.BitAnd: "&",
    ast.BitOr: "|", ast.BitXor: "^", ast.LShift: "<<", ast.RShift: ">>", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">",
    ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=", ast.Pow: "**", ast.MatMult: "@",
}  # fmt: skip
_MIRRORED: dict[type[ast.AST], type[ast.cmpop]] = {
    ast.Lt: ast.Gt, ast.LtE: ast.GtE, ast.Gt: ast.Lt, ast.GtE: ast.LtE, ast.Eq: ast.Eq, ast.NotEq: ast.NotEq,
}  # fmt: skip


def _table(cls: type) -> dict[tuple[type[ast.AST], bool], LanguageFunction]:
    found: dict[tuple[type[ast.AST], bool], LanguageFunction] = {}
    for kind, name in _METHODS.items():
        for reflected in (False, True):
            function = function_of(vars(cls).get(f"__{'r' if reflected else ''}{name}__"))
            if function is not None:
                found[kind, reflected] = function
    return found


_TENSOR = _table(Tensor)
_POINTER = _table(Ptr)


def _find(x: Any, kind: type[ast.AST], reflected: bool) -> LanguageFunction | None:
    return (_POINTER if x.is_pointer else _TENSOR).get((kind, reflected))


def binop(c: Context, node: ast.BinOp) -> Any:
    return binary(c, node, node.op, evaluate(c, node.left), evaluate(c, node.right), node.left, node.right)


def binary(c: Context, node: ast.AST, op: ast.operator, x: Any, y: Any, left: ast.AST, right: ast.AST) -> Any:
    """`x op y`; `left` and `right` are the nodes they stem from."""
    if is_faulty(x) or is_faulty(y):
        return UNKNOWN
    kind = type(op)
    if x is None or y is None:
        return _absent(c, left if x is None else right, kind)
    if isinstance(x, Operand):
        function = _find(x, kind, False)
        if function is not None and not (isinstance(y, Operand) and y.is_pointer and not x.is_pointer):
            return call_language(c, node, function, (x, y), {}, (left, right), {})
    if isinstance(y, Operand):
        function = _find(y, kind, True)
        if function is not None:
            return call_language(c, node, function, (y, x), {}, (right, left), {})
    if isinstance(x, Operand) or isinstance(y, Operand):
        return _no_operator(c, node, kind, x, y, left, right)
    if kind is ast.Add and (is_tuple(x) or is_tuple(y)):
        if is_tuple(x) and is_tuple(y):
            return (*x, *y)
        if all(is_tuple(v) or (isinstance(v, Unset) and v.kind is tuple) for v in (x, y)):
            return together(c, node, (x, y))
    if not is_const(x) or not is_const(y):
        return c.fault("E001", f"`{_SYMBOLS[kind]}` does not take {show(x)} and {show(y)}", node)
    return consts.binary(c, node, op, x, y)


def _absent(c: Context, node: ast.AST, kind: type[ast.AST]) -> Any:
    """Report that a value is None where a pointer or tensor is needed."""
    if not isinstance(node, ast.Name):
        return c.fault("T010", f"`{_SYMBOLS[kind]}` does not take None", node)
    return c.fault("T010", f"`{node.id}` is None here", node, help=f"use it under `if {node.id} is not None:`")


def _no_operator(c: Context, node: ast.AST, kind: type[ast.AST], x: Any, y: Any, left: ast.AST, right: ast.AST) -> Any:
    symbol = _SYMBOLS[kind]
    if any(isinstance(v, Operand) and v.is_pointer for v in (x, y)):
        c.doubt(left if isinstance(x, Operand) and x.is_pointer else right)
        return c.fault(
            "T005",
            f"`{symbol}` does not take {show(x)} and {show(y)}",
            node,
            help="a pointer is moved with `+` and `-`; load through it to compute with the elements",
        )
    helps: dict[type[ast.AST], str] = {
        ast.Pow: "write x * x, or tl.exp(y * tl.log(x))",
        ast.MatMult: "matrix products are written tl.dot",
    }
    return c.fault("E001", f"`{symbol}` is no operator of tensors", node, help=helps.get(kind, ""))


def unaryop(c: Context, node: ast.UnaryOp) -> Any:
    x = evaluate(c, node.operand)
    if is_faulty(x):
        return UNKNOWN
    if not isinstance(x, Operand):
        return consts.unary(c, node, node.op, x)
    if isinstance(node.op, ast.Not):
        if not is_scalar_flag(c, node.operand, x, "not", "~"):
            return UNKNOWN
        c.b.loc = c.location(node, "not")
        return Operand(c.b.create(xori, x.value, constant(c.b, BOOL, True)), BOOL)
    function = _find(x, type(node.op), False)
    if function is None:
        return c.fault("T005", f"{show(x)} has no such operator", node)
    return call_language(c, node, function, (x,), {}, (node.operand,), {})


def is_scalar_flag(c: Context, node: ast.AST, x: Operand, word: str, instead: str) -> bool:
    """Whether a value can stand beside `and`, `or`, `not`: a scalar bool."""
    if x.shape:
        c.fault(
            "T007",
            f"`{word}` needs a scalar condition; `{c.text(node)}` is {show(x)}",
            node,
            help=f"use `{instead}`, lane by lane",
        )
    elif x.dtype is not BOOL:
        c.fault("T007", f"`{word}` needs a bool; `{c.text(node)}` is {show(x)}", node, help="compare it first")
    else:
        return True
    return False


def boolop(c: Context, node: ast.BoolOp) -> Any:
    """`and` and `or`: of compile-time values as in Python, of scalar bools both sides evaluated.

    What stands after a compile-time condition is evaluated under it: `HAS_BIAS and bias > 0`.
    """
    conjunction = isinstance(node.op, ast.And)
    guard = c.guard
    result: Any = None
    for at, one in enumerate(node.values):
        value = _flag(c, one, conjunction)
        c.enter(guard)
        if is_faulty(value):
            return UNKNOWN
        result = value if at == 0 else _combine(c, node, conjunction, result, value)
        if not isinstance(result, Operand) and c.truth(result) is (not conjunction):
            break
        if isinstance(result, Condition):
            c.enter(guard & (result.guard if conjunction else TRUE ^ result.guard))
    c.enter(guard)
    return result


def _flag(c: Context, node: ast.expr, conjunction: bool) -> Any:
    """One side of `and` or `or`: a scalar bool or a compile-time condition."""
    value = evaluate(c, node)
    if isinstance(value, Operand):
        word, symbol = ("and", "&") if conjunction else ("or", "|")
        return value if is_scalar_flag(c, node, value, word, symbol) else UNKNOWN
    return value if is_faulty(value) else consts.as_condition(c, node, value)


def _combine(c: Context, node: ast.AST, conjunction: bool, x: Any, y: Any) -> Any:
    if isinstance(x, Operand) and isinstance(y, Operand):
        c.b.loc = c.location(node, "and" if conjunction else "or")
        return Operand(c.b.create(andi if conjunction else ori, x.value, y.value), BOOL)
    if isinstance(x, Operand) or isinstance(y, Operand):
        known, other = (y, x) if isinstance(x, Operand) else (x, y)
        if isinstance(known, Unset):
            return _combine(c, node, conjunction, other, as_scalar(c, node, known))
        return other if c.settle(known) is conjunction else known
    a, b = guard_of(c, x), guard_of(c, y)
    if a is None or b is None:
        return Unset(bool, c.text(node), ("And" if conjunction else "Or", x, y))
    if not c.generic:
        return y if bool(x) is conjunction else x
    return Condition(a & b if conjunction else a | b)


def compare(c: Context, node: ast.Compare) -> Any:
    """Comparisons; chained ones of compile-time values and scalars, where each middle operand is evaluated once."""
    left, x = node.left, evaluate(c, node.left)
    result: Any = None
    for op, right in zip(node.ops, node.comparators, strict=True):
        y = evaluate(c, right)
        one = _compare(c, node, op, x, y, left, right)
        if is_faulty(one):
            return UNKNOWN
        if len(node.ops) > 1:
            if isinstance(one, Operand) and one.shape:
                return _chained(c, node)
            one = one if isinstance(one, Operand) else consts.as_condition(c, node, one)
        result = one if result is None else _combine(c, node, True, result, one)
        left, x = right, y
    return result


def _chained(c: Context, node: ast.Compare) -> Any:
    parts = [c.location(one).span.text for one in (node.left, *node.comparators)]
    signs = [_SYMBOLS.get(type(op), "?") for op in node.ops]
    text = " & ".join(f"({a} {sign} {b})" for a, sign, b in zip(parts, signs, parts[1:], strict=False))
    help = f"write {text}"
    fix = Fix(help, (Edit(c.location(node).span, text),)) if "\n" not in text else None
    return c.fault("E001", "a chained comparison of blocks is outside the language", node, help=help, fix=fix)


def _compare(c: Context, node: ast.AST, op: ast.cmpop, x: Any, y: Any, left: ast.AST, right: ast.AST) -> Any:
    if is_faulty(x) or is_faulty(y):
        return UNKNOWN
    kind = type(op)
    if not isinstance(x, Operand) and not isinstance(y, Operand):
        return consts.compare(c, node, op, x, y)
    if isinstance(op, ast.Is | ast.IsNot):
        if x is None or y is None:
            return isinstance(op, ast.IsNot)
        return c.fault("E001", "`is` compares with None alone in a kernel", node, help="use ==")
    if isinstance(op, ast.In | ast.NotIn):
        return c.fault("E001", "`in` is outside the language", node, help="compare with each value")
    if isinstance(x, Operand):
        function = _find(x, kind, False)
        if function is not None and x.is_pointer == (isinstance(y, Operand) and y.is_pointer):
            return call_language(c, node, function, (x, y), {}, (left, right), {})
    elif isinstance(y, Operand) and not y.is_pointer:
        function = _find(y, _MIRRORED[kind], False)
        if function is not None:
            return call_language(c, node, function, (y, x), {}, (right, left), {})
    c.doubt(left if isinstance(x, Operand) and x.is_pointer else right)
    return c.fault("T005", f"`{_SYMBOLS[kind]}` does not take {show(x)} and {show(y)}", node)


def as_scalar(c: Context, node: Any, value: Any) -> Any:
    """A compile-time number as a run-time scalar (bool, i32, f32); a fault for anything else."""
    c.b.loc = node if isinstance(node, Location) else c.location(node)
    unset = value.kind if isinstance(value, Unset) else None
    if isinstance(value, bool | Condition | Comparison) or unset is bool:
        return Operand(constant(c.b, BOOL, value), BOOL)
    if isinstance(value, int) and not -(2**31) <= value < 2**31:
        return _too_large(c, node, value, I32, I64)
    if isinstance(value, int | Poly):
        return Operand(constant(c.b, I32, value), I32)
    if isinstance(value, float) and isfinite(value) and abs(value) > largest(F32):
        return _too_large(c, node, value, F32, F64)
    if isinstance(value, float) or unset is float:
        return Operand(constant(c.b, F32, value), F32)
    return c.fault("T010", f"{show(value)} cannot become a run-time value here", node, help="use a number or a tensor")


def _too_large(c: Context, node: Any, value: float, dtype: DType, wider: DType) -> Any:
    return c.fault(
        "T006",
        f"the Const {show_number(value)} becomes a run-time {dtype} here, and does not fit",
        node,
        help=f"say the dtype: tl.full((), value, tl.{wider})",
    )
