"""Products and attention of small floats: 8-bit floats with scales of blocks, weights in MXFP4, attention in 8 bits."""

from __future__ import annotations

from typing import TypeVar

import teeny as tn
import teeny.language as tl

F = TypeVar("F", bound=tl.Float)
Q = TypeVar("Q", bound=tl.Float8)


@tn.kernel
def blockwise(
    a_ptr: tl.Ptr[Q],
    a_scales: tl.Ptr[tl.f32],
    b_ptr: tl.Ptr[Q],
    b_scales: tl.Ptr[tl.f32],
    c_ptr: tl.Ptr[tl.bf16],
    m: tl.Scalar[tl.i32],
    n: tl.Scalar[tl.i32],
    k: tl.Scalar[tl.i32],
    BM: tl.Const[int],
    BN: tl.Const[int],
    BK: tl.Const[int],
    GROUP: tl.Const[int],
) -> None:
    """c = a @ b.T; a has a scale for each row and BK columns, b one for each block of BN by BK. BK divides k."""
    tiles_m, tiles_n = tl.cdiv(m, BM), tl.cdiv(n, BN)
    program = tl.program_id(0)
    first = program // (GROUP * tiles_n) * GROUP
    height = tl.minimum(tiles_m - first, GROUP)
    row, column = first + program % (GROUP * tiles_n) % height, program % (GROUP * tiles_n) // height
    rm, rn, rk = row * BM + tl.arange(0, BM), column * BN + tl.arange(0, BN), tl.arange(0, BK)
    blocks = k // BK
    acc = tl.zeros((BM, BN), tl.f32)
    for step in tl.range(0, blocks):
        at = step * BK + rk
        a = tl.load(a_ptr + rm[:, None] * k + at[None, :], mask=(rm < m)[:, None], other=0.0)
        b = tl.load(b_ptr + rn[None, :] * k + at[:, None], mask=(rn < n)[None, :], other=0.0)
        s = tl.load(a_scales + rm * blocks + step, mask=rm < m, other=0.0)
        acc += tl.dot(a, b) * s[:, None] * tl.load(b_scales + column * blocks + step)
    inside = (rm < m)[:, None] & (rn < n)[None, :]
    tl.store(c_ptr + rm[:, None] * n + rn[None, :], acc.to(tl.bf16), mask=inside)


@tn.kernel
def weights_in_mxfp4(
    x_ptr: tl.Ptr[tl.bf16],
    w_ptr: tl.Ptr[tl.u8],
    w_scales: tl.Ptr[tl.u8],
    c_ptr: tl.Ptr[tl.bf16],
    m: tl.Scalar[tl.i32],
    n: tl.Scalar[tl.i32],
    k: tl.Scalar[tl.i32],
    BM: tl.Const[int],
    BN: tl.Const[int],
    BK: tl.Const[int],
) -> None:
    """c = x @ w.T with w of n rows of k elements, two in a byte. 32 divides k."""
    rm, rn = tl.program_id(0) * BM + tl.arange(0, BM), tl.program_id(1) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), tl.f32)
    for start in tl.range(0, k, BK):
        rk, rb, rs = start + tl.arange(0, BK), start // 2 + tl.arange(0, BK // 2), start // 32 + tl.arange(0, BK // 32)
        x = tl.load(x_ptr + rm[:, None] * k + rk[None, :], mask=(rm < m)[:, None] & (rk < k)[None, :], other=0.0)
        inside = (rn < n)[None, :] & (rb < k // 2)[:, None]
        w = tl.load(w_ptr + rn[None, :] * (k // 2) + rb[:, None], mask=inside, other=0)
        there = (rn < n)[:, None] & (rs < k // 32)[None, :]
        s = tl.load(w_scales + rn[:, None] * (k // 32) + rs[None, :], mask=there, other=0)
        acc = tl.dot_scaled(x, None, "bf16", w, s, "e2m1", acc)
    inside = (rm < m)[:, None] & (rn < n)[None, :]
    tl.store(c_ptr + rm[:, None] * n + rn[None, :], acc.to(tl.bf16), mask=inside)


@tn.kernel
def attention(
    q_ptr: tl.Ptr[Q],
    k_ptr: tl.Ptr[Q],
    v_ptr: tl.Ptr[Q],
    o_ptr: tl.Ptr[F],
    length: tl.Scalar[tl.i32],
    scale: tl.Scalar[tl.f32],
    CAUSAL: tl.Const[bool],
    BM: tl.Const[int],
    BN: tl.Const[int],
    D: tl.Const[int],
) -> None:
    """One head a program of the second axis, (length, D) each; weights are rounded to the operands' dtype."""
    head = tl.program_id(1) * length * D
    rm, rd = tl.program_id(0) * BM + tl.arange(0, BM), tl.arange(0, D)
    q = tl.load(q_ptr + head + rm[:, None] * D + rd[None, :], mask=(rm < length)[:, None], other=0.0)
    top = tl.full((BM,), -float("inf"), tl.f32)
    total = tl.zeros((BM,), tl.f32)
    acc = tl.zeros((BM, D), tl.f32)
    end = tl.minimum((tl.program_id(0) + 1) * BM, length) if CAUSAL else length
    for start in tl.range(0, end, BN):
        rn = start + tl.arange(0, BN)
        k = tl.load(k_ptr + head + rn[None, :] * D + rd[:, None], mask=(rn < length)[None, :], other=0.0)
        v = tl.load(v_ptr + head + rn[:, None] * D + rd[None, :], mask=(rn < length)[:, None], other=0.0)
        seen = (rn < length)[None, :]
        if CAUSAL:
            seen = seen & (rn[None, :] <= rm[:, None])
        s = tl.where(seen, tl.dot(q, k) * scale, -float("inf"))
        higher = tl.maximum(top, tl.max(s, axis=1))
        alpha = tl.exp(top - higher)
        p = tl.exp(s - higher[:, None])
        total = total * alpha + tl.sum(p, axis=1)
        acc = tl.dot(p.to(q_ptr.dtype), v, acc * alpha[:, None])
        top = higher
    tl.store(
        o_ptr + head + rm[:, None] * D + rd[None, :],
        (acc / total[:, None]).to(o_ptr.dtype),
        mask=(rm < length)[:, None],
    )
