"""Two axes: indexing, broadcasting, moving lanes."""

from __future__ import annotations

from typing import TypeVar

import teeny as tn
import teeny.language as tl

D = TypeVar("D", bound=tl.Dtype)
F = TypeVar("F", bound=tl.Float)
P = TypeVar("P", bound=tl.Float8)


@tn.kernel
def transpose(
    x_ptr: tl.Ptr[D],
    y_ptr: tl.Ptr[D],
    m: tl.Scalar[tl.i32],
    n: tl.Scalar[tl.i32],
    BM: tl.Const[int],
    BN: tl.Const[int],
) -> None:
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    inside = (rm < m)[:, None] & (rn < n)[None, :]
    tile = tl.load(x_ptr + (rm[:, None] * n + rn[None, :]), mask=inside)
    tl.store(y_ptr + (rn[:, None] * m + rm[None, :]), tl.trans(tile), mask=tl.trans(inside))


@tn.kernel
def pointers_move_back(x_ptr: tl.Ptr[F], n: tl.Scalar[tl.i64], BLOCK: tl.Const[int]) -> None:
    last = x_ptr + n - 1
    block: tl.Ptr[F] = last - tl.arange(0, BLOCK)
    for _ in range(3):
        block -= BLOCK
    tl.store(block, tl.load(last) + tl.load(block - n))


@tn.kernel
def bool_literals(b_ptr: tl.Ptr[tl.bool_], n: tl.Scalar[tl.i32], BLOCK: tl.Const[int], KEEP: tl.Const[bool]) -> None:
    at = tl.arange(0, BLOCK)
    m = at < n
    a = (m & True) | (False ^ m) | (m == KEEP) | (KEEP != m)
    b = tl.where(m, True, False) & tl.where(m, KEEP, a) & tl.where(m, a, True)
    tl.store(b_ptr + at, a & b)


@tn.kernel
def matmul(
    a_ptr: tl.Ptr[F],
    b_ptr: tl.Ptr[F],
    c_ptr: tl.Ptr[F],
    m: tl.Scalar[tl.i32],
    n: tl.Scalar[tl.i32],
    k: tl.Scalar[tl.i32],
    BM: tl.Const[int],
    BN: tl.Const[int],
    GROUP: tl.Const[int],
) -> None:
    pid = tl.program_id(0)
    width = GROUP * tl.cdiv(n, BN)
    rm = (pid // width * GROUP + pid % GROUP) * BM + tl.arange(0, BM)
    rn = (pid % width // GROUP) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), tl.f32)
    for i in tl.range(0, k):
        a = tl.load(a_ptr + rm * k + i, mask=rm < m, other=0.0).to(tl.f32)
        b = tl.load(b_ptr + i * n + rn, mask=rn < n, other=0.0).to(tl.f32)
        acc += a[:, None] * b[None, :]
    out = tl.where(acc > 0, acc, 0.0).to(c_ptr.dtype)
    tl.store(c_ptr + (rm[:, None] * n + rn[None, :]), out, mask=(rm < m)[:, None] & (rn < n)[None, :])


@tn.kernel
def products(
    a_ptr: tl.Ptr[F], b_ptr: tl.Ptr[F], c_ptr: tl.Ptr[tl.f32], i_ptr: tl.Ptr[tl.i8], S: tl.Const[int], W: tl.Const[int]
) -> None:
    at = tl.arange(0, S)[:, None] * S + tl.arange(0, S)[None, :]
    a = tl.load(a_ptr + at)
    b = tl.load(b_ptr + (tl.arange(0, W)[:, None] * S + tl.arange(0, S)[None, :]))
    acc = tl.zeros((S, S), tl.f32)
    acc = tl.dot(a, a, acc)
    acc += tl.dot(tl.trans(b), b, input_precision="ieee")
    acc = tl.dot(acc, acc, acc=acc, out_dtype=tl.f32, allow_tf32=False)
    i = tl.load(i_ptr + at)
    total = tl.dot(i, tl.trans(i), tl.zeros((S, S), tl.i32))
    total = tl.dot(i, i, out_dtype=tl.i32) + total
    tl.store(c_ptr + at, acc + total.to(tl.f32))


@tn.kernel
def products_of_bytes(
    p_ptr: tl.Ptr[P],
    u_ptr: tl.Ptr[tl.u8],
    h_ptr: tl.Ptr[tl.f16],
    d_ptr: tl.Ptr[tl.f64],
    i_ptr: tl.Ptr[tl.i32],
    S: tl.Const[int],
) -> None:
    at = tl.arange(0, 32)[:, None] * 32 + tl.arange(0, 32)[None, :]
    p, u, h, d = tl.load(p_ptr + at), tl.load(u_ptr + at), tl.load(h_ptr + at), tl.load(d_ptr + at)
    tl.store(d_ptr + at, tl.dot(d, d, d) + tl.dot(d, d, out_dtype=tl.f64))
    tl.store(h_ptr + at, tl.dot(h, h, h) + tl.dot(p, p, out_dtype=tl.f16) + tl.dot(h, h, out_dtype=tl.f16))
    tl.store(i_ptr + at, tl.dot(u, u, tl.dot(u, u)))
    scales = tl.load(u_ptr + tl.arange(0, 32))[:, None]
    acc = tl.dot(p, p, max_num_imprecise_acc=16)
    acc = tl.dot_scaled(u, scales, "e4m3", u, None, "e5m2", acc)
    acc += tl.dot_scaled(h, None, "fp16", u, scales, "e4m3", fast_math=True)
    tl.store(h_ptr + at, acc.to(tl.f16))


@tn.kernel
def views(x_ptr: tl.Ptr[F], BM: tl.Const[int], BN: tl.Const[int]) -> None:
    rm = tl.arange(0, BM)
    rn = tl.arange(0, BN)
    row_ptr = x_ptr + rn
    x = tl.load(row_ptr[None, :] + rm[:, None] * BN)
    column = tl.expand_dims(rm, 1) + rn.expand_dims(0)
    x = x + tl.broadcast_to(tl.sum(x, axis=1)[:, None], (BM, BN))
    x = x - tl.sum(x, axis=0).expand_dims(0).broadcast_to((BM, BN))
    x = x.reshape((BM * BN,)).reshape((BM, BN))
    x = tl.trans(tl.trans(x, (1, 0))) + tl.trans(x.trans()) + tl.sum(x, axis=1, keep_dims=True)
    x = x * tl.cdiv(BM, 2)
    tl.store(x_ptr + column, x)


@tn.kernel
def spellings(x_ptr: tl.Ptr[F], i_ptr: tl.Ptr[tl.i32], BM: tl.Const[int], BN: tl.Const[int]) -> None:
    """Other ways to say it: shapes as lists, sizes of a tile, offsets before pointers, conversions of scalars."""
    rm = tl.arange(0, BM)
    rn = tl.arange(0, BN)
    x = tl.load(rm[:, None] * BN + x_ptr + rn[None, :])
    row = tl.arange(0, x.shape[1])
    x = x + tl.zeros([BM, BN], x.dtype) + tl.full([BM, 1], 1.0, x.dtype) + row.to(x.dtype)
    x = tl.reshape(x, [BN, BM]).reshape([BM, BN])
    top = tl.full((BM,), tl.max(x), x.dtype)[:, None]
    x = 2.0 % (x - tl.broadcast_to(top, [BM, BN]))
    x = x * 3 % 2.5 + 7 % x
    count = tl.sum((x > 0).to(tl.i32), axis=1)
    tl.store(i_ptr + rm, count << 1 | 3 & count)
    tl.store(1 + i_ptr, 2 << tl.max(count, axis=0))
    tl.store(x_ptr + (rm[:, None] * BN + rn), x)
