"""Rows normalised in several ways."""

from typing import TypeVar

import teeny as tn
import teeny.language as tl

D = TypeVar("D", bound=tl.Float)
W = TypeVar("W", bound=tl.Float)
EPS: tl.Const[float] = 1e-5


@tn.kernel
def softmax(x_ptr: tl.Ptr[D], y_ptr: tl.Ptr[D], n_cols: tl.Scalar[tl.i32], BLOCK: tl.Const[int]) -> None:
    tl.require(n_cols <= BLOCK, "a row must fit in one block")
    tl.extent(x_ptr, tl.num_programs(0) * n_cols)
    tl.extent(y_ptr, tl.num_programs(0) * n_cols)
    row = tl.program_id(0).to(tl.i64)
    cols = tl.arange(0, BLOCK)
    mask = cols < n_cols
    x = tl.load(x_ptr + row * n_cols + cols, mask=mask, other=-float("inf"))
    num = tl.exp(x - tl.max(x, axis=0))
    tl.store(y_ptr + row * n_cols + cols, num / tl.sum(num, axis=0), mask=mask)


@tn.kernel
def layer_norm(
    x_ptr: tl.Ptr[D], y_ptr: tl.Ptr[D], w_ptr: tl.Ptr[W], b_ptr: tl.Ptr[W] | None, n: tl.Scalar[tl.i32], BLOCK: tl.Const[int]
) -> None:
    """Two dtype variables and a bias that may be absent."""
    row = tl.program_id(0).to(tl.i64)
    cols = tl.arange(0, BLOCK)
    mask = cols < n
    x = tl.load(x_ptr + row * n + cols, mask=mask, other=0.0).to(tl.f32)
    count = n.to(tl.f32)
    mean = tl.sum(x, axis=0) / count
    centred = tl.where(mask, x - mean, 0.0)
    variance = tl.sum(centred * centred, axis=0) / count
    y = centred * tl.rsqrt(variance + EPS)
    y = y * tl.load(w_ptr + cols, mask=mask, other=0.0).to(tl.f32)
    if b_ptr is not None:
        y = y + tl.load(b_ptr + cols, mask=mask, other=0.0).to(tl.f32)
    tl.store(y_ptr + row * n + cols, y.to(y_ptr.dtype), mask=mask)


@tn.kernel
def rms_norm(
    x_ptr: tl.Ptr[D], y_ptr: tl.Ptr[D], w_ptr: tl.Ptr[D], b_ptr: tl.Ptr[D], n: tl.Scalar[tl.i32], eps: tl.Scalar[tl.f32],
    BLOCK: tl.Const[int], HAS_BIAS: tl.Const[bool],
) -> None:
    """A flag: the same condition defines a name and later uses it."""
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    mask = cols < n
    if HAS_BIAS:
        bias = tl.load(b_ptr + cols, mask=mask, other=0.0).to(tl.f32)
    x = tl.load(x_ptr + row * n + cols, mask=mask, other=0.0).to(tl.f32)
    scale = tl.rsqrt(tl.sum(x * x, axis=0) / n.to(tl.f32) + eps)
    y = x * scale * tl.load(w_ptr + cols, mask=mask, other=0.0).to(tl.f32)
    if HAS_BIAS:
        y += bias
    tl.store(y_ptr + row * n + cols, y.to(y_ptr.dtype), mask=mask)


@tn.kernel
def persistent_softmax(
    x_ptr: tl.Ptr[D], y_ptr: tl.Ptr[D], rows: tl.Scalar[tl.i32], n: tl.Scalar[tl.i32], BLOCK: tl.Const[int]
) -> None:
    """Pointers and a count carried through a run-time loop."""
    start = tl.program_id(0)
    step = tl.num_programs(0)
    cols = tl.arange(0, BLOCK)
    mask = cols < n
    source = x_ptr + start * n + cols
    target = y_ptr + start * n + cols
    done = 0
    for _ in tl.range(start, rows, step):
        x = tl.load(source, mask=mask, other=-float("inf")).to(tl.f32)
        num = tl.exp(x - tl.max(x, axis=0))
        tl.store(target, (num / tl.sum(num, axis=0)).to(y_ptr.dtype), mask=mask)
        source += step * n
        target += step * n
        done += 1
    tl.static_assert(BLOCK <= 65536)


@tn.kernel
def log_softmax(x_ptr: tl.Ptr[D], y_ptr: tl.Ptr[D], n: tl.Scalar[tl.i32], BLOCK: tl.Const[int]) -> None:
    cols = tl.arange(0, BLOCK)
    base = tl.program_id(0) * n
    x = tl.load(x_ptr + base + cols, mask=cols < n, other=-float("inf"))
    shifted = x - tl.max(x, axis=0)
    tl.store(y_ptr + base + cols, shifted - tl.log(tl.sum(tl.exp(shifted), axis=0)), mask=cols < n)


@tn.kernel
def cross_entropy(
    logits_ptr: tl.Ptr[D], labels_ptr: tl.Ptr[tl.i64], loss_ptr: tl.Ptr[tl.f32], n: tl.Scalar[tl.i32],
    IGNORE: tl.Const[int], BLOCK: tl.Const[int],
) -> None:
    """An early return decided at run time."""
    row = tl.program_id(0).to(tl.i64)
    label = tl.load(labels_ptr + row)
    if label == IGNORE:
        tl.store(loss_ptr + row, 0.0)
        return
    cols = tl.arange(0, BLOCK)
    x = tl.load(logits_ptr + row * n + cols, mask=cols < n, other=-float("inf")).to(tl.f32)
    top = tl.max(x, axis=0)
    total = tl.log(tl.sum(tl.exp(x - top), axis=0)) + top
    picked = tl.load(logits_ptr + row * n + label).to(tl.f32)
    tl.store(loss_ptr + row, total - picked)


@tn.kernel
def attention(
    q_ptr: tl.Ptr[D], k_ptr: tl.Ptr[D], v_ptr: tl.Ptr[D], o_ptr: tl.Ptr[D], seq: tl.Scalar[tl.i32], scale: tl.Scalar[tl.f32],
    BN: tl.Const[int], HEAD: tl.Const[int], CAUSAL: tl.Const[bool],
) -> None:
    """Online softmax of one query row, without dot: three accumulators and a compile-time branch in a loop."""
    row = tl.program_id(0)
    dims = tl.arange(0, HEAD)
    q = tl.load(q_ptr + row * HEAD + dims).to(tl.f32)
    top = tl.full((), -float("inf"), tl.f32)
    total = tl.full((), 0.0, tl.f32)
    acc = tl.zeros((HEAD,), tl.f32)
    end = row + 1 if CAUSAL else seq
    for start in tl.range(0, end, BN):
        keys = start + tl.arange(0, BN)
        inside = keys < seq
        if CAUSAL:
            inside = inside & (keys <= row)
        at = keys[:, None] * HEAD + dims[None, :]
        k = tl.load(k_ptr + at, mask=inside[:, None], other=0.0).to(tl.f32)
        s = tl.where(inside, tl.sum(k * q[None, :], axis=1) * scale, -float("inf"))
        new_top = tl.maximum(top, tl.max(s, axis=0))
        alpha = tl.exp(top - new_top)
        p = tl.exp(s - new_top)
        v = tl.load(v_ptr + at, mask=inside[:, None], other=0.0).to(tl.f32)
        acc = acc * alpha + tl.sum(v * p[:, None], axis=0)
        total = total * alpha + tl.sum(p, axis=0)
        top = new_top
    tl.store(o_ptr + row * HEAD + dims, (acc / total).to(o_ptr.dtype))
