"""Kernels along a sequence: causal convolution, linear attention, scans of recurrences."""

from __future__ import annotations

from typing import TypeVar

import teeny as tn
import teeny.language as tl

D = TypeVar("D", bound=tl.Float)


@tn.kernel
def causal_convolution(
    x_ptr: tl.Ptr[D], w_ptr: tl.Ptr[D], b_ptr: tl.Ptr[D] | None, y_ptr: tl.Ptr[D], length: tl.Scalar[tl.i32],
    channels: tl.Scalar[tl.i32], WIDTH: tl.Const[int], SILU: tl.Const[bool], BT: tl.Const[int], BC: tl.Const[int],
) -> None:  # fmt: skip
    """Depthwise, over (length, channels) of a batch: (block of time, block of channels, batch) of the grid."""
    t = tl.program_id(0) * BT + tl.arange(0, BT)
    c = tl.program_id(1) * BC + tl.arange(0, BC)
    base = tl.program_id(2).to(tl.int64) * length * channels
    acc = tl.zeros((BT, BC), tl.f32)
    for k in tl.static_range(WIDTH):
        source = t - (WIDTH - 1) + k
        mask = (source >= 0)[:, None] & (source < length)[:, None] & (c < channels)[None, :]
        x = tl.load(x_ptr + base + source[:, None] * channels + c[None, :], mask=mask, other=0.0).to(tl.f32)
        w = tl.load(w_ptr + c * WIDTH + k, mask=c < channels, other=0.0).to(tl.f32)
        acc += x * w[None, :]
    if b_ptr is not None:
        acc += tl.load(b_ptr + c, mask=c < channels, other=0.0).to(tl.f32)[None, :]
    if SILU:
        acc = acc * tl.sigmoid(acc)
    mask = (t < length)[:, None] & (c < channels)[None, :]
    tl.store(y_ptr + base + t[:, None] * channels + c[None, :], acc.to(y_ptr.dtype), mask=mask)


@tn.kernel
def linear_attention(
    q_ptr: tl.Ptr[D], k_ptr: tl.Ptr[D], v_ptr: tl.Ptr[D], decay_ptr: tl.Ptr[tl.f32], o_ptr: tl.Ptr[D],
    state_ptr: tl.Ptr[tl.f32], length: tl.Scalar[tl.i32], CHUNK: tl.Const[int], DK: tl.Const[int], DV: tl.Const[int],
) -> None:  # fmt: skip
    """Chunks of one head: the state is carried, within a chunk decays are differences of a cumulative sum."""
    head = tl.program_id(0)
    dk, dv, t = tl.arange(0, DK), tl.arange(0, DV), tl.arange(0, CHUNK)
    state = tl.zeros((DK, DV), tl.f32)
    for start in range(0, length, CHUNK):
        rows = start + t
        mask = rows < length
        kq = head * length * DK + rows[:, None] * DK + dk[None, :]
        vo = head * length * DV + rows[:, None] * DV + dv[None, :]
        q = tl.load(q_ptr + kq, mask=mask[:, None], other=0.0).to(tl.f32)
        k = tl.load(k_ptr + kq, mask=mask[:, None], other=0.0).to(tl.f32)
        v = tl.load(v_ptr + vo, mask=mask[:, None], other=0.0).to(tl.f32)
        decay = tl.load(decay_ptr + head * length + rows, mask=mask, other=0.0)
        g = tl.cumsum(decay, axis=0)
        scores = tl.dot(q, tl.trans(k), input_precision="ieee") * tl.exp(g[:, None] - g[None, :])
        scores = tl.where(t[:, None] >= t[None, :], scores, 0.0)
        o = tl.dot(scores, v, input_precision="ieee")
        o += tl.dot(q * tl.exp(g)[:, None], state, input_precision="ieee")
        tl.store(o_ptr + vo, o.to(o_ptr.dtype), mask=mask[:, None])
        last = tl.sum(decay)
        state = state * tl.exp(last) + tl.dot(tl.trans(k * tl.exp(last - g)[:, None]), v, input_precision="ieee")
    tl.store(state_ptr + head * DK * DV + dk[:, None] * DV + dv[None, :], state)


def combine(
    a: tl.Tensor[tl.f32], x: tl.Tensor[tl.f32], b: tl.Tensor[tl.f32], y: tl.Tensor[tl.f32]
) -> tuple[tl.Tensor[tl.f32], tl.Tensor[tl.f32]]:
    """First h -> a h + x, then h -> b h + y."""
    return a * b, b * x + y


@tn.kernel
def recurrence(
    a_ptr: tl.Ptr[tl.f32], x_ptr: tl.Ptr[D], h_ptr: tl.Ptr[D], length: tl.Scalar[tl.i32], REVERSE: tl.Const[bool],
    BT: tl.Const[int], BC: tl.Const[int],
) -> None:  # fmt: skip
    """h = a h + x along the first axis of (length, BC), by blocks: a scan within, the last state carried."""
    c = tl.arange(0, BC)
    carried = tl.zeros((BC,), tl.f32)
    for start in range(0, length, BT):
        t = start + tl.arange(0, BT)
        at = (length - 1 - t if REVERSE else t)[:, None] * BC + c[None, :]
        mask = (t < length)[:, None]
        a = tl.load(a_ptr + at, mask=mask, other=1.0)
        x = tl.load(x_ptr + at, mask=mask, other=0.0).to(tl.f32)
        a, h = tl.associative_scan((a, x), 0, combine)
        h += a * carried[None, :]
        tl.store(h_ptr + at, h.to(h_ptr.dtype), mask=mask)
        carried = tl.sum(tl.where(tl.arange(0, BT)[:, None] == BT - 1, h, 0.0), 0)


@tn.kernel
def selective_scan(
    x_ptr: tl.Ptr[tl.f32], delta_ptr: tl.Ptr[tl.f32], a_ptr: tl.Ptr[tl.f32], b_ptr: tl.Ptr[tl.f32],
    c_ptr: tl.Ptr[tl.f32], y_ptr: tl.Ptr[tl.f32], length: tl.Scalar[tl.i32], channels: tl.Scalar[tl.i32],
    STATE: tl.Const[int],
) -> None:  # fmt: skip
    """One channel, step by step; the state has STATE elements."""
    channel = tl.program_id(0)
    s = tl.arange(0, STATE)
    a = tl.load(a_ptr + channel * STATE + s)
    h = tl.zeros((STATE,), tl.f32)
    for t in range(length):
        x = tl.load(x_ptr + t * channels + channel)
        delta = tl.load(delta_ptr + t * channels + channel)
        delta = tl.where(delta > 20.0, delta, tl.log(1.0 + tl.exp(delta)))
        h = h * tl.exp(delta * a) + delta * x * tl.load(b_ptr + t * STATE + s)
        tl.store(y_ptr + t * channels + channel, tl.sum(h * tl.load(c_ptr + t * STATE + s), axis=0))


@tn.kernel
def running_sums(
    x_ptr: tl.Ptr[D], y_ptr: tl.Ptr[D], length: tl.Scalar[tl.i32], REVERSE: tl.Const[bool], BLOCK: tl.Const[int]
) -> None:
    """cumsum of rows of any length, the sum so far carried from block to block."""
    row = tl.program_id(0)
    carried = tl.zeros((), tl.f32)
    for block in range(tl.cdiv(length, BLOCK)):
        start = (tl.cdiv(length, BLOCK) - 1 - block) * BLOCK if REVERSE else block * BLOCK
        at = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * length + at, mask=at < length, other=0.0).to(tl.f32)
        y = tl.cumsum(x, axis=0, reverse=REVERSE) + carried
        tl.store(y_ptr + row * length + at, y.to(y_ptr.dtype), mask=at < length)
        carried += tl.sum(x, axis=0)
