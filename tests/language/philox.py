"""Philox and what Triton makes of its bits, in plain NumPy (Salmon, Moraes, Dror, Shaw, 2011)."""

from __future__ import annotations

from typing import Any

import numpy as np

Four = tuple[Any, Any, Any, Any]
_WORDS = {
    32: (0xD2511F53, 0xCD9E8D57, 0x9E3779B9, 0xBB67AE85),
    64: (0xD2E7470EE14C6C93, 0xCA5A826395121157, 0x9E3779B97F4A7C15, 0xBB67AE8584CAA73B),
}


def philox(key: tuple[int, int], counter: tuple[Any, ...], bits: int = 32, rounds: int = 10) -> Four:
    """The paper's function, in Python's unbounded integers."""
    m0, m1, w0, w1 = _WORDS[bits]
    mask = (1 << bits) - 1
    c0, c1, c2, c3 = np.broadcast_arrays(*(np.asarray(np.asarray(c).astype(object) & mask, object) for c in counter))
    k0, k1 = (k & mask for k in key)
    for _ in range(rounds):
        p0, p1 = c0 * m0, c2 * m1
        c0, c1, c2, c3 = (p1 >> bits) ^ c1 ^ k0, p1 & mask, (p0 >> bits) ^ c3 ^ k1, p0 & mask
        k0, k1 = (k0 + w0) & mask, (k1 + w1) & mask
    a, b, c, d = (np.asarray(v).astype(f"u{bits // 8}") for v in (c0, c1, c2, c3))
    return a, b, c, d


def randint4x(seed: int, offset: Any, rounds: int = 10) -> Four:
    """Four words for each offset."""
    high = offset.astype(object) >> 32 if offset.dtype.itemsize == 8 else 0
    key = seed % (1 << 64)
    return philox((key, key >> 32), (offset.astype(object), high, 0, 0), 32, rounds)


def uniform(x: Any) -> Any:
    """Words as f32 in [0, 1)."""
    signed: Any = x.view(np.dtype(f"i{x.dtype.itemsize}"))
    size: Any = np.where(signed < 0, ~signed, signed)
    scale = np.float32(4.6566127342e-10 if x.dtype.itemsize == 4 else 1.0842020432385337e-19)
    return size.astype(np.float32) * scale


def normal(u1: Any, u2: Any) -> tuple[Any, Any]:
    """Two normal numbers in f64, from the f32 angle that the language computes."""
    size = np.sqrt(-2.0 * np.log(np.maximum(u1, np.float32(1e-7)).astype(np.float64)))
    angle = (np.float32(6.283185307179586) * u2).astype(np.float64)
    return size * np.cos(angle), size * np.sin(angle)
