"""From the mismatch of a call to the diagnostic that a user reads."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from teeny.diag.diagnostic import Edit, Fix, Label
from teeny.diag.span import Location, Span
from teeny.frontend.overload import Mismatch, signatures
from teeny.frontend.signature import Param, show_terms
from teeny.frontend.values import Comparison, Condition, Unset, is_tuple, kind_of, show
from teeny.ir.dtype import DType, members
from teeny.ir.poly import Poly
from teeny.ir.types import PointerType, ViewType
from teeny.ops.function import LanguageFunction, Operand

if TYPE_CHECKING:
    from teeny.frontend.context import Context

_COMPARE = "compare, for example cols < n_cols"


@dataclass(frozen=True, slots=True)
class _Call:
    """A call that fits no overload. `at` and `text`: the node of the argument at fault, and its source."""

    c: Context
    node: ast.AST
    function: LanguageFunction
    wrong: Mismatch
    values: dict[str, Any]
    nodes: dict[str, ast.AST]
    at: ast.AST
    text: str

    @property
    def name(self) -> str:
        return self.function.display

    def needs(self, shown: str) -> str:
        """What the parameter takes, and what it got."""
        parameter = self.wrong.param
        return f"{self.name} needs {show_terms(parameter.terms)} for `{parameter.name}`; `{self.text}` is {shown}"


def explain(
    c: Context,
    node: ast.AST,
    function: LanguageFunction,
    wrong: Mismatch,
    values: dict[str, Any],
    nodes: dict[str, ast.AST],
) -> Any:
    """Report why a call fits no overload."""
    at = nodes.get(wrong.param.name, node)
    call = _Call(c, node, function, wrong, values, nodes, at, c.text(at))
    value, parameter = wrong.value, wrong.param.name
    if is_tuple(value) and len(value) == 1 and _is_starred(function, parameter):
        value = value if isinstance(at, ast.Tuple | ast.List) else value[0]
    if _accumulates(function) and wrong.kind == "missing" and isinstance(values.get("input"), Operand):
        return _excluded(call, values["input"].dtype)
    if wrong.kind == "missing":
        return c.fault("E005", f"{call.name} needs the argument `{parameter}`", node)
    if function.name == "cast" and parameter == "dtype" and isinstance(value, DType | PointerType):
        return _address(call, values["x"], value)
    if wrong.kind == "surplus":
        return c.fault(
            "E005", f"{call.name} takes `{parameter}` only together with other arguments than these", node,
            help=_of_views(function, parameter),
        )  # fmt: skip
    if wrong.kind == "excluded":
        return _excluded(call, wrong.bound)
    if wrong.kind == "const":
        return not_const(c, at, f"`{parameter}` of {call.name}", value)
    if isinstance(value, Operand):
        return _operand(call, value)
    if isinstance(value, bool | int | float | Poly | Unset | Condition | Comparison):
        return _literal(call, value)
    if (
        isinstance(value, DType)
        and wrong.kind == "bound"
        and kind_of(values.get("value")) is float
        and "value" in nodes
    ):
        literal = nodes["value"]
        help = "use an int, or a float dtype"
        return c.fault("T006", f"the float `{c.text(literal)}` does not fit {value.name}", literal, help=help)
    if isinstance(value, DType) and isinstance(values.get("value"), Operand) and "value" in nodes:
        return _not_of(call, nodes["value"], values["value"], value)
    if value is None and isinstance(at, ast.Name):
        return c.fault("T010", f"`{call.text}` is None here", at, help=f"use it under `if {call.text} is not None:`")
    return c.fault("T010", call.needs(show(value)), at)


def _not_of(call: _Call, at: ast.AST, value: Operand, to: DType) -> Any:
    """A value beside the dtype that it should have."""
    c, text = call.c, call.c.text(at)
    if not isinstance(value.dtype, DType) or isinstance(value.type, ViewType):
        return c.fault("T005", f"`{text}` is {show(value)}, and the dtype is {to.name}", at)
    help = f"convert it: {_wrap(at, text)}.to({call.text})"
    said = f"`{text}` is {value.dtype.name} and the dtype is {to.name}; {call.name} does not convert"
    return c.fault("T002", said, at, help=help, fix=_converted(c, at, call.text, help))


def _address(call: _Call, x: Operand, to: DType | PointerType) -> Any:
    """A conversion between a pointer and a number that is no address."""
    if isinstance(to, PointerType):
        text = f"a pointer is made of an integer, and this is {show(x)}"
        return call.c.fault("T005", text, call.at, help="convert it to an address first: .to(tl.i64)")
    text = f"a pointer becomes an i64, a u64, a bool or another pointer; found {show(to)}"
    return call.c.fault("T005", text, call.at, help="load the elements first: tl.load(pointer)")


def _of_views(function: LanguageFunction, parameter: str) -> str:
    """Where a parameter goes with block pointers alone: that it does."""
    firsts = [s.params[0].terms for s in signatures(function) if any(p.name == parameter for p in s.params)]
    if not firsts or any(t.kind != "block" for terms in firsts for t in terms):
        return ""
    return f"`{parameter}` goes with a block pointer (tl.make_block_ptr); plain pointers take a mask"


def _is_starred(function: LanguageFunction, parameter: str) -> bool:
    return any(p.starred and p.name == parameter for s in signatures(function) for p in s.params)


def not_const(c: Context, at: ast.AST, what: str, value: Any) -> Any:
    """Report a run-time value where a compile-time one is needed; the fault is where it became one, if it was one."""
    parts = value if is_tuple(value) else (value,)
    lost = next((c.lost[v.value] for v in parts if isinstance(v, Operand) and v.value in c.lost), None)
    text = c.text(at)
    if lost is not None:
        return c.fault(
            "E009",
            f"{what} must be known at compile time, and `{text}` is changed where only a run decides",
            lost,
            Label(c.location(at), "needed here", primary=False),
            label="changed here",
            help="let a Const condition or a tl.static_range decide",
        )
    culprit = next((show(v) for v in parts if isinstance(v, Operand)), show(value))
    said = f"`{text}` {'holds' if is_tuple(value) else 'is'} {culprit}"
    return c.fault("E008", f"{what} must be known at compile time; {said}", at, help="pass it as a Const parameter")


def _accumulates(function: LanguageFunction) -> bool:
    """Whether a function takes the dtype in which it accumulates."""
    return bool(function.exclude) and any(p.name == "dtype" for s in signatures(function) for p in s.params)


def _excluded(call: _Call, dtype: Any) -> Any:
    """A member of the class that the operation does not have."""
    if _accumulates(call.function):
        if "dtype" in call.nodes:
            return call.c.fault("T012", f"{call.name} does not accumulate in {dtype.name}", call.nodes["dtype"])
        text = f"{call.name} of {dtype.name} needs `dtype=`, the dtype in which it accumulates"
        return call.c.fault("T012", text, call.node, help="for example dtype=tl.i32")
    terms = ((p.name, t) for s in signatures(call.function) for p in s.params for t in p.terms)
    named = next((name for name, term in terms if term.kind == "dtype" and term.dtype is dtype), None)
    if named is not None:
        text = f"{call.name} of {dtype.name} needs `{named}=`, the dtype in which it accumulates"
        return call.c.fault("T012", text, call.node, help=f"write {named}=tl.{dtype.name}")
    return call.c.fault("T001", f"{call.name} does not take {dtype.name}", next(iter(call.nodes.values()), call.node))


# ---- run-time values ------------------------------------------------------------------------------------------------


def _operand(call: _Call, value: Operand) -> Any:
    c, at, wrong, dtype = call.c, call.at, call.wrong, value.dtype
    code = call.function.codes.get(wrong.param.name)
    if isinstance(value.type, ViewType):
        c.doubt(at)
        if wrong.kind == "bound" and isinstance(dtype, PointerType):
            return c.fault("T001", f"{call.name} does not take {dtype.pointee}; {call.needs(show(value))}", at)
        block = value.type.kind == "block pointer"
        moved = f"move it with tl.advance({call.text}, offsets), read it with tl.load({call.text})"
        return c.fault(
            "T005", call.needs(show(value)), at, help=moved if block else f"read it with {call.text}.load(...)"
        )
    if wrong.param.terms and all(t.kind == "none" for t in wrong.param.terms):
        text = f"{call.name} takes no `{wrong.param.name}` with a block pointer"
        help = 'name the axes to check, and what lies outside: boundary_check=(0, 1), padding_option="zero"'
        return c.fault("T010", text, at, help=help)
    bound = wrong.term.dtype if wrong.kind == "bound" and wrong.term is not None else None
    if isinstance(dtype, PointerType) and bound is not None:
        text = f"{call.name} needs a pointer to {bound.bound}; `{call.text}` points at {dtype.pointee}"
        return c.fault("T001", text, at)
    if isinstance(dtype, PointerType):
        c.doubt(at)
        return c.fault("T005", call.needs(show(value)), at, help="load the elements first: tl.load(pointer)")
    if wrong.param.terms and all(t.kind == "ptr" for t in wrong.param.terms):
        return c.fault("T005", call.needs(show(value)), at)
    if code in ("T004", "T007"):
        what = "mask" if code == "T004" else "condition"
        text = f"the {what} of {call.name} must be bool; `{call.text}` is {dtype.name}"
        return c.fault(code, text, at, *_born(value, c.location(at)), help=_COMPARE)
    if wrong.kind == "rank":
        return c.fault(
            "S005", f"{call.name} needs a scalar for `{wrong.param.name}`; `{call.text}` is {show(value)}", at
        )
    if call.function.name in ("addptr", "subptr"):
        text = f"a pointer is moved by integers; `{call.text}` is {show(value)}"
        return c.fault("T005", text, at, help="convert it: .to(tl.i32)")
    if wrong.kind == "bound":
        return _bound(call, dtype)
    if wrong.kind == "dtype":
        return _store(call, value, dtype) if code == "T003" else _differ(call, value, dtype)
    return c.fault("T010", call.needs(show(value)), at)


def _bound(call: _Call, dtype: DType) -> Any:
    term = call.wrong.term
    assert term is not None
    assert term.dtype is not None
    need, wanted = term.dtype.bound, term.dtype.mask
    literal = next((n for n, v in call.values.items() if kind_of(v) is float and _takes_float(call.function, n)), None)
    if need == "Float" and literal in call.nodes and call.function.symbol != "/":
        return _no_float(call.c, call.nodes[literal], call.at, dtype)
    text = f"{call.name} needs {need}; `{call.text}` is {dtype.name}"
    if dtype.is_variable:
        lacking = ", ".join(m.name for m in members(dtype) if not m.mask & wanted)
        help = f"bound {dtype.name} by tl.{need}, or convert first"
        return call.c.fault("T001", f"{text}, which may be {lacking}", call.at, help=help)
    help = "convert it first: .to(tl.f32)" if need == "Float" else ""
    if call.function.symbol == "/" and need == "Float":
        help = "divide integers with `//`, or convert first: .to(tl.f32)"
    return call.c.fault("T001", text, call.at, help=help)


def _store(call: _Call, value: Operand, dtype: DType) -> Any:
    through = next(n for n, v in call.values.items() if isinstance(v, Operand) and v.is_pointer)
    c, at, place = call.c, call.at, call.c.location(call.nodes[through])
    pointee: DType = call.values[through].dtype.pointee
    base = _pointer_name(c, call.nodes[through])
    target = f"{base}.dtype" if base else _dtype_text(c, pointee)
    shown = base or c.text(call.nodes[through])
    what = "a store" if call.function.name == "store" else call.name
    help = f"convert it: {_wrap(at, call.text)}.to({target})"
    return c.fault(
        "T003",
        f"`{call.text}` is {dtype.name} and `{shown}` points at {pointee.name}; {what} does not convert",
        at,
        Label(place, f"points at {pointee.name}", primary=False),
        *_born(value, c.location(at)),
        label=f"this is {dtype.name}",
        help=help,
        fix=_converted(c, at, target, help),
    )


def _differ(call: _Call, value: Operand, dtype: DType) -> Any:
    c, at, wrong = call.c, call.at, call.wrong
    wanted = wrong.bound or (wrong.term.dtype if wrong.term else None)
    assert wanted is not None
    others = (n for n, v in call.values.items() if isinstance(v, Operand) and v is not value and v.dtype is wanted)
    other = next((n for n in others if n in call.nodes), None)
    if other is None:
        text = f"{call.name} needs {wanted.name} for `{wrong.param.name}`; `{call.text}` is {dtype.name}"
        return c.fault("T002", text, at, *_born(value, c.location(at)))
    beside = call.nodes[other]
    changed, target = at, wanted
    assigned = isinstance(beside, ast.Name) and isinstance(beside.ctx, ast.Store)  # `beside += at`
    if dtype.kind == wanted.kind == "float" and dtype.bits > wanted.bits and not assigned:
        changed, target = beside, dtype  # the narrow one is converted
    named = beside if changed is at else at
    to = f"{named.id}.dtype" if isinstance(named, ast.Name) and target.is_variable else _dtype_text(c, target)
    help = f"convert one: {_wrap(changed, c.text(changed))}.to({to})"
    pair = f"`{c.text(beside)}` is {wanted.name} and `{call.text}` is {dtype.name}"
    return c.fault(
        "T002",
        f"the operands of {call.name} differ: {pair}; tensors are never promoted",
        at,
        Label(c.location(beside), f"{wanted.name}", primary=False),
        label=dtype.name,
        help=help,
        fix=_converted(c, changed, to, help),
    )


def _born(value: Operand, at: Location) -> tuple[Label, ...]:
    """Where a value got its dtype, if that is another place."""
    op = value.value.op
    if op is None or op.loc is None or not isinstance(value.dtype, DType) or op.loc.span == at.span:
        return ()
    return (Label(op.loc, f"{value.dtype.name} since here", primary=False),)


# ---- compile-time values --------------------------------------------------------------------------------------------


def _literal(call: _Call, value: Any) -> Any:
    c, at, parameter = call.c, call.at, call.wrong.param.name
    if kind_of(value) is float and _takes_float(call.function, parameter):
        for name, other in call.values.items():
            if isinstance(other, Operand) and name != parameter and name in call.nodes and not _is_flag(call, name):
                return _no_float(c, at, call.nodes[name], other.dtype)
    if parameter == "mask":
        return c.fault(
            "T004", f"the mask of {call.name} must be bool; `{call.text}` is {show(value)}", at, help=_COMPARE
        )
    if parameter == "shape" and kind_of(value) is int:
        span = c.location(at).span
        text, help = f"{call.name} needs a tuple for `shape`; `{call.text}` is {show(value)}", f"write ({call.text},)"
        return c.fault("T010", text, at, help=help, fix=Fix(help, (Edit(span, f"({span.text},)"),)))
    help = ""
    if kind_of(value) in (int, float) and any(t.kind == "tensor" for t in call.wrong.param.terms):
        dtype = "i32" if kind_of(value) is int and not _floats_alone(call.wrong.param) else "f32"
        help = f"make it a tensor, of a dtype that you say: tl.full((), {call.text}, tl.{dtype})"
    return c.fault("T010", call.needs(show(value)), at, help=help)


def _floats_alone(parameter: Param) -> bool:
    return all(t.dtype is None or t.dtype.bound == "Float" for t in parameter.terms)


def _no_float(c: Context, literal: ast.AST, beside: ast.AST, dtype: DType | PointerType) -> Any:
    """A float literal beside something else than floats."""
    shown = f"points at {dtype.pointee}" if isinstance(dtype, PointerType) else f"is {dtype.name}"
    text = f"the float `{c.text(literal)}` does not fit `{c.text(beside)}`, which {shown}"
    return c.fault("T006", text, literal, help="use an int, or convert the tensor first")


def _takes_float(function: LanguageFunction, parameter: str) -> bool:
    terms = (t for s in signatures(function) for p in s.params if p.name == parameter for t in p.terms)
    return any(t.kind == "float" for t in terms)


def _is_flag(call: _Call, parameter: str) -> bool:
    """Whether a parameter is a mask or a condition."""
    return call.function.codes.get(parameter) in ("T004", "T007")


# ---- edits ----------------------------------------------------------------------------------------------------------


def _pointer_name(c: Context, node: ast.AST) -> str:
    """The name of the pointer at the root of pointer arithmetic, where there is one."""
    for one in ast.walk(node):
        if isinstance(one, ast.Name) and isinstance(value := _plain_value(c, one.id), Operand) and value.is_pointer:
            return one.id
    return ""


def _plain_value(c: Context, name: str) -> Any:
    alternatives = c.frame.env.get(name, ())
    return alternatives[-1].value if alternatives else None


def _dtype_text(c: Context, dtype: DType) -> str:
    """A dtype as the kernel can write it: `tl.f32`, of a variable `x_ptr.dtype`."""
    if dtype.is_variable:
        for name in c.frame.env:
            value = _plain_value(c, name)
            if isinstance(value, Operand) and dtype in (value.dtype, getattr(value.dtype, "pointee", None)):
                return f"{name}.dtype"
    return f"tl.{dtype.name}"


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
