"""What integers and conditions of a function are in terms of atoms.

An integer value has a *form*, a polynomial: ranges, scalars, Consts and their sums and products; all else is an atom.
A condition (an i1) has an *exact* set of polynomials p: it holds where every p >= 0. So `o < n`, `n > o`, `o <= n - 1`
and `(rows < m)[:, None]` share their keys. Where it is no such set (an `or`, a float comparison) it is an atom b, with
the key b - 1, and `Choice` remembers what it was made of. Overflow of the integers is not considered.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from teeny.checks.fill.atoms import FALSE, Atom, Atoms, AxisMap, mixed
from teeny.checks.fill.state import ANYWHERE
from teeny.ir.dtype import BOOL, INT, DType
from teeny.ir.facts import Facts
from teeny.ir.poly import Dim, Poly, add, as_atom, mul, neg, sub
from teeny.ir.types import element_of, shape_of
from teeny.ops.compare import CORE

if TYPE_CHECKING:
    from teeny.ir.core import Op, Value

Condition = frozenset["Dim"]
ALWAYS: Condition = frozenset()
NEVER: Condition = frozenset((FALSE,))

_SUMS: dict[str, Callable[[Dim, Dim], Dim]] = {"add": add, "sub": sub, "mul": mul}
MOVES = frozenset(("splat", "unsplat", "broadcast", "expand_dims", "trans", "reshape", "flip"))


@dataclass(frozen=True, slots=True)
class Choice:
    """A condition that is one of several: any that holds (`guards` None), or the one whose guard holds."""

    cases: tuple[Condition, ...]
    guards: tuple[int, ...] | None = None


@dataclass(slots=True)
class Keys:
    """Forms and conditions of the values of one function. Operations are visited in program order."""

    facts: Facts
    atoms: Atoms = field(init=False)
    choices: dict[str, Choice] = field(default_factory=dict[str, Choice])
    origins: dict[Dim, Value] = field(default_factory=dict["Dim", "Value"])
    homes: dict[str, Value] = field(default_factory=dict[str, "Value"])
    _numbers: dict[Value, int] = field(default_factory=dict["Value", int])
    _known: dict[Hashable, int] = field(default_factory=dict[Hashable, int])
    _forms: dict[Value, Dim] = field(default_factory=dict["Value", "Dim"])
    _exact: dict[Value, Condition] = field(default_factory=dict["Value", "Condition"])

    def __post_init__(self) -> None:
        self.atoms = Atoms(self.facts)

    def visit(self, op: Op) -> None:
        """Find what the results are now, so that later questions need not go far back."""
        for value in op.results:
            if value in self._numbers:  # in a loop that is read again
                continue
            self._number(value)
            if element_of(value.type) is BOOL:
                self.exact(value)
            elif is_integer(value):
                self.form(value)

    # Integers

    def form(self, value: Value) -> Dim:
        """The polynomial that an integer (or bool) value is."""
        found = self._forms.get(value)
        if found is None:
            found = self._forms[value] = self._form(value)
        return found

    def alias(self, value: Value, other: Value) -> None:
        """The value is the other one."""
        self._numbers[value] = self._number(other)
        if element_of(value.type) is BOOL:
            self._exact[value] = self.exact(other)
        elif is_integer(value):
            self._forms[value] = self.form(other)

    def _form(self, value: Value) -> Dim:
        op = value.op
        if op is None:
            return self.atom(value)
        group, attrs = op.schema.group, op.attrs
        if group in _SUMS:
            x, y = op.operands
            return _SUMS[group](self.form(x), self.form(y))
        if group in MOVES:
            return self.moved(op, self.form(op.operands[0]))
        if group == "constant":
            number: Any = attrs["value"]
            return int(number) if isinstance(number, int) else number if isinstance(number, Poly) else self.atom(value)
        if group == "range":
            start, end = _dim(attrs["start"]), _dim(attrs["end"])
            return add(start, self.atoms.lane(sub(end, start)))
        if group == "program_id" or group == "num_programs":
            return self.atoms.poly(Atom(f"{group}[{attrs['axis']}]", ()))
        if group == "cast" and op.schema.name != "arith.trunci" and is_integer(op.operands[0]):
            return self.form(op.operands[0])
        if group == "phi":
            forms = {self.form(x) for x in op.operands}
            if len(forms) == 1:
                return forms.pop()
        return self.atom(value)

    def atom(self, value: Value) -> Poly:
        """A value as an atom of its own. It does not vary along axes of length one."""
        base = f"#{self._number(value)}"
        self.homes.setdefault(base, value)
        return self.atoms.poly(Atom(base, tuple(i for i, n in enumerate(shape_of(value.type)) if n != 1)))

    def _number(self, value: Value) -> int:
        """Equal for values that are computed alike from equal ones."""
        found = self._numbers.get(value)
        if found is None:
            found = self._numbers[value] = self._known.setdefault(self._structure(value), len(self._known))
        return found

    def _structure(self, value: Value) -> Hashable:
        op = value.op
        if op is None or not op.schema.pure or op.regions or op.schema.group == "phi":
            return value
        attrs = tuple(sorted((name, repr(x)) for name, x in op.attrs.items())) if op.attrs else ()
        return op.schema.name, attrs, tuple([self._number(v) for v in op.operands]), value.type

    # Moving

    def moved(self, op: Op, dim: Dim) -> Dim:
        """A polynomial over the lanes of a moving operation's operand as one over those of its result."""
        if op.schema.group == "flip":
            new = self.atoms.flipped(dim, int(str(op.attrs["axis"])))
        else:
            axes, tag = axis_map(op)
            new = self.atoms.moved(dim, axes, tag)
        if new is not dim and dim in self.origins:
            self.origins.setdefault(new, self.origins[dim])
        return new

    def reduced(self, dim: Dim, axis: int) -> Dim:
        """A polynomial that does not vary along `axis`, after that axis has gone."""
        rank = 1 + max((a for atom in self.atoms.of(dim) for a in atom.axes), default=axis)
        new = self.atoms.moved(dim, tuple((a - (a > axis),) for a in range(rank)))
        if new is not dim and dim in self.origins:
            self.origins.setdefault(new, self.origins[dim])
        return new

    # Conditions

    def exact(self, value: Value) -> Condition:
        """The condition that an i1 is."""
        found = self._exact.get(value)
        if found is None:
            found = self._exact[value] = self._condition(value)
        return found

    def _condition(self, value: Value) -> Condition:
        op = value.op
        if op is None:
            return self._own(value)
        group = op.schema.group
        if group == "constant":
            known: Any = op.attrs["value"]
            if not isinstance(known, int):
                return self._own(value)
            return ALWAYS if known else NEVER
        if group in MOVES:
            inner = [self.moved(op, key) for key in self.exact(op.operands[0])]
            return frozenset(inner)
        if group == "cmp" and is_integer(op.operands[0]):
            return self._compared(op, value)
        if group == "and":
            return self.exact(op.operands[0]) | self.exact(op.operands[1])
        if group == "or":
            x, y = (self.exact(v) for v in op.operands)
            if self.all_implied(x, y):
                return y
            return x if self.all_implied(y, x) else self._own(value, Choice((x, y)))
        if group == "xor":
            x, y = (self.exact(v) for v in op.operands)
            if x == ALWAYS or y == ALWAYS:
                return self._negated(value, y if x == ALWAYS else x)
        if group == "phi":
            cases = tuple([self.exact(x) for x in op.operands])
            guards: Any = op.attrs["guards"]
            return cases[0] if len(set(cases)) == 1 else self._own(value, Choice(cases, tuple(guards)))
        return self._own(value)

    def opposite(self, value: Value) -> Condition:
        """What holds where an i1 does not: one key's opposite, or nothing that is known."""
        exact = self.exact(value)
        return self._set(None, *(sub(neg(key), 1) for key in exact)) if len(exact) == 1 else ALWAYS

    def _own(self, value: Value, choice: Choice | None = None) -> Condition:
        atom = self.atom(value)
        if choice is not None:
            self.choices[f"#{self._number(value)}"] = choice
        key = sub(atom, 1)
        self.origins.setdefault(key, value)
        return frozenset((key,))

    def _set(self, value: Value | None, *dims: Dim) -> Condition:
        keys = [key for key in map(self.atoms.condition, dims) if key is not None]
        if value is not None:
            for key in keys:
                self.origins.setdefault(key, value)
        return NEVER if FALSE in keys else frozenset(keys)

    def _negated(self, value: Value, condition: Condition) -> Condition:
        opposite = tuple([self._set(value, sub(neg(key), 1)) for key in condition])
        if not opposite:
            return NEVER
        return opposite[0] if len(opposite) == 1 else self._own(value, Choice(opposite))

    def _compared(self, op: Op, value: Value) -> Condition:
        predicate = str(op.attrs["predicate"])
        x, y = (self._operand(v, predicate) for v in op.operands)
        match CORE[predicate]:
            case "lt":
                return self._set(value, sub(sub(y, x), 1))
            case "le":
                return self._set(value, sub(y, x))
            case "gt":
                return self._set(value, sub(sub(x, y), 1))
            case "ge":
                return self._set(value, sub(x, y))
            case "eq":
                return self._set(value, sub(x, y), sub(y, x))
            case _:
                cases = self._set(value, sub(sub(x, y), 1)), self._set(value, sub(sub(y, x), 1))
                return ALWAYS if ALWAYS in cases else self._own(value, Choice(cases))

    def _operand(self, value: Value, predicate: str) -> Dim:
        """A side of a comparison; read without a sign it is an atom of its own, unless known not to be negative."""
        form = self.form(value)
        if predicate[0] != "u" or self.atoms.nonnegative(form):
            return form
        if isinstance(form, int):
            element = element_of(value.type)
            assert isinstance(element, DType)
            return form % (1 << element.bits)
        at = self._known.setdefault(("unsigned", form), len(self._known))
        axes = sorted({a for atom in self.atoms.of(form) for a in atom.axes})
        return self.atoms.poly(Atom(f"#{at}", tuple(axes)))

    # Implication

    def all_implied(self, have: Condition, keys: Iterable[Dim], guard: int = ANYWHERE) -> bool:
        return all(self.implies(have, key, guard) for key in keys)

    def implies(self, have: Condition, key: Dim, guard: int = ANYWHERE, depth: int = 3) -> bool:
        """Whether the key holds in every lane in which all of `have` do, under the rows of `guard`.

        `depth` choices are followed; what would take more counts as unknown.
        """
        if key in have or FALSE in have or self.atoms.nonnegative(key):
            return True
        if any(self.atoms.nonnegative(sub(key, other)) for other in have if other != FALSE):
            return True
        choice = self._choice(key)
        if choice is not None and self._proved(have, choice, guard):
            return True
        for other in have if depth else ():
            choice = self._choice(other)
            if choice is not None:
                rest = have - {other}
                cases = [(case, g & guard) for case, g in _alternatives(choice) if g & guard]
                if all(self.implies(rest | case, key, g, depth - 1) for case, g in cases):
                    return True
        return False

    def _proved(self, have: Condition, choice: Choice, guard: int) -> bool:
        if choice.guards is None:
            return any(self.all_implied(have, case, guard) for case in choice.cases)
        return all(self.all_implied(have, case, guard & g) for case, g in _alternatives(choice) if g & guard)

    def _choice(self, key: Dim) -> Choice | None:
        """What the atom b of a key b - 1 was made of, over the lanes at hand."""
        atom = as_atom(add(key, 1)) if self.choices else None
        found = self.atoms.table.get(atom.text) if atom is not None else None
        choice = self.choices.get(found.base) if found is not None else None
        if found is None or choice is None:
            return None
        home = self.homes[found.base]
        own = tuple(i for i, n in enumerate(shape_of(home.type)) if n != 1)
        if own == found.axes:
            return choice
        axes = dict(zip(own, found.axes, strict=True))
        table = tuple((axes[i],) if i in axes else () for i in range(len(shape_of(home.type))))
        cases = tuple(frozenset(self.atoms.moved(k, table) for k in case) for case in choice.cases)
        return Choice(cases, choice.guards)


def _alternatives(choice: Choice) -> list[tuple[Condition, int]]:
    guards = choice.guards or (ANYWHERE,) * len(choice.cases)
    return list(zip(choice.cases, guards, strict=True))


def _dim(value: object) -> Dim:
    assert isinstance(value, int | Poly)
    return value


def is_integer(value: Value) -> bool:
    element = element_of(value.type)
    return isinstance(element, DType) and element.mask != 0 and element.within(INT)


def axis_map(op: Op) -> tuple[AxisMap, str]:
    """For each axis of the operand those of the result, and a mark for axes that a reshape mixes."""
    old, new = shape_of(op.operands[0].type), shape_of(op.results[0].type)
    match op.schema.group:
        case "expand_dims":
            axis = int(str(op.attrs["axis"]))
            return tuple((a + (a >= axis),) for a in range(len(old))), ""
        case "trans":
            order: Any = op.attrs["order"]
            return tuple((list(order).index(a),) for a in range(len(old))), ""
        case "reshape":
            return mixed(old, new), f"{old}{new}"
        case "splat" | "unsplat":
            return tuple(() for _ in old), ""
        case _:
            return tuple((a,) for a in range(len(old))), ""
