"""Reductions in the canonical order.

Along the last axis there are m = min(64, n) accumulators for n elements. Accumulator j starts as element j (no
identity enters), then takes elements j + m, j + 2m, ... in rising order, as `combine(accumulator, element)`. Then a
halving tree: while more than one is left, half = (m + 1) // 2, accumulator j becomes combine(accumulator j,
accumulator j + half), and m = half. Along any other axis there is one accumulator: it starts as element 0 and takes
the others in rising order.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from teeny.backends.reference.lanes import Lanes
from teeny.ops.reduce import ACCUMULATORS

if TYPE_CHECKING:
    from numpy.typing import NDArray

Arrays = list["NDArray[Any]"]
Combine = Callable[[Arrays, Arrays], Arrays]
"""Joins accumulators (left) with elements, one array an operand of the reduction; all of one shape."""


def reduce(operands: tuple[Lanes, ...], axis: int, combine: Combine) -> tuple[Lanes, ...]:
    """The operands reduced together along `axis`. A result is undefined where any element of any operand was."""
    rank = operands[0].value.ndim
    moved = [np.moveaxis(lanes.value, axis, -1) for lanes in operands]
    found = _tree(moved, combine) if axis == rank - 1 else _chain(moved, combine)
    poison = np.zeros(found[0].shape, np.bool_)
    for lanes in operands:
        if lanes.poison is not None:
            poison = poison | lanes.poison.any(axis=axis)
    return tuple(Lanes(np.asarray(x), poison if poison.any() else None) for x in found)


def _part(arrays: Arrays, first: int, end: int) -> Arrays:
    return [x[..., first:end] for x in arrays]


def _joined(left: Arrays, right: Arrays) -> Arrays:
    if right[0].shape[-1] == 0:
        return left
    return [np.concatenate((x, y), axis=-1) for x, y in zip(left, right, strict=True)]


def _tree(arrays: Arrays, combine: Combine) -> Arrays:
    count = arrays[0].shape[-1]
    width = min(ACCUMULATORS, count)
    sums = _part(arrays, 0, width)
    for first in range(width, count, width):
        part = _part(arrays, first, first + width)
        reached = part[0].shape[-1]
        sums = _joined(combine(_part(sums, 0, reached), part), _part(sums, reached, width))
    while width > 1:
        half = (width + 1) // 2
        sums = _joined(combine(_part(sums, 0, width - half), _part(sums, half, width)), _part(sums, width - half, half))
        width = half
    return [x[..., 0] for x in sums]


def _chain(arrays: Arrays, combine: Combine) -> Arrays:
    total = [x[..., 0] for x in arrays]
    for at in range(1, arrays[0].shape[-1]):
        total = combine(total, [x[..., at] for x in arrays])
    return total
