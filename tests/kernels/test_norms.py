"""Softmax and normalisations against NumPy in f64, on the CPU."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.kernels import norms
from tests.language.rounding import DTYPES

CLOSE = {"f16": 4e-3, "bf16": 3e-2, "f32": 2e-5, "f64": 2e-5}
"""Kernels compute in f32."""
HALVES = ["f16", "bf16", "f32", "f64"]


LOOSE = 1.0
"""By how much f32 and f64 may be worse: more on a GPU."""


def draw(dtype: str, *shape: int, seed: int = 0) -> Any:
    return np.random.default_rng([seed, *shape]).standard_normal(shape).astype(np.float32).astype(DTYPES[dtype])


def near(found: Any, wanted: Any, dtype: str, scale: float = 1.0) -> None:
    close = CLOSE[dtype] * scale * (LOOSE if dtype in ("f32", "f64") else 1)
    np.testing.assert_allclose(found.astype(np.float64), wanted, rtol=close, atol=close)


def softmax(x: Any) -> Any:
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


@pytest.mark.parametrize("dtype", HALVES)
@pytest.mark.parametrize(("rows", "columns"), [(3, 100), (5, 1), (2, 64), (1, 257)])
def test_online_softmax(dtype: str, rows: int, columns: int) -> None:
    x, y = draw(dtype, rows, columns), np.zeros((rows, columns), DTYPES[dtype])
    norms.online_softmax[rows](x, y, columns, columns, BLOCK=64)
    near(y, softmax(x.astype(np.float64)), dtype)


@pytest.mark.parametrize("dtype", HALVES)
def test_softmax_backward(dtype: str) -> None:
    y, dy, dx = softmax(draw("f64", 4, 50)).astype(DTYPES[dtype]), draw(dtype, 4, 50, seed=1), draw(dtype, 4, 50)
    norms.softmax_backward[4](y, dy, dx, 50, BLOCK=64)
    a, b = y.astype(np.float64), dy.astype(np.float64)
    near(dx, a * (b - (a * b).sum(-1, keepdims=True)), dtype)


@pytest.mark.parametrize("dtype", HALVES)
@pytest.mark.parametrize("bias", [True, False])
def test_layer_norm(dtype: str, bias: bool) -> None:
    rows, n, eps = 5, 150, 1e-5
    x, w = draw(dtype, rows, n), draw("f32", n, seed=1)
    b = draw("f32", n, seed=2) if bias else None
    y, mean, rstd = np.zeros_like(x), np.zeros(rows, np.float32), np.zeros(rows, np.float32)
    norms.layer_norm[rows](x, w, b, y, mean, rstd, n, eps, BLOCK=64)
    wide = x.astype(np.float64)
    scale = 1 / np.sqrt(wide.var(1) + eps)
    hat = (wide - wide.mean(1)[:, None]) * scale[:, None]
    near(y, hat * w + (0 if b is None else b), dtype, 2)
    near(mean, wide.mean(1), "f32")
    near(rstd, scale, "f32")
    dy, dx = draw(dtype, rows, n, seed=3), np.zeros_like(x)
    dw, db = np.zeros(n, np.float32), np.zeros(n, np.float32)
    norms.layer_norm_backward[rows](x, w, dy, dx, dw, db, mean, rstd, n, BLOCK=256)
    g = dy.astype(np.float64)
    wdy = g * w
    c1, c2 = (hat * wdy).mean(1)[:, None], wdy.mean(1)[:, None]
    near(dx, (wdy - hat * c1 - c2) * scale[:, None], dtype, 4)
    near(dw, (g * hat).sum(0), "f32", 4)
    near(db, g.sum(0), "f32", 4)


@pytest.mark.parametrize("dtype", HALVES)
def test_rms_norm(dtype: str) -> None:
    rows, n, eps = 7, 100, 1e-6
    x, w, y = draw(dtype, rows, n), draw(dtype, n, seed=1), draw(dtype, rows, n)
    rstd = np.zeros(rows, np.float32)
    norms.rms_norm[(2,)](x, w, y, rstd, n, eps, BLOCK=128, ROWS=4, rows=rows)
    wide, ww = x.astype(np.float64), w.astype(np.float64)
    scale = 1 / np.sqrt((wide**2).mean(1) + eps)
    near(y, wide * scale[:, None] * ww, dtype, 2)
    near(rstd, scale, "f32")
    dy, dx, dw = draw(dtype, rows, n, seed=3), np.zeros_like(x), np.zeros((2, n), np.float32)
    norms.rms_norm_backward[2](x, w, dy, rstd, dx, dw, rows, n, PER=4, BLOCK=128)
    m = dy.astype(np.float64) * ww
    inner = (m * wide).sum(1)[:, None]
    near(dx, scale[:, None] * m - scale[:, None] ** 3 / n * inner * wide, dtype, 4)
    near(dw.sum(0), (dy.astype(np.float64) * wide * scale[:, None]).sum(0), "f32", 4)


@pytest.mark.parametrize("dtype", HALVES)
def test_group_norm(dtype: str) -> None:
    batch, groups, per, size = 2, 3, 2, 70
    x = draw(dtype, batch, groups * per, size)
    w, b, y = draw(dtype, groups * per, seed=1), draw(dtype, groups * per, seed=2), np.zeros_like(x)
    norms.group_norm[batch * groups](x, w, b, y, size, per, groups, eps=1e-5, BLOCK=64)
    wide = x.astype(np.float64).reshape(batch, groups, -1)
    hat = (wide - wide.mean(-1, keepdims=True)) / np.sqrt(wide.var(-1, keepdims=True) + 1e-5)
    wanted = hat.reshape(x.shape) * w.astype(np.float64)[:, None] + b.astype(np.float64)[:, None]
    near(y, wanted, dtype, 4)
