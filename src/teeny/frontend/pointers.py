"""Types of pointers as values: `tl.pointer_type(tl.f32)`, `tl.Ptr[tl.f32]`."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from teeny.frontend.call import bind
from teeny.frontend.execute import evaluate
from teeny.frontend.values import UNKNOWN, is_faulty, show
from teeny.ir.dtype import DType
from teeny.ir.types import PointerType, pointer

if TYPE_CHECKING:
    from teeny.frontend.context import Context
    from teeny.ops.function import LanguageFunction


def pointer_type(
    c: Context, node: ast.Call, function: LanguageFunction, args: tuple[Any, ...], keywords: dict[str, Any],
    nodes: tuple[ast.AST, ...],
) -> Any:  # fmt: skip
    """`tl.pointer_type(element_ty)`; the address space is that of all arrays, 1."""
    values = bind(c, node, function, args, keywords)
    if values is None:
        return UNKNOWN
    if "element_ty" not in values:
        return c.fault("E005", f"{function.display} needs `element_ty`", node)
    space = values.get("address_space", 1)
    if space != 1:
        return c.fault("E005", f"`address_space` is 1, that of arrays; found {show(space)}", node)
    return _pointing(c, node, values["element_ty"])


def indexed(c: Context, node: ast.Subscript) -> Any:
    """`tl.Ptr[...]` where it is a value."""
    return _pointing(c, node, evaluate(c, node.slice))


def _pointing(c: Context, node: ast.AST, element: Any) -> Any:
    if is_faulty(element):
        return UNKNOWN
    if isinstance(element, DType | PointerType):
        return pointer(element)
    help = "name a dtype: tl.pointer_type(tl.f32), or tl.pointer_type(x_ptr.dtype)"
    return c.fault("T010", f"a pointer points at elements of a dtype, found {show(element)}", node, help=help)


POINTERS: dict[str, Callable[..., Any]] = {"pointer_type": pointer_type}
"""By the construct: its rule."""
