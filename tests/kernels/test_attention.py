"""Attention against NumPy in f64, on the CPU."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.kernels import attention
from tests.kernels.test_norms import draw, near, softmax

DTYPES = ["f16", "bf16", "f32"]


def whole(q: Any, k: Any, v: Any, scale: float, causal: bool) -> tuple[Any, Any, Any]:
    """Probabilities, result and the logarithm of the sums."""
    q, k, v = (x.astype(np.float64) for x in (q, k, v))
    s = q @ k.swapaxes(-1, -2) * scale
    if causal:
        s = np.where(np.tri(s.shape[-2], dtype=bool), s, -np.inf)
    p = softmax(s)
    top = s.max(-1)
    return p, p @ v, top + np.log(np.exp(s - top[..., None]).sum(-1))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("causal", [False, True])
def test_flash(dtype: str, causal: bool) -> None:
    heads, length, dim = 3, 50, 16
    scale = dim**-0.5
    q, k, v, do = (draw(dtype, heads, length, dim, seed=at) for at in range(4))
    o, lse = np.zeros_like(q), np.zeros((heads, length), np.float32)
    grid = (-(-length // 32), heads)
    blocks = {"BM": 32, "BN": 16, "DIM": dim}
    attention.flash_forward[grid](q, k, v, o, lse, length, scale, heads, GROUP=1, CAUSAL=causal, **blocks)
    p, wanted, sums = whole(q, k, v, scale, causal)
    near(o, wanted, dtype, 2)
    near(lse, sums, "f32", 400 if dtype != "f32" else 2)
    delta = np.zeros((heads, length), np.float32)
    attention.flash_delta[-(-heads * length // 32)](o, do, delta, heads * length, BM=32, DIM=dim)
    dq, dk, dv = (np.zeros_like(q) for _ in range(3))
    rest = (length, scale, causal, 32, 16, dim)
    attention.flash_backward_kv[(-(-length // 16), heads)](q, k, v, do, lse, delta, dk, dv, *rest)
    attention.flash_backward_q[grid](q, k, v, do, lse, delta, dq, *rest)
    g, wide_q, wide_k, wide_v = (x.astype(np.float64) for x in (do, q, k, v))
    dp = g @ wide_v.swapaxes(-1, -2)
    ds = p * (dp - (p * dp).sum(-1, keepdims=True)) * scale
    near(dv, p.swapaxes(-1, -2) @ g, dtype, 8)
    near(dk, ds.swapaxes(-1, -2) @ wide_q, dtype, 8)
    near(dq, ds @ wide_k, dtype, 8)


def test_grouped_heads() -> None:
    batch, heads, group, length, dim = 2, 4, 2, 40, 16
    q = draw("f32", batch, heads, length, dim)
    k, v = (draw("f32", batch, heads // group, length, dim, seed=at) for at in (1, 2))
    o, lse = np.zeros_like(q), np.zeros((batch, heads, length), np.float32)
    attention.flash_forward[(2, batch * heads)](
        q, k, v, o, lse, length, 0.25, heads, GROUP=group, CAUSAL=True, BM=32, BN=32, DIM=dim
    )
    _, wanted, _ = whole(q, k.repeat(group, 1), v.repeat(group, 1), 0.25, True)
    near(o, wanted, "f32", 2)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("splits", [1, 4])
def test_paged_decode(dtype: str, splits: int) -> None:
    page, pages, dim = 8, 6, 32
    lengths = np.array([1, 17, 48, 30], np.int32)
    random = np.random.default_rng(0)
    table = random.permutation(len(lengths) * pages).reshape(len(lengths), pages).astype(np.int32)
    cache_k, cache_v = (draw(dtype, table.size, page, dim, seed=at) for at in (1, 2))
    q, o = draw(dtype, len(lengths), dim), np.zeros((len(lengths), dim), cache_k.dtype)
    part, lse = np.zeros((len(lengths), splits, dim), np.float32), np.zeros((len(lengths), splits), np.float32)
    consts = {"PAGE": page, "DIM": dim, "SPLITS": splits}
    attention.paged_decode[(len(lengths), splits)](
        q, cache_k, cache_v, table, lengths, part, lse, dim**-0.5, pages, **consts
    )
    attention.combine_parts[len(lengths)](part, lse, o, SPLITS=splits, DIM=dim)
    for at, length in enumerate(lengths):
        k, v = (x[table[at]].reshape(-1, dim)[:length] for x in (cache_k, cache_v))
        near(o[at], whole(q[at : at + 1], k, v, dim**-0.5, False)[1][0], dtype, 2)
