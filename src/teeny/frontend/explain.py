"""From the mismatch of a call to the diagnostic that a user reads."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from teeny.diag.diagnostic import Edit, Fix, Label
from teeny.diag.span import Location, Span
from teeny.frontend.overload import Mismatch, signatures
from teeny.frontend.signature import Term, show_terms
from teeny.frontend.values import Comparison, Condition, Unset, kind_of, show
from teeny.ir.dtype import BOOL, DType, members
from teeny.ir.poly import Poly
from teeny.ir.types import PointerType
from teeny.ops.function import LanguageFunction, Operand

if TYPE_CHECKING:
    from teeny.frontend.context import Context


def explain(
    c: Context, node: ast.AST, function: LanguageFunction, wrong: Mismatch, values: dict[str, Any], nodes: dict[str, ast.AST]
) -> Any:
    """Report why a call fits no overload."""
    name = function.display
    if function.name == "sum" and wrong.kind == "missing" and isinstance(values.get("x"), Operand):
        return _excluded(c, node, function, values["x"].dtype, nodes)
    if wrong.kind == "missing":
        return c.fault("E005", f"{name} needs the argument `{wrong.param.name}`", node)
    if wrong.kind == "surplus":
        return c.fault("E005", f"{name} takes `{wrong.param.name}` only together with other arguments than these", node)
    if wrong.kind == "excluded":
        return _excluded(c, node, function, wrong.bound, nodes)
    at = nodes.get(wrong.param.name, node)
    text = c.text(at)
    value = wrong.value
    if wrong.kind == "const":
        return not_const(c, at, f"`{wrong.param.name}` of {name}", value)
    code = function.codes.get(wrong.param.name)
    if isinstance(value, Operand):
        return _operand(c, at, function, wrong, value, values, nodes, code)
    if isinstance(value, bool | int | float | Poly | Unset | Condition | Comparison):
        return _literal(c, at, function, wrong, value, values, nodes)
    float_value = values.get("value")
    if isinstance(value, DType) and wrong.kind == "bound" and kind_of(float_value) is float and "value" in nodes:
        shown = c.text(nodes["value"])
        return c.fault("T006", f"the float `{shown}` does not fit {value.name}", nodes["value"], help="use an int, or a float dtype")
    if isinstance(value, DType):
        return c.fault("T010", f"{name} needs {show_terms(wrong.param.terms)} for `{wrong.param.name}`; `{text}` is the dtype {value.name}", at)
    if value is None and isinstance(at, ast.Name):
        return c.fault("T010", f"`{text}` is None here", at, help=f"use it under `if {text} is not None:`")
    return c.fault("T010", f"{name} needs {show_terms(wrong.param.terms)} for `{wrong.param.name}`; `{text}` is {show(value)}", at)


def not_const(c: Context, at: ast.AST, what: str, value: Any) -> Any:
    """Report a run-time value where a compile-time one is needed; the fault is where it became one, if it was one."""
    parts = value if isinstance(value, tuple) else (value,)
    lost = next((c.lost[v.value] for v in parts if isinstance(v, Operand) and v.value in c.lost), None)
    text = c.text(at)
    if lost is not None:
        return c.fault(
            "E009", f"{what} must be known at compile time, and `{text}` is changed where only a run decides", lost,
            Label(c.location(at), "needed here", primary=False), label="changed here",
            help="let a Const condition or a tl.static_range decide",
        )  # fmt: skip
    return c.fault("E008", f"{what} must be known at compile time; `{text}` is {show(value)}", at, help="pass it as a Const parameter")


def _excluded(c: Context, node: ast.AST, function: LanguageFunction, dtype: Any, nodes: dict[str, ast.AST]) -> Any:
    """A member of the class that the operation does not have."""
    if function.name == "sum":
        return c.fault(
            "T012", f"{function.display} of {dtype.name} needs `dtype=`, the dtype in which it accumulates", node,
            help="for example dtype=tl.i32",
        )  # fmt: skip
    return c.fault("T001", f"{function.display} does not take {dtype.name}", next(iter(nodes.values()), node))


def _operand(
    c: Context, at: ast.AST, function: LanguageFunction, wrong: Mismatch, value: Operand,
    values: dict[str, Any], nodes: dict[str, ast.AST], code: str | None,
) -> Any:  # fmt: skip
    name, text = function.display, c.text(at)
    dtype = value.dtype
    if isinstance(dtype, PointerType):
        c.doubt(at)
        return c.fault(
            "T005", f"{name} needs {show_terms(wrong.param.terms)} for `{wrong.param.name}`; `{text}` is {show(value)}", at,
            help="load the elements first: tl.load(pointer)",
        )  # fmt: skip
    if wrong.param.terms and all(t.kind == "ptr" for t in wrong.param.terms):
        return c.fault("T005", f"{name} needs a pointer for `{wrong.param.name}`; `{text}` is {show(value)}", at)
    if code == "T004":
        return c.fault(
            code, f"the mask of {name} must be bool; `{text}` is {dtype.name}", at,
            *_born(value), help="compare, for example cols < n_cols",
        )  # fmt: skip
    if code == "T007":
        return c.fault(code, f"the condition of {name} must be bool; `{text}` is {dtype.name}", at, *_born(value), help="compare first")
    if wrong.kind == "rank":
        return c.fault("S005", f"{name} needs a scalar for `{wrong.param.name}`; `{text}` is {show(value)}", at)
    if function.name == "addptr":
        return c.fault("T005", f"a pointer is moved by integers; `{text}` is {show(value)}", at, help="convert it: .to(tl.i32)")
    if wrong.kind == "bound":
        return _bound(c, at, function, wrong, dtype, text)
    if wrong.kind == "dtype" and code == "T003":
        return _store(c, at, values["ptr"], value, nodes["ptr"], text)
    if wrong.kind == "dtype":
        return _differ(c, at, function, wrong, value, values, nodes, text)
    return c.fault("T010", f"{name} needs {show_terms(wrong.param.terms)} for `{wrong.param.name}`; `{text}` is {show(value)}", at)


def _bound(c: Context, at: ast.AST, function: LanguageFunction, wrong: Mismatch, dtype: DType, text: str) -> Any:
    term = wrong.term
    assert term is not None and term.dtype is not None
    need = term.dtype.bound
    name = function.display
    if dtype.is_variable:
        lacking = [m.name for m in members(dtype) if not m.mask & term.dtype.mask]
        return c.fault(
            "T001", f"{name} needs {need}; `{text}` is {dtype.name}, which may be {', '.join(lacking)}", at,
            help=f"bound {dtype.name} by tl.{need}, or convert first",
        )  # fmt: skip
    help = "convert it first: .to(tl.f32)" if need == "Float" else ""
    if function.symbol == "/" and need == "Float":
        help = "divide integers with `//`, or convert first: .to(tl.f32)"
    return c.fault("T001", f"{name} needs {need}; `{text}` is {dtype.name}", at, help=help)


def _store(c: Context, at: ast.AST, ptr: Any, value: Operand, ptr_node: ast.AST, text: str) -> Any:
    pointee = ptr.dtype.pointee
    base = _root(ptr_node)
    target = f"{base}.dtype" if base else f"tl.{pointee.name}"
    assert isinstance(value.dtype, DType)
    help = f"convert it: {_wrap(at, text)}.to({target})"
    return c.fault(
        "T003", f"`{text}` is {value.dtype.name} and `{base or c.text(ptr_node)}` points at {pointee.name}; a store does not convert", at,
        Label(c.location(ptr_node), f"points at {pointee.name}", primary=False), *_born(value, at=c.location(at)),
        label=f"this is {value.dtype.name}", help=help, fix=_converted(c, at, target, help),
    )  # fmt: skip


def _differ(
    c: Context, at: ast.AST, function: LanguageFunction, wrong: Mismatch, value: Operand,
    values: dict[str, Any], nodes: dict[str, ast.AST], text: str,
) -> Any:  # fmt: skip
    name = function.display
    wanted = wrong.bound or (wrong.term.dtype if wrong.term else None)
    assert wanted is not None and isinstance(value.dtype, DType)
    other = next((n for n, v in values.items() if isinstance(v, Operand) and v is not value and v.dtype is wanted), None)
    if other is None or other not in nodes:
        return c.fault("T002", f"{name} needs {wanted.name} for `{wrong.param.name}`; `{text}` is {value.dtype.name}", at, *_born(value))
    beside = nodes[other]
    base = c.text(beside)
    target = f"tl.{wanted.name}" if not wanted.is_variable else f"{base}.dtype" if isinstance(beside, ast.Name) else f"({base}).dtype"
    help = f"convert one: {_wrap(at, text)}.to({target})"
    return c.fault(
        "T002", f"the operands of {name} differ: `{base}` is {wanted.name} and `{text}` is {value.dtype.name}; tensors are never promoted",
        at, Label(c.location(beside), f"{wanted.name}", primary=False), label=value.dtype.name,
        help=help, fix=_converted(c, at, target, help),
    )  # fmt: skip


def _literal(
    c: Context, at: ast.AST, function: LanguageFunction, wrong: Mismatch, value: Any, values: dict[str, Any], nodes: dict[str, ast.AST]
) -> Any:
    name, text = function.display, c.text(at)
    beside = next(
        ((n, v) for n, v in values.items() if isinstance(v, Operand) and n != wrong.param.name and n in nodes and not _is_flag(function, n)),
        None,
    )  # fmt: skip
    if kind_of(value) is float:
        takes_float = any(t.kind == "float" for s in signatures(function) for p in s.params if p.name == wrong.param.name for t in p.terms)
        if takes_float and beside is not None:
            dtype = beside[1].dtype
            shown = dtype.pointee.name if isinstance(dtype, PointerType) else dtype.name
            where = c.text(nodes[beside[0]])
            said = "points at" if isinstance(dtype, PointerType) else "is"
            return c.fault("T006", f"the float `{text}` does not fit `{where}`, which {said} {shown}", at, help="use an int, or convert the tensor first")
    if wrong.param.name == "mask":
        return c.fault("T004", f"the mask of {name} must be bool; `{text}` is {show(value)}", at, help="compare, for example cols < n_cols")
    if wrong.param.name == "shape" and kind_of(value) is int:
        span = c.location(at).span
        return c.fault(
            "T010", f"{name} needs a tuple for `shape`; `{text}` is {show(value)}", at, help=f"write ({text},)",
            fix=Fix("make it a tuple", (Edit(span, f"({span.text},)"),)),
        )  # fmt: skip
    return c.fault("T010", f"{name} needs {show_terms(wrong.param.terms)} for `{wrong.param.name}`; `{text}` is {show(value)}", at)


def _is_flag(function: LanguageFunction, parameter: str) -> bool:
    """Whether a parameter is a mask or a condition."""
    return function.codes.get(parameter) in ("T004", "T007")


def _born(value: Operand, at: Location | None = None) -> tuple[Label, ...]:
    """Where a value got its dtype, if that is another place."""
    op = value.value.op
    if op is None or op.loc is None or not isinstance(value.dtype, DType) or (at is not None and op.loc.span == at.span):
        return ()
    return (Label(op.loc, f"{value.dtype.name} since here", primary=False),)


def _root(node: ast.AST) -> str:
    """The pointer parameter's name at the root of pointer arithmetic."""
    while isinstance(node, ast.BinOp):
        node = node.left
    return node.id if isinstance(node, ast.Name) else ""


def _wrap(node: ast.AST, text: str) -> str:
    return text if isinstance(node, ast.Name | ast.Call | ast.Attribute | ast.Subscript) else f"({text})"


def _converted(c: Context, node: Any, target: str, title: str) -> Fix:
    """Insert the conversion, with parentheses where the expression needs them; `title` is what the help says."""
    span = c.location(node).span
    end = Span(span.source, span.end_line, span.end_column, span.end_line, span.end_column)
    if isinstance(node, ast.Name | ast.Call | ast.Attribute | ast.Subscript):
        return Fix(title, (Edit(end, f".to({target})"),))
    start = Span(span.source, span.line, span.column, span.line, span.column)
    return Fix(title, (Edit(start, "("), Edit(end, f").to({target})")))



