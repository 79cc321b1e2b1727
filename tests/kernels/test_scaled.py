"""Kernels of small floats against NumPy in f64, on what the operands hold."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from tests.kernels import scaled
from tests.language.rounding import DTYPES


def draw(dtype: str, *shape: int, seed: int = 0) -> Any:
    return np.random.default_rng([seed, *shape]).standard_normal(shape).astype(DTYPES[dtype])


def close(found: Any, wanted: Any, part: float) -> None:
    np.testing.assert_allclose(found.astype(np.float64), wanted, rtol=part, atol=part * np.abs(wanted).max())


@pytest.mark.parametrize("dtype", ["f8e4m3", "f8e5m2"])
@pytest.mark.parametrize("size", [(33, 70, 128), (64, 32, 64)])
def test_scales_of_blocks(dtype: str, size: tuple[int, int, int]) -> None:
    m, n, k = size
    a, b = draw(dtype, m, k), draw(dtype, n, k, seed=1)
    random = np.random.default_rng(2)
    s = random.uniform(0.5, 2, (m, k // 64)).astype(np.float32)
    t = random.uniform(0.5, 2, (-(-n // 32), k // 64)).astype(np.float32)
    c = np.zeros((m, n), ml_dtypes.bfloat16)
    grid = -(-m // 16) * -(-n // 32)
    scaled.blockwise[(grid,)](a, s, b, t, c, m, n, k, BM=16, BN=32, BK=64, GROUP=2)
    x = a.astype(np.float64) * np.repeat(s, 64, axis=1)
    y = b.astype(np.float64) * np.repeat(np.repeat(t, 32, axis=0)[:n], 64, axis=1)
    close(c, x @ y.T, 2.0**-8)


@pytest.mark.parametrize("size", [(33, 50, 96), (16, 16, 64), (1, 3, 32)])
def test_weights_in_mxfp4(size: tuple[int, int, int]) -> None:
    m, n, k = size
    random = np.random.default_rng(3)
    x, bits = draw("bf16", m, k), random.integers(0, 256, (n, k // 2)).astype(np.uint8)
    scales = random.integers(120, 130, (n, k // 32)).astype(np.uint8)
    c = np.zeros((m, n), ml_dtypes.bfloat16)
    scaled.weights_in_mxfp4[(-(-m // 16), -(-n // 16))](x, bits, scales, c, m, n, k, BM=16, BN=16, BK=64)
    halves: Any = np.stack((bits & 15, bits >> 4), axis=-1).reshape(n, k).view(ml_dtypes.float4_e2m1fn)
    w = halves.astype(np.float64) * np.repeat(2.0 ** (scales.astype(np.float64) - 127), 32, axis=1)
    close(c, x.astype(np.float64) @ w.T, 2.0**-8)


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("dtype", ["f8e4m3", "f8e5m2"])
def test_attention(dtype: str, causal: bool) -> None:
    heads, length, d = 2, 45, 32
    q, k, v = (draw(dtype, heads, length, d, seed=seed) for seed in range(3))
    out = np.zeros((heads, length, d), np.float32)
    scaled.attention[(-(-length // 16), heads)](q, k, v, out, length, d**-0.5, CAUSAL=causal, BM=16, BN=32, D=d)
    x, y, z = (array.astype(np.float64) for array in (q, k, v))
    scores = x @ y.swapaxes(1, 2) * d**-0.5
    if causal:
        scores[:, ~np.tril(np.ones((length, length), bool))] = -np.inf
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    wanted = weights / weights.sum(axis=-1, keepdims=True) @ z
    close(out, wanted, {"f8e4m3": 2.0**-4, "f8e5m2": 2.0**-3}[dtype])
