"""Matrix products: persistent, split along k, grouped by pointers, with quantised operands and epilogues."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import teeny as tn
import teeny.language as tl

D = TypeVar("D", bound=tl.Float)


def relu(x: tl.Tensor[tl.f32]) -> tl.Tensor[tl.f32]:
    """x where it is positive."""
    return tl.maximum(x, 0.0)


def gelu(x: tl.Tensor[tl.f32]) -> tl.Tensor[tl.f32]:
    """x Phi(x)."""
    return 0.5 * x * (1.0 + tl.erf(x * 0.7071067811865476))


def place(
    tile: tl.Tensor[tl.i32], tiles_m: tl.Tensor[tl.i32], tiles_n: tl.Tensor[tl.i32], GROUP: tl.Const[int]
) -> tuple[tl.Tensor[tl.i32], tl.Tensor[tl.i32]]:
    """Row and column of a tile, in groups of rows."""
    width = GROUP * tiles_n
    group = tile // width
    first = group * GROUP
    height = tl.minimum(tiles_m - first, GROUP)
    return first + (tile % width) % height, (tile % width) // height


@tn.kernel
def linear(
    a_ptr: tl.Ptr[D], b_ptr: tl.Ptr[D], bias_ptr: tl.Ptr[D] | None, c_ptr: tl.Ptr[D], m: tl.Scalar[tl.i32],
    n: tl.Scalar[tl.i32], k: tl.Scalar[tl.i32],
    ACTIVATION: tl.Const[Callable[[tl.Tensor[tl.f32]], tl.Tensor[tl.f32]] | None],
    BM: tl.Const[int], BN: tl.Const[int], BK: tl.Const[int], GROUP: tl.Const[int] = 4,
) -> None:  # fmt: skip
    """act(a b + bias)."""
    i, j = place(tl.program_id(0), tl.cdiv(m, BM), tl.cdiv(n, BN), GROUP)
    rows = i * BM + tl.arange(0, BM)
    cols = j * BN + tl.arange(0, BN)
    inner = tl.arange(0, BK)
    a_at = a_ptr + rows[:, None] * k + inner[None, :]
    b_at = b_ptr + inner[:, None] * n + cols[None, :]
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for step in range(tl.cdiv(k, BK)):
        left = k - step * BK
        a = tl.load(a_at, mask=(rows[:, None] < m) & (inner[None, :] < left), other=0.0)
        b = tl.load(b_at, mask=(inner[:, None] < left) & (cols[None, :] < n), other=0.0)
        acc += tl.dot(a, b)
        a_at += BK
        b_at += BK * n
    if bias_ptr is not None:
        acc += tl.load(bias_ptr + cols, mask=cols < n, other=0.0).to(tl.f32)[None, :]
    if ACTIVATION is not None:
        acc = ACTIVATION(acc)
    mask = (rows[:, None] < m) & (cols[None, :] < n)
    tl.store(c_ptr + rows[:, None] * n + cols[None, :], acc.to(c_ptr.dtype), mask=mask)


@tn.kernel
def persistent(
    a_ptr: tl.Ptr[D], b_ptr: tl.Ptr[D], c_ptr: tl.Ptr[D], m: tl.Scalar[tl.i32], n: tl.Scalar[tl.i32],
    k: tl.Scalar[tl.i32], BM: tl.Const[int], BN: tl.Const[int], BK: tl.Const[int],
) -> None:  # fmt: skip
    """Each program takes every so many tiles."""
    tiles_m, tiles_n = tl.cdiv(m, BM), tl.cdiv(n, BN)
    for tile in tl.range(tl.program_id(0), tiles_m * tiles_n, tl.num_programs(0), flatten=True):
        i, j = place(tile, tiles_m, tiles_n, 2)
        rows = i * BM + tl.arange(0, BM)
        cols = j * BN + tl.arange(0, BN)
        acc = tl.zeros((BM, BN), tl.f32)
        for start in tl.range(0, k, BK, num_stages=2):
            inner = start + tl.arange(0, BK)
            a = tl.load(a_ptr + rows[:, None] * k + inner[None, :], (rows < m)[:, None] & (inner < k)[None, :], 0.0)
            b = tl.load(b_ptr + inner[:, None] * n + cols[None, :], (inner < k)[:, None] & (cols < n)[None, :], 0.0)
            acc = tl.dot(a, b, acc)
        mask = (rows < m)[:, None] & (cols < n)[None, :]
        tl.store(c_ptr + rows[:, None] * n + cols[None, :], acc.to(c_ptr.dtype), mask=mask)


@tn.kernel
def split_k(
    a_ptr: tl.Ptr[D], b_ptr: tl.Ptr[D], c_ptr: tl.Ptr[tl.f32], m: tl.Scalar[tl.i32], n: tl.Scalar[tl.i32],
    k: tl.Scalar[tl.i32], BM: tl.Const[int], BN: tl.Const[int], BK: tl.Const[int], SPLIT: tl.Const[int],
) -> None:  # fmt: skip
    """Programs along axis 2 take parts of k and add their tiles atomically."""
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    cols = tl.program_id(1) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), tl.f32)
    for start in range(tl.program_id(2) * BK, k, BK * SPLIT):
        inner = start + tl.arange(0, BK)
        a = tl.load(a_ptr + rows[:, None] * k + inner[None, :], (rows < m)[:, None] & (inner < k)[None, :], 0.0)
        b = tl.load(b_ptr + inner[:, None] * n + cols[None, :], (inner < k)[:, None] & (cols < n)[None, :], 0.0)
        acc = tl.dot(a, b, acc)
    mask = (rows < m)[:, None] & (cols < n)[None, :]
    tl.atomic_add(c_ptr + rows[:, None] * n + cols[None, :], acc, mask=mask, sem="relaxed")


@tn.kernel
def grouped(
    a_ptrs: tl.Ptr[tl.i64], b_ptrs: tl.Ptr[tl.i64], c_ptrs: tl.Ptr[tl.i64], sizes: tl.Ptr[tl.i32],
    groups: tl.Scalar[tl.i32], BM: tl.Const[int], BN: tl.Const[int], BK: tl.Const[int],
) -> None:  # fmt: skip
    """Products of several sizes, whose addresses and sizes are in arrays; tiles of all are dealt out in turn."""
    tile = tl.program_id(0)
    done = 0
    for g in range(groups):
        m = tl.load(sizes + 3 * g)
        n = tl.load(sizes + 3 * g + 1)
        k = tl.load(sizes + 3 * g + 2)
        tiles_n = tl.cdiv(n, BN)
        count = tl.cdiv(m, BM) * tiles_n
        a_ptr = tl.load(a_ptrs + g).to(tl.pointer_type(tl.float32))
        b_ptr = tl.load(b_ptrs + g).to(tl.pointer_type(tl.float32))
        c_ptr = tl.load(c_ptrs + g).to(tl.pointer_type(tl.float32))
        while tile >= done and tile < done + count:
            local = tile - done
            rows = local // tiles_n * BM + tl.arange(0, BM)
            cols = local % tiles_n * BN + tl.arange(0, BN)
            acc = tl.zeros((BM, BN), tl.f32)
            for start in range(0, k, BK):
                inner = start + tl.arange(0, BK)
                a = tl.load(a_ptr + rows[:, None] * k + inner[None, :], (rows < m)[:, None] & (inner < k)[None, :], 0.0)
                b = tl.load(b_ptr + inner[:, None] * n + cols[None, :], (inner < k)[:, None] & (cols < n)[None, :], 0.0)
                acc += tl.dot(a, b)
            tl.store(c_ptr + rows[:, None] * n + cols[None, :], acc, mask=(rows < m)[:, None] & (cols < n)[None, :])
            tile += tl.num_programs(0)
        done += count


@tn.kernel
def int8_product(
    a_ptr: tl.Ptr[tl.i8], b_ptr: tl.Ptr[tl.i8], a_scale: tl.Ptr[tl.f32], b_scale: tl.Ptr[tl.f32], c_ptr: tl.Ptr[D],
    m: tl.Scalar[tl.i32], n: tl.Scalar[tl.i32], k: tl.Scalar[tl.i32], BM: tl.Const[int], BN: tl.Const[int],
    BK: tl.Const[int],
) -> None:  # fmt: skip
    """Rows of a and columns of b have scales."""
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    cols = tl.program_id(1) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), dtype=tl.int32)
    for start in range(0, k, BK):
        inner = start + tl.arange(0, BK)
        a = tl.load(a_ptr + rows[:, None] * k + inner[None, :], (rows < m)[:, None] & (inner < k)[None, :], other=0)
        b = tl.load(b_ptr + inner[:, None] * n + cols[None, :], (inner < k)[:, None] & (cols < n)[None, :], other=0)
        acc = tl.dot(a, b, acc, out_dtype=tl.int32)
    sa = tl.load(a_scale + rows, mask=rows < m, other=0.0)
    sb = tl.load(b_scale + cols, mask=cols < n, other=0.0)
    c = acc.to(tl.float32) * sa[:, None] * sb[None, :]
    mask = (rows < m)[:, None] & (cols < n)[None, :]
    tl.store(c_ptr + rows[:, None] * n + cols[None, :], c.to(c_ptr.dtype), mask=mask)


@tn.kernel
def int4_product(
    a_ptr: tl.Ptr[tl.f16], packed: tl.Ptr[tl.u8], scales: tl.Ptr[tl.f16], c_ptr: tl.Ptr[tl.f16], m: tl.Scalar[tl.i32],
    n: tl.Scalar[tl.i32], k: tl.Scalar[tl.i32], BM: tl.Const[int], BN: tl.Const[int], BK: tl.Const[int],
) -> None:  # fmt: skip
    """Weights of 4 bits, two a byte along n; a scale for each BK rows and column."""
    tl.static_assert(BN % 2 == 0)
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    half = tl.program_id(1) * (BN // 2) + tl.arange(0, BN // 2)
    cols = tl.program_id(1) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), tl.f32)
    for start in range(0, k, BK):
        inner = start + tl.arange(0, BK)
        a = tl.load(a_ptr + rows[:, None] * k + inner[None, :], (rows < m)[:, None], 0.0)
        bytes_ = tl.load(packed + inner[:, None] * (n // 2) + half[None, :])
        low = (bytes_ & 0xF).to(tl.int8) - 8
        high = (bytes_ >> 4).to(tl.int8) - 8
        w = tl.interleave(low, high).to(tl.float16)
        scale = tl.load(scales + start // BK * n + cols)
        acc = tl.dot(a, w * scale[None, :], acc)
    tl.store(c_ptr + rows[:, None] * n + cols[None, :], acc.to(tl.float16), mask=(rows < m)[:, None])


@tn.kernel
def batched(
    a_ptr: tl.Ptr[D], b_ptr: tl.Ptr[D], c_ptr: tl.Ptr[D], sizes: tl.Const[tuple[int, int, int]],
    strides: tl.Scalar[tl.i64], BM: tl.Const[int], BN: tl.Const[int],
) -> None:  # fmt: skip
    """A batch along axis 2 of the grid, tiles that take the whole of k, by block pointers."""
    M, N, K = sizes
    batch = tl.program_id(2).to(tl.int64)
    a = tl.make_block_ptr(a_ptr + batch * strides, (M, K), (K, 1), (tl.program_id(0) * BM, 0), (BM, K), (1, 0))
    b = tl.make_block_ptr(b_ptr + batch * K * N, (K, N), (N, 1), (0, tl.program_id(1) * BN), (K, BN), (1, 0))
    acc = tl.dot(tl.load(a, boundary_check=(0,)), tl.load(b, boundary_check=(1,)))
    c = tl.make_block_ptr(
        base=c_ptr + batch * M * N, shape=(M, N), strides=(N, 1),
        offsets=(tl.program_id(0) * BM, tl.program_id(1) * BN), block_shape=(BM, BN), order=(1, 0),
    )  # fmt: skip
    tl.store(c, acc.to(c_ptr.dtype), boundary_check=(0, 1))
