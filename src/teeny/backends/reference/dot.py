"""Matrix products: for each element a chain of fused multiply-adds in rising k, which starts with the accumulator."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np

from teeny.backends.reference.lanes import Lanes
from teeny.ops.arith import fma_
from teeny.ops.dot import dot_unsigned_
from teeny.ops.dot_scaled import BLOCK, NAN_SCALE

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from teeny.backends.reference.run import Frame
    from teeny.ir.core import Op


_E2M1 = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6], np.float32)
"""The 4-bit floats by their bits."""


def dot(frame: Frame, op: Op, operands: tuple[Lanes, ...]) -> tuple[Lanes, ...]:
    """An undefined lane spoils the row or column that it stands in."""
    a, b, c = operands
    total = accumulated(a.value, b.value, c.value, unsigned=op.schema is dot_unsigned_)
    if a.poison is None and b.poison is None and c.poison is None:
        return (Lanes(total),)
    rows, columns = np.any(a.mask, axis=-1, keepdims=True), np.any(b.mask, axis=-2, keepdims=True)
    poison = rows | columns | c.mask
    return (Lanes(total, poison if poison.any() else None),)


def dot_scaled(frame: Frame, op: Op, operands: tuple[Lanes, ...]) -> tuple[Lanes, ...]:
    """The same of scaled elements. An undefined lane, or a scale that is one, spoils the row or column."""
    scaled = str(op.attrs["scaled"])
    given = iter(operands[3:])
    found: list[tuple[NDArray[Any], NDArray[Any]]] = []
    for side, word, lanes, inner in (("a", "lhs", operands[0], -1), ("b", "rhs", operands[1], -2)):
        format = str(op.attrs[f"{side}_elem_type"])
        along = inner if op.attrs.get(f"{word}_k_pack", True) else -3 - inner
        values, mask = elements(lanes.value, format, along), spread(lanes.mask, format, along)
        if side in scaled:
            scale = next(given)
            factors, lost = (v if inner == -1 else np.swapaxes(v, -1, -2) for v in (scale.value, scale.mask))
            values = values * np.repeat(powers(factors), BLOCK, axis=inner)
            mask = mask | np.repeat(lost, BLOCK, axis=inner)
        found.append((values, np.any(mask, axis=inner, keepdims=True)))
    (x, rows), (y, columns) = found
    total = accumulated(x, y, operands[2].value)
    poison = rows | columns | operands[2].mask
    return (Lanes(total, poison if poison.any() else None),)


def spread(values: NDArray[Any], format: str, along: int) -> NDArray[Any]:
    """What holds for a byte, for each element in it."""
    return np.repeat(values, 2, axis=along) if format == "e2m1" else values


def elements(values: NDArray[Any], format: str, along: int) -> NDArray[Any]:
    """The elements of an operand in f32, unscaled; two 4-bit floats in a byte lie one behind the other `along` an axis.

    (OCP Microscaling Formats Specification 1.0, 5.3)
    """
    if format != "e2m1":
        return values.astype(np.float32)
    bits = np.repeat(values.view(np.uint8), 2, axis=along)
    odd = np.arange(bits.shape[along], dtype=np.uint8) % 2
    shift = odd.reshape((-1, *(1,) * (-1 - along))) * np.uint8(4)
    return np.asarray(_E2M1[bits >> shift & 15])


def powers(scales: NDArray[Any]) -> NDArray[Any]:
    """Scales in f32: 2**(s - 127), NaN for 255."""
    exponents = scales.view(np.uint8).astype(np.int32)
    power = np.ldexp(np.float32(1), np.minimum(exponents, NAN_SCALE - 1) - 127)
    return np.where(exponents == NAN_SCALE, np.float32(np.nan), power)


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
