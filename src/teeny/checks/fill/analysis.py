"""The walk over a function: the states of every value, in program order, and what is wrong on the way."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from teeny.checks.fill.atomic import atomic_
from teeny.checks.fill.finding import Finding, Role
from teeny.checks.fill.gather import gather_
from teeny.checks.fill.join import cat_, join_, split_
from teeny.checks.fill.keys import ALWAYS, MOVES, Condition, Keys
from teeny.checks.fill.lanewise import FALSE, TRUE, result_state
from teeny.checks.fill.order import histogram_, sort_
from teeny.checks.fill.product import dot_
from teeny.checks.fill.reduction import group_of, harmless, meant, so_far
from teeny.checks.fill.regions import for_, if_, while_
from teeny.checks.fill.scaled import dot_scaled_
from teeny.checks.fill.scan import scan_
from teeny.checks.fill.state import ANYWHERE, NOTHING, Entry, States, either, join_all
from teeny.diag.errors import InternalError
from teeny.ir.dtype import BOOL
from teeny.ir.rules import COMPUTED, Beyond, LaneState, Lanewise, Number, Structural, Undefined
from teeny.ir.types import element_of
from teeny.ops.reduce import combiner

if TYPE_CHECKING:
    from teeny.ir.core import Block, Function, Op, Value
    from teeny.ir.facts import Facts
    from teeny.ir.poly import Dim


class Analysis:
    """States of the values of one function. `fills` gives loads another `other`, to see what that would mend.

    `possible` is the truth table of what the Const conditions can be; `silent` keeps findings back while a loop is
    analysed for the first times. `starts`: what a carried value was before its loop.
    """

    def __init__(self, facts: Facts, possible: int, fills: Mapping[Op, float]) -> None:
        self.keys = Keys(facts)
        self.possible = possible
        self.fills = fills
        self.states: dict[Value, States] = {}
        self.numbers: dict[Value, float] = {}
        self.starts: dict[Value, Value] = {}
        self.path: Condition = ALWAYS
        self.silent = False
        self.findings: dict[object, Finding] = {}

    def function(self, function: Function) -> None:
        for block in function.body.blocks:
            self.block(block)

    def block(self, block: Block) -> tuple[Value, ...]:
        """Analyse a block; what its terminator hands on."""
        for op in block.ops:
            self.keys.visit(op)
            self.step(op)
        return block.ops[-1].operands if block.ops else ()

    def of(self, value: Value) -> States:
        return self.states.get(value, NOTHING)

    def found(self, code: str, op: Op, role: Role, key: Dim, entry: Entry) -> None:
        if not self.silent:
            finding = Finding(code, op, role, key, entry)
            self.findings.setdefault(finding.identity, finding)

    def demand(self, code: str, op: Op, role: Role, value: Value, have: Condition) -> bool:
        """No undefined lane of `value` is left where `have` holds; whether that is so."""
        fine = True
        for key, entry in self.undefined(value, op.guard):
            if not self.keys.implies(have, key, entry.guard):
                self.found(code, op, role, key, entry)
                fine = False
        return fine

    def undefined(self, value: Value, guard: int | None) -> list[tuple[Dim, Entry]]:
        """The conditions outside which lanes are undefined where `guard` holds, each entry narrowed to it."""
        rows = self.possible if guard is None else self.possible & guard
        found = [
            (key, entry._replace(guard=entry.guard & rows)) for key, entry in self.of(value).items() if entry.undefined
        ]
        return [(key, entry) for key, entry in found if entry.guard]

    # One operation

    def step(self, op: Op) -> None:
        fill = op.schema.fill
        if isinstance(fill, Lanewise):
            self._lanewise(op)
        elif isinstance(fill, Structural):
            self._structural(op, fill.kind)
        for value in op.results:
            if element_of(value.type) is BOOL:
                self._false_outside(value)

    def _structural(self, op: Op, kind: str) -> None:
        match kind:
            case "constant":
                self._constant(op)
            case "compare" | "address":
                self._lanewise(op)
            case "select":
                self._select(op)
            case "load":
                self._load(op)
            case "store":
                self._store(op)
            case "atomic":
                atomic_(self, op)
            case "gather":
                gather_(self, op)
            case "reduce":
                self._reduce(op)
            case "scan":
                scan_(self, op)
            case "sort":
                sort_(self, op)
            case "histogram":
                histogram_(self, op)
            case "join":
                join_(self, op)
            case "split":
                split_(self, op)
            case "cat":
                cat_(self, op)
            case "dot":
                dot_(self, op)
            case "dot_scaled":
                dot_scaled_(self, op)
            case "phi":
                self._phi(op)
            case "for":
                for_(self, op)
            case "if":
                if_(self, op)
            case "while":
                while_(self, op)
            case "call":
                self._call(op)
            case "assert":
                self.demand("F006", op, "assertion", op.operands[0], self.path)
            case "range" | "uniform" | "contract" | "nothing" | "asm" | "terminator":
                pass
            case _:
                if kind not in MOVES:
                    raise InternalError(f"the fill check has no rule for {op.name}", op.loc)
                self._move(op)

    def _constant(self, op: Op) -> None:
        number: Any = op.attrs["value"]
        if isinstance(number, int | float):  # else it is known at specialisation alone
            is_bool = element_of(op.results[0].type) is BOOL
            self.numbers[op.results[0]] = -int(number) if is_bool else number

    def _move(self, op: Op) -> None:
        value, result = op.operands[0], op.results[0]
        states = self.of(value)
        if states:
            self.states[result] = {self.keys.moved(op, key): entry for key, entry in states.items()}
        if value in self.numbers:
            self.numbers[result] = self.numbers[value]

    def entry(self, value: Value, key: Dim) -> Entry | None:
        """What lanes outside the key hold; a constant holds its number everywhere."""
        found = self.of(value).get(key)
        if found is None and value in self.numbers:
            return Entry(Number(self.numbers[value]), None)
        return found

    def _keys(self, values: Iterable[Value]) -> list[Dim]:
        return list(dict.fromkeys(key for value in values for key in self.of(value)))

    def _lanewise(self, op: Op) -> None:
        result = op.results[0]
        keys = self._keys(op.operands)
        if not keys and all(v in self.numbers for v in op.operands):
            state = result_state(op, tuple([Number(self.numbers[v]) for v in op.operands]))
            if isinstance(state, Number):
                self.numbers[result] = state.value
            return
        made: States = {}
        for key in keys:
            entries = [self.entry(v, key) for v in op.operands]
            states = tuple([e.state if e else None for e in entries])
            state = result_state(op, states)
            if state == COMPUTED:
                state = so_far(op, states, lambda value: self.starts.get(value, value)) or state
            made_entry = _combined(state, entries)
            if made_entry is not None:
                made[key] = made_entry
        self.states[result] = made

    def _false_outside(self, value: Value) -> None:
        """A condition is false outside each of its own keys."""
        exact = self.keys.exact(value)
        if not exact:
            return
        states = dict(self.of(value))
        for key in exact:
            old = states.get(key)
            if old is None or not old.undefined:
                states[key] = Entry(FALSE, old.load if old else None)
        self.states[value] = states

    def _select(self, op: Op) -> None:
        condition, x, y = op.operands
        exact = self.keys.exact(condition)
        made: States = {}
        for key in dict.fromkeys((*self._keys(op.operands), *exact)):
            decided = self.entry(condition, key)
            a, b = self._fill(x, key), self._fill(y, key)
            state = decided.state if decided else None
            guard = a.guard if a is not None else ANYWHERE
            if state == FALSE or (not isinstance(state, Undefined) and self.keys.implies(exact, key, guard)):
                chosen = b
            elif state == TRUE:
                chosen = a
            elif isinstance(state, Undefined):
                chosen = decided
            else:
                chosen = either(a, b)
            if chosen is not None:
                made[key] = _combined(chosen.state, [chosen, a, b]) or chosen
        self.states[op.results[0]] = made

    def _phi(self, op: Op) -> None:
        guards: Any = op.attrs["guards"]
        cases: list[States] = []
        for value, guard in zip(op.operands, guards, strict=True):
            entries = {key: entry._replace(guard=entry.guard & guard) for key, entry in self.of(value).items()}
            cases.append({key: entry for key, entry in entries.items() if entry.guard})
        self.states[op.results[0]] = join_all(*cases)
        if all(v in self.numbers for v in op.operands) and len({self.numbers[v] for v in op.operands}) == 1:
            self.numbers[op.results[0]] = self.numbers[op.operands[0]]

    def _call(self, op: Op) -> None:
        """A function that is not inlined: what undefined lanes it takes it may hand on, whatever their place."""
        entries = [entry for v in op.operands for _, entry in self.undefined(v, op.guard)]
        for value in op.results if entries else ():
            self.states[value] = {-1: entries[0]}

    # Memory

    def address(self, op: Op, mask: Value | None) -> Condition | None:
        """The condition under which lanes are accessed; None where an undefined mask or address was found."""
        have = self.path
        if mask is not None:
            if not self.demand("F005", op, "mask", mask, self.path):
                return None
            have = have | self.keys.exact(mask)
        return have if self.demand("F005", op, "address", op.operands[0], have) else None

    def _load(self, op: Op) -> None:
        pointer, mask, other = op.operands[0], _operand(op, 1), _operand(op, 2)
        self.address(op, mask)
        made: States = {
            key: Entry(COMPUTED, entry.load)
            for key, entry in self.of(pointer).items()
            if entry.load is not None and not entry.undefined
        }
        rows = self.possible if op.guard is None else op.guard
        if other is not None:
            made.update((key, entry) for key, entry in self.of(other).items() if entry.undefined)
        for key in self.keys.exact(mask) if mask is not None and not _open(other) else ALWAYS:
            state = self._filled(op, other, key)
            made[key] = Entry(state, state.source if isinstance(state, Undefined) else op, rows)
        self.states[op.results[0]] = made

    def _filled(self, op: Op, other: Value | None, key: Dim) -> LaneState:
        if op in self.fills:
            return Number(self.fills[op])
        if other is None:
            return Undefined(op)
        entry = self._fill(other, key)
        return entry.state if entry is not None and entry.state is not None else COMPUTED

    def _fill(self, value: Value, key: Dim) -> Entry | None:
        """What a value holds that is used as a fill."""
        entry = self.entry(value, key)
        if entry is not None and isinstance(entry.state, Number) and value in self.numbers:
            return entry._replace(state=Number(meant(value, entry.state.value)))
        return entry

    def _store(self, op: Op) -> None:
        have = self.address(op, _operand(op, 2))
        if have is not None:
            self.demand("F004", op, "stored", op.operands[1], have)

    # Reductions

    def _reduce(self, op: Op) -> None:
        axis = int(str(op.attrs["axis"]))
        rows = self.possible if op.guard is None else self.possible & op.guard
        for value in op.operands:
            for key, entry in self.of(value).items():
                if self.keys.atoms.varies(key, axis) and entry.guard & rows:
                    self.reduced(op, value, key, entry._replace(guard=entry.guard & rows))
        kept = [
            {self.keys.reduced(k, axis): e for k, e in self.of(v).items() if not self.keys.atoms.varies(k, axis)}
            for v in op.operands
        ]
        together = join_all(*kept) if len(kept) > 1 else kept[0]
        for value in op.results:
            self.states[value] = {k: self.after(op, e) for k, e in together.items()}

    def reduced(self, op: Op, value: Value, key: Dim, entry: Entry) -> None:
        """Report lanes outside a condition that enter a reduction, unless they leave it as it is."""
        if self.keys.implies(self.path, key, entry.guard):
            return
        if entry.undefined:
            self.found("F001", op, "reduction", key, entry)
        elif entry.load is None:
            return
        elif isinstance(entry.state, Number):
            if not harmless(op, value, entry.state.value):
                self.found("F002", op, "reduction", key, entry)
        elif isinstance(entry.state, Beyond) and entry.state.group == (group_of(op) or "")[:3]:
            self.found("F002", op, "reduction", key, entry)
        elif combiner(op) == "add":
            self.found("F003", op, "reduction", key, entry)

    def after(self, op: Op, entry: Entry) -> Entry:
        """What a reduction makes of lanes that all hold the same: a maximum keeps a number, a sum keeps 0 alone."""
        group = combiner(op)
        if isinstance(entry.state, Beyond) and entry.state.group != (group or "")[:3]:
            return entry._replace(state=COMPUTED)
        if not isinstance(entry.state, Number):
            return entry
        keeps = group in ("max", "min", "maximum", "minimum", "and", "or") or (
            group is not None and entry.state.value == 0
        )
        return entry if keeps else entry._replace(state=COMPUTED)


def _open(fill: Value | None) -> bool:
    """Whether a fill is a Const without a value yet: the check of a specialisation, which knows it, decides."""
    while fill is not None and fill.op is not None and fill.op.schema.group in ("splat", "broadcast", "cast"):
        fill = fill.op.operands[0]
    op = None if fill is None else fill.op
    return op is not None and op.schema.group == "constant" and not isinstance(op.attrs["value"], int | float)


def _operand(op: Op, at: int) -> Value | None:
    return op.operands[at] if at < len(op.operands) else None


def _combined(state: LaneState, entries: Iterable[Entry | None]) -> Entry | None:
    """A result with the load that its operands stem from; an undefined one under the guards of the undefined ones."""
    if state is None:
        return None
    present = [e for e in entries if e is not None]
    if isinstance(state, Undefined):
        undefined = [e for e in present if e.undefined]
        guard = 0
        for one in undefined:
            guard |= one.guard
        return Entry(state, state.source, guard)
    guard = 0
    for one in present:
        guard |= one.guard
    return Entry(state, next((e.load for e in present if e.load is not None), None), guard)
