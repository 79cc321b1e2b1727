"""Names: locals, and what stands outside of the kernel: functions, modules, dtypes, Consts of a module."""

from __future__ import annotations

import ast
import math
import re
from types import FunctionType, ModuleType
from typing import Any

from teeny.diag.diagnostic import Edit, Fix
from teeny.frontend.context import Context
from teeny.frontend.names import Missing, resolve
from teeny.frontend.signature import variable_of
from teeny.ir.dtype import DType
from teeny.ir.poly import Poly, substitute
from teeny.ir.types import PointerType
from teeny.language.constexpr import Held
from teeny.ops.function import Operand


def name(c: Context, node: ast.Name) -> Any:
    found = c.lookup(node.id, node)
    if c.equal and isinstance(found, Poly):
        return substitute(found, c.equal)
    return _outer(c, node) if found is NotImplemented else found


def _outer(c: Context, node: ast.Name) -> Any:
    """A name that is no local: a function, a module, a dtype, or a global Const."""
    fn = c.frame.fn
    found = Missing.NOT_FOUND if node.id in fn.__code__.co_varnames else resolve(fn, node.id)
    if isinstance(found, Missing):
        return _unknown_name(c, node, found)
    variable = variable_of(found)
    if variable is not None:
        beside = next((n for n, a in c.frame.env.items() if _has_dtype(a[0].value, variable)), "x_ptr")
        return c.fault(
            "E015",
            f"`{node.id}` is a type variable and has no value here",
            node,
            help="use the dtype of a value",
            fix=Fix("use the dtype of a value", (Edit(c.location(node).span, f"{beside}.dtype"),)),
        )
    if isinstance(found, Held):
        return found.value
    if isinstance(found, int | float | str | tuple | None) and node.id in fn.__code__.co_freevars:
        return _of_closure(c, node, found)
    if isinstance(found, int | float | str | tuple | None):
        return global_const(c, node, node.id, fn.__globals__.get("__annotations__", {}), found)
    return outside(c, node, found)


def _of_closure(c: Context, node: ast.Name, value: Any) -> Any:
    parameter = f"{node.id}: tl.Const[{type(value).__name__}]"
    return c.fault(
        "E012",
        f"`{node.id}` is a variable of the function around the kernel, which may change; a kernel reads Consts",
        node,
        help=f"make it a parameter of the kernel, `{parameter}`, and pass it at the launch",
    )


def _unknown_name(c: Context, node: ast.Name, why: Missing) -> Any:
    """Report a name once; from there on it counts as known."""
    name = node.id
    if why is Missing.UNSET:
        return c.undefined(name, f"`{name}` is not assigned yet where the kernel is defined", node, code="E002")
    if name in c.frame.fn.__code__.co_varnames:
        return c.undefined(
            name,
            f"`{name}` is not defined here: it is assigned further down",
            node,
            help=f"give `{name}` a value before",
        )
    source = c.location(node).span.source
    later = re.search(rf"^(?:def|class) {name}\b|^{name}\s*[:=]", source.text, re.MULTILINE)
    if later is not None:
        line = source.text.count("\n", 0, later.start()) + 1
        text = f"`{name}` is not defined yet: a kernel is checked where it stands, and line {line} comes later"
        return c.undefined(name, text, node, help=f"move `{name}` above the kernel", code="E002")
    from difflib import get_close_matches

    close = get_close_matches(name, [*c.frame.env, *c.frame.fn.__globals__], 1)
    help = f"did you mean `{close[0]}`?" if close else ""
    fix = Fix(help, (Edit(c.location(node).span, close[0]),)) if close else None
    return c.undefined(name, f"`{name}` is not defined", node, help=help, code="E002", fix=fix)


def _has_dtype(value: Any, dtype: DType) -> bool:
    if not isinstance(value, Operand):
        return False
    return value.dtype is dtype or (isinstance(value.dtype, PointerType) and value.dtype.pointee is dtype)


def global_const(c: Context, node: ast.AST, name: str, declared: dict[str, Any], value: Any) -> Any:
    """A plain value of a module: allowed where it is declared to be constant."""
    annotation = declared.get(name)
    text = annotation if isinstance(annotation, str) else repr(annotation)
    if annotation is not None and any(word in text for word in ("Const", "compile-time", "Final", "constexpr")):
        return value
    kind = type(value).__name__
    return c.fault(
        "E012",
        f"`{c.text(node)}` is a global that may change; a kernel reads only Consts",
        node,
        help=f"declare it in its module as `{name}: tl.Const[{kind}] = ...`, or pass it as a Const parameter",
    )


def infinite(c: Context, node: ast.AST, value: float) -> Any:
    """`np.inf` and `np.nan`: a kernel says them in Python."""
    text = f'float("{abs(value)}")' if value != -math.inf else '-float("inf")'
    fix = Fix(f"write {text}", (Edit(c.location(node).span, text),))
    return c.fault("E012", f"`{c.text(node)}` is of another module", node, help=fix.title, fix=fix)


def outside(c: Context, node: ast.AST, found: Any) -> Any:
    """A Python object from outside the kernel as a value: a function, a module, a dtype."""
    leaf = getattr(found, "ir", None)
    if isinstance(leaf, DType):
        return leaf
    if isinstance(found, Held):
        return found.value
    if isinstance(found, FunctionType | ModuleType | type) or callable(found):
        return found
    return c.fault(
        "E012",
        f"`{c.text(node)}` is a {type(found).__name__}, which a kernel cannot use",
        node,
        help="pass it as a parameter",
    )
