"""Operations whose meaning is a NumPy function in their schema: it is applied, and undefined lanes follow."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from teeny.backends.reference.lanes import Lanes, array_dtype, united
from teeny.diag.errors import InternalError
from teeny.ir.rules import Lanewise, Structural
from teeny.ir.types import element_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from teeny.ir.core import Op

MOVES = frozenset(("splat", "unsplat", "broadcast", "expand_dims", "reshape", "trans", "flip", "join", "cat"))
"""Kinds of operations that only move lanes: undefined lanes move alike."""


def apply(op: Op, operands: tuple[Lanes, ...]) -> tuple[Lanes, ...]:
    """The results of an operation that has a NumPy meaning."""
    meaning = cast("Callable[..., Any]", op.schema.numpy)
    value = np.asarray(meaning(np, op, *[lanes.value for lanes in operands]))
    expected = array_dtype(element_of(op.results[0].type))
    if value.dtype != expected:
        raise InternalError(f"{op.name} made {value.dtype} where the IR has {expected}", op.loc)
    if all(lanes.poison is None for lanes in operands):
        return (Lanes(value),)
    poison = np.broadcast_to(_poison(op, operands, meaning), value.shape)
    return (Lanes(value, poison if poison.any() else None),)


def _poison(op: Op, operands: tuple[Lanes, ...], meaning: Callable[..., Any]) -> NDArray[np.bool_]:
    fill = op.schema.fill
    if isinstance(fill, Structural) and fill.kind == "select":
        condition, x, y = operands
        return np.where(condition.value, x.mask, y.mask) | condition.mask
    if isinstance(fill, Structural) and fill.kind in MOVES:
        return np.asarray(meaning(np, op, *[lanes.mask for lanes in operands]))
    if isinstance(fill, Structural) and fill.kind == "sort":
        return np.asarray(operands[0].mask.any(axis=-1, keepdims=True))
    if isinstance(fill, Structural) and fill.kind == "histogram":
        return _counted(*operands)
    if isinstance(fill, Lanewise) and op.schema.group in ("and", "or"):
        return _decided(op.schema.group, *operands)
    found = united(*(lanes.poison for lanes in operands))
    return np.zeros((), np.bool_) if found is None else found


def _counted(x: Lanes, mask: Lanes | None = None) -> NDArray[np.bool_]:
    """Whether a count is undefined: an undefined element is counted, or it is not known whether one is."""
    return np.asarray((x.mask if mask is None else (x.mask & mask.value) | mask.mask).any())


def _decided(group: str, x: Lanes, y: Lanes) -> NDArray[np.bool_]:
    """`x & 0` is 0 and `x | ~0` is ~0 whatever x is: a defined operand of that value decides alone."""
    decides = 0 if group == "and" else ~np.zeros((), x.value.dtype)
    by_x, by_y = ~x.mask & (x.value == decides), ~y.mask & (y.value == decides)
    return (x.mask | y.mask) & ~by_x & ~by_y
