"""Values of the reference: an array, and which of its lanes are undefined."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from teeny.ir.dtype import DType
from teeny.ops.vocabulary import numpy_dtype

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from teeny.ir.types import Element

POINTER = np.dtype([("argument", np.int32), ("offset", np.int64)])
"""A pointer: the number of the argument it was made from, and the distance in bytes from the place passed."""


@dataclass(frozen=True, slots=True)
class Lanes:
    """A tile, or a scalar as an array of rank 0. `poison` marks undefined lanes; None where all are defined.

    An undefined lane still holds a value: 0 after a load, and what the operations make of it from there on.
    """

    value: NDArray[Any]
    poison: NDArray[np.bool_] | None = None

    @property
    def defined(self) -> bool:
        """Whether every lane is defined."""
        return self.poison is None or not self.poison.any()

    @property
    def mask(self) -> NDArray[np.bool_]:
        """The undefined lanes as an array of the value's shape."""
        return np.zeros(self.value.shape, np.bool_) if self.poison is None else self.poison


@cache
def array_dtype(element: Element) -> np.dtype[Any]:
    """The dtype of the arrays that hold values with this element type."""
    return numpy_dtype(np, element) if isinstance(element, DType) else POINTER


def united(*poisons: NDArray[np.bool_] | None) -> NDArray[np.bool_] | None:
    """The lanes that are undefined in any of the operands; shapes broadcast."""
    found: NDArray[np.bool_] | None = None
    for poison in poisons:
        if poison is not None:
            found = poison if found is None else found | poison
    return found
