"""Kernels that go through indices against NumPy, on the CPU."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from tests.kernels import indexed
from tests.kernels.test_norms import HALVES, draw, near, softmax

INDEX = [np.int32, np.int64]


@pytest.mark.parametrize("dtype", HALVES)
@pytest.mark.parametrize("index", INDEX)
def test_embedding(dtype: str, index: Any) -> None:
    ids = np.array([3, 0, 9, 3, 12, -1], index)
    table, out = draw(dtype, 10, 70), draw(dtype, 6, 70)
    indexed.embedding[(6, 2)](ids, table, out, 70, 10, BLOCK=64)
    wanted = np.stack([table[i] if 0 <= i < 10 else np.zeros_like(table[0]) for i in ids])
    assert (out == wanted).all()
    dout, dtable = draw(dtype, 6, 70, seed=2), np.zeros((13, 70), np.float32)
    indexed.embedding_gradient[6](ids, dout, dtable, 70, BLOCK=32)
    sums = np.zeros((13, 70))
    np.add.at(sums, ids[ids >= 0], dout[ids >= 0].astype(np.float64))
    near(dtable, sums, "f32")


@pytest.mark.parametrize("dtype", HALVES)
@pytest.mark.parametrize("index", INDEX)
@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_cross_entropy(dtype: str, index: Any, smoothing: float) -> None:
    rows, classes, ignore = 6, 150, -100
    x = draw(dtype, rows, classes)
    targets = np.array([0, 149, 7, ignore, 77, 3], index)
    losses, lse = np.ones(rows, np.float32), np.zeros(rows, np.float32)
    indexed.cross_entropy[rows](x, targets, losses, lse, classes, smoothing, ignore, BLOCK=64)
    wide = x.astype(np.float64)
    sums = np.log(np.exp(wide).sum(1))
    picked = np.array([wide[at, t] if t != ignore else 0 for at, t in enumerate(targets)])
    wanted = (sums - picked) * (1 - smoothing) + smoothing * (sums - wide.mean(1))
    near(losses, np.where(targets == ignore, 0, wanted), "f32", 2)
    dloss = draw("f32", rows, seed=1)
    indexed.cross_entropy_backward[(rows, 3)](x, targets, sums.astype(np.float32), dloss, classes, ignore, BLOCK=64)
    grad = softmax(wide)
    for at, t in enumerate(targets):
        grad[at] = 0 if t == ignore else (grad[at] - (np.arange(classes) == t)) * dloss[at]
    near(x, grad, dtype, 2)


@pytest.mark.parametrize("reduction", ["none", "sum"])
def test_divergence(reduction: str) -> None:
    logp, q = (
        np.log(softmax(draw("f64", 3, 50))).astype(np.float32),
        softmax(draw("f64", 3, 50, seed=1)).astype(np.float32),
    )
    q[:, ::5] = 0
    loss = np.zeros((3, 50) if reduction == "none" else 3, np.float32)
    indexed.divergence[3](logp, q, loss, 50, reduction, BLOCK=64)
    wide = q.astype(np.float64)
    each = np.where(wide > 0, wide * (np.log(np.maximum(wide, 1e-10)) - logp), 0)
    near(loss, each if reduction == "none" else each.sum(1), "f32")


@pytest.mark.parametrize("dtype", HALVES)
def test_route(dtype: str) -> None:
    tokens, experts, top = 9, 20, 3
    x = draw(dtype, tokens, experts)
    x[1, :4] = 2  # ties: the first wins
    weights, chosen = np.zeros((tokens, top), np.float32), np.zeros((tokens, top), np.int32)
    counts = np.zeros(experts, np.int32)
    indexed.route[tokens](x, weights, chosen, counts, experts, TOP=top, BLOCK=32)
    p = softmax(x.astype(np.float64))
    order = np.argsort(-x.astype(np.float64), 1, kind="stable")[:, :top]
    assert (chosen == order).all()
    assert (counts == np.bincount(order.ravel(), minlength=experts)).all()
    best = np.take_along_axis(p, order, 1)
    near(weights, best / best.sum(1, keepdims=True), "f32")
    starts, ends = np.zeros(32, np.int32), np.zeros(32, np.int32)
    padded = np.zeros(32, np.int32)
    padded[:experts] = counts
    indexed.align_blocks[1](padded, starts, ends, EXPERTS=32, BLOCK=4)
    up = -(-padded // 4) * 4
    assert (ends == np.cumsum(up)).all()
    assert (starts == ends - up).all()


def test_route_sorted() -> None:
    x, best = draw("f32", 16, 32), np.zeros((16, 4), np.float32)
    indexed.route_sorted[2](x, best, TOKENS=8, EXPERTS=32, TOP=4)
    assert (best == -np.sort(-x, 1)[:, :4]).all()


def test_count_values() -> None:
    x = np.random.default_rng(0).integers(-3, 40, 1000).astype(np.int32)
    counts = np.zeros(32, np.int32)
    indexed.count_values[4](x, counts, 1000, BINS=32, BLOCK=256)
    assert (counts == np.bincount(x[(x >= 0) & (x < 32)], minlength=32)).all()


@pytest.mark.parametrize("dtype", HALVES)
def test_ragged(dtype: str) -> None:
    offsets = np.array([0, 5, 5, 40, 41], np.int64)
    values, out = draw(dtype, 41, 70), np.zeros((4, 70), draw(dtype, 1).dtype)
    indexed.ragged_sums[(4, 2)](values, offsets, out, 70, BM=16, BN=64)
    wide = values.astype(np.float64)
    groups = [wide[a:b] for a, b in pairwise(offsets.tolist())]
    near(out, np.stack([g.sum(0) for g in groups]), dtype, 8)
    padded = np.zeros((4, 36, 70), values.dtype)
    indexed.pad_ragged[(4, 36)](values, offsets, padded, 70, 36, -1.5, BLOCK=128)
    for at, group in enumerate(groups):
        assert (padded[at, : len(group)] == group).all()
        assert (padded[at, len(group) :] == -1.5).all()
