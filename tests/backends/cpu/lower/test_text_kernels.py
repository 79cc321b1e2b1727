"""The kernels in text, on ragged sizes, in every mode."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.backends.cpu.lower.harness import ALL, check
from tests.kernels_text import load

Array = np.ndarray[Any, Any]
F32_MAX_BLOCK = 256


def rows(count: int, stride: int, seed: int = 0) -> Array:
    return np.random.default_rng(seed).standard_normal((count, stride)).astype(np.float32)


@pytest.mark.parametrize("n", [128 * 3, 128 * 3 - 3, 1, 0, 64, 200])
def test_vector_add(n: int) -> None:
    x, y, z = rows(1, n), rows(1, n, 1), rows(1, n, 2)
    (_, _, found) = check(load("vector_add"), [x, y, z, n], (3, 1, 1), ALL)
    np.testing.assert_array_equal(found, x + y)


@pytest.mark.parametrize("n", [256, 253, 1, 0, 128, 65])
def test_softmax(n: int) -> None:
    x = rows(3, n)
    found = check(load("softmax"), [np.zeros_like(x), x, n, n, n], (3, 1, 1), ALL, rtol=3e-6)
    wide = np.exp(x.astype(np.float64) - x.max(axis=1, keepdims=True, initial=-np.inf))
    np.testing.assert_allclose(found[0], wide / wide.sum(axis=1, keepdims=True), rtol=3e-6)


@pytest.mark.parametrize("n", [256, 253, 1, 128])
def test_layer_norm(n: int) -> None:
    x, w, b = rows(3, n), rows(1, n, 1), rows(1, n, 2)
    found = check(load("layer_norm"), [x, np.zeros_like(x), w, b, n, n, 1e-5], (3, 1, 1), ALL, rtol=2e-6, atol=1e-6)
    wide = x.astype(np.float64)
    scaled = (wide - wide.mean(1, keepdims=True)) / np.sqrt(wide.var(1, keepdims=True) + 1e-5) * w + b
    np.testing.assert_allclose(found[1], scaled, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("n", [64, 256, 253, 1, 0, 65])
def test_loop(n: int) -> None:
    x = rows(3, n)
    y, z = np.zeros(3, np.float32), np.zeros(3, np.float32)
    found = check(load("loop"), [x, y, z, n, n], (3, 1, 1), ALL)
    np.testing.assert_array_equal(found[2], x.max(axis=1, initial=-np.inf))
    np.testing.assert_allclose(found[1], x.sum(axis=1), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("n", [64, 61, 2, 1, 0, 32])
def test_shift(n: int) -> None:
    x = np.arange(n, dtype=np.int64) * 7
    (found,) = check(load("shift"), [x, n], (1, 1, 1), ALL)
    np.testing.assert_array_equal(found[: n - 1] if n else found, x[1:])


@pytest.mark.parametrize(("m", "n"), [(16, 32), (32, 64), (13, 29), (1, 1), (0, 5), (17, 33)])
def test_transpose(m: int, n: int) -> None:
    x = np.arange(m * n, dtype=np.int16).reshape(m, n)
    grid = (-(-m // 16), -(-n // 32), 1)
    found = check(load("transpose"), [x, np.zeros((n, m), np.int16), m, n, n, m], grid, ALL)
    np.testing.assert_array_equal(found[1], x.T)


def test_sum_axes() -> None:
    x = rows(16, 32)
    found = check(load("sum_axes"), [x, np.zeros(32, np.float32), np.zeros(16, np.float32)], (1, 1, 1), ALL)
    np.testing.assert_allclose(found[2], x.sum(axis=1), rtol=1e-5, atol=1e-5)


def test_branch() -> None:
    x = np.arange(128, dtype=np.int32)
    found = check(load("branch"), [x, np.zeros_like(x), np.full(4, -1, np.int32)], (4, 1, 1), ALL)
    even = np.arange(128) // 32 % 2 == 0
    np.testing.assert_array_equal(found[1], np.where(even, x * 2, x + 1))
    np.testing.assert_array_equal(found[2], [-1, -1, 2, 3])


def test_while() -> None:
    x = np.array([1, 2, 3, 27, 97], np.int32)
    found = check(load("while"), [x, np.zeros_like(x)], (5, 1, 1), ALL)
    np.testing.assert_array_equal(found[1], [0, 1, 7, 111, 118])
