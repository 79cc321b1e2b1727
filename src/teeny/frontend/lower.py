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
from teeny.frontend import branch, expr, loop, operators, stmt
from teeny.frontend.branch import run_body
from teeny.frontend.context import Alternative, Context, Frame, Rule
from teeny.frontend.params import Parameter, parameters
from teeny.frontend.source import KernelSource, source_of
from teeny.frontend.values import Condition, Unset
from teeny.ir.builder import Builder
from teeny.ir.core import Block, Function, Module, Region
from teeny.ir.dtype import DType
from teeny.ir.facts import Facts
from teeny.ir.guard import TRUE, AtomTable
from teeny.ir.poly import symbol
from teeny.ir.predicate import Predicate
from teeny.ops.control import return_
from teeny.ops.function import Operand

EXPRESSIONS: dict[type[ast.AST], Rule] = {
    ast.Constant: expr.constant, ast.Name: expr.name, ast.Attribute: expr.attribute, ast.Tuple: expr.tuple_, ast.List: expr.list_,
    ast.Subscript: expr.subscript, ast.Call: expr.call, ast.BinOp: operators.binop, ast.UnaryOp: operators.unaryop,
    ast.BoolOp: operators.boolop, ast.Compare: operators.compare, ast.IfExp: operators.ifexp,
}  # fmt: skip
STATEMENTS: dict[type[ast.AST], Rule] = {
    ast.Assign: stmt.assign, ast.AugAssign: stmt.augassign, ast.AnnAssign: stmt.annassign, ast.Expr: stmt.expression,
    ast.Return: stmt.return_, ast.Pass: stmt.pass_, ast.Assert: stmt.assert_, ast.If: branch.if_, branch.TAIL: branch.if_,
    ast.For: loop.for_, ast.While: loop.while_,
}  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class Definition:
    """A kernel as written: its source and parameters."""

    fn: FunctionType
    source: KernelSource
    parameters: tuple[Parameter, ...]
    name: str

    @property
    def variables(self) -> tuple[DType, ...]:
        """The dtype variables, in order of first use."""
        return tuple(dict.fromkeys(p.dtype for p in self.parameters if p.dtype is not None and p.dtype.is_variable))


@dataclass(frozen=True, slots=True, eq=False)
class Generic:
    """What the generic lowering found: generic IR for the checks, and what a specialisation still has to decide."""

    module: Module
    faults: tuple[Diagnostic, ...]
    table: AtomTable
    facts: Facts
    obligations: tuple[tuple[Predicate, str, str, Location], ...]
    exclusions: Mapping[str, frozenset[str]] = field(default_factory=dict[str, "frozenset[str]"])


def define(fn: FunctionType) -> tuple[Definition, list[Diagnostic]]:
    """Read a kernel's source and parameters. Raises KernelError where there is no source."""
    source = source_of(fn)
    found, faults = parameters(fn, source)
    return Definition(fn, source, tuple(found), fn.__name__), faults


def lower_generic(definition: Definition) -> Generic:
    """Lower with dtype variables, symbolic Consts and guards. Faults are collected, not raised."""
    c, function = _start(definition, {}, generic=True)
    for parameter in definition.parameters:
        _generic_parameter(c, definition, parameter, function)
    _body(c, definition)
    exclusions = {name: frozenset(leaves) for name, leaves in c.exclusions.items()}
    return Generic(Module([function]), tuple(c.faults), c.table, c.facts, tuple(c.obligations), exclusions)


def lower_concrete(definition: Definition, dtypes: Mapping[DType, DType], constants: Mapping[str, Any]) -> Module:
    """Lower with values: `dtypes` for the variables, `constants` for Const parameters and absent optional pointers (None).

    Raises KernelError with all faults.
    """
    c, function = _start(definition, dtypes, generic=False, absent=constants)
    where = Location(definition.source.name_span)
    for parameter in definition.parameters:
        if parameter.name in constants:
            value = constants[parameter.name]
            c.frame.env[parameter.name] = (Alternative(TRUE, _const_value(value), where),)
    _body(c, definition)
    if c.faults:
        raise KernelError(c.faults)
    return Module([function])


def _const_value(value: Any) -> Any:
    """A Const argument as a value of the front end: dtype classes become dtypes."""
    if isinstance(value, tuple):
        return tuple(_const_value(v) for v in value)
    leaf = getattr(value, "ir", None)
    return leaf if isinstance(leaf, DType) else value


def _start(
    definition: Definition, subst: Mapping[DType, DType], *, generic: bool, absent: Mapping[str, Any] | None = None
) -> tuple[Context, Function]:
    """The function with its arguments, and a context at the start of its body."""
    passed = [p for p in definition.parameters if p.kind != "const" and p.name not in (absent or {})]
    block = Block(tuple(p.type(subst) for p in passed), tuple(p.name for p in passed))
    place = Location(definition.source.name_span)
    function = Function(definition.name, Region([block]), loc=place, arg_attrs=tuple({} for _ in passed))
    frame = Frame(definition.fn, definition.source, None, None)
    c = Context(Builder(block, place), frame, generic, definition.name, EXPRESSIONS, STATEMENTS)
    for parameter, value in zip(passed, block.args, strict=True):
        operand = Operand(value, parameter.language_dtype(subst))
        c.frame.env[parameter.name] = (Alternative(TRUE, operand, parameter.location),)
    return c, function


def _generic_parameter(c: Context, definition: Definition, parameter: Parameter, function: Function) -> None:
    name, env = parameter.name, c.frame.env
    if parameter.kind == "const":
        env[name] = (Alternative(TRUE, _symbolic(c, parameter), parameter.location),)
    elif parameter.optional:
        guard = c.table.atom(("none", name), f"{name} is None")
        if guard is not None:
            present = env[name][0]
            env[name] = (
                Alternative(TRUE ^ guard, present.value, present.where),
                Alternative(guard, None, present.where),
            )


def _symbolic(c: Context, parameter: Parameter) -> Any:
    """A Const without a value yet."""
    kinds = {t.kind for t in parameter.const}
    if kinds == {"int"}:
        return symbol(parameter.name)
    if kinds == {"bool"}:
        guard = c.table.atom(("const", parameter.name), parameter.name)
        return Unset(bool, parameter.name) if guard is None else Condition(guard)
    known: dict[str, type] = {"float": float, "str": str, "int": int}
    first = next((known[k] for k in ("float", "str", "int") if k in kinds), object)
    return Unset(first, parameter.name)


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
