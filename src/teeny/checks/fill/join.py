"""Tiles put together and taken apart: what is outside a condition in either part."""

from __future__ import annotations

from typing import TYPE_CHECKING

from teeny.checks.fill.atoms import Atom
from teeny.checks.fill.state import States, either, join_all
from teeny.ir.poly import sub
from teeny.ir.types import shape_of

if TYPE_CHECKING:
    from teeny.checks.fill.analysis import Analysis
    from teeny.ir.core import Op, Value


def join_(a: Analysis, op: Op) -> None:
    """Each condition on a part is one on the whole: the new axis comes last."""
    x, y = op.operands
    made: States = {}
    for key in {**a.of(x), **a.of(y)}:
        found = either(a.entry(x, key), a.entry(y, key))
        if found is not None:
            made[key] = found
    a.states[op.results[0]] = made


def cat_(a: Analysis, op: Op) -> None:
    """The lanes have other places in the result."""
    result = op.results[0]
    a.states[result] = join_all(*[displaced(a, result, a.of(v), 0) for v in op.operands])


def split_(a: Analysis, op: Op) -> None:
    """Conditions that do not vary along the last axis stay; of others it is not known where they hold."""
    (value,) = op.operands
    for result in op.results:
        a.states[result] = displaced(a, result, a.of(value), len(shape_of(value.type)) - 1)


def displaced(a: Analysis, result: Value, states: States, axis: int) -> States:
    """The states of a result where each condition that varies along an axis stands for one that nothing is known of."""
    atoms = a.keys.atoms
    (own,) = atoms.of(a.keys.atom(result))
    unknown = sub(atoms.poly(Atom(f"{own.base}|", own.axes)), 1)
    moved: list[States] = [{unknown if atoms.varies(key, axis) else key: entry} for key, entry in states.items()]
    return join_all(*moved)
