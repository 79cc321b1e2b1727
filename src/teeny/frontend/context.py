"""The state of one lowering: where operations go, what names mean, under which guard, and what was found wrong.

Control is explicit: expression and statement rules are functions `(c, node)` in tables that `lower` puts together, so the
modules of the front end do not import each other in circles.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from teeny.diag.diagnostic import Diagnostic, Fix, Label, at, report
from teeny.diag.span import Location, SourceFile, Span
from teeny.frontend.values import UNKNOWN, Condition, is_faulty
from teeny.ir.dtype import DType
from teeny.ir.facts import Facts
from teeny.ir.guard import TRUE, AtomTable
from teeny.ir.predicate import NEGATED, Predicate
from teeny.ops.control import phi_
from teeny.ops.function import Operand

if TYPE_CHECKING:
    from types import FunctionType

    from teeny.frontend.source import KernelSource
    from teeny.ir.builder import Builder


class Alternative(NamedTuple):
    """A name's value under a guard, and where it was given."""

    guard: int
    value: Any
    where: Location


class Maybe(NamedTuple):
    """The value of a name that is set on some run-time paths only; `why` completes "it is set ..."."""

    why: str
    where: Location


class Returned(NamedTuple):
    guard: int
    value: Any
    where: Location


class Split(Exception):
    """A name has values that cannot be one: the statement is lowered again under each guard. Caught by `execute`."""

    def __init__(self, guards: tuple[int, ...]) -> None:
        super().__init__("the statement is lowered under each guard apart")
        self.guards = guards


@dataclass(slots=True, eq=False)
class Frame:
    """One function body: the kernel's, or a helper's that is inlined."""

    fn: FunctionType
    source: KernelSource
    call: Location | None
    outer: Frame | None
    env: dict[str, tuple[Alternative, ...]] = field(default_factory=dict[str, "tuple[Alternative, ...]"])
    dead: int = 0
    returns: list[Returned] = field(default_factory=list[Returned])
    depth: int = 0

    @property
    def file(self) -> SourceFile:
        return self.source.file


Rule = Callable[["Context", Any], Any]


@dataclass(slots=True, eq=False)
class Context:
    """A lowering in progress. `region` counts the run-time regions around the current statement."""

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
    obligations: list[tuple[Predicate, str, str, Location]] = field(
        default_factory=list["tuple[Predicate, str, str, Location]"]
    )
    splits: int = 0

    # ---- places -----------------------------------------------------------------------------------------------------

    def location(self, node: Any, name: str | None = None) -> Location:
        """The place of a syntax node; `name` is the language function called there."""
        end: int = node.end_lineno or node.lineno
        return Location(
            Span(self.frame.file, node.lineno, node.col_offset, end, node.end_col_offset or node.col_offset), name, self.frame.call
        )

    def text(self, node: ast.AST) -> str:
        """The source of a node on one line, shortened for a message."""
        text = " ".join(self.location(node).span.text.split())
        return text if len(text) <= 40 else text[:37] + "..."

    # ---- faults -----------------------------------------------------------------------------------------------------

    def fault(
        self, code: str, message: str, node: Any, *labels: Label, label: str = "", help: str = "", fix: Fix | None = None
    ) -> Any:
        """Report a fault at a node and go on with an unknown value."""
        place = node if isinstance(node, Location) else self.location(node)
        found = report(
            code, message, at(place, label), *labels,
            help=(help,) if help else (), fixes=(fix,) if fix else (), kernel=self.kernel,
        )  # fmt: skip
        if found not in self.faults:
            self.faults.append(found)
        return UNKNOWN

    # ---- guards -----------------------------------------------------------------------------------------------------

    @property
    def active(self) -> int:
        """The guard under which the current statement is executed."""
        return self.guard & ~self.frame.dead

    def enter(self, guard: int) -> None:
        """Go on under `guard` (an absolute one)."""
        self.guard = guard
        self.stamp()

    def stamp(self) -> None:
        """Let new operations carry the current guard."""
        active = self.active
        self.b.guard = None if active == TRUE else active

    def truth(self, value: Any) -> bool | None:
        """What a compile-time condition is under the current guard; None if that depends."""
        if isinstance(value, Condition):
            active = self.active
            if self.table.implies(active, value.guard):
                return True
            return False if self.table.is_false(active & value.guard) else None
        return bool(value)

    def settle(self, value: Any) -> bool:
        """Like `truth`, but where it depends the statement is lowered once for each case."""
        found = self.truth(value)
        if found is None:
            assert isinstance(value, Condition)
            raise Split((value.guard, TRUE ^ value.guard))
        return found

    def learn(self, guard: int, holds: bool) -> None:
        """Inside a branch: assume what the condition says about dims."""
        predicate = self.predicates.get(guard)
        if predicate is None:
            return
        if not holds:
            if predicate.op not in NEGATED:
                return
            predicate = Predicate(NEGATED[predicate.op], predicate.a, predicate.b)
        self.facts = self.facts.assume(predicate)

    def same_dtype(self, a: Any, b: Any) -> bool:
        """Whether two dtypes are one here: the same, or a variable that the guard pins to the other."""
        if a is b:
            return True
        if not self.generic or not isinstance(a, DType) or not isinstance(b, DType):
            return False
        if not a.mask or not b.mask:
            return True
        variable, leaf = (a, b) if a.is_variable else (b, a)
        if not variable.is_variable or leaf.is_variable or ("dtype", variable, leaf) not in self.table.keys:
            return False
        atom = self.table.atom(("dtype", variable, leaf), "")
        return atom is not None and self.table.implies(self.active, atom)

    # ---- names ------------------------------------------------------------------------------------------------------

    def bind(self, name: str, value: Any, where: Location) -> None:
        """Give a name a value under the current guard."""
        env, active = self.frame.env, self.active
        old = env.get(name, ())
        if isinstance(value, Operand) and value.value.name is None and value.value.op is not None:
            value.value.name = name
        if active == TRUE or not old:
            env[name] = (Alternative(active, value, where),)
            return
        kept = tuple(
            Alternative(rest, a.value, a.where) for a in old if not self.table.is_false(rest := a.guard & ~active)
        )
        env[name] = (*kept, Alternative(active, value, where))

    def lookup(self, name: str, node: ast.AST) -> Any:
        """The value of a local name under the current guard; `NotImplemented` where there is no such local."""
        alternatives = self.frame.env.get(name)
        if alternatives is None:
            return NotImplemented
        first = alternatives[0]
        if len(alternatives) == 1 and first.guard == TRUE:
            return self._defined(name, first.value, node)
        active = self.active
        seen = [a for a in alternatives if not self.table.is_false(a.guard & active)]
        covered = 0
        for one in seen:
            covered |= one.guard
        if not seen or not self.table.implies(active, covered):
            missing = self.table.describe(active & ~covered)
            when = "here" if missing == "always" else f"when {missing}"
            self.fault("E003", f"`{name}` is not defined {when}", node, help=f"give `{name}` a value on that path, or use it under the same condition")
            if not seen:
                return UNKNOWN
        return self._defined(name, self.join(tuple((a.guard, a.value) for a in seen)), node)

    def _defined(self, name: str, value: Any, node: ast.AST) -> Any:
        if isinstance(value, Maybe):
            return self.fault(
                "E003", f"`{name}` may be undefined here: it is set {value.why}", node, Label(value.where, "set here", primary=False),
                help=f"give `{name}` a value before",
            )  # fmt: skip
        return value

    def join(self, cases: tuple[tuple[int, Any], ...]) -> Any:
        """The one value of alternatives, joined where they have one type; raises `Split` where they do not."""
        first = cases[0][1]
        if all(value is first for _, value in cases):
            return first
        values = [value for _, value in cases]
        if any(is_faulty(value) for value in values):
            return UNKNOWN
        if isinstance(first, Operand):
            same = all(
                isinstance(v, Operand) and v.dtype is first.dtype and v.value.type is first.value.type for v in values
            )
            if same:
                guards = tuple(guard for guard, _ in cases)
                joined = self.b.create(phi_, *(v.value for v in values), guards=guards)
                joined.name = first.value.name
                return Operand(joined, first.dtype)
        elif all(type(v) is type(first) and v == first for v in values):
            return first
        raise Split(tuple(guard for guard, _ in cases))


def evaluate(c: Context, node: ast.AST) -> Any:
    """The value of an expression."""
    rule = c.expressions.get(type(node))
    if rule is None:
        return c.fault("E001", f"{_describe(node)} is outside the language", node, help=_instead(node))
    return rule(c, node)


MAX_SPLITS = 8
"""Alternatives of a statement at most, as front ends cap them."""


def execute(c: Context, node: ast.stmt) -> None:
    """Lower one statement, once for each alternative of the names in it where these cannot be joined."""
    rule = c.statements.get(type(node))
    if rule is None:
        c.fault("E001", f"{_describe(node)} is outside the language", node, help=_instead(node))
        return
    c.stamp()
    if not c.generic:
        rule(c, node)
        return
    frame, block, guard, facts, region = c.frame, c.b.block, c.guard, c.facts, c.region
    marks = len(block.ops), len(c.faults), len(frame.returns), len(c.obligations)
    env, dead = dict(frame.env), frame.dead
    try:
        rule(c, node)
    except Split as split:
        c.frame, c.b.block, c.facts, c.region = frame, block, facts, region
        del block.ops[marks[0] :], c.faults[marks[1] :], frame.returns[marks[2] :], c.obligations[marks[3] :]
        frame.env, frame.dead = env, dead
        for case in split.guards:
            inner = guard & case
            if not c.table.is_false(inner & ~frame.dead):
                c.enter(inner)
                execute(c, node)
        c.enter(guard)


_NAMES: dict[str, tuple[str, str]] = {
    "Lambda": ("a lambda", "write a typed function beside the kernel and call it"),
    "ListComp": ("a list comprehension", "write a loop over tl.static_range"),
    "GeneratorExp": ("a generator expression", "write a loop over tl.static_range"),
    "SetComp": ("a set comprehension", "write a loop over tl.static_range"),
    "DictComp": ("a dict comprehension", "pass single Const parameters"),
    "Dict": ("a dict", "pass single Const parameters"),
    "Set": ("a set", "use a tuple"),
    "List": ("a list", "use a tuple"),
    "Try": ("a try statement", "errors cannot be caught in a kernel; check conditions with an `if`"),
    "With": ("a with statement", "write the statements without it"),
    "Break": ("break", "put the condition into a `while`, or mask the work with `tl.where`"),
    "Continue": ("continue", "put the rest of the body under an `if`"),
    "FunctionDef": ("a nested function", "define the helper beside the kernel"),
    "ClassDef": ("a class", "pass single parameters"),
    "Delete": ("del", "leave it out"),
    "Global": ("global", "a kernel cannot change globals; store through a pointer"),
    "Nonlocal": ("nonlocal", "a kernel cannot change outer names; return the value"),
    "Raise": ("raise", "use tl.static_assert for compile-time conditions and tl.require for arguments"),
    "Import": ("an import", "import at the top of the module"),
    "ImportFrom": ("an import", "import at the top of the module"),
    "Await": ("await", "kernels are not asynchronous"),
    "Yield": ("yield", "store results through a pointer"),
    "YieldFrom": ("yield", "store results through a pointer"),
    "NamedExpr": ("an assignment expression", "assign on a line of its own"),
    "JoinedStr": ("an f-string", "use a plain string"),
    "Starred": ("a starred expression", "write the arguments out"),
    "Match": ("a match statement", "use if and elif"),
    "AsyncFor": ("async for", "use for"),
    "AsyncWith": ("async with", "write the statements without it"),
    "TryStar": ("a try statement", "errors cannot be caught in a kernel; check conditions with an `if`"),
    "AsyncFunctionDef": ("a nested function", "define the helper beside the kernel"),
    "TypeAlias": ("a type alias", "define it beside the kernel"),
}


def _describe(node: ast.AST) -> str:
    return _NAMES.get(type(node).__name__, (type(node).__name__, ""))[0]


def _instead(node: ast.AST) -> str:
    return _NAMES.get(type(node).__name__, ("", ""))[1]
