"""Attention: flash forward and backward, decoding over pages, parts of the keys put together."""

from __future__ import annotations

from typing import TypeVar

import teeny as tn
import teeny.language as tl

D = TypeVar("D", bound=tl.Float)


@tn.kernel
def flash_forward(
    q_ptr: tl.Ptr[D], k_ptr: tl.Ptr[D], v_ptr: tl.Ptr[D], o_ptr: tl.Ptr[D], lse_ptr: tl.Ptr[tl.f32],
    length: tl.Scalar[tl.i32], scale: tl.Scalar[tl.f32], heads: tl.Scalar[tl.i32], GROUP: tl.Const[int],
    CAUSAL: tl.Const[bool], BM: tl.Const[int], BN: tl.Const[int], DIM: tl.Const[int],
) -> None:  # fmt: skip
    """One block of queries of one head; arrays are (batch, heads, length, DIM), k and v with heads / GROUP heads."""
    tl.static_assert(BM % BN == 0 or BN % BM == 0)
    block = tl.program_id(0)
    head = tl.program_id(1)
    q_base = q_ptr + head.to(tl.int64) * length * DIM
    kv = (head // heads) * (heads // GROUP) + head % heads // GROUP
    k_base = k_ptr + kv.to(tl.int64) * length * DIM
    v_base = v_ptr + kv.to(tl.int64) * length * DIM
    rows = block * BM + tl.arange(0, BM)
    d = tl.arange(0, DIM)
    q = tl.load(q_base + rows[:, None] * DIM + d[None, :], mask=rows[:, None] < length, other=0.0)
    m_i = tl.full((BM,), -float("inf"), tl.f32)
    l_i = tl.zeros((BM,), tl.f32)
    acc = tl.zeros((BM, DIM), tl.f32)
    log2e: tl.Const[float] = 1.4426950408889634
    end = tl.minimum((block + 1) * BM, length) if CAUSAL else length
    for start in range(0, end, BN):
        cols = start + tl.arange(0, BN)
        k = tl.load(k_base + cols[None, :] * DIM + d[:, None], mask=cols[None, :] < length, other=0.0)
        s = tl.dot(q, k) * (scale * log2e)
        s = tl.where(cols[None, :] < length, s, -float("inf"))
        if CAUSAL:
            s = tl.where(rows[:, None] >= cols[None, :], s, -float("inf"))
        m_new = tl.maximum(m_i, tl.max(s, 1))
        p = tl.exp2(s - m_new[:, None])
        alpha = tl.exp2(m_i - m_new)
        l_i = l_i * alpha + tl.sum(p, 1)
        v = tl.load(v_base + cols[:, None] * DIM + d[None, :], mask=cols[:, None] < length, other=0.0)
        acc = acc * alpha[:, None] + tl.dot(p.to(v.dtype), v)
        m_i = m_new
    o = acc / l_i[:, None]
    mask = rows < length
    tl.store(lse_ptr + head * length + rows, (m_i + tl.log2(l_i)) / log2e, mask=mask)
    at = head.to(tl.int64) * length * DIM + rows[:, None] * DIM + d[None, :]
    tl.store(o_ptr + at, o.to(o_ptr.dtype), mask=mask[:, None])


@tn.kernel
def flash_delta(
    o_ptr: tl.Ptr[D], do_ptr: tl.Ptr[D], delta_ptr: tl.Ptr[tl.f32], total: tl.Scalar[tl.i32], BM: tl.Const[int],
    DIM: tl.Const[int],
) -> None:  # fmt: skip
    """sum(o do) of each row."""
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    at = rows[:, None] * DIM + tl.arange(0, DIM)[None, :]
    mask = rows[:, None] < total
    o = tl.load(o_ptr + at, mask=mask, other=0.0).to(tl.f32)
    do = tl.load(do_ptr + at, mask=mask, other=0.0).to(tl.f32)
    tl.store(delta_ptr + rows, tl.sum(o * do, axis=1), mask=rows < total)


@tn.kernel
def flash_backward_kv(
    q_ptr: tl.Ptr[D], k_ptr: tl.Ptr[D], v_ptr: tl.Ptr[D], do_ptr: tl.Ptr[D], lse_ptr: tl.Ptr[tl.f32],
    delta_ptr: tl.Ptr[tl.f32], dk_ptr: tl.Ptr[D], dv_ptr: tl.Ptr[D], length: tl.Scalar[tl.i32],
    scale: tl.Scalar[tl.f32], CAUSAL: tl.Const[bool], BM: tl.Const[int], BN: tl.Const[int], DIM: tl.Const[int],
) -> None:  # fmt: skip
    """dk and dv of a block of keys, over all blocks of queries."""
    block, head = tl.program_id(0), tl.program_id(1)
    base = head.to(tl.int64) * length * DIM
    cols = block * BN + tl.arange(0, BN)
    d = tl.arange(0, DIM)
    inside = cols < length
    at = base + cols[:, None] * DIM + d[None, :]
    k = tl.load(k_ptr + at, mask=inside[:, None], other=0.0)
    v = tl.load(v_ptr + at, mask=inside[:, None], other=0.0)
    dk = tl.zeros((BN, DIM), tl.f32)
    dv = tl.zeros((BN, DIM), tl.f32)
    first = block * BN // BM * BM if CAUSAL else 0
    for start in range(first, length, BM):
        rows = start + tl.arange(0, BM)
        there = rows < length
        row_at = base + rows[:, None] * DIM + d[None, :]
        q = tl.load(q_ptr + row_at, mask=there[:, None], other=0.0)
        do = tl.load(do_ptr + row_at, mask=there[:, None], other=0.0)
        lse = tl.load(lse_ptr + head * length + rows, mask=there, other=0.0)
        delta = tl.load(delta_ptr + head * length + rows, mask=there, other=0.0)
        s = tl.dot(q, tl.trans(k)) * scale
        p = tl.exp(s - lse[:, None])
        keep = there[:, None] & inside[None, :]
        if CAUSAL:
            keep &= rows[:, None] >= cols[None, :]
        p = tl.where(keep, p, 0.0)
        dv += tl.dot(tl.trans(p.to(do.dtype)), do)
        dp = tl.dot(do, tl.trans(v))
        ds = (p * (dp - delta[:, None]) * scale).to(q.dtype)
        dk += tl.dot(tl.trans(ds), q)
    tl.store(dk_ptr + at, dk.to(dk_ptr.dtype), mask=inside[:, None])
    tl.store(dv_ptr + at, dv.to(dv_ptr.dtype), mask=inside[:, None])


@tn.kernel
def flash_backward_q(
    q_ptr: tl.Ptr[D], k_ptr: tl.Ptr[D], v_ptr: tl.Ptr[D], do_ptr: tl.Ptr[D], lse_ptr: tl.Ptr[tl.f32],
    delta_ptr: tl.Ptr[tl.f32], dq_ptr: tl.Ptr[D], length: tl.Scalar[tl.i32], scale: tl.Scalar[tl.f32],
    CAUSAL: tl.Const[bool], BM: tl.Const[int], BN: tl.Const[int], DIM: tl.Const[int],
) -> None:  # fmt: skip
    """dq of a block of queries."""
    block, head = tl.program_id(0), tl.program_id(1)
    base = head.to(tl.int64) * length * DIM
    rows = block * BM + tl.arange(0, BM)
    d = tl.arange(0, DIM)
    there = rows < length
    at = base + rows[:, None] * DIM + d[None, :]
    q = tl.load(q_ptr + at, mask=there[:, None], other=0.0)
    do = tl.load(do_ptr + at, mask=there[:, None], other=0.0)
    lse = tl.load(lse_ptr + head * length + rows, mask=there, other=0.0)
    delta = tl.load(delta_ptr + head * length + rows, mask=there, other=0.0)
    dq = tl.zeros((BM, DIM), dtype=tl.float32)
    end = tl.minimum((block + 1) * BM, length) if CAUSAL else length
    for start in range(0, end, BN):
        cols = start + tl.arange(0, BN)
        inside = cols < length
        k = tl.load(k_ptr + base + cols[:, None] * DIM + d[None, :], mask=inside[:, None], other=0.0)
        v = tl.load(v_ptr + base + cols[:, None] * DIM + d[None, :], mask=inside[:, None], other=0.0)
        p = tl.exp(tl.dot(q, k.trans()) * scale - lse[:, None])
        keep = inside[None, :] & (rows[:, None] >= cols[None, :] if CAUSAL else there[:, None])
        ds = tl.where(keep, p * (tl.dot(do, v.trans()) - delta[:, None]) * scale, 0.0)
        dq = tl.dot(ds.to(k.dtype), k, dq)
    tl.store(dq_ptr + at, dq.to(dq_ptr.dtype), mask=there[:, None])


@tn.kernel
def paged_decode(
    q_ptr: tl.Ptr[D], k_cache: tl.Ptr[D], v_cache: tl.Ptr[D], table: tl.Ptr[tl.i32], lengths: tl.Ptr[tl.i32],
    part_ptr: tl.Ptr[tl.f32], lse_ptr: tl.Ptr[tl.f32], scale: tl.Scalar[tl.f32], pages: tl.Scalar[tl.i32],
    PAGE: tl.Const[int], DIM: tl.Const[int], SPLITS: tl.Const[int],
) -> None:  # fmt: skip
    """One query of a sequence against a part of its pages: (sequence, split) of the grid."""
    sequence, split = tl.program_id(0), tl.program_id(1)
    length = tl.load(lengths + sequence)
    used = tl.cdiv(length, PAGE)
    per = tl.cdiv(used, SPLITS)
    d = tl.arange(0, DIM)
    q = tl.load(q_ptr + sequence * DIM + d).to(tl.float32)
    top = tl.full((), -float("inf"), tl.f32)
    total = tl.full((), 0.0, tl.f32)
    acc = tl.zeros((DIM,), tl.f32)
    for page in range(split * per, tl.minimum((split + 1) * per, used)):
        physical = tl.load(table + sequence * pages + page).to(tl.int64)
        slot = tl.arange(0, PAGE)
        inside = page * PAGE + slot < length
        at = (physical * PAGE + slot)[:, None] * DIM + d[None, :]
        k = tl.load(k_cache + at, mask=inside[:, None], other=0.0).to(tl.float32)
        s = tl.sum(q[None, :] * k, 1) * scale
        s = tl.where(inside, s, -float("inf"))
        new = tl.maximum(top, tl.max(s, 0))
        p = tl.exp(s - new)
        alpha = tl.exp(top - new)
        v = tl.load(v_cache + at, mask=inside[:, None], other=0.0).to(tl.float32)
        acc = acc * alpha + tl.sum(p[:, None] * v, 0)
        total = total * alpha + tl.sum(p, 0)
        top = new
    place = sequence * SPLITS + split
    if total > 0.0:
        tl.store(part_ptr + place * DIM + d, acc / total)
        tl.store(lse_ptr + place, top + tl.log(total))
    else:
        tl.store(part_ptr + place * DIM + d, tl.zeros((DIM,), tl.f32))
        tl.store(lse_ptr + place, -float("inf"))


@tn.kernel
def combine_parts(
    part_ptr: tl.Ptr[tl.f32], lse_ptr: tl.Ptr[tl.f32], o_ptr: tl.Ptr[D], SPLITS: tl.Const[int], DIM: tl.Const[int]
) -> None:
    """The parts of one sequence, weighed by their sums."""
    sequence = tl.program_id(0)
    s, d = tl.arange(0, SPLITS), tl.arange(0, DIM)
    lse = tl.load(lse_ptr + sequence * SPLITS + s)
    w = tl.exp(lse - tl.max(lse, axis=0))
    w /= tl.sum(w, axis=0)
    parts = tl.load(part_ptr + (sequence * SPLITS + s)[:, None] * DIM + d)
    tl.store(o_ptr + sequence * DIM + d, tl.sum(parts * w[:, None], axis=0).to(o_ptr.dtype))
