"""Products of scaled elements: as other products, with scales, and bytes that hold two elements.

A scale is no number to add up: an undefined one spoils sums, as does the one that stands for NaN; any other fill does
no harm where the elements are 0. Bytes of 0 are elements of 0 in every format.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from teeny.checks.fill.product import entry_of, kept, summed, unmet
from teeny.checks.fill.state import Entry, States
from teeny.ir.rules import COMPUTED, Number
from teeny.ir.types import shape_of
from teeny.ops.dot_scaled import NAN_SCALE, scales

if TYPE_CHECKING:
    from teeny.checks.fill.analysis import Analysis
    from teeny.ir.core import Op, Value


def dot_scaled_(a: Analysis, op: Op) -> None:
    """Findings about a `tt.dot_scaled`, and the states of its result."""
    x, y, total = op.operands[:3]
    rank = len(shape_of(x.type))
    first, second = scales(op)
    sides = [(x, rank - 1), (y, rank - 2), *((v, rank - 1) for v in (first, second) if v is not None)]
    undefined = [summed(a, op, value, axis) for value, axis in sides]
    packs = [bool(op.attrs.get(f"{side}_k_pack", True)) for side in ("lhs", "rhs")]
    halves = [op.attrs[f"{side}_elem_type"] == "e2m1" for side in "ab"]
    if not any(undefined):
        _fills(a, op, rank, alike=(halves[0] and packs[0]) == (halves[1] and packs[1]))
        for scale in (first, second):
            if scale is not None:
                _nans(a, op, scale, rank - 1)
    rows = _whole(kept(a, x, rank - 1), rank - 2, a, packed=halves[0] and not packs[0])
    columns = _whole(kept(a, y, rank - 2), rank - 1, a, packed=halves[1] and not packs[1])
    of_rows = {} if first is None else _scales(kept(a, first, rank - 1))
    of_columns = {} if second is None else _scales(_turned(a, kept(a, second, rank - 1), rank))
    made: States = {}
    for key in dict.fromkeys((*rows, *columns, *of_rows, *of_columns, *a.of(total))):
        found = [states[key] for states in (rows, columns, of_rows, of_columns) if key in states]
        if any(_is_nan(entry) for states in (of_rows, of_columns) if (entry := states.get(key)) is not None):
            found = [entry if entry.undefined else entry._replace(state=COMPUTED) for entry in found]
        entry = entry_of(found, a.entry(total, key))
        if entry is not None:
            made[key] = entry
    a.states[op.results[0]] = made


def _whole(states: States, axis: int, a: Analysis, *, packed: bool) -> States:
    """What is known of rows or columns of elements: where two lie in a byte, which of them are undefined is not."""
    if not packed:
        return states
    found = {key: entry for key, entry in states.items() if not a.keys.atoms.varies(key, axis)}
    undefined = next((e for k, e in states.items() if e.undefined and a.keys.atoms.varies(k, axis)), None)
    return found if undefined is None else {**found, -1: undefined}


def _turned(a: Analysis, states: States, rank: int) -> States:
    """The scales of columns, which are rows of theirs."""
    axes = tuple([(axis,) for axis in range(rank - 2)] + [(rank - 1,), (rank - 2,)])
    return {a.keys.atoms.moved(key, axes): entry for key, entry in states.items()}


def _is_nan(entry: Entry) -> bool:
    return isinstance(entry.state, Number) and entry.state.value in (NAN_SCALE, NAN_SCALE - 256)


def _scales(states: States) -> States:
    """Scales that are numbers change what elements are, but not that they are 0."""
    return {k: e if e.undefined or _is_nan(e) else e._replace(state=COMPUTED) for k, e in states.items()}


def _nans(a: Analysis, op: Op, scale: Value, inner: int) -> None:
    for key, entry in a.of(scale).items():
        if a.keys.atoms.varies(key, inner) and _is_nan(entry) and not a.keys.implies(a.path, key, entry.guard):
            a.found("F002", op, "dot", key, entry)


def _fills(a: Analysis, op: Op, rank: int, *, alike: bool) -> None:
    """As of other products; a 0 on the other side meets a lane only where both count along k `alike`."""
    x, y = op.operands[:2]
    to_y = tuple((rank - 2 if axis == rank - 1 else axis,) for axis in range(rank))
    to_x = tuple((rank - 1 if axis == rank - 2 else axis,) for axis in range(rank))
    if not unmet(a, op, (x, rank - 1), (y, rank - 2), to_y if alike else None):
        unmet(a, op, (y, rank - 2), (x, rank - 1), to_x if alike else None)
