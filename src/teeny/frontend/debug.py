"""What a kernel prints and asserts, while it is compiled and while it runs; what it assumes; f-strings for these."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from teeny.frontend.assembly import inline_asm
from teeny.frontend.call import call_language
from teeny.frontend.consts import as_condition
from teeny.frontend.contract import arguments, hold
from teeny.frontend.execute import evaluate
from teeny.frontend.operators import as_scalar
from teeny.frontend.values import UNKNOWN, Comparison, Condition, Unset, is_faulty, is_tuple, show
from teeny.ir.dtype import BOOL, F32, DType
from teeny.ir.poly import Poly
from teeny.ir.types import ViewType
from teeny.ops.bits import invert, or_
from teeny.ops.constant import constant
from teeny.ops.debug import assert_, print_, static_assert
from teeny.ops.debug import device_assert as device_assert_function
from teeny.ops.function import LanguageFunction, Operand, function_of
from teeny.ops.hints import assume_

if TYPE_CHECKING:
    from teeny.frontend.context import Context

Keywords = dict[str, Any]


# ---- text ---------------------------------------------------------------------------------------------------------


def joined(c: Context, node: ast.JoinedStr) -> Any:
    """An f-string of compile-time values: a Const str, whose value comes with the specialisation where theirs do."""
    parts: list[Any] = []
    for part in node.values:
        found = evaluate(c, part)
        if is_faulty(found):
            return UNKNOWN
        parts.append(found)
    if any(isinstance(one, Unset) for one in parts):
        return Unset(str, c.text(node), ("joined", *parts))
    return "".join(parts)


def formatted(c: Context, node: ast.FormattedValue) -> Any:
    """`{value!r:spec}` of an f-string."""
    value = evaluate(c, node.value)
    spec = "" if node.format_spec is None else evaluate(c, node.format_spec)
    if is_faulty(value) or is_faulty(spec):
        return UNKNOWN
    if _has_operands(value):
        return c.fault(
            "E008",
            f"an f-string holds compile-time values; `{c.text(node.value)}` is {show(value)}",
            node.value,
            help="print a run-time value with tl.device_print",
        )
    if _is_open(value) or isinstance(spec, Unset):
        return Unset(str, c.text(node.value), ("formatted", value, node.conversion, spec))
    plain = _plain(value)
    try:
        plain = {115: str, 114: repr, 97: ascii}[node.conversion](plain) if node.conversion > 0 else plain
        return format(plain, spec)
    except (TypeError, ValueError) as error:
        return c.fault("E009", f"`{c.text(node.value)}` cannot be formatted: {error}", node)


def _has_operands(value: Any) -> bool:
    return any(map(_has_operands, value)) if is_tuple(value) else isinstance(value, Operand)


def _is_open(value: Any) -> bool:
    """Whether a compile-time value is known at specialisation alone."""
    if is_tuple(value):
        return any(map(_is_open, value))
    return isinstance(value, Poly | Unset | Condition | Comparison) or (isinstance(value, DType) and value.is_variable)


def _plain(value: Any) -> Any:
    """A compile-time value as Python prints it; dtypes and functions by their names, run-time values by their kind."""
    if is_tuple(value):
        return tuple(map(_Said, map(_plain, value)))
    if isinstance(value, Operand):
        return show(value)
    if isinstance(value, DType):
        return value.name
    name = getattr(value, "__name__", None) if callable(value) else None
    return value if name is None else name


class _Said:
    """An element of a tuple that is printed as it is said, without the quotes of a name."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __repr__(self) -> str:
        return self.value if isinstance(self.value, str) else repr(self.value)


def _text(c: Context, node: ast.AST, function: LanguageFunction, values: Keywords, name: str, default: str = "") -> Any:
    """A Const text among the arguments; None after a fault."""
    found = values.get(name, default)
    if isinstance(found, str) or (isinstance(found, Unset) and found.kind is str):
        return found
    c.fault("T010", f"`{name}` of {function.display} must be a compile-time text; found {show(found)}", node)
    return None


# ---- at compile time ----------------------------------------------------------------------------------------------


def static_print(
    c: Context, node: ast.AST, function: LanguageFunction, args: tuple[Any, ...], keywords: Keywords, nodes: Any
) -> Any:
    if any(map(is_faulty, (*args, *keywords.values()))):
        return UNKNOWN
    values = arguments(c, node, function, args, keywords)
    if values is None:
        return UNKNOWN
    sep, end = _text(c, node, function, values, "sep", " "), _text(c, node, function, values, "end", "\n")
    if sep is not None and end is not None and not c.generic:
        print(*map(str, map(_plain, args)), sep=sep, end=end)
    return None


def assume(
    c: Context, node: ast.AST, function: LanguageFunction, args: tuple[Any, ...], keywords: Keywords, nodes: Any
) -> Any:
    values = arguments(c, node, function, args, keywords)
    if values is None:
        return UNKNOWN
    if "cond" not in values:
        return c.fault("E005", f"{function.display} needs a condition", node)
    cond = values["cond"]
    if not isinstance(cond, Operand):
        hold(c, node, cond, "")
        return None
    if cond.shape or cond.dtype is not BOOL:
        place = nodes[0] if nodes else node
        return c.fault("T007", f"{function.display} needs a scalar bool; `{c.text(place)}` is {show(cond)}", place)
    c.b.loc = c.location(node, function.written)
    c.b.op(assume_, (cond.value,))
    return None


# ---- while it runs ------------------------------------------------------------------------------------------------


def device_print(
    c: Context, node: ast.AST, function: LanguageFunction, args: tuple[Any, ...], keywords: Keywords, nodes: Any
) -> Any:
    values = arguments(c, node, function, args, keywords)
    if values is None:
        return UNKNOWN
    if "prefix" not in values:
        return c.fault("E005", f"{function.display} needs a prefix", node, help='tl.device_print("x", x)')
    prefix = values["prefix"]
    if not isinstance(prefix, str) and not (isinstance(prefix, Unset) and prefix.kind is str):
        text = f"`prefix` of {function.display} must be a compile-time text; found {show(prefix)}"
        return c.fault("T010", text, nodes[0] if nodes else node, help='say what is printed: tl.device_print("x", x)')
    if isinstance(prefix, str) and not (prefix.isascii() and (prefix.isprintable() or not prefix)):
        return c.fault("T010", f"the prefix of {function.display} must be printable ASCII; found {prefix!r}", node)
    c.b.loc = place = c.location(node, function.written)
    operands = [_printed(c, at, one) for at, one in zip(nodes[1:], args[1:], strict=False)]
    if any(map(is_faulty, operands)):
        return UNKNOWN
    c.b.loc = place
    hexadecimal = bool(c.settle(as_condition(c, node, values.get("hex", False))))
    signed = tuple(int(isinstance(o.dtype, DType) and o.dtype.kind == "signed") for o in operands)
    attrs = {"prefix": _prefix(prefix, bool(operands)), "hex": hexadecimal, "isSigned": signed}
    c.b.op(print_, tuple(o.value for o in operands), attrs)
    return None


def _prefix(prefix: Any, values: bool) -> str:
    """As Triton writes it: a space before it, and a colon and a space after it where values follow."""
    text = prefix if isinstance(prefix, str) else prefix.text
    if text and values:
        text = text if text.endswith(" ") else f"{text} " if text.endswith(":") else f"{text}: "
    return f" {text}" if text and not text.startswith(" ") else text


def _printed(c: Context, node: ast.AST, value: Any) -> Any:
    """An argument as a run-time value; a Const float as f32."""
    if is_faulty(value) or (isinstance(value, Operand) and not isinstance(value.type, ViewType)):
        return value
    if isinstance(value, float) or (isinstance(value, Unset) and value.kind is float):
        return Operand(constant(c.b, F32, value), F32)
    if isinstance(value, bool | int | Poly | Condition | Comparison) or (
        isinstance(value, Unset) and value.kind is bool
    ):
        return as_scalar(c, node, value)
    return c.fault(
        "T010",
        f"tl.device_print takes tiles, scalars, pointers and numbers; `{c.text(node)}` is {show(value)}",
        node,
        help="print what is known at compile time with tl.static_print",
    )


def device_assert(
    c: Context, node: ast.AST, function: LanguageFunction, args: tuple[Any, ...], keywords: Keywords, nodes: Any
) -> Any:
    values = arguments(c, node, function, args, keywords)
    if values is None:
        return UNKNOWN
    if "cond" not in values:
        return c.fault("E005", f"{function.display} needs a condition", node)
    message = _text(c, node, function, values, "msg")
    if message is not None:
        _demand(c, node, nodes[0] if nodes else node, function, values["cond"], message, values.get("mask"))
    return None


def assert_statement(c: Context, node: ast.Assert) -> None:
    """`assert cond, msg`: of compile-time values a static_assert, else a device_assert."""
    cond = evaluate(c, node.test)
    message = "" if node.msg is None else evaluate(c, node.msg)
    if is_faulty(cond) or is_faulty(message):
        return
    at_run_time = isinstance(cond, Operand) or (c.region and c.truth(as_condition(c, node.test, cond)) is False)
    function = function_of(device_assert_function if at_run_time else static_assert)
    assert function is not None
    message = _text(c, node.msg or node, function, {"msg": message}, "msg")
    if message is None:
        return
    if at_run_time:
        _demand(c, node, node.test, function, cond, message, None)
    else:
        hold(c, node.test, cond, message)


def _demand(
    c: Context, node: ast.AST, test: ast.AST, function: LanguageFunction, cond: Any, message: Any, mask: Any
) -> None:
    """The condition in each lane where the mask holds."""
    for value in (cond, mask):
        if isinstance(value, Operand) and value.dtype is not BOOL:
            c.fault(
                "T007",
                f"{function.display} needs conditions; `{c.text(test if value is cond else node)}` is {show(value)}",
                test,
                help="compare it, for example with `!= 0`",
            )
            return
    if not isinstance(cond, Operand):
        cond = as_scalar(c, test, as_condition(c, test, cond))
    if mask is not None:
        if not isinstance(mask, Operand):
            mask = as_scalar(c, test, as_condition(c, test, mask))
        negation, union = function_of(invert), function_of(or_)
        assert negation is not None
        assert union is not None
        outside = call_language(c, node, negation, (mask,), {}, (test,), {})
        cond = call_language(c, node, union, (cond, outside), {}, (test, test), {})
    if is_faulty(cond):
        return
    c.b.loc = c.location(node, function.written)
    c.b.op(assert_, (cond.value,), {"message": message if isinstance(message, str) else message.text})


DEBUG: dict[str, Callable[..., Any]] = {
    "static_print": static_print, "assume": assume, "device_print": device_print, "device_assert": device_assert,
    "inline_asm_elementwise": inline_asm,
}  # fmt: skip
"""By the construct: its rule."""
