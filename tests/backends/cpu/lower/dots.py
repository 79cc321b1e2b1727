"""Kernels with products of tiles, and what they give in f64 with the error that it may have."""

from __future__ import annotations

from typing import Any, TypeVar

import ml_dtypes
import numpy as np

import teeny as tn
import teeny.language as tl

F = TypeVar("F", bound=tl.Float)
Array = np.ndarray[Any, Any]
DTYPES: dict[str, Any] = {"f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32}
TINY = 2.0**-126


def normal(shape: tuple[int, ...], dtype: str, seed: int = 0) -> Array:
    return np.random.default_rng(seed).standard_normal(shape).astype(DTYPES[dtype])


def product(a: Array, b: Array) -> tuple[Array, Array]:
    """The product in f64, and the bound gamma_K |A| |B| on the error of one in f32 (N. J. Higham, 2002, 3.5)."""
    x, y = a.astype(np.float64), b.astype(np.float64)
    count = x.shape[-1] + 1
    unit = 2.0**-24
    return x @ y, count * unit / (1 - count * unit) * (np.abs(x) @ np.abs(y)) + count * TINY


def assert_within(found: Array, right: Array, bound: Array) -> None:
    assert np.all(np.abs(found.astype(np.float64) - right) <= bound)


@tn.kernel
def matmul(
    a_ptr: tl.Ptr[F],
    b_ptr: tl.Ptr[F],
    c_ptr: tl.Ptr[tl.f32],
    m: tl.Scalar[tl.i32],
    n: tl.Scalar[tl.i32],
    k: tl.Scalar[tl.i32],
    am: tl.Scalar[tl.i32],
    ak: tl.Scalar[tl.i32],
    bk: tl.Scalar[tl.i32],
    bn: tl.Scalar[tl.i32],
    BM: tl.Const[int],
    BN: tl.Const[int],
    BK: tl.Const[int],
) -> None:
    """Any strides; every mask is filled with 0."""
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), tl.f32)
    for k0 in tl.range(0, k, BK):
        rk = k0 + tl.arange(0, BK)
        a = tl.load(a_ptr + (rm[:, None] * am + rk[None, :] * ak), (rm < m)[:, None] & (rk < k)[None, :], other=0.0)
        b = tl.load(b_ptr + (rk[:, None] * bk + rn[None, :] * bn), (rk < k)[:, None] & (rn < n)[None, :], other=0.0)
        acc = tl.dot(a, b, acc)
    tl.store(c_ptr + (rm[:, None] * n + rn[None, :]), acc, mask=(rm < m)[:, None] & (rn < n)[None, :])


@tn.kernel
def transposed(
    a_ptr: tl.Ptr[F],
    b_ptr: tl.Ptr[F],
    c_ptr: tl.Ptr[tl.f32],
    A_TURNED: tl.Const[bool],
    B_TURNED: tl.Const[bool],
    M: tl.Const[int],
    N: tl.Const[int],
    K: tl.Const[int],
) -> None:
    """Contiguous operands, one or both of them turned by `tl.trans`."""
    rm, rn, rk = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    if A_TURNED:
        a = tl.trans(tl.load(a_ptr + (rk[:, None] * M + rm[None, :])))
    else:
        a = tl.load(a_ptr + (rm[:, None] * K + rk[None, :]))
    if B_TURNED:
        b = tl.trans(tl.load(b_ptr + (rn[:, None] * K + rk[None, :])))
    else:
        b = tl.load(b_ptr + (rk[:, None] * N + rn[None, :]))
    tl.store(c_ptr + (rm[:, None] * N + rn[None, :]), tl.dot(a, b, input_precision="ieee"))


@tn.kernel
def integers(
    a_ptr: tl.Ptr[tl.i8],
    b_ptr: tl.Ptr[tl.i8],
    c_ptr: tl.Ptr[tl.i32],
    k: tl.Scalar[tl.i32],
    TURNED: tl.Const[bool],
    M: tl.Const[int],
    N: tl.Const[int],
    K: tl.Const[int],
) -> None:
    rm, rn, rk = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    a = tl.load(a_ptr + (rm[:, None] * k + rk[None, :]), mask=(rk < k)[None, :], other=0)
    if TURNED:
        b = tl.trans(tl.load(b_ptr + (rn[:, None] * k + rk[None, :]), mask=(rk < k)[None, :], other=0))
    else:
        b = tl.load(b_ptr + (rk[:, None] * N + rn[None, :]), mask=(rk < k)[:, None], other=0)
    at = rm[:, None] * N + rn[None, :]
    tl.store(c_ptr + at, tl.dot(a, b, tl.load(c_ptr + at)))


@tn.kernel
def batches(
    a_ptr: tl.Ptr[F],
    b_ptr: tl.Ptr[F],
    c_ptr: tl.Ptr[tl.f32],
    B: tl.Const[int],
    M: tl.Const[int],
    N: tl.Const[int],
    K: tl.Const[int],
) -> None:
    rb, rm, rn, rk = tl.arange(0, B), tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    at = rb[:, None, None]
    a = tl.load(a_ptr + (at * (M * K) + rm[None, :, None] * K + rk[None, None, :]))
    b = tl.load(b_ptr + (at * (K * N) + rk[None, :, None] * N + rn[None, None, :]))
    tl.store(c_ptr + (at * (M * N) + rm[None, :, None] * N + rn[None, None, :]), tl.dot(a, b))


@tn.kernel
def accumulators(
    a_ptr: tl.Ptr[tl.f32],
    b_ptr: tl.Ptr[tl.f32],
    c_ptr: tl.Ptr[tl.f32],
    form: tl.Const[str],
    S: tl.Const[int],
) -> None:
    """Three steps of a loop whose sum is carried in the ways that programs use."""
    rows, cols = tl.arange(0, S)[:, None], tl.arange(0, S)[None, :]
    at = rows * S + cols
    acc = tl.load(c_ptr + at)
    before = acc
    for i in tl.range(0, 3):
        a = tl.load(a_ptr + (i * (S * S) + at))
        b = tl.load(b_ptr + (i * (S * S) + at))
        if form == "acc":
            acc = tl.dot(a, b, acc)
        if form == "sum":
            acc += tl.dot(a, b)
        if form == "scaled":
            acc = tl.dot(a, b, acc * 0.5)
        if form == "turned":
            acc = tl.dot(a, b, tl.trans(acc))
        if form == "operand":
            acc = tl.dot(acc, b, acc)
        if form == "kept":
            before = acc
            acc = tl.dot(a, b, acc)
        if form == "later":
            fresh = tl.dot(a, b, acc)
            tl.store(c_ptr + at, acc)
            acc = fresh
        if form == "twice":
            acc = tl.dot(b, a, tl.dot(a, b, acc))
        if form == "masked":
            acc = tl.dot(a, b, tl.where(cols <= rows, acc, 1.0))
    tl.store(c_ptr + at, acc + before)


@tn.kernel
def attention(
    q_ptr: tl.Ptr[F],
    k_ptr: tl.Ptr[F],
    v_ptr: tl.Ptr[F],
    o_ptr: tl.Ptr[F],
    n: tl.Scalar[tl.i32],
    scale: tl.Scalar[tl.f32],
    CAUSAL: tl.Const[bool],
    BM: tl.Const[int],
    BN: tl.Const[int],
    D: tl.Const[int],
) -> None:
    """Softmax(Q K^T) V, block by block, with running maxima and sums."""
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rd = tl.arange(0, D)
    q = tl.load(q_ptr + (rm[:, None] * D + rd[None, :]), mask=(rm < n)[:, None], other=0.0)
    top = tl.full((BM,), -float("inf"), tl.f32)
    total = tl.zeros((BM,), tl.f32)
    acc = tl.zeros((BM, D), tl.f32)
    for start in tl.range(0, n, BN):
        rn = start + tl.arange(0, BN)
        k = tl.load(k_ptr + (rn[:, None] * D + rd[None, :]), mask=(rn < n)[:, None], other=0.0)
        v = tl.load(v_ptr + (rn[:, None] * D + rd[None, :]), mask=(rn < n)[:, None], other=0.0)
        seen = (rn < n)[None, :]
        if CAUSAL:
            seen = seen & (rn[None, :] <= rm[:, None])
        s = tl.where(seen, tl.dot(q, tl.trans(k)) * scale, -float("inf"))
        higher = tl.maximum(top, tl.max(s, axis=1))
        alpha = tl.exp(top - higher)
        p = tl.exp(s - higher[:, None])
        total = total * alpha + tl.sum(p, axis=1)
        acc = tl.dot(p.to(v_ptr.dtype), v, acc * alpha[:, None])
        top = higher
    out = (acc / total[:, None]).to(o_ptr.dtype)
    tl.store(o_ptr + (rm[:, None] * D + rd[None, :]), out, mask=(rm < n)[:, None])
