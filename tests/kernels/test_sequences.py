"""Kernels along a sequence against NumPy in f64, on the CPU."""

from __future__ import annotations

import numpy as np
import pytest

from tests.kernels import sequences
from tests.kernels.test_norms import HALVES, draw, near


@pytest.mark.parametrize("dtype", HALVES)
@pytest.mark.parametrize("bias", [True, False])
def test_causal_convolution(dtype: str, bias: bool) -> None:
    batch, length, channels, width = 2, 37, 20, 4
    x, w = draw(dtype, batch, length, channels), draw(dtype, channels, width, seed=1)
    b, y = draw(dtype, channels, seed=2) if bias else None, np.zeros_like(x)
    sequences.causal_convolution[(3, 2, batch)](x, w, b, y, length, channels, WIDTH=width, SILU=True, BT=16, BC=16)
    padded = np.concatenate([np.zeros((batch, width - 1, channels)), x.astype(np.float64)], 1)
    wide = sum(padded[:, k : k + length] * w.astype(np.float64)[:, k] for k in range(width))
    wide = wide + (0 if b is None else b.astype(np.float64))
    near(y, wide / (1 + np.exp(-wide)), dtype, 3)


@pytest.mark.parametrize("dtype", ["f16", "bf16", "f32"])
def test_linear_attention(dtype: str) -> None:
    heads, length, dk, dv = 2, 45, 16, 32
    q, k = (draw(dtype, heads, length, dk, seed=at) for at in (0, 1))
    v, decay = draw(dtype, heads, length, dv, seed=2), -np.abs(draw("f32", heads, length, seed=3)) * 0.2
    o, state = np.zeros_like(v), np.zeros((heads, dk, dv), np.float32)
    sequences.linear_attention[heads](q, k, v, decay, o, state, length, CHUNK=16, DK=dk, DV=dv)
    h = np.zeros((heads, dk, dv))
    for t in range(length):
        g = np.exp(decay[:, t].astype(np.float64))[:, None, None]
        h = h * g + k[:, t].astype(np.float64)[:, :, None] * v[:, t].astype(np.float64)[:, None, :]
        near(o[:, t], np.einsum("hk,hkv->hv", q[:, t].astype(np.float64), h), dtype, 20)
    near(state, h, "f32", 20)


@pytest.mark.parametrize("dtype", HALVES)
@pytest.mark.parametrize("reverse", [False, True])
def test_recurrence(dtype: str, reverse: bool) -> None:
    length, channels = 50, 16
    a, x = 1 / (1 + np.exp(-draw("f32", length, channels))), draw(dtype, length, channels, seed=1)
    h = np.zeros_like(x)
    sequences.recurrence[1](a, x, h, length, reverse, BT=16, BC=channels)
    state, order = np.zeros(channels), range(length)
    for t in reversed(order) if reverse else order:
        state = a[t] * state + x[t].astype(np.float64)
        near(h[t], state, dtype, 3)


def test_selective_scan() -> None:
    length, channels, state = 30, 5, 16
    x, delta = draw("f32", length, channels), draw("f32", length, channels, seed=1)
    a = -np.abs(draw("f32", channels, state, seed=2))
    b, c, y = draw("f32", length, state, seed=3), draw("f32", length, state, seed=4), np.zeros_like(x)
    sequences.selective_scan[channels](x, delta, a, b, c, y, length, channels, STATE=state)
    h, wide = np.zeros((channels, state)), np.log1p(np.exp(delta.astype(np.float64)))
    for t in range(length):
        h = h * np.exp(wide[t][:, None] * a) + (wide[t] * x[t])[:, None] * b[t]
        near(y[t], (h * c[t]).sum(1), "f32", 10)


@pytest.mark.parametrize("dtype", HALVES)
@pytest.mark.parametrize("reverse", [False, True])
def test_running_sums(dtype: str, reverse: bool) -> None:
    x, y = draw(dtype, 3, 100), np.zeros((3, 100), draw(dtype, 1).dtype)
    sequences.running_sums[3](x, y, 100, reverse, BLOCK=32)
    wide = x.astype(np.float64)
    wanted = wide[:, ::-1].cumsum(1)[:, ::-1] if reverse else wide.cumsum(1)
    near(y, wanted, dtype, 8)
