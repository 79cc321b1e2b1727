"""Attributes: members of modules, what tensors and pointers have, what dtypes say of themselves."""

from __future__ import annotations

import ast
import math
from functools import cache
from types import FunctionType, ModuleType
from typing import Any

import teeny.language
from teeny.diag.diagnostic import Edit, Fix
from teeny.diag.span import Span
from teeny.frontend.call import call_language
from teeny.frontend.consts import within
from teeny.frontend.context import Context
from teeny.frontend.execute import evaluate
from teeny.frontend.outer import global_const, infinite, outside
from teeny.frontend.triton_names import INSTEAD, LACKING, ONE_TARGET, library_instead
from teeny.frontend.values import UNKNOWN, Answer, Method, is_faulty, is_tuple, kind_of, show
from teeny.ir.dtype import DType, members
from teeny.ir.poly import Dim
from teeny.ir.types import PointerType, ViewType
from teeny.language import dtypes, extra
from teeny.language.asked import Asked
from teeny.language.extra import libdevice
from teeny.language.tensor import BlockPtr, Ptr, Tensor, TensorDescriptor, Transposition
from teeny.ops.descriptor import SIZES, size_of
from teeny.ops.function import Operand, function_of

_OWN = ("element_ty", "scalar")
_NUMBERS = ("primitive_bitwidth", "int_bitwidth", "itemsize")
_OF_VALUES = ("is_ptr", "is_block")


def attribute(c: Context, node: ast.Attribute) -> Any:
    if node.attr in _OF_VALUES and isinstance(node.value, ast.Attribute) and node.value.attr in ("dtype", "type"):
        asked = evaluate(c, node.value.value)
        if isinstance(asked, Operand):
            return Answer(asked.is_pointer and not asked.shape if node.attr == "is_ptr" else bool(asked.shape))
    base = evaluate(c, node.value)
    if is_faulty(base) and not isinstance(base, Operand):
        return UNKNOWN
    if isinstance(base, Operand):
        return _of_operand(c, node, base)
    if isinstance(base, ModuleType):
        try:
            found: Any = getattr(base, node.attr)
        except AttributeError:
            return _no_member(c, node, base)
        if base is math and isinstance(found, float):
            return found
        if isinstance(found, float) and not math.isfinite(found):
            return infinite(c, node, found)
        if isinstance(found, int | float | str | tuple):
            return global_const(c, node, node.attr, getattr(base, "__annotations__", {}), found)
        return outside(c, node, found)
    if isinstance(base, DType):
        return _of_dtype(c, node, base)
    if isinstance(base, type):
        value = getattr(base, node.attr, None)
        if base.__module__.startswith("teeny.language.") and isinstance(value, bool):  # `tl.PropagateNan.ALL`
            return value
        help = "pass the value as a Const parameter"
        return c.fault("E012", f"`{c.text(node)}` belongs to a class, which a kernel cannot use", node, help=help)
    if kind_of(base) is int and node.attr == "bit_length":
        number = isinstance(base, int)
        return Answer(base.bit_length() if number else c.opaque(f"{c.text(node)}()", (node.attr, base)))
    help = "a list is a tuple here, which stays as it is: values = (*values, new)" if is_tuple(base) else ""
    return c.fault("E001", f"{show(base)} has no attribute `{node.attr}` in a kernel", node, help=help)


def _no_member(c: Context, node: ast.Attribute, module: ModuleType) -> Any:
    if module is teeny.language and node.attr in LACKING:
        return c.fault("E002", f"`{c.text(node)}` is Triton's, and not in teeny", node, help=LACKING[node.attr])
    if module is teeny.language and node.attr in INSTEAD:
        return c.fault("E002", f"`{c.text(node)}` is Triton's alone", node, help=INSTEAD[node.attr])
    if module is extra:
        return c.fault("E002", f"`{c.text(node)}` is Triton's alone", node, help=ONE_TARGET)
    if module is libdevice and (instead := library_instead(node.attr)):
        return c.fault("E002", f"`{c.text(node)}` is Triton's alone", node, help=instead)
    from difflib import get_close_matches

    close = get_close_matches(node.attr, [n for n in dir(module) if not n.startswith("_")], 1)
    help = f"did you mean `{close[0]}`?" if close else ""
    source, _, _, line, column = c.location(node).span
    span = Span(source, line, column - len(node.attr.encode()), line, column)
    fix = Fix(help, (Edit(span, close[0]),)) if close else None
    return c.fault("E002", f"`{c.text(node)}` does not exist", node, help=help, fix=fix)


def _class_of(base: Operand) -> type:
    """The class whose methods a run-time value has."""
    if isinstance(base.type, ViewType):
        return BlockPtr if base.type.kind == "block pointer" else TensorDescriptor
    return Ptr if base.is_pointer else Tensor


def _of_operand(c: Context, node: ast.Attribute, base: Operand) -> Any:
    if node.attr in ("dtype", "type"):
        return base.dtype.pointee if isinstance(base.dtype, PointerType) else base.dtype
    if node.attr == "shape" and not base.is_pointer:
        return base.shape
    if node.attr == "numel" and not base.is_pointer:
        return _size(base.shape)
    if isinstance(base.type, ViewType) and base.type.kind == "descriptor" and node.attr in SIZES:
        c.b.loc = c.location(node)
        return size_of(c.b, base, base.type, node.attr)
    cls = _class_of(base)
    found = vars(cls).get(node.attr)
    callable_ = function_of(found) is not None or isinstance(found, FunctionType)
    if callable_ and not node.attr.startswith("_"):
        return Method(found, base)
    if isinstance(found, Transposition):
        function = function_of(found.function[0])
        assert function is not None
        return call_language(c, node, function, (base,), {}, (node.value,), {})
    return c.fault("E001", f"{show(base)} has no attribute `{node.attr}`", node)


def _size(shape: tuple[Dim, ...]) -> Dim:
    size: Dim = 1
    for dim in shape:
        size = size * dim
    return size


def _of_dtype(c: Context, node: ast.Attribute, dtype: DType) -> Any:
    """What a dtype says of itself; of a variable a condition, or a number that is not known yet."""
    if node.attr in _OWN:
        return dtype
    if node.attr in _NUMBERS:
        numbers = {getattr(_classes()[leaf], node.attr) for leaf in members(c.pin(dtype))}
        return numbers.pop() if len(numbers) == 1 else c.opaque(c.text(node), (node.attr, dtype))
    if node.attr.startswith("is_") and hasattr(Asked, node.attr):
        return Answer(within(c, dtype, _mask(node.attr), f"{dtype.name}.{node.attr}()"))
    known = ", ".join((*_NUMBERS, "is_floating()", "is_int()", "is_fp16()"))
    return c.fault("E001", f"{show(dtype)} has no attribute `{node.attr}`", node, help=f"it has {known}")


@cache
def _classes() -> dict[DType, type[Asked]]:
    """By leaf, its class in the language."""
    named = (getattr(dtypes, name) for name in dtypes.__all__)
    return {one.ir: one for one in named if isinstance(getattr(one, "ir", None), DType)}


@cache
def _mask(question: str) -> int:
    """The leaves that say yes."""
    return sum(leaf.mask for leaf, one in _classes().items() if getattr(one, question)())
