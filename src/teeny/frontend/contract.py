"""`require`, `extent` and `static_assert`."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from teeny.frontend.call import bind
from teeny.frontend.consts import as_condition
from teeny.frontend.values import UNKNOWN, Comparison, Condition, Unset, is_faulty, is_tuple, show
from teeny.ir.dtype import BOOL, I32, I64, INT, DType
from teeny.ir.poly import Poly, substitute, symbol
from teeny.ir.predicate import Predicate
from teeny.ir.types import PointerType
from teeny.ops.constant import constant
from teeny.ops.contracts import extent_, require_
from teeny.ops.function import LanguageFunction, Operand

if TYPE_CHECKING:
    from teeny.frontend.context import Context
    from teeny.ir.core import Value

_ALLOWED = frozenset({
    "constant", "num_programs", "add", "sub", "mul", "neg", "floordiv", "mod", "max", "min", "abs", "cast", "cmp",
    "and", "or", "xor", "shl", "shr", "select", "phi",
})  # fmt: skip


def arguments(
    c: Context, node: ast.AST, function: LanguageFunction, args: tuple[Any, ...], keywords: dict[str, Any]
) -> dict[str, Any] | None:
    values = bind(c, node, function, args, keywords)
    if values is None:
        return None
    return None if any(map(is_faulty, values.values())) else values


def _in_place(c: Context, node: ast.AST, function: LanguageFunction) -> bool:
    if c.frame.outer is None and c.region == 0:
        return True
    where = "a helper" if c.frame.outer is not None else "a loop or a run-time branch"
    c.fault(
        "E014",
        f"{function.display} stands in {where}; a contract holds for the whole launch",
        node,
        help="write it at the top level of the kernel, or under a compile-time `if`",
    )
    return False


def _decidable(c: Context, node: ast.AST, value: Value, function: LanguageFunction) -> bool:
    """Whether a value depends on Scalar parameters, Consts and num_programs alone."""
    pending: list[Value] = [value]
    seen: set[Value] = set()
    while pending:
        one = pending.pop()
        if one in seen or one.op is None:
            continue
        seen.add(one)
        if one.op.schema.group not in _ALLOWED:
            loc = one.op.loc
            culprit = loc.name if loc is not None and loc.name else one.op.name
            c.fault(
                "E014",
                f"{function.display} depends on `{culprit}`, which is not known at launch",
                node,
                help="contracts are made of Scalar parameters, Consts and tl.num_programs",
            )
            return False
        pending.extend(one.op.operands)
    return True


def static_assert(
    c: Context, node: ast.AST, function: LanguageFunction, args: tuple[Any, ...], keywords: dict[str, Any], nodes: Any
) -> Any:
    values = arguments(c, node, function, args, keywords)
    if values is None or "cond" not in values:
        return None if values is None else c.fault("E005", f"{function.display} needs a condition", node)
    condition = values["cond"]
    if isinstance(condition, Operand):
        return c.fault(
            "E008",
            f"{function.display} needs a compile-time condition; `{c.text(nodes[0])}` is {show(condition)}",
            nodes[0],
            help="for arguments of a launch write tl.require",
        )
    hold(c, node, condition, values.get("msg", ""))
    return None


def hold(c: Context, node: Any, condition: Any, message: Any) -> None:
    """A compile-time condition that must hold: a fault where it does not, a fact, or both at specialisation."""
    if isinstance(condition, Comparison):
        c.facts = c.facts.assume(condition.predicate)
        if c.active == c.table.true:
            _identify(c, condition.predicate)
        if condition.predicate not in c.table.keys:
            return
    condition = as_condition(c, node, condition)
    truth = c.truth(condition)
    if truth is False:
        text = c.text(node.args[0]) if isinstance(node, ast.Call) and node.args else c.text(node)
        said = f": {message}" if isinstance(message, str) and message else ""
        c.fault("E013", f"`{text}` is false{said}", node)
    elif isinstance(condition, Condition) and truth is None:
        c.table.exclude(c.active & ~condition.guard)
        c.learn()


def _identify(c: Context, predicate: Predicate) -> None:
    """Of two names that are equal from here on only the first is used, so that shapes made of them are the same."""
    if predicate.op != "eq" or not isinstance(predicate.a, Poly):
        return
    terms = predicate.a.terms
    found = [
        m[0][0] for m, n in terms.items() if len(m) == 1 and m[0][1] == 1 and m[0][0].kind == "symbol" and n in (1, -1)
    ]
    if len(terms) == 2 and len(found) == 2 and sum(terms.values()) == 0:
        order = {name: at for at, name in enumerate(c.frame.env)}
        first, second = sorted((a.text for a in found), key=lambda n: (order.get(n, -1), n))
        c.equal = {n: substitute(d, {second: symbol(first)}) for n, d in c.equal.items()} | {second: symbol(first)}


def require(
    c: Context, node: ast.AST, function: LanguageFunction, args: tuple[Any, ...], keywords: dict[str, Any], nodes: Any
) -> Any:
    values = arguments(c, node, function, args, keywords)
    if values is None or not _in_place(c, node, function):
        return UNKNOWN
    condition, message = values.get("condition"), values.get("message", "")
    if not isinstance(message, str | Unset):
        return c.fault("T010", f"the message of {function.display} must be a string; found {show(message)}", node)
    if not isinstance(condition, Operand):
        if condition is None:
            return c.fault("E005", f"{function.display} needs a condition", node)
        hold(c, node, condition, message)
        return None
    if condition.shape or condition.dtype is not BOOL:
        return c.fault(
            "T007", f"{function.display} needs a scalar bool; `{c.text(nodes[0])}` is {show(condition)}", nodes[0]
        )
    if _decidable(c, nodes[0], condition.value, function):
        c.b.loc = c.location(node, f"tl.{function.name}")
        c.b.op(require_, (condition.value,), {"message": message if isinstance(message, str) else message.text})
    return None


def extent(
    c: Context, node: ast.AST, function: LanguageFunction, args: tuple[Any, ...], keywords: dict[str, Any], nodes: Any
) -> Any:
    values = arguments(c, node, function, args, keywords)
    if values is None or not _in_place(c, node, function):
        return UNKNOWN
    ptr, size, strides = values.get("ptr"), values.get("size"), values.get("strides")
    if not isinstance(ptr, Operand) or not isinstance(ptr.dtype, PointerType) or ptr.value.op is not None:
        return c.fault(
            "T005",
            f"{function.display} needs a pointer parameter of the kernel, as it was passed",
            nodes[0] if nodes else node,
        )
    if size is None:
        return c.fault("E005", f"{function.display} needs a size", node)
    sizes = size if is_tuple(size) else (size,)
    steps = () if strides is None else strides if is_tuple(strides) else (strides,)
    if strides is not None and len(steps) != len(sizes):
        return c.fault("S005", f"{function.display} has {len(sizes)} sizes and {len(steps)} strides", node)
    numbers = [_number(c, node, n, function) for n in (*sizes, *steps)]
    found = [n for n in numbers if n is not None]
    if len(found) == len(numbers):
        c.b.loc = c.location(node, f"tl.{function.name}")
        c.b.op(extent_, (ptr.value, *found), {"rank": len(sizes), "strided": strides is not None})
    return None


def _number(c: Context, node: ast.AST, value: Any, function: LanguageFunction) -> Value | None:
    if isinstance(value, int | Poly) and not isinstance(value, bool):
        c.b.loc = c.location(node)
        return constant(c.b, I32 if not isinstance(value, int) or abs(value) < 2**31 else I64, value)
    if isinstance(value, Operand) and not value.shape and isinstance(value.dtype, DType) and value.dtype.within(INT):
        return value.value if _decidable(c, node, value.value, function) else None
    c.fault("T010", f"{function.display} needs integers; found {show(value)}", node)
    return None


CONTRACTS: dict[str, Callable[..., Any]] = {"static_assert": static_assert, "require": require, "extent": extent}
