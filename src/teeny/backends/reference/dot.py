"""Matrix products: for each element a chain of fused multiply-adds in rising k, which starts with the accumulator."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np

from teeny.backends.reference.lanes import Lanes
from teeny.ops.arith import fma_
from teeny.ops.dot import dot_unsigned_

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from teeny.backends.reference.run import Frame
    from teeny.ir.core import Op


def dot(frame: Frame, op: Op, operands: tuple[Lanes, ...]) -> tuple[Lanes, ...]:
    """An undefined lane spoils the row or column that it stands in."""
    a, b, c = operands
    total = accumulated(a.value, b.value, c.value, unsigned=op.schema is dot_unsigned_)
    if a.poison is None and b.poison is None and c.poison is None:
        return (Lanes(total),)
    rows, columns = np.any(a.mask, axis=-1, keepdims=True), np.any(b.mask, axis=-2, keepdims=True)
    poison = rows | columns | c.mask
    return (Lanes(total, poison if poison.any() else None),)


def accumulated(x: NDArray[Any], y: NDArray[Any], start: NDArray[Any], *, unsigned: bool = False) -> NDArray[Any]:
    """The product x @ y added to `start`; a sum of f16 is added up in f32 and rounded once."""
    if start.dtype == np.float16:
        return accumulated(x, y, start.astype(np.float32)).astype(np.float16)
    if start.dtype == np.int32:
        wide = np.uint8 if unsigned else np.int8
        x, y, step = x.view(wide), y.view(wide), _wrapping
    else:
        step = _exact if start.dtype == np.float64 else _fused
    total = start
    for k in range(x.shape[-1]):
        total = step(x[..., k, None], y[..., k, None, :], total)
    return total


def _exact(x: NDArray[Any], y: NDArray[Any], total: NDArray[Any]) -> NDArray[Any]:
    return cast("Any", fma_.numpy)(np, None, *np.broadcast_arrays(x, y, total))


def _wrapping(x: NDArray[Any], y: NDArray[Any], total: NDArray[Any]) -> NDArray[Any]:
    return x.astype(np.int32) * y.astype(np.int32) + total


def _fused(x: NDArray[Any], y: NDArray[Any], total: NDArray[Any]) -> NDArray[Any]:
    """x * y + total in f32 with one rounding.

    The product is exact in f64; the sum's error is found (Knuth, The Art of Computer Programming 2, 4.2.2) and rounding
    to odd keeps the second rounding right (Boldo and Melquiond, 2008).
    """
    product = x.astype(np.float64) * y.astype(np.float64)
    wide = total.astype(np.float64)
    found = product + wide
    part = found - product
    error = (product - (found - part)) + (wide - part)
    bits = found.view(np.int64)
    outward = (error > 0) != np.signbit(found)
    inexact = np.isfinite(found) & (error != 0) & (bits & 1 == 0)
    odd = np.where(inexact, bits + np.where(outward, 1, -1), bits)
    return odd.astype(np.int64).view(np.float64).astype(np.float32)
