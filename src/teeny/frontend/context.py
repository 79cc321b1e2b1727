"""The state of one lowering: where operations go, what names mean, under which guard, and what was found wrong.

Control is explicit: expression and statement rules are functions `(c, node)` in tables that `lower` puts together, so
the modules of the front end do not import each other in circles.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from teeny.diag.diagnostic import Diagnostic, Fix, Label, at, report
from teeny.diag.span import Location, Span, user_location
from teeny.frontend.values import UNKNOWN, Condition, Unset, is_faulty, is_tuple
from teeny.ir.dtype import DType, bound_of, members, variable
from teeny.ir.facts import Facts
from teeny.ir.guard import TRUE, AtomTable
from teeny.ir.poly import Dim, Poly, symbol
from teeny.ir.predicate import NEGATED, Predicate
from teeny.ops.control import phi_
from teeny.ops.function import Operand

if TYPE_CHECKING:
    from types import FunctionType

    from teeny.frontend.signature import Term
    from teeny.frontend.source import KernelSource
    from teeny.ir.builder import Builder
    from teeny.ir.core import Value


class Alternative(NamedTuple):
    """A name's value under a guard, and where it was given."""

    guard: int
    value: Any
    where: Location


Env = dict[str, "tuple[Alternative, ...]"]


class Maybe(NamedTuple):
    """The value of a name that is set on some run-time paths only; `why` completes "it is set ..."."""

    why: str
    where: Location
    index: bool = False
    """Whether it is the index of a loop, which needs no `why`."""


class Returned(NamedTuple):
    """A value that a function returns under a guard; None where it ends without one."""

    guard: int
    value: Any
    where: Location


class SplitError(Exception):
    """A name has values that cannot be one: the statement is lowered again under each guard. Caught by `execute`."""

    def __init__(self, guards: tuple[int, ...]) -> None:
        super().__init__("the statement is lowered under each guard apart")
        self.guards = guards


@dataclass(slots=True, eq=False)
class Frame:
    """One function body: the kernel's, or a helper's that is inlined.

    `dead`: the guard under which the function has returned. `loops`: the run-time loops around the current statement.
    `undefined`: names that were reported as not defined. `result`: what the helper's annotation says of its value, with
    `subst` for the type variables.
    """

    function: Any
    source: KernelSource
    call: Location | None
    outer: Frame | None
    env: Env = field(default_factory=dict[str, "tuple[Alternative, ...]"])
    dead: int = 0
    returns: list[Returned] = field(default_factory=list[Returned])
    depth: int = 0
    loops: int = 0
    undefined: frozenset[str] = frozenset()
    result: tuple[Term, ...] = ()
    subst: dict[DType, DType] = field(default_factory=dict[DType, DType])

    @property
    def fn(self) -> FunctionType:
        """The Python function."""
        return self.function


Rule = Callable[["Context", Any], Any]
Obligation = tuple[Predicate, str, str, Location]
"""A predicate that a specialisation has to satisfy, the code and message where it does not, and the place."""


@dataclass(slots=True, eq=False)
class Context:
    """A lowering in progress.

    `region` counts the run-time regions around the current statement. `pinned`: whether a condition compares a dtype
    variable with a dtype. `opaques`: Const ints that nothing is known of; `equal`: names that an assertion makes equal
    to others; `names`: the names of all Const ints; `serial` counts the loops among them. `lost`: run-time values that
    were compile-time ints before a run-time branch or loop changed them, and where. `apart`: into how many cases the
    statement is split; past the cap (`capped`) what cannot be joined is unknown, and the IR is `partial`. `copies`:
    into how many branches the statement is lowered, since they may return. `doubtful`: the condition of a branch around
    is at fault. `annotations`: those of helpers, as they were read.
    """

    b: Builder
    frame: Frame
    generic: bool
    kernel: str
    expressions: dict[type[ast.AST], Rule]
    statements: dict[type[ast.AST], Rule]
    table: AtomTable = field(default_factory=AtomTable)
    facts: Facts = field(default_factory=Facts)
    guard: int = TRUE
    region: int = 0
    faults: list[Diagnostic] = field(default_factory=list[Diagnostic])
    predicates: dict[int, Predicate] = field(default_factory=dict[int, Predicate])
    exclusions: dict[str, set[str]] = field(default_factory=dict[str, "set[str]"])
    obligations: list[Obligation] = field(default_factory=list[Obligation])
    pinned: bool = False
    lost: dict[Value, Location] = field(default_factory=dict["Value", Location])
    opaques: dict[tuple[Any, ...], Poly] = field(default_factory=dict["tuple[Any, ...]", Poly])
    equal: dict[str, Dim] = field(default_factory=dict[str, Dim])
    names: set[str] = field(default_factory=set[str])
    serial: int = 0
    apart: int = 1
    capped: bool = False
    partial: bool = False
    copies: int = 1
    annotations: dict[ast.expr, tuple[Term, ...]] = field(default_factory=dict["ast.expr", "tuple[Term, ...]"])
    doubtful: bool = False

    # ---- places -----------------------------------------------------------------------------------------------------

    def location(self, node: Any, name: str | None = None) -> Location:
        """The place of a syntax node; `name` is the language function called there."""
        frame = self.frame
        span = node.__dict__.get("span")
        if span is None or span.source is not frame.source.file:
            line, column = node.lineno, node.col_offset
            span = Span(frame.source.file, line, column, node.end_lineno or line, node.end_col_offset or column)
            node.span = span
        return Location(span, name, frame.call)

    def text(self, node: ast.AST) -> str:
        """The source of a node on one line, shortened for a message."""
        text = " ".join(self.location(node).span.text.split())
        return text if len(text) <= 40 else text[:37] + "..."

    # ---- faults -----------------------------------------------------------------------------------------------------

    def fault(
        self,
        code: str,
        message: str,
        node: Any,
        *labels: Label,
        label: str = "",
        help: str = "",
        fix: Fix | None = None,
    ) -> Any:
        """Report a fault at a node and give an unknown value. In a library function the place is the user's call."""
        if self.doubtful and code in ("E003", "S008"):
            return UNKNOWN
        inner = node if isinstance(node, Location) else self.location(node)
        place = user_location(inner)
        others = tuple(
            one for one in labels if one.location.span != place.span and user_location(one.location) is one.location
        )
        notes = () if place is inner else (f"in the body of `tl.{place.name}`",)
        found = report(
            code,
            message,
            at(place, label),
            *others,
            help=(help,) if help else (),
            notes=notes,
            fixes=(fix,) if fix else (),
            kernel=self.kernel,
        )
        if not any(_alike(one, found) for one in self.faults):
            self.faults.append(found)
        return UNKNOWN

    # ---- guards -----------------------------------------------------------------------------------------------------

    @property
    def active(self) -> int:
        """The guard under which the current statement is executed."""
        return self.guard & ~self.frame.dead

    @property
    def unreachable(self) -> bool:
        """Whether the current statement is never executed."""
        return not (self.guard & ~self.frame.dead & self.table.possible)

    def enter(self, guard: int) -> None:
        """Go on under `guard` (an absolute one)."""
        self.guard = guard
        self.stamp()

    def stamp(self) -> None:
        """Let new operations carry the current guard."""
        active = self.guard & ~self.frame.dead
        self.b.guard = None if active == TRUE else active

    def truth(self, value: Any) -> bool | None:
        """What a compile-time condition is under the current guard; None if that depends."""
        if isinstance(value, Condition):
            active = self.active
            if self.table.implies(active, value.guard):
                return True
            return False if self.table.is_false(active & value.guard) else None
        return None if isinstance(value, Unset) else bool(value)

    def settle(self, value: Any) -> bool:
        """Like `truth`, but where it depends the statement is lowered once for each case."""
        found = self.truth(value)
        if found is None:
            if self.capped or not isinstance(value, Condition):
                return True
            raise SplitError((value.guard, TRUE ^ value.guard))
        return found

    def learn(self) -> None:
        """Assume what the conditions of the current guard say about dims."""
        active = self.active
        for guard, predicate in self.predicates.items():
            if self.table.implies(active, guard):
                self.facts = self.facts.assume(predicate)
            elif predicate.op in NEGATED and self.table.is_false(active & guard):
                self.facts = self.facts.assume(Predicate(NEGATED[predicate.op], predicate.a, predicate.b))

    def pin(self, dtype: DType) -> DType:
        """What the guard leaves of a dtype variable: a leaf, a variable of fewer leaves, or the variable itself."""
        if not self.pinned or not dtype.is_variable:
            return dtype
        mask = dtype.mask
        for key in self.table.keys:
            if is_tuple(key) and len(key) == 3 and key[0] == "dtype" and key[1].name == dtype.name:
                atom = self.table.atom(key, "")
                leaves = key[2].mask if isinstance(key[2], DType) else key[2]
                if atom is not None and self.table.implies(self.active, atom):
                    mask &= leaves
                elif atom is not None and self.table.is_false(self.active & atom):
                    mask &= ~leaves
        left = members(dtype) if mask == dtype.mask else [leaf for leaf in members(dtype) if leaf.mask & mask]
        if mask == dtype.mask or not left:
            return dtype
        return left[0] if len(left) == 1 else variable(dtype.name, mask, bound_of(mask))

    def opaque(self, text: str, parts: tuple[Any, ...]) -> Poly:
        """A Const int that nothing is known of: a name of its own, the same one for the same parts."""
        found = self.opaques.get(parts)
        if found is None:
            name = text if text not in self.names else f"{text} #{len(self.names)}"
            self.names.add(name)
            found = self.opaques[parts] = symbol(name)
        return found

    # ---- names ------------------------------------------------------------------------------------------------------

    def bind(self, name: str, value: Any, where: Location, under: int = TRUE) -> None:
        """Give a name a value under the current guard, and `under` as well."""
        env, active = self.frame.env, self.guard & ~self.frame.dead & under
        if isinstance(value, Operand) and value.value.name is None and value.value.op is not None:
            value.value.name = name
        old = env.get(name)
        if active == TRUE or old is None:
            env[name] = (Alternative(active, value, where),)
            return
        kept = [Alternative(rest, a.value, a.where) for a in old if not self.table.is_false(rest := a.guard & ~active)]
        env[name] = (*kept, Alternative(active, value, where))

    def lookup(self, name: str, node: ast.AST) -> Any:
        """The value of a local name under the current guard; `NotImplemented` where there is no such local."""
        alternatives = self.frame.env.get(name)
        if alternatives is None:
            return NotImplemented
        first = alternatives[0]
        if len(alternatives) == 1 and first.guard == TRUE:
            return self._undefined(name, first.value, node) if isinstance(first.value, Maybe) else first.value
        active = self.active
        seen = [a for a in alternatives if not self.table.is_false(a.guard & active)]
        covered = 0
        for one in seen:
            covered |= one.guard
        if not self.table.implies(active, covered):
            return self._missing(name, node, active, covered)
        maybe = next((a.value for a in seen if isinstance(a.value, Maybe)), None)
        if maybe is not None:
            return self._undefined(name, maybe, node)
        if len(seen) == 1:
            return seen[0].value
        value = self.join(tuple((a.guard & active, a.value) for a in seen))
        if len(seen) == len(alternatives) and self.table.implies(covered, active):
            self.frame.env[name] = (Alternative(covered, value, seen[-1].where),)
        return value

    def _missing(self, name: str, node: ast.AST, active: int, covered: int) -> Any:
        missing = self.table.describe(active & ~covered)
        when = "here" if missing == "always" else f"when {missing}"
        labels = (Label(a.where, "set here", primary=False) for a in self.frame.env[name])
        help = f"give `{name}` a value on that path too, or use it under the same condition"
        return self.undefined(name, f"`{name}` is not defined {when}", node, *labels, help=help)

    def _undefined(self, name: str, value: Maybe, node: ast.AST) -> Any:
        text, help = f"`{name}` may be undefined here: it is set {value.why}", f"give `{name}` a value before"
        if value.index:
            text = f"`{name}` is the index of a loop, and not defined after it"
            help = f"keep it under another name, which has a value before the loop: last = {name}"
        return self.undefined(name, text, node, Label(value.where, "set here", primary=False), help=help)

    def undefined(
        self,
        name: str,
        text: str,
        node: ast.AST,
        *labels: Label,
        help: str = "",
        code: str = "E003",
        fix: Fix | None = None,
    ) -> Any:
        """Report once that a name has no value; from there on its value is unknown."""
        if name not in self.frame.undefined:
            self.frame.undefined |= {name}
            self.fault(code, text, node, *labels, help=help, fix=fix)
        self.bind(name, UNKNOWN, self.location(node))
        return UNKNOWN

    def doubt(self, name: ast.AST) -> None:
        """After a fault about a value: the local name that holds it is unknown from there on."""
        if (
            isinstance(name, ast.Name)
            and name.id not in self.frame.fn.__code__.co_varnames[: self.frame.fn.__code__.co_argcount]
        ):
            self.bind(name.id, UNKNOWN, self.location(name))

    def join(self, cases: tuple[tuple[int, Any], ...]) -> Any:
        """The one value of alternatives, joined where they have one type; raises `SplitError` where they do not."""
        first = cases[0][1]
        if all(value is first for _, value in cases):
            return first
        values = [value for _, value in cases]
        if any(is_faulty(value) for value in values):
            return UNKNOWN
        if isinstance(first, Operand):
            kind, dtype = first.value.type, first.dtype
            if all(isinstance(v, Operand) and v.dtype is dtype and v.value.type is kind for v in values):
                joined = self.b.create(phi_, *(v.value for v in values), guards=tuple(guard for guard, _ in cases))
                joined.name = first.value.name
                return Operand(joined, dtype)
        elif is_tuple(first):
            if all(is_tuple(v) and len(v) == len(first) for v in values):
                return tuple(self.join(tuple((g, v[i]) for g, v in cases)) for i in range(len(first)))
        elif isinstance(first, bool | Condition) and all(isinstance(v, bool | Condition) for v in values):
            return _joined_conditions(cases)
        elif all(type(v) is type(first) and v == first for v in values):
            return first
        if self.capped or not self.generic:
            return UNKNOWN
        raise SplitError(tuple(guard for guard, _ in cases))


def _joined_conditions(cases: tuple[tuple[int, Any], ...]) -> Condition:
    """The condition that holds where the alternative of that place does."""
    found = 0
    for guard, value in cases:
        found |= guard & (value.guard if isinstance(value, Condition) else TRUE if value else 0)
    return Condition(found)


def _alike(a: Diagnostic, b: Diagnostic) -> bool:
    """Whether two reports are one: a helper's fault shows at each call, one in an unrolled loop in each iteration."""
    return a.code == b.code and a.labels[0].location.span == b.labels[0].location.span
