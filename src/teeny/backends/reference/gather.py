"""`tt.gather` on the reference: a place outside of the tile gives an undefined element."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from teeny.backends.reference.lanes import Lanes

if TYPE_CHECKING:
    from teeny.backends.reference.run import Frame
    from teeny.ir.core import Op


def gather(frame: Frame, op: Op, operands: tuple[Lanes, ...]) -> tuple[Lanes, ...]:
    """Elements along an axis, and undefined lanes with them."""
    src, index = operands
    axis = int(str(op.attrs["axis"]))
    outside = (index.value < 0) | (index.value >= src.value.shape[axis])
    places = np.where(outside, 0, index.value).astype(np.intp)
    value = np.take_along_axis(src.value, places, axis)
    poison = np.take_along_axis(src.mask, places, axis) | outside | index.mask
    return (Lanes(value, poison if poison.any() else None),)
