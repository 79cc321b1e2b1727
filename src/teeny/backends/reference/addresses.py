"""Addresses as integers on the reference: where a pointer's place is in memory, and what lies at an address.

A pointer made of an integer belongs to no argument (`NOWHERE`); its offset is the address. It may be moved at will; an
access finds the argument, or other memory that the run may reach, in which the element lies.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from teeny.backends.reference.lanes import POINTER, Lanes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from teeny.backends.reference.memory import Buffer

__all__ = ["NOWHERE", "from_integers", "resolved", "to_integers"]

NOWHERE = -1


def from_integers(addresses: Lanes) -> Lanes:
    """Pointers to these addresses."""
    made = np.zeros(addresses.value.shape, POINTER)
    made["argument"] = NOWHERE
    made["offset"] = addresses.value
    return Lanes(made, addresses.poison)


def to_integers(buffers: Sequence[Buffer | None], pointers: Lanes) -> Lanes:
    """The addresses of pointers."""
    value = np.asarray(pointers.value)
    found = np.array(value["offset"], np.int64)
    for number, buffer in enumerate(buffers):
        if buffer is not None:
            found += np.where(value["argument"] == number, buffer.memory.address + buffer.offset, 0)
    return Lanes(found, pointers.poison)


def resolved(buffers: Sequence[Buffer | None], pointers: NDArray[Any], size: int, write: bool) -> NDArray[Any]:
    """Pointers of which those from nowhere lead into a buffer that holds `size` bytes there, where there is one."""
    if not (pointers["argument"] == NOWHERE).any():
        return pointers
    found = pointers.copy()
    for number, buffer in enumerate(buffers):
        if buffer is None or (write and not buffer.writable):
            continue
        first = pointers["offset"] - buffer.memory.address
        inside = (first >= buffer.low) & (first <= buffer.end - size) & (found["argument"] == NOWHERE)
        found["offset"] = np.where(inside, first - buffer.offset, found["offset"])
        found["argument"] = np.where(inside, number, found["argument"])
    return found
