"""Branches and loops: what their results and carried values hold.

A loop is analysed until what it carries no longer changes. What one iteration hands on is put in terms of the next: the
index is a step further, a carried integer has grown. So a value that was loaded ahead under `offs + BLOCK < n` is known
to be undefined outside `offs < n` one iteration later. Where a carried value is undefined only where a carried mask is
false, that relation is kept (software pipelines).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from teeny.checks.fill.atoms import FALSE, Atom
from teeny.checks.fill.keys import is_integer
from teeny.checks.fill.state import ANYWHERE, States, join_all, joined
from teeny.ir.core import walk
from teeny.ir.dtype import BOOL
from teeny.ir.poly import Dim, as_atom, names, sub, substitute
from teeny.ir.types import element_of, shape_of

if TYPE_CHECKING:
    from teeny.checks.fill.analysis import Analysis
    from teeny.ir.core import Block, Op, Value

PATIENCE, ROUNDS = 3, 8
"""Passes over a loop before what still changes is put in terms of some iteration, and before it is given up."""
Pairs = set[tuple[int, int]]
"""Carried values with masks (both by number) outside of which alone they are undefined."""


def _condition(a: Analysis, op: Op, value: Value) -> None:
    a.demand("F006", op, "branch", value, a.path)


# Branches


def if_(a: Analysis, op: Op) -> None:
    condition = op.operands[0]
    _condition(a, op, condition)
    outer = a.path
    handed: list[tuple[Value, ...]] = []
    related: list[Pairs] = []
    for region, holds in zip(op.regions, (True, False), strict=True):
        values: tuple[Value, ...] = ()
        if region.blocks:
            a.path = outer | (a.keys.exact(condition) if holds else a.keys.opposite(condition))
            values = a.block(region.block)
        handed.append(values)
        related.append(_related(a, values))
        a.path = outer
    if not op.results:
        return
    pairs = related[0] & related[1]
    inside = _inside([region.block for region in op.regions if region.blocks])
    for at, result in enumerate(op.results):
        sides = [values[at] for values in handed if values]
        states = [_outlived(a, a.of(v), inside) for v in sides]
        a.states[result] = _with_mask(a, at, join_all(*states), op.results, pairs)


def _related(a: Analysis, values: Sequence[Value]) -> Pairs:
    """Which values are undefined only where which of the masks beside them is false."""
    found: Pairs = set()
    masks = [at for at, v in enumerate(values) if element_of(v.type) is BOOL]
    for at, value in enumerate(values):
        for mask in masks:
            if mask != at and shape_of(values[mask].type) == shape_of(value.type):
                have = a.path | a.keys.exact(values[mask])
                entries = [(key, entry) for key, entry in a.of(value).items() if entry.undefined]
                if all(a.keys.implies(have, key, entry.guard) for key, entry in entries):
                    found.add((at, mask))
    return found


def _with_mask(a: Analysis, at: int, states: States, values: Sequence[Value], pairs: Pairs) -> States:
    """The states of value `at` with its undefined lanes put in terms of the mask that it is related to."""
    mask = next((values[m] for v, m in sorted(pairs) if v == at), None)
    undefined = [entry for entry in states.values() if entry.undefined]
    if mask is None or not undefined:
        return states
    kept = {key: entry for key, entry in states.items() if not entry.undefined}
    for key in a.keys.exact(mask):
        kept[key] = undefined[0]._replace(guard=ANYWHERE)
    return kept


def _inside(blocks: Sequence[Block]) -> set[Value]:
    """The values that exist only in these blocks."""
    found: set[Value] = set()
    for block in blocks:
        found.update(block.args)
        for op in walk(block):
            found.update(op.results)
            for region in op.regions:
                for inner in region.blocks:
                    found.update(inner.args)
    return found


def _outlived(a: Analysis, states: States, inside: set[Value]) -> States:
    """States after the blocks that made `inside`: their atoms are no longer what any later value is."""
    return {_stale(a, key, inside): entry for key, entry in states.items()} if states else states


def _stale(a: Analysis, key: Dim, inside: set[Value], kept: frozenset[str] = frozenset()) -> Dim:
    """A condition with other atoms for those that are made `inside`, but for `kept`: nothing is known of them later."""
    changed: dict[str, Dim] = {}
    for atom in a.keys.atoms.of(key):
        home = a.keys.homes.get(atom.base)
        if home is not None and home in inside and atom.name not in kept:
            changed[atom.name] = a.keys.atoms.poly(Atom(f"~{atom.base}", atom.axes))
    return _substituted(a, key, changed)


def _substituted(a: Analysis, key: Dim, values: dict[str, Dim]) -> Dim:
    """A condition in other terms; messages show it as it was written."""
    new = substitute(key, values) if values else key
    if new is not key and key in a.keys.origins:
        a.keys.origins.setdefault(new, a.keys.origins[key])
    return new


# Loops


@dataclass(frozen=True, slots=True)
class _Loop:
    """A loop as the analysis sees it: `args` are carried (without the index), `inits` what they start as."""

    args: tuple[Value, ...]
    inits: tuple[Value, ...]
    inside: set[Value]
    index: Value | None = None
    start: Dim = 0
    step: Dim = 0


def for_(a: Analysis, op: Op) -> None:
    for bound in op.operands[:3]:
        _condition(a, op, bound)
    block = op.regions[0].block
    index, *args = block.args
    start, step = (a.keys.form(op.operands[at]) for at in (0, 2))
    loop = _Loop(tuple(args), op.operands[3:], _inside([block]), index, start, step)
    _repeat(a, loop, lambda: a.block(block))
    for arg, result in zip(args, op.results, strict=True):
        a.keys.alias(result, arg)
        states = {_without_index(a, key, index): entry for key, entry in a.of(arg).items()}
        a.states[result] = states


def while_(a: Analysis, op: Op) -> None:
    before, after = op.regions[0].block, op.regions[1].block

    def body() -> tuple[Value, ...]:
        condition, *passed = a.block(before)
        _condition(a, before.ops[-1], condition)
        for arg, value in zip(after.args, passed, strict=True):
            _same(a, arg, value)
        return a.block(after)

    loop = _Loop(before.args, op.operands, _inside([before, after]))
    _repeat(a, loop, body)
    for result, value in zip(op.results, before.ops[-1].operands[1:], strict=True):
        _same(a, result, value)


def _same(a: Analysis, value: Value, other: Value) -> None:
    a.keys.alias(value, other)
    a.states[value] = a.of(other)
    if other in a.numbers:
        a.numbers[value] = a.numbers[other]


def _without_index(a: Analysis, key: Dim, index: Value) -> Dim:
    return _stale(a, key, {index})


def _repeat(a: Analysis, loop: _Loop, body: Callable[[], tuple[Value, ...]]) -> None:
    """Run the body until what it hands on is what it began with, then once more to report."""
    silent, a.silent = a.silent, True
    pairs = _related(a, loop.inits)
    a.starts.update(zip(loop.args, loop.inits, strict=True))
    entry = [_with_mask(a, at, a.of(v), loop.args, pairs) for at, v in enumerate(loop.inits)]
    restless: set[int] = set()
    for turn in range(ROUNDS):
        _enter(a, loop, entry)
        handed = body()
        pairs = pairs & _related(a, handed)
        new = [_carried(a, loop, at, handed, pairs, at in restless) for at in range(len(loop.args))]
        if new == entry:
            break
        if turn >= PATIENCE:
            restless.update(at for at, states in enumerate(new) if states != entry[at])
        entry = new
    else:
        entry = [_given_up(old) for old in entry]
    a.silent = silent
    _enter(a, loop, entry)
    body()


def _enter(a: Analysis, loop: _Loop, entry: list[States]) -> None:
    for arg, states in zip(loop.args, entry, strict=True):
        a.states[arg] = states


def _given_up(states: States) -> States:
    """Of values that never settled: undefined lanes anywhere, if there are any."""
    undefined = [entry for entry in states.values() if entry.undefined]
    return {FALSE: undefined[0]._replace(guard=ANYWHERE)} if undefined else {}


def _carried(a: Analysis, loop: _Loop, at: int, handed: tuple[Value, ...], pairs: Pairs, restless: bool) -> States:
    """What a carried value holds at the start of any iteration; if it is restless, in terms of some iteration's."""
    begin = a.of(loop.inits[at])
    renamed = _next_names(a, loop, handed)
    valid = frozenset[str]() if restless else _valid(a, loop)
    handed_on: States = {}
    for key, entry in a.of(handed[at]).items():
        moved = _stale(a, _substituted(a, key, renamed), loop.inside, valid)
        handed_on[moved] = joined(handed_on.get(moved), entry) or entry
    first = dict(begin)
    for key, entry in handed_on.items():
        before = _at_start(a, loop, key)
        same = first.pop(before, None) if before is not key else None
        handed_on[key] = joined(same, entry) or entry
    return _with_mask(a, at, join_all(first, handed_on), loop.args, pairs)


def _valid(a: Analysis, loop: _Loop) -> frozenset[str]:
    """The names of the atoms that mean something at the start of an iteration: the index and the carried values."""
    values = (*loop.args, loop.index) if loop.index is not None else loop.args
    return frozenset(name for v in values if _has_form(v) for name in names(a.keys.atom(v)))


def _has_form(value: Value) -> bool:
    return is_integer(value) or element_of(value.type) is BOOL


def _next_names(a: Analysis, loop: _Loop, handed: tuple[Value, ...]) -> dict[str, Dim]:
    """Atoms of an iteration in terms of those of the next."""
    renamed: dict[str, Dim] = {}
    for arg, value in zip(loop.args, handed, strict=True):
        if not _has_form(arg):
            continue
        mine = a.keys.atom(arg)
        form = a.keys.form(value) if is_integer(value) else a.keys.atom(value)
        (name,) = names(mine)
        if form is mine:
            continue
        growth = sub(form, mine)
        other = as_atom(form)
        if _invariant(a, loop, growth):
            renamed[name] = sub(mine, growth)
        else:
            renamed[name] = a.keys.atoms.poly(Atom(f"~{a.keys.atoms.table[name].base}", a.keys.atoms.table[name].axes))
            if other is not None and not _invariant(a, loop, form):
                renamed.setdefault(other.text, mine)
    if loop.index is not None:
        index = a.keys.atom(loop.index)
        (name,) = names(index)
        renamed[name] = sub(index, loop.step)
    return renamed


def _invariant(a: Analysis, loop: _Loop, dim: Dim) -> bool:
    homes = [a.keys.homes.get(atom.base) for atom in a.keys.atoms.of(dim)]
    return all(home is None or home not in loop.inside for home in homes)


def _at_start(a: Analysis, loop: _Loop, key: Dim) -> Dim:
    """A key at the start of an iteration as it is at the start of the first."""
    values: dict[str, Dim] = {}
    for arg, init in zip(loop.args, loop.inits, strict=True):
        if is_integer(arg):
            (name,) = names(a.keys.atom(arg))
            values[name] = a.keys.form(init)
    if loop.index is not None:
        (name,) = names(a.keys.atom(loop.index))
        values[name] = loop.start
    return substitute(key, values)
