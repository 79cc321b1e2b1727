"""Matrix products against NumPy in f64, on the CPU."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.kernels import products
from tests.kernels.test_norms import draw, near
from tests.language.rounding import DTYPES

FLOATS = ["f16", "bf16", "f32"]
SIZES = [(33, 50, 70), (64, 32, 16), (1, 1, 1)]


def pair(dtype: str, m: int, n: int, k: int) -> tuple[Any, Any, Any]:
    """a, b, and their product in f64."""
    a, b = draw(dtype, m, k), draw(dtype, k, n, seed=1)
    return a, b, a.astype(np.float64) @ b.astype(np.float64)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("activation", [None, products.relu, products.gelu])
def test_linear(dtype: str, size: tuple[int, int, int], activation: Any) -> None:
    m, n, k = size
    a, b, wanted = pair(dtype, m, n, k)
    bias = draw(dtype, n, seed=2) if activation else None
    c = np.zeros((m, n), DTYPES[dtype])
    grid = -(-m // 16) * -(-n // 32)
    products.linear[grid](a, b, bias, c, m, n, k, ACTIVATION=activation, BM=16, BN=32, BK=16)
    if bias is not None:
        wanted = wanted + bias.astype(np.float64)
    if activation is products.relu:
        wanted = np.maximum(wanted, 0)
    if activation is products.gelu:
        from math import erf

        wanted = wanted * 0.5 * (1 + np.vectorize(erf)(wanted / 2**0.5))
    near(c, wanted, dtype, 4)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("size", SIZES)
def test_persistent_and_split(dtype: str, size: tuple[int, int, int]) -> None:
    m, n, k = size
    a, b, wanted = pair(dtype, m, n, k)
    c = np.zeros((m, n), DTYPES[dtype])
    products.persistent[3](a, b, c, m, n, k, BM=16, BN=16, BK=32)
    near(c, wanted, dtype, 4)
    total = np.zeros((m, n), np.float32)
    products.split_k[(-(-m // 16), -(-n // 16), 2)](a, b, total, m, n, k, BM=16, BN=16, BK=16, SPLIT=2)
    near(total, wanted, "f32", 8)


def test_grouped(placed: Any) -> None:
    sizes = np.array([(20, 30, 40), (5, 70, 16), (33, 3, 9)], np.int32)
    a, b, wanted = zip(*(pair("f32", *map(int, size)) for size in sizes), strict=True)
    there = [placed(list(arrays)) for arrays in (a, b, [np.zeros(w.shape, np.float32) for w in wanted])]
    products.grouped[2](*(arrays.addresses() for arrays in there), sizes, 3, BM=16, BN=16, BK=16)
    for found, right in zip(there[2].numpy(), wanted, strict=True):
        near(found, right, "f32", 8)


@pytest.mark.parametrize("dtype", FLOATS)
def test_int8(dtype: str) -> None:
    m, n, k = 20, 30, 50
    random = np.random.default_rng(0)
    a, b = (random.integers(-128, 128, shape).astype(np.int8) for shape in ((m, k), (k, n)))
    sa, sb = (random.random(size).astype(np.float32) * 0.01 for size in (m, n))
    c = np.zeros((m, n), DTYPES[dtype])
    products.int8_product[(2, 2)](a, b, sa, sb, c, m, n, k, BM=16, BN=16, BK=32)
    near(c, (a.astype(np.int64) @ b.astype(np.int64)) * sa[:, None].astype(np.float64) * sb, dtype)


def test_int4() -> None:
    m, n, k, group = 20, 64, 64, 32
    random = np.random.default_rng(0)
    w = random.integers(-8, 8, (k, n))
    packed = ((w[:, ::2] + 8) | (w[:, 1::2] + 8) << 4).astype(np.uint8)
    scales = (random.random((k // group, n)) * 0.1).astype(np.float16)
    a, c = draw("f16", m, k), np.zeros((m, n), np.float16)
    products.int4_product[(2, 2)](a, packed, scales, c, m, n, k, BM=16, BN=32, BK=group)
    wide = (w.astype(np.float16) * scales.repeat(group, 0)).astype(np.float64)
    near(c, a.astype(np.float64) @ wide, "f16", 4)


@pytest.mark.parametrize("dtype", FLOATS)
def test_batched(dtype: str) -> None:
    batch, m, n, k = 3, 20, 30, 16
    a, b, c = draw(dtype, batch, m, k), draw(dtype, batch, k, n, seed=1), np.zeros((batch, m, n), DTYPES[dtype])
    products.batched[(2, 2, batch)](a, b, c, (m, n, k), m * k, BM=16, BN=16)
    near(c, a.astype(np.float64) @ b.astype(np.float64), dtype, 2)
