"""Elementwise kernels against NumPy in f64, on the CPU."""

from __future__ import annotations

import math
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from tests.kernels import pointwise
from tests.kernels.test_norms import HALVES, draw, near
from tests.language.rounding import DTYPES


def sigmoid(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


@pytest.mark.parametrize("dtype", HALVES)
@pytest.mark.parametrize("given", [True, False])
def test_rotary(dtype: str, given: bool) -> None:
    tokens, heads, half = 6, 2, 16
    x = draw(dtype, tokens, heads, 2 * half)
    angle = np.arange(20)[:, None] * 1000.0 ** -(np.arange(half) / half)
    cos, sin = np.cos(angle).astype(np.float32), np.sin(angle).astype(np.float32)
    positions = np.array([3, 0, 19, 7, 7, 1], np.int64) if given else None
    at = np.arange(tokens) if positions is None else positions
    a, b = x.astype(np.float64)[..., :half], x.astype(np.float64)[..., half:]
    c, s = (np.take(t, at, 0)[:, None].astype(np.float64) for t in (cos, sin))
    wanted = np.concatenate([a * c - b * s, b * c + a * s], -1)
    before = x.astype(np.float64)
    pointwise.rotary[(tokens, heads)](x, cos, sin, positions, heads, HALF=half)
    near(x, wanted, dtype)
    pointwise.rotary[(tokens, heads)](x, cos, sin, positions, heads, HALF=half, BACKWARD=True)
    near(x, before, dtype, 3)


@pytest.mark.parametrize("dtype", HALVES)
def test_rotary_interleaved(dtype: str) -> None:
    x = draw(dtype, 5, 32)
    cos, sin = draw("f32", 5, 16, seed=1), draw("f32", 5, 16, seed=2)
    a, b = x.astype(np.float64)[:, ::2], x.astype(np.float64)[:, 1::2]
    wanted = np.stack([a * cos - b * sin, a * sin + b * cos], -1).reshape(5, 32)
    pointwise.rotary_interleaved[5](x, cos, sin, HALF=16)
    near(x, wanted, dtype, 2)


@pytest.mark.parametrize("dtype", HALVES)
def test_swiglu(dtype: str) -> None:
    gate, up, dout = (draw(dtype, 300, seed=at) for at in range(3))
    out = np.zeros_like(gate)
    a, b, g = (x.astype(np.float64) for x in (gate, up, dout))
    pointwise.swiglu[3](gate, up, out, 300, BLOCK=128)
    near(out, a * sigmoid(a) * b, dtype, 3)
    pointwise.swiglu_backward[3](dout, gate, up, 300, BLOCK=128)
    s = sigmoid(a)
    near(up, g * a * s, dtype, 2)
    near(gate, g * b * s * (1 + a * (1 - s)), dtype, 2)


@pytest.mark.parametrize("dtype", HALVES)
@pytest.mark.parametrize("approximate", [True, False])
def test_geglu(dtype: str, approximate: bool) -> None:
    x, out = draw(dtype, 4, 200), np.zeros((4, 100), DTYPES[dtype])
    pointwise.geglu[4](x, out, 100, APPROXIMATE=approximate, BLOCK=128)
    a, b = x.astype(np.float64)[:, :100], x.astype(np.float64)[:, 100:]
    if approximate:
        gelu = 0.5 * a * (1 + np.tanh(math.sqrt(2 / math.pi) * (a + 0.044715 * a**3)))
    else:
        gelu = 0.5 * a * (1 + np.vectorize(math.erf)(a / math.sqrt(2)))
    near(out, gelu * b, dtype, 2)


@pytest.mark.parametrize("dtype", HALVES)
def test_quantize_rows(dtype: str) -> None:
    x = draw(dtype, 5, 90)
    x[2] = 0
    q, scale = np.zeros((5, 90), np.int8), np.zeros(5, np.float32)
    pointwise.quantize_rows[5](x, q, scale, 90, BLOCK=128)
    wide = x.astype(np.float64)
    near(scale, np.maximum(np.abs(wide).max(1) / 127, 1e-10), "f32")
    assert (np.abs(q * scale[:, None] - wide) <= scale[:, None] * 0.5001).all()
    assert np.abs(q[[0, 1, 3, 4]]).max(1).tolist() == [127] * 4


@pytest.mark.parametrize("dtype", ["f16", "bf16", "f32"])
def test_quantize_fp8(dtype: str) -> None:
    x, back = draw(dtype, 3, 256), np.zeros((3, 256), DTYPES[dtype])
    q, scale = np.zeros((3, 256), ml_dtypes.float8_e4m3fn), np.zeros((3, 4), np.float32)
    pointwise.quantize_fp8[(3, 4)](x, q, scale, 256, GROUP=64)
    groups = x.astype(np.float32).reshape(3, 4, 64)
    wanted = np.maximum(np.abs(groups).max(-1), np.float32(1e-4)) / np.float32(448)
    near(scale, wanted, "f32")
    exact = np.clip(groups / scale[..., None], -448, 448).astype(ml_dtypes.float8_e4m3fn)
    same = q.view(np.uint8) == exact.reshape(3, 256).view(np.uint8)
    assert same.mean() > 0.98  # a GPU divides f32 approximately, and may round a few to the number beside
    pointwise.dequantize_fp8[(3, 4)](q, scale, back, 256, GROUP=64)
    assert np.abs(back.astype(np.float64) - x.astype(np.float64)).max() < 0.2


@pytest.mark.parametrize("dtype", HALVES)
def test_dropout(dtype: str) -> None:
    x, out, again = np.ones(5000, DTYPES[dtype]), draw(dtype, 5000), draw(dtype, 5000, seed=1)
    for place in (out, again):
        pointwise.dropout[5](x, place, 5000, 0.25, 42, BLOCK=1024)
    kept = out.astype(np.float64) != 0
    assert (out.view(np.uint8) == again.view(np.uint8)).all()
    assert 0.72 < kept.mean() < 0.78
    near(out[kept], np.full(kept.sum(), 1 / 0.75), dtype)


@pytest.mark.parametrize("dtype", HALVES)
def test_adamw(dtype: str) -> None:
    p, g = draw(dtype, 500), draw(dtype, 500, seed=1)
    m, v = draw("f32", 500, seed=2), np.abs(draw("f32", 500, seed=3))
    lr, b1, b2, eps, decay, step = 1e-2, 0.9, 0.999, 1e-8, 0.1, 3
    wide, grad = p.astype(np.float64), g.astype(np.float64)
    new_m, new_v = b1 * m + (1 - b1) * grad, b2 * v + (1 - b2) * grad**2
    wanted = wide * (1 - lr * decay) - lr * new_m / (1 - b1**step) / (np.sqrt(new_v / (1 - b2**step)) + eps)
    pointwise.adamw[2](p, g, m, v, 500, lr, b1, b2, eps, decay, step, BLOCK=256)
    near(p, wanted, dtype, 4)
    near(m, new_m, "f32")
    near(v, new_v, "f32")
