"""Kernels that go through indices: embeddings, losses, routing, histograms, ragged rows."""

from __future__ import annotations

from typing import TypeVar

import teeny as tn
import teeny.language as tl

D = TypeVar("D", bound=tl.Float)
I = TypeVar("I", tl.i32, tl.i64)


@tn.kernel
def embedding(
    ids: tl.Ptr[I], table: tl.Ptr[D], out: tl.Ptr[D], dim: tl.Scalar[tl.i32], vocabulary: tl.Scalar[tl.i32],
    BLOCK: tl.Const[int],
) -> None:  # fmt: skip
    """Rows of a table; ids outside of it give zeros."""
    token = tl.program_id(0)
    at = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    row = tl.load(ids + token).to(tl.int64)
    there = (row >= 0) & (row < vocabulary)
    value = tl.load(table + row * dim + at, mask=(at < dim) & there, other=0.0)
    tl.store(out + token * dim + at, value, mask=at < dim)


@tn.kernel
def embedding_gradient(
    ids: tl.Ptr[I], dout: tl.Ptr[D], dtable: tl.Ptr[tl.f32], dim: tl.Scalar[tl.i32], BLOCK: tl.Const[int]
) -> None:
    """Each token adds its row atomically."""
    token = tl.program_id(0)
    row = tl.load(ids + token).to(tl.int64)
    if row < 0:
        return
    for start in range(0, dim, BLOCK):
        at = start + tl.arange(0, BLOCK)
        g = tl.load(dout + token * dim + at, mask=at < dim, other=0.0)
        tl.atomic_add(dtable + row * dim + at, g.to(tl.f32), mask=at < dim)


@tn.kernel
def cross_entropy(
    logits: tl.Ptr[D], targets: tl.Ptr[I], losses: tl.Ptr[tl.f32], lse_ptr: tl.Ptr[tl.f32], classes: tl.Scalar[tl.i32],
    smoothing: tl.Const[float], ignore: tl.Const[int], BLOCK: tl.Const[int],
) -> None:  # fmt: skip
    """The loss of each row, over blocks of classes."""
    row = tl.program_id(0)
    base = logits + row.to(tl.int64) * classes
    target = tl.load(targets + row)
    if target == ignore:
        tl.store(losses + row, 0.0)
        return
    top = tl.full((), -float("inf"), tl.f32)
    total = tl.zeros((), tl.f32)
    mean = tl.zeros((), tl.f32)
    for start in range(0, classes, BLOCK):
        at = start + tl.arange(0, BLOCK)
        x = tl.load(base + at, mask=at < classes, other=-float("inf")).to(tl.f32)
        new = tl.maximum(top, tl.max(x))
        total = total * tl.exp(top - new) + tl.sum(tl.exp(x - new))
        top = new
        if smoothing > 0:
            mean += tl.sum(tl.where(at < classes, x, 0.0))
    lse = top + tl.log(total)
    loss = lse - tl.load(base + target).to(tl.f32)
    if smoothing > 0:
        loss = loss * (1 - smoothing) + smoothing * (lse - mean / classes.to(tl.f32))
    tl.store(losses + row, loss)
    tl.store(lse_ptr + row, lse)


@tn.kernel
def cross_entropy_backward(
    logits: tl.Ptr[D], targets: tl.Ptr[I], lse_ptr: tl.Ptr[tl.f32], dloss: tl.Ptr[tl.f32], classes: tl.Scalar[tl.i32],
    ignore: tl.Const[int], BLOCK: tl.Const[int],
) -> None:  # fmt: skip
    """The gradient replaces the logits."""
    row = tl.program_id(0)
    at = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    mask = at < classes
    place = logits + row.to(tl.int64) * classes + at
    target = tl.load(targets + row)
    scale = 0.0 if target == ignore else tl.load(dloss + row)
    x = tl.load(place, mask=mask, other=-float("inf")).to(tl.f32)
    p = tl.exp(x - tl.load(lse_ptr + row))
    p = tl.where(at == target.to(tl.i32), p - 1, p)
    tl.store(place, (p * scale).to(logits.dtype), mask=mask)


@tn.kernel
def divergence(
    logp_ptr: tl.Ptr[tl.f32], q_ptr: tl.Ptr[tl.f32], loss_ptr: tl.Ptr[tl.f32], cols: tl.Scalar[tl.i32],
    REDUCTION: tl.Const[str], BLOCK: tl.Const[int],
) -> None:  # fmt: skip
    """q (log q - log p), summed or not."""
    row = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    mask = c < cols
    y = tl.load(q_ptr + row * cols + c, mask=mask, other=0.0)
    logp = tl.load(logp_ptr + row * cols + c, mask=mask, other=0.0)
    loss = tl.where(y > 0, y * (tl.log(tl.maximum(y, 1e-10)) - logp), 0.0)
    if REDUCTION == "none":
        tl.store(loss_ptr + row * cols + c, loss, mask=mask)
    else:
        tl.store(loss_ptr + row, tl.sum(loss, axis=0))


@tn.kernel
def route(
    logits: tl.Ptr[D], weights: tl.Ptr[tl.f32], chosen: tl.Ptr[tl.i32], counts: tl.Ptr[tl.i32],
    experts: tl.Scalar[tl.i32], TOP: tl.Const[int], BLOCK: tl.Const[int],
) -> None:  # fmt: skip
    """The TOP experts of a token by softmax, renormalised; how often each is chosen is counted."""
    token = tl.program_id(0)
    e = tl.arange(0, BLOCK)
    x = tl.load(logits + token * experts + e, mask=e < experts, other=-float("inf")).to(tl.f32)
    x = tl.exp(x - tl.max(x, axis=0))
    p = tl.where(e < experts, x / tl.sum(x, axis=0), -float("inf"))
    total = tl.zeros((), tl.f32)
    for k in tl.static_range(TOP):
        best, at = tl.max(p, axis=0, return_indices=True)
        tl.store(weights + token * TOP + k, best)
        tl.store(chosen + token * TOP + k, at)
        tl.atomic_add(counts + at, 1)
        total += best
        p = tl.where(e == at, -float("inf"), p)
    for k in tl.static_range(TOP):
        place = weights + token * TOP + k
        tl.debug_barrier()
        tl.store(place, tl.load(place) / total)


@tn.kernel
def route_sorted(
    logits: tl.Ptr[tl.f32], best: tl.Ptr[tl.f32], TOKENS: tl.Const[int], EXPERTS: tl.Const[int], TOP: tl.Const[int]
) -> None:
    """The TOP largest of each row, by topk and by sort."""
    r = tl.program_id(0) * TOKENS + tl.arange(0, TOKENS)
    x = tl.load(logits + r[:, None] * EXPERTS + tl.arange(0, EXPERTS)[None, :])
    k = tl.arange(0, TOP)
    tl.store(best + r[:, None] * TOP + k[None, :], tl.topk(x, TOP))
    tl.device_assert(tl.max(tl.sort(x, descending=True), 1) == tl.max(x, 1), "the first is the largest")


@tn.kernel
def align_blocks(
    counts: tl.Ptr[tl.i32], starts: tl.Ptr[tl.i32], ends: tl.Ptr[tl.i32], EXPERTS: tl.Const[int], BLOCK: tl.Const[int]
) -> None:
    """Each expert's rows rounded up to blocks: where its part starts and ends."""
    e = tl.arange(0, EXPERTS)
    padded = tl.cdiv(tl.load(counts + e), BLOCK) * BLOCK
    last = tl.cumsum(padded, axis=0)
    tl.store(ends + e, last)
    tl.store(starts + e, last - padded)


@tn.kernel
def count_values(
    x_ptr: tl.Ptr[tl.i32], counts: tl.Ptr[tl.i32], count: tl.Scalar[tl.i32], BINS: tl.Const[int], BLOCK: tl.Const[int]
) -> None:
    """A histogram of each block, added atomically; values outside are not counted."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < count, other=-1)
    inside = (x >= 0) & (x < BINS)
    found = tl.histogram(tl.where(inside, x, 0), BINS, mask=inside)
    bins = tl.arange(0, BINS)
    tl.atomic_add(counts + bins, found, mask=found > 0)


@tn.kernel
def ragged_sums(
    values: tl.Ptr[D], offsets: tl.Ptr[tl.i64], out: tl.Ptr[D], dim: tl.Scalar[tl.i32], BM: tl.Const[int],
    BN: tl.Const[int],
) -> None:  # fmt: skip
    """The sum of each row group of a (total, dim) array; group g has rows offsets[g] to offsets[g + 1]."""
    group = tl.program_id(0)
    cols = tl.program_id(1) * BN + tl.arange(0, BN)
    first = tl.load(offsets + group)
    last = tl.load(offsets + group + 1)
    acc = tl.zeros((BM, BN), tl.f32)
    for row in range(first, last, BM):
        rows = row + tl.arange(0, BM)
        mask = (rows < last)[:, None] & (cols < dim)[None, :]
        acc += tl.load(values + rows[:, None] * dim + cols[None, :], mask=mask, other=0.0).to(tl.f32)
    tl.store(out + group * dim + cols, tl.sum(acc, axis=0).to(out.dtype), mask=cols < dim)


@tn.kernel
def pad_ragged(
    values: tl.Ptr[D], offsets: tl.Ptr[tl.i64], out: tl.Ptr[D], dim: tl.Scalar[tl.i32], longest: tl.Scalar[tl.i32],
    fill: tl.Scalar[tl.f32], BLOCK: tl.Const[int],
) -> None:  # fmt: skip
    """(total, dim) to (groups, longest, dim)."""
    group, row = tl.program_id(0), tl.program_id(1)
    first, last = tl.load(offsets + group), tl.load(offsets + group + 1)
    length = last - first
    at = tl.arange(0, BLOCK)
    there = (at < dim) & (row < length)
    x = tl.load(values + (first + row) * dim + at, mask=there, other=fill.to(values.dtype))
    tl.store(out + (group * longest + row) * dim + at, x, mask=at < dim)
