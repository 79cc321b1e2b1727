"""Sorts and histograms: fills that come last, and fills that are counted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from teeny.checks.fill.join import displaced
from teeny.checks.fill.reduction import harmless
from teeny.checks.fill.state import Entry, States, join_all
from teeny.ir.rules import Number
from teeny.ir.types import shape_of

if TYPE_CHECKING:
    from teeny.checks.fill.analysis import Analysis
    from teeny.ir.core import Op
    from teeny.ir.poly import Dim


def sort_(a: Analysis, op: Op) -> None:
    """Lanes outside a condition move among the others, unless they are the last of the order and stood last."""
    (value,), (result,) = op.operands, op.results
    axis = len(shape_of(value.type)) - 1
    rows = a.possible if op.guard is None else a.possible & op.guard
    kept: list[States] = []
    for key, entry in a.of(value).items():
        if not a.keys.atoms.varies(key, axis):
            kept.append({key: entry})
        elif _comes_last(a, op, key, entry, rows) and shape_of(value.type) == shape_of(result.type):
            last = a.keys.atoms.slope(key, axis) == -1
            kept.append({key: entry} if last else displaced(a, result, {key: entry}, axis))
    a.states[result] = join_all(*kept)


def _comes_last(a: Analysis, op: Op, key: Dim, entry: Entry, rows: int) -> bool:
    """Whether lanes outside a condition hold what comes last in the order; they are reported where they do not."""
    if entry.guard & rows:
        a.reduced(op, op.operands[0], key, entry._replace(guard=entry.guard & rows))
    return isinstance(entry.state, Number) and harmless(op, op.operands[0], entry.state.value)


def histogram_(a: Analysis, op: Op) -> None:
    """What is outside a condition must not be counted: the mask holds it back, or it is no number of the histogram."""
    value, mask = op.operands[0], op.operands[1] if len(op.operands) > 1 else None
    have = a.path
    if mask is not None:
        if not a.demand("F005", op, "mask", mask, a.path):
            return
        have = have | a.keys.exact(mask)
    rows = a.possible if op.guard is None else a.possible & op.guard
    (bins,) = shape_of(op.results[0].type)
    held = {} if mask is None else {key: entry.state for key, entry in a.of(mask).items()}
    for key, entry in a.of(value).items():
        if not entry.guard & rows or a.keys.implies(have, key, entry.guard & rows):
            continue
        said = held.get(key)
        if isinstance(said, Number) and said.value == 0:  # the mask is false there, of itself
            continue
        if entry.undefined:
            a.found("F001", op, "reduction", key, entry)
        elif isinstance(entry.state, Number) and entry.load is not None:
            number = entry.state.value
            if number >= 0 and not (isinstance(bins, int) and number >= bins):
                a.found("F002", op, "reduction", key, entry)
