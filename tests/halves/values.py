"""16-bit floats: all of them, pairs at edges, and the numbers of other dtypes that are hard to round to them."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.language.rounding import DTYPES
from tests.language.values import FLOATS

Array = Any


def every(dtype: str) -> Array:
    """All 65536 bit patterns."""
    return np.arange(1 << 16, dtype=np.uint16).view(DTYPES[dtype])


def edges(dtype: str) -> Array:
    """256 values: each sign, exponents from end to end, significands of 0, 1, half and all ones; infinities and NaN."""
    mantissa = 10 if dtype == "f16" else 7
    top = (1 << (15 - mantissa)) - 1
    bias = top >> 1
    near = [bias + d for d in (-mantissa - 2, -mantissa - 1, -mantissa, -2, -1, 0, 1, 2, mantissa, mantissa + 1)]
    exponents = sorted({0, 1, 2, bias // 2, *near, bias + bias // 2, top - 2, top - 1})
    full = (1 << mantissa) - 1
    bits = [(e << mantissa) | m for e in exponents for m in (0, 1, full >> 1, (full >> 1) + 1, full - 1, full)]
    bits += [top << mantissa, (top << mantissa) | 1 << (mantissa - 1), 2, 3]
    both = np.array(bits + [b | 1 << 15 for b in bits], np.uint16)
    assert both.size <= 256
    return np.resize(both, 256).view(DTYPES[dtype])


def edge_pairs(dtype: str) -> tuple[Array, Array]:
    """All pairs of `edges`."""
    values = edges(dtype)
    return np.tile(values, values.size), np.repeat(values, values.size)


def hard_to_round(source: str, dtype: str) -> Array:
    """65536 numbers of `source` around the values of a 16-bit dtype and the middles between them."""
    kind = DTYPES[source]
    if source in ("f16", "bf16"):
        return every(source)
    with np.errstate(all="ignore"):
        wide = every(dtype).astype(np.float64)
        finite = np.sort(wide[np.isfinite(wide)])
        middle = (finite[1:] + finite[:-1]) / 2
        if source in FLOATS:
            chosen = np.concatenate([middle[::5], finite[::11], [np.inf, -np.inf, np.nan, 65519.996, 65520.0]]).astype(
                kind
            )
            near = [chosen, np.nextafter(chosen, kind.type(np.inf)), np.nextafter(chosen, kind.type(-np.inf))]
            return np.resize(np.concatenate(near), 1 << 16)
    limits = np.iinfo(kind)
    if limits.bits <= 16:
        return np.arange(1 << 16).astype(kind)
    rng = np.random.default_rng(3)
    whole = [int(v) for v in middle if abs(v) >= 1 and v == np.floor(v)]
    found = [v + d for v in rng.choice(np.array(whole, object), 3000) for d in (-1, 0, 1)]
    found += [int(v) for v in rng.integers(limits.min, limits.max, 2000, dtype=kind)]
    found += [limits.min, limits.max, limits.max - 1, 0, 1, 65519, 65520, 65503, 65504, 65505]
    return np.array([v for v in found if limits.min <= v <= limits.max], object).astype(kind)
