"""Scans in the canonical order.

The first element along the axis stays as it is; each later one becomes `combine(the result before it, the element)`.
In reverse the last element is the first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from teeny.backends.reference.lanes import Lanes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from teeny.backends.reference.reduce import Combine


def scan(operands: tuple[Lanes, ...], axis: int, reverse: bool, combine: Combine) -> tuple[Lanes, ...]:
    """The operands scanned together along `axis`. A result is undefined where an element up to it was."""
    moved = [_turned(lanes.value, axis, reverse) for lanes in operands]
    found = [np.empty_like(x) for x in moved]
    total = [x[0] for x in moved]
    for at in range(moved[0].shape[0]):
        if at:
            total = combine(total, [x[at] for x in moved])
        for result, value in zip(found, total, strict=True):
            result[at] = value
    poison = np.zeros(moved[0].shape, np.bool_)
    for lanes in operands:
        if lanes.poison is not None:
            poison |= np.logical_or.accumulate(_turned(lanes.poison, axis, reverse), axis=0)
    undefined = _back(poison, axis, reverse) if poison.any() else None
    return tuple(Lanes(_back(x, axis, reverse), undefined) for x in found)


def _turned(array: NDArray[Any], axis: int, reverse: bool) -> NDArray[Any]:
    """The scanned axis first, in the order of the scan."""
    moved = np.moveaxis(array, axis, 0)
    return moved[::-1] if reverse else moved


def _back(array: NDArray[Any], axis: int, reverse: bool) -> NDArray[Any]:
    return np.ascontiguousarray(np.moveaxis(array[::-1] if reverse else array, 0, axis))
