"""`inline_asm_elementwise`: any number of operands, and as many results as there are dtypes."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from teeny.frontend.contract import arguments
from teeny.frontend.dims import CallShapes
from teeny.frontend.operators import as_scalar
from teeny.frontend.values import UNKNOWN, Unset, is_faulty, is_tuple, show
from teeny.ir.dtype import DType, storage
from teeny.ir.types import typed
from teeny.ops.function import LanguageFunction, Operand
from teeny.ops.inline_asm import inline_asm_
from teeny.ops.shape import broadcast_value

if TYPE_CHECKING:
    from teeny.frontend.context import Context
    from teeny.ir.poly import Dim

_NAMES = ("asm", "constraints", "args", "dtype", "is_pure", "pack")


def inline_asm(
    c: Context, node: ast.AST, function: LanguageFunction, args: tuple[Any, ...], keywords: dict[str, Any], nodes: Any
) -> Any:
    values = arguments(c, node, function, args, keywords)
    if values is None:
        return UNKNOWN
    missing = [name for name in _NAMES if name not in values]
    if missing:
        return c.fault("E005", f"{function.display} needs the argument `{missing[0]}`", node)
    asm, constraints, given, dtype, pure, pack = (values[name] for name in _NAMES)
    kinds = (("asm", asm, str, "a text"), ("constraints", constraints, str, "a text"), ("pack", pack, int, "an int"))
    for name, value, kind, needed in (*kinds, ("is_pure", pure, bool, "a bool")):
        if isinstance(value, Unset) and value.kind is kind:
            return UNKNOWN  # the specialisation knows it
        if not isinstance(value, kind):
            return _wrong(c, node, function, name, f"{needed} that is known", value)
    dtypes = dtype if is_tuple(dtype) else (dtype,)
    if not dtypes or not all(isinstance(one, DType) for one in dtypes):
        return _wrong(c, node, function, "dtype", "a dtype or a tuple of dtypes", dtype)
    if not is_tuple(given):
        return _wrong(c, node, function, "args", "a list of tiles and scalars", given)
    c.b.loc = c.location(node, function.written)
    operands = [one if isinstance(one, Operand) else as_scalar(c, node, one) for one in given]
    if any(map(is_faulty, operands)):
        return UNKNOWN
    shape: tuple[Dim, ...] = ()
    if operands:
        rules = CallShapes(c, node, function.written)
        shape = rules.broadcast(*(o.shape for o in operands))
        if rules.failed:
            return UNKNOWN
    c.b.loc = c.location(node, function.written)
    types = tuple(typed(shape, storage(one)) for one in dtypes)
    attrs = {"asm_string": asm, "constraints": constraints, "packed_element": pack, "pure": pure}
    made = c.b.op(inline_asm_, tuple(broadcast_value(c.b, o.value, shape) for o in operands), attrs, (), types)
    results = tuple(Operand(value, one) for value, one in zip(made.results, dtypes, strict=True))
    return results if is_tuple(dtype) else results[0]


def _wrong(c: Context, node: ast.AST, function: LanguageFunction, name: str, needed: str, found: Any) -> Any:
    return c.fault("T010", f"`{name}` of {function.display} must be {needed}; found {show(found)}", node)
