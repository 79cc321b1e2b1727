"""Arguments at which errors are measured: the whole range, more where a function is interesting, special values."""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
KINDS: dict[str, Any] = {"f32": np.float32, "f64": np.float64}


def samples(dtype: str, count: int, seed: int = 0) -> Array:
    """Arguments of a function of one number: at least `count` of each sort, f32 or f64."""
    rng = np.random.default_rng([seed, count])
    kind = KINDS[dtype]
    info = np.finfo(kind)
    if dtype == "f32":
        step = max((1 << 32) // count, 1) | 1
        patterns = np.arange(seed % step, 1 << 32, step, dtype=np.uint64).astype(np.uint32).view(kind)
        low, high, whole = -110.0, 95.0, 22
    else:
        patterns = rng.integers(0, 1 << 64, count, dtype=np.uint64).view(kind)
        low, high, whole = -750.0, 715.0, 50
    special = [0.0, -0.0, np.inf, -np.inf, np.nan, 1, -1, info.tiny, info.smallest_subnormal, info.max, info.min]
    special += [s * float(n) for n in range(1, 1100) for s in (1, -1)]
    # the two f64 numbers closest to a multiple of pi/2, and one such f32
    special += [6381956970095103.0 * 2.0**797, 5.319372648326541e255, 16367173.0 * 2.0**72]
    with np.errstate(all="ignore"):
        parts = [
            patterns,
            rng.uniform(low, high, count),
            rng.uniform(-0.4, 0.4, count),
            rng.uniform(0.3, 2.5, count),
            rng.uniform(-7.0, 7.0, count),
            1 + rng.normal(size=count) * 2.0 ** -rng.integers(1, 50, count),
            2.0 ** rng.integers(-20, 20, count) * (1 + rng.normal(size=count) * info.eps * 3),
            2.0 ** rng.uniform(-60, 3, count) * rng.choice((-1.0, 1.0), count),
            rng.integers(1, 1 << whole, count) * (np.pi / 2),
            np.array(special),
        ]
        return np.concatenate([part.astype(kind) for part in parts])


def pairs(dtype: str, count: int, seed: int = 0) -> tuple[Array, Array]:
    """Arguments of a power: results of all sizes, bases near 1, whole exponents, all pairs of special values."""
    rng = np.random.default_rng([seed, count])
    kind = KINDS[dtype]
    reach, near = (88.0, 22) if dtype == "f32" else (709.0, 50)
    wide = np.exp(rng.uniform(-reach + 8, reach - 8, count))
    close = 1 + np.exp2(-rng.uniform(1, near, count)) * rng.choice((-1.0, 1.0), count)
    size = rng.uniform(-reach, reach, count)
    special = [0.0, -0.0, 1, -1, 0.5, -0.5, 2, -2, 3, -3, np.inf, -np.inf, np.nan, 1e30, -1e30, 1e-40, -1e-40]
    special += [1.5, -1.5, 2.0**52 + 1, -(2.0**52) - 1, 16777217.0, 0.9999999, 1.0000001]
    x = [wide, close, rng.uniform(0.5, 2, count), rng.uniform(0, 100, count), rng.uniform(-100, 0, count)]
    y = [size / np.log(wide) * 1.01, size / np.log(close), rng.uniform(-300, 300, count)]
    y += [rng.integers(-20, 20, count) / 2.0, rng.integers(-20, 20, count) * 1.0]
    grid = np.meshgrid(special, special)
    x.append(grid[0].ravel())
    y.append(grid[1].ravel())
    return np.concatenate(x).astype(kind), np.concatenate(y).astype(kind)


def padded(x: Array, step: int = 16) -> Array:
    """Repeated from the start up to a multiple of `step` elements."""
    return np.resize(x, (x.size + step - 1) // step * step)
