"""Softmax and normalisations, forward and backward, as libraries write them."""

from __future__ import annotations

from typing import TypeVar

import teeny as tn
import teeny.language as tl

D = TypeVar("D", bound=tl.Float)
W = TypeVar("W", bound=tl.Float)


@tn.kernel
def online_softmax(
    x_ptr: tl.Ptr[D], y_ptr: tl.Ptr[D], n: tl.Scalar[tl.i32], stride: tl.Scalar[tl.i64], BLOCK: tl.Const[int]
) -> None:
    """Rows of any length in blocks: the largest so far and the sum are carried."""
    row = tl.program_id(0)
    x_row, y_row = x_ptr + row * stride, y_ptr + row * stride
    top = tl.full((), -float("inf"), tl.f32)
    total = tl.full((), 0.0, tl.f32)
    for start in range(0, n, BLOCK):
        at = start + tl.arange(0, BLOCK)
        x = tl.load(x_row + at, mask=at < n, other=-float("inf")).to(tl.f32)
        new = tl.maximum(top, tl.max(x, axis=0))
        total = total * tl.exp(top - new) + tl.sum(tl.exp(x - new), axis=0)
        top = new
    for start in range(0, n, BLOCK):
        at = start + tl.arange(0, BLOCK)
        x = tl.load(x_row + at, mask=at < n, other=-float("inf")).to(tl.f32)
        tl.store(y_row + at, (tl.exp(x - top) / total).to(y_ptr.dtype), mask=at < n)


@tn.kernel
def softmax_backward(
    y_ptr: tl.Ptr[D], dy_ptr: tl.Ptr[D], dx_ptr: tl.Ptr[D], n: tl.Scalar[tl.i32], BLOCK: tl.Const[int]
) -> None:
    """dx = y (dy - sum(y dy))."""
    at = tl.arange(0, BLOCK)
    mask = at < n
    row = tl.program_id(0) * n + at
    y = tl.load(y_ptr + row, mask=mask, other=0.0).to(tl.f32)
    dy = tl.load(dy_ptr + row, mask=mask, other=0.0).to(tl.f32)
    dx = y * (dy - tl.sum(y * dy, axis=0))
    tl.store(dx_ptr + row, dx.to(dx_ptr.dtype), mask=mask)


@tn.kernel
def layer_norm(
    x_ptr: tl.Ptr[D],
    w_ptr: tl.Ptr[W],
    b_ptr: tl.Ptr[W] | None,
    y_ptr: tl.Ptr[D],
    mean_ptr: tl.Ptr[tl.f32],
    rstd_ptr: tl.Ptr[tl.f32],
    n: tl.Scalar[tl.i32],
    eps: tl.Scalar[tl.f32],
    BLOCK: tl.Const[int],
) -> None:
    """y = (x - mean) / sqrt(variance + eps) * w + b, in three passes over blocks of a row."""
    row = tl.program_id(0)
    x_row = x_ptr + row * n
    lanes = tl.arange(0, BLOCK)
    sums = tl.zeros((BLOCK,), dtype=tl.f32)
    for start in range(0, n, BLOCK):
        at = start + lanes
        sums += tl.load(x_row + at, mask=at < n, other=0.0).to(tl.f32)
    mean = tl.sum(sums, axis=0) / n.to(tl.f32)
    squares = tl.zeros((BLOCK,), dtype=tl.f32)
    for start in range(0, n, BLOCK):
        at = start + lanes
        x = tl.load(x_row + at, mask=at < n, other=0.0).to(tl.f32)
        x = tl.where(at < n, x - mean, 0.0)
        squares += x * x
    rstd = 1 / tl.sqrt(tl.sum(squares, axis=0) / n.to(tl.f32) + eps)
    tl.store(mean_ptr + row, mean)
    tl.store(rstd_ptr + row, rstd)
    for start in range(0, n, BLOCK):
        at = start + lanes
        mask = at < n
        x = tl.load(x_row + at, mask=mask, other=0.0).to(tl.f32)
        y = (x - mean) * rstd * tl.load(w_ptr + at, mask=mask).to(tl.f32)
        if b_ptr is not None:
            y += tl.load(b_ptr + at, mask=mask).to(tl.f32)
        tl.store(y_ptr + row * n + at, y.to(y_ptr.dtype), mask=mask)


@tn.kernel
def layer_norm_backward(
    x_ptr: tl.Ptr[D],
    w_ptr: tl.Ptr[W],
    dy_ptr: tl.Ptr[D],
    dx_ptr: tl.Ptr[D],
    dw_ptr: tl.Ptr[tl.f32],
    db_ptr: tl.Ptr[tl.f32],
    mean_ptr: tl.Ptr[tl.f32],
    rstd_ptr: tl.Ptr[tl.f32],
    n: tl.Scalar[tl.i32],
    BLOCK: tl.Const[int],
) -> None:
    """dx of a row; its part of dw and db is added atomically."""
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    mask = at < n
    x = tl.load(x_ptr + row * n + at, mask=mask, other=0).to(tl.float32)
    dy = tl.load(dy_ptr + row * n + at, mask=mask, other=0).to(tl.float32)
    w = tl.load(w_ptr + at, mask=mask, other=0).to(tl.float32)
    mean = tl.load(mean_ptr + row)
    rstd = tl.load(rstd_ptr + row)
    xhat = tl.where(mask, (x - mean) * rstd, 0.0)
    wdy = w * dy
    c1 = tl.sum(xhat * wdy, axis=0) / n.to(tl.f32)
    c2 = tl.sum(wdy, axis=0) / n.to(tl.f32)
    dx = (wdy - (xhat * c1 + c2)) * rstd
    tl.store(dx_ptr + row * n + at, dx.to(dx_ptr.dtype), mask=mask)
    tl.atomic_add(dw_ptr + at, dy * xhat, mask=mask)
    tl.atomic_add(db_ptr + at, dy, mask=mask)


@tn.kernel
def rms_norm(
    x_ptr: tl.Ptr[D], w_ptr: tl.Ptr[D], y_ptr: tl.Ptr[D], rstd_ptr: tl.Ptr[tl.f32] | None, n: tl.Scalar[tl.i32],
    eps: tl.Scalar[tl.f32], BLOCK: tl.Const[int], ROWS: tl.Const[int], rows: tl.Scalar[tl.i32],
) -> None:  # fmt: skip
    """Several rows a program, with a residual of nothing."""
    r = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    c = tl.arange(0, BLOCK)
    at = r[:, None] * n + c[None, :]
    mask = (r < rows)[:, None] & (c < n)[None, :]
    x = tl.load(x_ptr + at, mask=mask, other=0.0).to(tl.f32)
    rstd = tl.rsqrt(tl.sum(x * x, axis=1) / n.to(tl.f32) + eps)
    if rstd_ptr is not None:
        tl.store(rstd_ptr + r, rstd, mask=r < rows)
    w = tl.load(w_ptr + c, mask=c < n, other=0.0).to(tl.f32)
    tl.store(y_ptr + at, (x * rstd[:, None] * w[None, :]).to(y_ptr.dtype), mask=mask)


@tn.kernel
def rms_norm_backward(
    x_ptr: tl.Ptr[D], w_ptr: tl.Ptr[D], dy_ptr: tl.Ptr[D], rstd_ptr: tl.Ptr[tl.f32], dx_ptr: tl.Ptr[D],
    dw_ptr: tl.Ptr[tl.f32], rows: tl.Scalar[tl.i32], n: tl.Scalar[tl.i32], PER: tl.Const[int], BLOCK: tl.Const[int],
) -> None:  # fmt: skip
    """Each program takes PER rows and writes one row of partial sums of dw."""
    program = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    mask = c < n
    w = tl.load(w_ptr + c, mask=mask, other=0.0).to(tl.f32)
    dw = tl.zeros((BLOCK,), tl.f32)
    first = program * PER
    last = tl.minimum(first + PER, rows)
    for row in range(first, last):
        x = tl.load(x_ptr + row * n + c, mask=mask, other=0.0).to(tl.f32)
        dy = tl.load(dy_ptr + row * n + c, mask=mask, other=0.0).to(tl.f32)
        rstd = tl.load(rstd_ptr + row)
        m = dy * w
        dx = rstd * m - rstd * rstd * rstd / n.to(tl.f32) * tl.sum(m * x, axis=0) * x
        tl.store(dx_ptr + row * n + c, dx.to(dx_ptr.dtype), mask=mask)
        dw += dy * (x * rstd)
    tl.store(dw_ptr + program * n + c, dw, mask=mask)


@tn.kernel
def group_norm(
    x_ptr: tl.Ptr[D], w_ptr: tl.Ptr[D], b_ptr: tl.Ptr[D], y_ptr: tl.Ptr[D], size: tl.Scalar[tl.i32],
    per: tl.Scalar[tl.i32], groups: tl.Scalar[tl.i32], eps: tl.Const[float], BLOCK: tl.Const[int],
) -> None:  # fmt: skip
    """Groups of `per` channels of `size` elements; the variance by Welford's combination of block sums."""
    program = tl.program_id(0)
    group = program % groups
    count = size * per
    base = program.to(tl.i64) * count
    s = tl.full((), 0.0, tl.f32)
    q = tl.full((), 0.0, tl.f32)
    for start in range(0, count, BLOCK):
        at = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + base + at, mask=at < count, other=0.0).to(tl.f32)
        s += tl.sum(x)
        q += tl.sum(x * x)
    mean = s / count.to(tl.f32)
    rstd = tl.rsqrt(q / count.to(tl.f32) - mean * mean + eps)
    for channel in range(per):
        w = tl.load(w_ptr + group * per + channel).to(tl.f32)
        b = tl.load(b_ptr + group * per + channel).to(tl.f32)
        for start in range(0, size, BLOCK):
            at = start + tl.arange(0, BLOCK)
            inside = at < size
            place = base + channel * size + at
            x = tl.load(x_ptr + place, mask=inside).to(tl.f32)
            tl.store(y_ptr + place, ((x - mean) * rstd * w + b).to(y_ptr.dtype), mask=inside)
