"""A kernel's source to IR: once in general at its definition, and again for each specialisation."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import FunctionType
from typing import Any

from teeny.diag.diagnostic import Diagnostic
from teeny.diag.errors import InternalError, KernelError, TeenyError
from teeny.diag.span import Location
from teeny.frontend import (
    attributes,
    debug,
    expr,
    index,
    iterate,
    operators,
    outer,
    passed_descriptor,
    sequences,
    stmt,
    ternary,
)
from teeny.frontend.branch import Tail, if_, run_body
from teeny.frontend.context import Alternative, Context, Frame, Obligation, Rule
from teeny.frontend.inline import every_argument
from teeny.frontend.jumps import Effect, effect
from teeny.frontend.params import Parameter, parameters
from teeny.frontend.signature import Term
from teeny.frontend.source import KernelSource, source_of
from teeny.frontend.values import UNKNOWN, Condition, Unset, is_tuple
from teeny.frontend.whiles import while_
from teeny.ir.builder import Builder
from teeny.ir.core import Block, Function, Module, Region
from teeny.ir.dtype import CLASSES, DType, members, variable
from teeny.ir.facts import Facts
from teeny.ir.guard import TRUE, AtomTable
from teeny.ir.poly import symbol
from teeny.ir.types import Type
from teeny.ops.control import return_
from teeny.ops.function import Operand

EXPRESSIONS: dict[type[ast.AST], Rule] = {
    ast.Constant: expr.constant, ast.Name: outer.name, ast.Attribute: attributes.attribute,
    ast.Tuple: sequences.display, ast.List: sequences.display, ast.Subscript: index.subscript, ast.Call: expr.call,
    ast.BinOp: operators.binop, ast.UnaryOp: operators.unaryop, ast.BoolOp: operators.boolop,
    ast.Compare: operators.compare, ast.IfExp: ternary.ifexp, ast.JoinedStr: debug.joined,
    ast.FormattedValue: debug.formatted,
}  # fmt: skip
STATEMENTS: dict[type[ast.AST], Rule] = {
    ast.Assign: stmt.assign, ast.AugAssign: stmt.augassign, ast.AnnAssign: stmt.annassign, ast.Expr: stmt.expression,
    ast.Return: stmt.return_, ast.Pass: stmt.pass_, ast.If: if_, Tail: if_, ast.For: iterate.for_, ast.While: while_,
    ast.Assert: debug.assert_statement, Effect: effect,
}  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class Definition:
    """A kernel as written: its source and parameters. `unclear` are the parameters whose annotation is at fault."""

    fn: FunctionType
    source: KernelSource
    parameters: tuple[Parameter, ...]
    name: str
    unclear: tuple[str, ...] = ()

    @property
    def variables(self) -> tuple[DType, ...]:
        """The dtype variables of pointers and scalars, in order of first use."""
        return tuple(dict.fromkeys(p.dtype for p in self.parameters if p.dtype is not None and p.dtype.is_variable))


@dataclass(frozen=True, slots=True, eq=False)
class Generic:
    """What the generic lowering found: generic IR for the checks, and what a specialisation still has to decide.

    `partial`: operations are missing, since names had more cases than are followed.
    """

    module: Module
    faults: tuple[Diagnostic, ...]
    table: AtomTable
    facts: Facts
    obligations: tuple[Obligation, ...]
    exclusions: Mapping[str, frozenset[str]] = field(default_factory=dict[str, "frozenset[str]"])
    partial: bool = False


def define(fn: FunctionType) -> tuple[Definition, list[Diagnostic]]:
    """Read a kernel's source and parameters, and what is wrong with these. Raises KernelError without a source."""
    source = source_of(fn)
    found, faults = parameters(fn, source)
    known = {p.name for p in found}
    unclear = tuple(a.arg for a in every_argument(source.tree.args) if a.arg not in known)
    return Definition(fn, source, tuple(found), fn.__name__, unclear), faults


def lower_generic(definition: Definition) -> Generic:
    """Lower with dtype variables, symbolic Consts and guards. Faults are collected, not raised."""
    c, function = _start(definition, {}, generic=True)
    c.names.update(p.name for p in definition.parameters)
    for parameter in definition.parameters:
        _generic_parameter(c, parameter)
    for name in definition.unclear:
        c.frame.env[name] = (Alternative(TRUE, UNKNOWN, Location(definition.source.name_span)),)
    _body(c, definition)
    exclusions = {name: frozenset(leaves) for name, leaves in c.exclusions.items()}
    for one in dict.fromkeys(p.dtype for p in definition.parameters if p.dtype is not None):
        if one.name in exclusions and all(m.name in exclusions[one.name] for m in members(one)):
            lacking = ", ".join(sorted(exclusions[one.name]))
            text = f"no dtype that `{one.name}` may be is left: the operations of the kernel exclude {lacking}"
            c.fault("T001", text, Location(definition.source.name_span))
    return Generic(Module([function]), tuple(c.faults), c.table, c.facts, tuple(c.obligations), exclusions, c.partial)


def lower_concrete(definition: Definition, dtypes: Mapping[DType, DType], constants: Mapping[str, Any]) -> Module:
    """Lower with values: `dtypes` for the variables, `constants` for Const parameters and (None) absent pointers.

    Raises KernelError with all faults.
    """
    c, function = _start(definition, dtypes, generic=False, absent=constants)
    for parameter in definition.parameters:
        if parameter.name in constants and not _is_passed(parameter, constants):
            value = _const_value(constants[parameter.name])
            c.frame.env[parameter.name] = (Alternative(TRUE, value, parameter.location),)
    _body(c, definition)
    if c.faults:
        raise KernelError(c.faults)
    return Module([function])


def _const_value(value: Any) -> Any:
    """A Const argument as a value of the front end: dtype classes become dtypes."""
    if is_tuple(value):
        return tuple(map(_const_value, value))
    leaf = getattr(value, "ir", None)
    return leaf if isinstance(leaf, DType) else value


def _start(
    definition: Definition, subst: Mapping[DType, DType], *, generic: bool, absent: Mapping[str, Any] | None = None
) -> tuple[Context, Function]:
    """The function with its arguments, and a context at the start of its body."""
    known = absent or {}
    passed = [p for p in definition.parameters if p.kind != "const" and (p.name not in known or _is_passed(p, known))]
    if generic:
        passed = [p for p in passed if p.kind != "descriptor"]
    each = [_passed(p, subst, known) for p in passed]
    flat = [one for values in each for one in values]
    block = Block(tuple(type_ for _, type_, _ in flat), tuple(name for name, _, _ in flat))
    place = Location(definition.source.name_span)
    function = Function(definition.name, Region([block]), loc=place, arg_attrs=tuple({} for _ in flat))
    frame = Frame(definition.fn, definition.source, None, None)
    c = Context(Builder(block, place), frame, generic, definition.name, EXPRESSIONS, STATEMENTS)
    left = iter(block.args)
    for parameter, names in zip(passed, each, strict=True):
        values = [next(left) for _ in names]
        if parameter.kind == "descriptor":
            operand = passed_descriptor.made(c.b, parameter, known[parameter.name], values, names[0][2])
        else:
            operand = Operand(values[0], parameter.language_dtype(subst))
        c.frame.env[parameter.name] = (Alternative(TRUE, operand, parameter.location),)
    c.b.loc = place
    return c, function


def _is_passed(parameter: Parameter, known: Mapping[str, Any]) -> bool:
    """Whether a descriptor is passed, of which the layout is known."""
    return parameter.kind == "descriptor" and known[parameter.name] is not None


def _passed(
    parameter: Parameter, subst: Mapping[DType, DType], known: Mapping[str, Any]
) -> list[tuple[str, Type, Any]]:
    """Name, type and dtype of what is passed for a parameter."""
    if parameter.kind == "descriptor":
        return passed_descriptor.parts(parameter, known[parameter.name], subst)
    return [(parameter.name, parameter.type(subst), None)]


def _generic_parameter(c: Context, parameter: Parameter) -> None:
    """Bind a parameter that has no value yet: a Const, or a pointer that may be absent."""
    name, env, where = parameter.name, c.frame.env, parameter.location
    if parameter.kind == "descriptor":
        env[name] = (Alternative(TRUE, UNKNOWN, where),)
        return
    if parameter.kind == "const":
        present = _symbolic(c, name, parameter.const)
        optional = any(t.kind == "none" for t in parameter.const)
    else:
        present, optional = env[name][0].value, parameter.optional
    guard = c.table.atom(("none", name), f"{name} is None") if optional else 0
    if guard is None:
        env[name] = (Alternative(TRUE, UNKNOWN, where),)
    elif guard:
        env[name] = (Alternative(TRUE ^ guard, present, where), Alternative(guard, None, where))
    else:
        env[name] = (Alternative(TRUE, present, where),)


def _symbolic(c: Context, name: str, terms: tuple[Term, ...]) -> Any:
    """A Const without a value yet."""
    kinds = list(dict.fromkeys(_literal_kind(t) for t in terms if t.kind != "none"))
    if kinds == ["any"]:  # `tl.constexpr`: the specialisation alone knows what it is
        return UNKNOWN
    if kinds == ["int"]:
        c.names.add(name)
        return symbol(name)
    if kinds == ["bool"]:
        guard = c.table.atom(("const", name), name)
        return Unset(bool, name, (name,)) if guard is None else Condition(guard)
    if kinds == ["dtype"]:
        dtype = next(t.dtype for t in terms if t.kind == "dtype")
        assert dtype is not None
        return dtype if dtype.name not in CLASSES else variable(name, dtype.mask, dtype.bound)
    if kinds == ["tuple"]:
        term = next(t for t in terms if t.kind == "tuple")
        if not term.many:
            return tuple(_symbolic(c, f"{name}[{at}]", (t,)) for at, t in enumerate(term.inner))
        return Unset(tuple, name, (name, term))
    known: dict[str, type] = {"float": float, "str": str}
    return Unset(next((known[k] for k in ("float", "str") if k in kinds), object), name, (name,))


def _literal_kind(term: Term) -> str:
    return type(term.value).__name__ if term.kind == "literal" else term.kind


def _body(c: Context, definition: Definition) -> None:
    try:
        run_body(c, definition.source.tree.body)
    except TeenyError:
        raise
    except RecursionError:
        c.fault("E011", "the kernel nests too deep", Location(definition.source.name_span))
    except Exception as error:
        raise InternalError(f"{type(error).__name__}: {error}", c.b.loc, definition.name) from error
    c.guard = TRUE
    c.b.guard = None
    c.b.loc = Location(definition.source.name_span)
    c.b.op(return_, ())
