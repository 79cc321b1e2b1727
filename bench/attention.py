"""The backward pass of attention, as a kernel of real size for measurements of the front end.

For each row i of the queries, with scores s = scale * q k^T (capped, biased, masked) and p = exp(s - lse):

    dv = p^T do,   ds = p * (do v^T - delta),   dq = scale * ds k,   dk = scale * ds^T q

where delta is the row sum of o * do. Written after T. Dao, "FlashAttention-2" (2023), section 3.1; several heads of the
queries may share one of keys and values.
"""

from __future__ import annotations

from typing import TypeVar

import teeny as tn
import teeny.language as tl

F = TypeVar("F", bound=tl.Float)
LOG2_E: tl.Const[float] = 1.4426950408889634


def tile_at(base: tl.Ptr[F], rows: tl.Tensor[tl.i32], stride: tl.Scalar[tl.i32], HEAD: tl.Const[int]) -> tl.Ptr[F]:
    """Pointers to rows of HEAD elements."""
    return base + rows.to(tl.i64)[:, None] * stride + tl.arange(0, HEAD)[None, :]


def visible(
    rows: tl.Tensor[tl.i32], cols: tl.Tensor[tl.i32], n_rows: tl.Scalar[tl.i32], n_cols: tl.Scalar[tl.i32],
    CAUSAL: tl.Const[bool], WINDOW: tl.Const[int],
) -> tl.Tensor[tl.bool_]:  # fmt: skip
    """Which keys a query sees. The last query stands beside the last key."""
    inside = (rows < n_rows)[:, None] & (cols < n_cols)[None, :]
    behind = (rows + (n_cols - n_rows))[:, None] - cols[None, :]
    if CAUSAL:
        inside = inside & (behind >= 0)
    if WINDOW > 0:
        inside = inside & (behind < WINDOW)
        if not CAUSAL:
            inside = inside & (behind > -WINDOW)
    return inside


def capped(s: tl.Tensor[tl.f32], CAP: tl.Const[float]) -> tuple[tl.Tensor[tl.f32], tl.Tensor[tl.f32]]:
    """Scores drawn into (-CAP, CAP) by a tanh, and the derivative of that."""
    if CAP > 0.0:
        t = 1.0 - 2.0 / (1.0 + tl.exp2(s * (2.0 * LOG2_E / CAP)))
        return t * CAP, 1.0 - t * t
    return s, tl.full(s.shape, 1.0, tl.f32)


def biased(
    s: tl.Tensor[tl.f32], bias_ptr: tl.Ptr[F] | None, rows: tl.Tensor[tl.i32], cols: tl.Tensor[tl.i32],
    stride: tl.Scalar[tl.i32], inside: tl.Tensor[tl.bool_],
) -> tl.Tensor[tl.f32]:  # fmt: skip
    """Scores with a bias for each query and key, if there is one."""
    if bias_ptr is not None:
        at = rows.to(tl.i64)[:, None] * stride + cols[None, :]
        s = s + tl.load(bias_ptr + at, mask=inside, other=0.0).to(tl.f32)
    return s


def dropped(
    p: tl.Tensor[tl.f32], rows: tl.Tensor[tl.i32], cols: tl.Tensor[tl.i32], n_cols: tl.Scalar[tl.i32],
    seed: tl.Scalar[tl.i32], RATE: tl.Const[float],
) -> tl.Tensor[tl.f32]:  # fmt: skip
    """Entries left out at random, by a hash of their place; the others are enlarged."""
    if RATE > 0.0:
        h = (rows[:, None] * n_cols + cols[None, :]) * -1640531527 + seed
        h = (h ^ (h >> 15)) * -2048144789
        h = (h ^ (h >> 13)) * -1028477387
        kept = ((h ^ (h >> 16)) & 0xFFFFFF).to(tl.f32) >= RATE * 16777216.0
        return tl.where(kept, p * (1.0 / (1.0 - RATE)), 0.0)
    return p


@tn.kernel
def row_sums(
    o_ptr: tl.Ptr[F], do_ptr: tl.Ptr[F], delta_ptr: tl.Ptr[tl.f32], o_batch: tl.Scalar[tl.i32],
    o_head: tl.Scalar[tl.i32], o_row: tl.Scalar[tl.i32], do_batch: tl.Scalar[tl.i32], do_head: tl.Scalar[tl.i32],
    do_row: tl.Scalar[tl.i32], n_heads: tl.Scalar[tl.i32], n_rows: tl.Scalar[tl.i32], BLOCK_M: tl.Const[int],
    HEAD: tl.Const[int],
) -> None:  # fmt: skip
    """delta: for each query the sum of o * do."""
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    batch = (tl.program_id(1) // n_heads).to(tl.i64)
    head = (tl.program_id(1) % n_heads).to(tl.i64)
    inside = (rows < n_rows)[:, None]
    o_at = tile_at(o_ptr + batch * o_batch + head * o_head, rows, o_row, HEAD)
    do_at = tile_at(do_ptr + batch * do_batch + head * do_head, rows, do_row, HEAD)
    o = tl.load(o_at, mask=inside, other=0.0).to(tl.f32)
    do = tl.load(do_at, mask=inside, other=0.0).to(tl.f32)
    place = (batch * n_heads + head) * n_rows + rows
    tl.store(delta_ptr + place, tl.sum(o * do, axis=1), mask=rows < n_rows)


def probabilities(
    q: tl.Tensor[F], k: tl.Tensor[F], bias_ptr: tl.Ptr[F] | None, bias_row: tl.Scalar[tl.i32],
    lse: tl.Tensor[tl.f32], rows: tl.Tensor[tl.i32], cols: tl.Tensor[tl.i32], n_rows: tl.Scalar[tl.i32],
    n_cols: tl.Scalar[tl.i32], scale: tl.Scalar[tl.f32], CAUSAL: tl.Const[bool], WINDOW: tl.Const[int],
    CAP: tl.Const[float],
) -> tuple[tl.Tensor[tl.f32], tl.Tensor[tl.f32]]:  # fmt: skip
    """What each query makes of each key, 0 where it does not see it; and the derivative of the capped score."""
    s, slope = capped(tl.dot(q, tl.trans(k)) * scale, CAP)
    inside = visible(rows, cols, n_rows, n_cols, CAUSAL, WINDOW)
    s = biased(s, bias_ptr, rows, cols, bias_row, inside)
    p = tl.exp2((s - lse[:, None]) * LOG2_E)
    return tl.where(inside, p, 0.0), slope


def keys_and_values(
    dk: tl.Tensor[tl.f32], dv: tl.Tensor[tl.f32], k: tl.Tensor[F], v: tl.Tensor[F], q_ptr: tl.Ptr[F],
    do_ptr: tl.Ptr[F], lse_ptr: tl.Ptr[tl.f32], delta_ptr: tl.Ptr[tl.f32], bias_ptr: tl.Ptr[F] | None,
    q_row: tl.Scalar[tl.i32], do_row: tl.Scalar[tl.i32], bias_row: tl.Scalar[tl.i32], first: tl.Scalar[tl.i32],
    last: tl.Scalar[tl.i32], cols: tl.Tensor[tl.i32], n_rows: tl.Scalar[tl.i32], n_cols: tl.Scalar[tl.i32],
    scale: tl.Scalar[tl.f32], seed: tl.Scalar[tl.i32], BLOCK_M: tl.Const[int], HEAD: tl.Const[int],
    CAUSAL: tl.Const[bool], WINDOW: tl.Const[int], CAP: tl.Const[float], RATE: tl.Const[float],
) -> tuple[tl.Tensor[tl.f32], tl.Tensor[tl.f32]]:  # fmt: skip
    """What the queries from `first` to `last` add to the gradients of one block of keys and values."""
    for start in tl.range(first, last, BLOCK_M):
        rows = start + tl.arange(0, BLOCK_M)
        within = rows < n_rows
        q = tl.load(tile_at(q_ptr, rows, q_row, HEAD), mask=within[:, None], other=0.0)
        do = tl.load(tile_at(do_ptr, rows, do_row, HEAD), mask=within[:, None], other=0.0)
        lse = tl.load(lse_ptr + rows, mask=within, other=0.0)
        delta = tl.load(delta_ptr + rows, mask=within, other=0.0)
        p, slope = probabilities(
            q, k, bias_ptr, bias_row, lse, rows, cols, n_rows, n_cols, scale, CAUSAL, WINDOW, CAP
        )  # fmt: skip
        used = dropped(p, rows, cols, n_cols, seed, RATE)
        dv += tl.dot(tl.trans(used.to(q_ptr.dtype)), do)
        dp = dropped(tl.dot(do, tl.trans(v)), rows, cols, n_cols, seed, RATE)
        ds = p * (dp - delta[:, None]) * slope
        dk += tl.dot(tl.trans(ds.to(q_ptr.dtype)), q)
    return dk, dv


@tn.kernel
def backward_of_keys(
    q_ptr: tl.Ptr[F], k_ptr: tl.Ptr[F], v_ptr: tl.Ptr[F], do_ptr: tl.Ptr[F], lse_ptr: tl.Ptr[tl.f32],
    delta_ptr: tl.Ptr[tl.f32], bias_ptr: tl.Ptr[F] | None, dk_ptr: tl.Ptr[F], dv_ptr: tl.Ptr[F],
    q_batch: tl.Scalar[tl.i32], q_head: tl.Scalar[tl.i32], q_row: tl.Scalar[tl.i32], k_batch: tl.Scalar[tl.i32],
    k_head: tl.Scalar[tl.i32], k_row: tl.Scalar[tl.i32], v_batch: tl.Scalar[tl.i32], v_head: tl.Scalar[tl.i32],
    v_row: tl.Scalar[tl.i32], do_batch: tl.Scalar[tl.i32], do_head: tl.Scalar[tl.i32], do_row: tl.Scalar[tl.i32],
    bias_head: tl.Scalar[tl.i32], bias_row: tl.Scalar[tl.i32], n_heads: tl.Scalar[tl.i32],
    n_rows: tl.Scalar[tl.i32], n_cols: tl.Scalar[tl.i32], scale: tl.Scalar[tl.f32], seed: tl.Scalar[tl.i32],
    SHARED: tl.Const[int], BLOCK_M: tl.Const[int], BLOCK_N: tl.Const[int], HEAD: tl.Const[int],
    CAUSAL: tl.Const[bool], WINDOW: tl.Const[int] = 0, CAP: tl.Const[float] = 0.0, RATE: tl.Const[float] = 0.0,
) -> None:  # fmt: skip
    """The gradients of one block of keys and values, from all heads of queries that share it."""
    n_shared = n_heads // SHARED
    batch = (tl.program_id(1) // n_shared).to(tl.i64)
    shared = tl.program_id(1) % n_shared
    begin = tl.program_id(0) * BLOCK_N
    cols = begin + tl.arange(0, BLOCK_N)
    inside = (cols < n_cols)[:, None]
    k_at = tile_at(k_ptr + batch * k_batch + shared.to(tl.i64) * k_head, cols, k_row, HEAD)
    v_at = tile_at(v_ptr + batch * v_batch + shared.to(tl.i64) * v_head, cols, v_row, HEAD)
    k = tl.load(k_at, mask=inside, other=0.0)
    v = tl.load(v_at, mask=inside, other=0.0)
    first = begin * 0
    last = n_rows
    if CAUSAL:  # queries before the first key of the block see none of it
        first = tl.maximum(begin - (n_cols - n_rows), 0) // BLOCK_M * BLOCK_M
    if WINDOW > 0:
        last = tl.minimum(begin + BLOCK_N - (n_cols - n_rows) + WINDOW, n_rows)
    dk = tl.zeros((BLOCK_N, HEAD), tl.f32)
    dv = tl.zeros((BLOCK_N, HEAD), tl.f32)
    for each in tl.static_range(SHARED):
        head = shared * SHARED + each
        heads_before = batch * n_heads + head
        bias = None
        if bias_ptr is not None:
            bias = bias_ptr + head.to(tl.i64) * bias_head
        dk, dv = keys_and_values(
            dk, dv, k, v, q_ptr + batch * q_batch + head.to(tl.i64) * q_head,
            do_ptr + batch * do_batch + head.to(tl.i64) * do_head, lse_ptr + heads_before * n_rows,
            delta_ptr + heads_before * n_rows, bias, q_row, do_row, bias_row, first, last, cols, n_rows, n_cols,
            scale, seed + head, BLOCK_M, HEAD, CAUSAL, WINDOW, CAP, RATE,
        )  # fmt: skip
    place = ((batch * n_shared + shared) * n_cols + cols)[:, None] * HEAD + tl.arange(0, HEAD)[None, :]
    tl.store(dk_ptr + place, (dk * scale).to(dk_ptr.dtype), mask=inside)
    tl.store(dv_ptr + place, dv.to(dv_ptr.dtype), mask=inside)


def queries(
    dq: tl.Tensor[tl.f32], q: tl.Tensor[F], do: tl.Tensor[F], lse: tl.Tensor[tl.f32], delta: tl.Tensor[tl.f32],
    k_ptr: tl.Ptr[F], v_ptr: tl.Ptr[F], bias_ptr: tl.Ptr[F] | None, k_row: tl.Scalar[tl.i32],
    v_row: tl.Scalar[tl.i32], bias_row: tl.Scalar[tl.i32], first: tl.Scalar[tl.i32], last: tl.Scalar[tl.i32],
    rows: tl.Tensor[tl.i32], n_rows: tl.Scalar[tl.i32], n_cols: tl.Scalar[tl.i32], scale: tl.Scalar[tl.f32],
    seed: tl.Scalar[tl.i32], BLOCK_N: tl.Const[int], HEAD: tl.Const[int], CAUSAL: tl.Const[bool],
    WINDOW: tl.Const[int], CAP: tl.Const[float], RATE: tl.Const[float],
) -> tl.Tensor[tl.f32]:  # fmt: skip
    """What the keys from `first` to `last` add to the gradient of one block of queries."""
    for start in tl.range(first, last, BLOCK_N):
        cols = start + tl.arange(0, BLOCK_N)
        within = (cols < n_cols)[:, None]
        k = tl.load(tile_at(k_ptr, cols, k_row, HEAD), mask=within, other=0.0)
        v = tl.load(tile_at(v_ptr, cols, v_row, HEAD), mask=within, other=0.0)
        p, slope = probabilities(
            q, k, bias_ptr, bias_row, lse, rows, cols, n_rows, n_cols, scale, CAUSAL, WINDOW, CAP
        )  # fmt: skip
        dp = dropped(tl.dot(do, tl.trans(v)), rows, cols, n_cols, seed, RATE)
        ds = p * (dp - delta[:, None]) * slope
        dq += tl.dot(ds.to(k_ptr.dtype), k)
    return dq


@tn.kernel
def backward_of_queries(
    q_ptr: tl.Ptr[F], k_ptr: tl.Ptr[F], v_ptr: tl.Ptr[F], do_ptr: tl.Ptr[F], lse_ptr: tl.Ptr[tl.f32],
    delta_ptr: tl.Ptr[tl.f32], bias_ptr: tl.Ptr[F] | None, dq_ptr: tl.Ptr[F], q_batch: tl.Scalar[tl.i32],
    q_head: tl.Scalar[tl.i32], q_row: tl.Scalar[tl.i32], k_batch: tl.Scalar[tl.i32], k_head: tl.Scalar[tl.i32],
    k_row: tl.Scalar[tl.i32], v_batch: tl.Scalar[tl.i32], v_head: tl.Scalar[tl.i32], v_row: tl.Scalar[tl.i32],
    do_batch: tl.Scalar[tl.i32], do_head: tl.Scalar[tl.i32], do_row: tl.Scalar[tl.i32],
    bias_head: tl.Scalar[tl.i32], bias_row: tl.Scalar[tl.i32], n_heads: tl.Scalar[tl.i32],
    n_rows: tl.Scalar[tl.i32], n_cols: tl.Scalar[tl.i32], scale: tl.Scalar[tl.f32], seed: tl.Scalar[tl.i32],
    SHARED: tl.Const[int], BLOCK_M: tl.Const[int], BLOCK_N: tl.Const[int], HEAD: tl.Const[int],
    CAUSAL: tl.Const[bool], WINDOW: tl.Const[int] = 0, CAP: tl.Const[float] = 0.0, RATE: tl.Const[float] = 0.0,
) -> None:  # fmt: skip
    """The gradient of one block of queries."""
    batch = (tl.program_id(1) // n_heads).to(tl.i64)
    head = tl.program_id(1) % n_heads
    shared = (head // SHARED).to(tl.i64)
    begin = tl.program_id(0) * BLOCK_M
    rows = begin + tl.arange(0, BLOCK_M)
    inside = rows < n_rows
    q_at = tile_at(q_ptr + batch * q_batch + head.to(tl.i64) * q_head, rows, q_row, HEAD)
    do_at = tile_at(do_ptr + batch * do_batch + head.to(tl.i64) * do_head, rows, do_row, HEAD)
    q = tl.load(q_at, mask=inside[:, None], other=0.0)
    do = tl.load(do_at, mask=inside[:, None], other=0.0)
    place = (batch * n_heads + head) * n_rows + rows
    lse = tl.load(lse_ptr + place, mask=inside, other=0.0)
    delta = tl.load(delta_ptr + place, mask=inside, other=0.0)
    first = begin * 0
    last = n_cols
    if CAUSAL:  # keys after the last query of the block are seen by none of it
        last = tl.minimum(begin + BLOCK_M + (n_cols - n_rows), n_cols)
    if WINDOW > 0:
        first = tl.maximum(begin + (n_cols - n_rows) - WINDOW + 1, 0) // BLOCK_N * BLOCK_N
    bias = None
    if bias_ptr is not None:
        bias = bias_ptr + head.to(tl.i64) * bias_head
    dq = queries(
        tl.zeros((BLOCK_M, HEAD), tl.f32), q, do, lse, delta, k_ptr + batch * k_batch + shared * k_head,
        v_ptr + batch * v_batch + shared * v_head, bias, k_row, v_row, bias_row, first, last, rows, n_rows, n_cols,
        scale, seed + head, BLOCK_N, HEAD, CAUSAL, WINDOW, CAP, RATE,
    )  # fmt: skip
    at = ((batch * n_heads + head) * n_rows + rows)[:, None] * HEAD + tl.arange(0, HEAD)[None, :]
    tl.store(dq_ptr + at, (dq * scale).to(dq_ptr.dtype), mask=inside[:, None])
