"""Kernels around matrix products: grouped, persistent, split along k, stream-K, batched, quantised."""

import torch
import triton
import triton.language as tl

from bench.triton_kernels.case import Trial, case, normal


@triton.jit
def leaky(x):
    return tl.where(x >= 0, x, 0.01 * x)


@triton.autotune(
    configs=[
        triton.Config({"BM": 64, "BN": 64, "BK": 32, "GROUP": 4}, num_warps=4, num_stages=3),
        triton.Config({"BM": 32, "BN": 64, "BK": 32, "GROUP": 8}, num_warps=2, num_stages=2),
    ],
    key=["M", "N", "K"],
)
@triton.jit
def matmul_kernel(
    a_ptr,
    b_ptr,
    c_ptr,
    M,
    N,
    K,
    stride_am,
    stride_ak,
    stride_bk,
    stride_bn,
    stride_cm,
    stride_cn,
    BM: tl.constexpr,
    BN: tl.constexpr,
    BK: tl.constexpr,
    GROUP: tl.constexpr,
    ACTIVATION: tl.constexpr,
):
    pid = tl.program_id(0)
    rows, columns = tl.cdiv(M, BM), tl.cdiv(N, BN)
    in_group = GROUP * columns
    first = (pid // in_group) * GROUP
    size = min(rows - first, GROUP)
    pid_m = first + (pid % in_group) % size
    pid_n = (pid % in_group) // size
    tl.assume(stride_am > 0)
    offs_m = (pid_m * BM + tl.arange(0, BM)) % M
    offs_n = (pid_n * BN + tl.arange(0, BN)) % N
    offs_k = tl.arange(0, BK)
    a_ptrs = a_ptr + (offs_m[:, None] * stride_am + offs_k[None, :] * stride_ak)
    b_ptrs = b_ptr + (offs_k[:, None] * stride_bk + offs_n[None, :] * stride_bn)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(tl.cdiv(K, BK)):
        a = tl.load(a_ptrs, mask=offs_k[None, :] < K - k * BK, other=0.0)
        b = tl.load(b_ptrs, mask=offs_k[:, None] < K - k * BK, other=0.0)
        acc = tl.dot(a, b, acc)
        a_ptrs += BK * stride_ak
        b_ptrs += BK * stride_bk
    if ACTIVATION == "leaky":
        acc = leaky(acc)
    offs_m = pid_m * BM + tl.arange(0, BM)
    offs_n = pid_n * BN + tl.arange(0, BN)
    mask = (offs_m[:, None] < M) & (offs_n[None, :] < N)
    tl.store(
        c_ptr + stride_cm * offs_m[:, None] + stride_cn * offs_n[None, :], acc.to(c_ptr.dtype.element_ty), mask=mask
    )


def _factors(scale, dtype=torch.float32, m=130, n=100, k=96):
    return normal(m * scale, k, dtype=dtype), normal(k, n, dtype=dtype, seed=1)


@case
def grouped_matmul(scale):
    a, b = _factors(scale, torch.float16)
    (m, k), n = a.shape, b.shape[1]
    c = torch.empty(m, n, dtype=torch.float16)

    def grid(meta):
        return (triton.cdiv(m, meta["BM"]) * triton.cdiv(n, meta["BN"]),)

    def wanted():
        right = a.float() @ b.float()
        return [torch.where(right >= 0, right, 0.01 * right).half()]

    return Trial(
        lambda: matmul_kernel[grid](a, b, c, m, n, k, *a.stride(), *b.stride(), *c.stride(), ACTIVATION="leaky"),
        [c],
        wanted,
        2e-2,
    )


@triton.jit
def persistent_kernel(
    a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, PROGRAMS: tl.constexpr
):
    start = tl.program_id(0)
    columns = tl.cdiv(N, BN)
    tiles = tl.cdiv(M, BM) * columns
    for tile in tl.range(start, tiles, PROGRAMS, flatten=True):
        offs_m = (tile // columns) * BM + tl.arange(0, BM)
        offs_n = (tile % columns) * BN + tl.arange(0, BN)
        acc = tl.zeros((BM, BN), dtype=tl.float32)
        for k in range(0, K, BK):
            offs_k = k + tl.arange(0, BK)
            a_mask = (offs_m[:, None] < M) & (offs_k[None, :] < K)
            a = tl.load(a_ptr + offs_m[:, None] * K + offs_k[None, :], mask=a_mask, other=0.0)
            b_mask = (offs_k[:, None] < K) & (offs_n[None, :] < N)
            b = tl.load(b_ptr + offs_k[:, None] * N + offs_n[None, :], mask=b_mask, other=0.0)
            acc += tl.dot(a, b, input_precision="ieee")
        mask = (offs_m[:, None] < M) & (offs_n[None, :] < N)
        tl.store(c_ptr + offs_m[:, None] * N + offs_n[None, :], acc, mask=mask)


@case
def persistent_matmul(scale):
    a, b = _factors(scale)
    (m, k), n = a.shape, b.shape[1]
    c = torch.empty(m, n)
    return Trial(
        lambda: persistent_kernel[(4,)](a, b, c, m, n, k, BM=32, BN=32, BK=32, PROGRAMS=4), [c], lambda: [a @ b], 1e-3
    )


@triton.jit
def split_k_kernel(a_ptr, b_ptr, c_ptr, M, N, K, per, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    offs_m = tl.program_id(0) * BM + tl.arange(0, BM)
    offs_n = tl.program_id(1) * BN + tl.arange(0, BN)
    start = tl.program_id(2) * per
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(start, min(start + per, K), BK):
        offs_k = k + tl.arange(0, BK)
        here = (offs_k < K) & (offs_k < start + per)
        a = tl.load(
            a_ptr + offs_m[:, None] * K + offs_k[None, :], mask=(offs_m[:, None] < M) & here[None, :], other=0.0
        )
        b = tl.load(
            b_ptr + offs_k[:, None] * N + offs_n[None, :], mask=here[:, None] & (offs_n[None, :] < N), other=0.0
        )
        acc = tl.dot(a, b, acc, input_precision="ieee")
    mask = (offs_m[:, None] < M) & (offs_n[None, :] < N)
    tl.atomic_add(c_ptr + offs_m[:, None] * N + offs_n[None, :], acc, mask=mask, sem="relaxed")


@case
def split_k_matmul(scale):
    a, b = _factors(scale, k=200)
    (m, k), n = a.shape, b.shape[1]
    c = torch.zeros(m, n)

    def run():
        c.zero_()
        split_k_kernel[(triton.cdiv(m, 32), triton.cdiv(n, 32), 4)](a, b, c, m, n, k, 50, BM=32, BN=32, BK=16)

    return Trial(run, [c], lambda: [a @ b], 1e-3)


@triton.jit
def stream_k_kernel(
    a_ptr, b_ptr, c_ptr, lock_ptr, M, N, K, steps, per, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr
):
    """Each program takes `per` steps of all tiles in a row; whoever starts a tile stores, others wait and add."""
    pid = tl.program_id(0)
    columns = tl.cdiv(N, BN)
    total = tl.cdiv(M, BM) * columns * steps
    step = pid * per
    last = min(step + per, total)
    while step < last:
        tile = step // steps
        inside = step % steps
        end = min(tile * steps + steps, last)
        offs_m = (tile // columns) * BM + tl.arange(0, BM)
        offs_n = (tile % columns) * BN + tl.arange(0, BN)
        acc = tl.zeros((BM, BN), dtype=tl.float32)
        for s in range(inside, inside + end - step):
            offs_k = s * BK + tl.arange(0, BK)
            a_mask = (offs_m[:, None] < M) & (offs_k[None, :] < K)
            b_mask = (offs_k[:, None] < K) & (offs_n[None, :] < N)
            a = tl.load(a_ptr + offs_m[:, None] * K + offs_k[None, :], mask=a_mask, other=0.0)
            b = tl.load(b_ptr + offs_k[:, None] * N + offs_n[None, :], mask=b_mask, other=0.0)
            acc = tl.dot(a, b, acc, input_precision="ieee")
        c_ptrs = c_ptr + offs_m[:, None] * N + offs_n[None, :]
        mask = (offs_m[:, None] < M) & (offs_n[None, :] < N)
        if inside == 0:
            tl.store(c_ptrs, acc, mask=mask)
            tl.debug_barrier()
            tl.atomic_xchg(lock_ptr + tile, 1)
        else:
            while tl.atomic_cas(lock_ptr + tile, 1, 1) != 1:
                pass
            tl.atomic_add(c_ptrs, acc, mask=mask)
        step = end


@case
def stream_k_matmul(scale):
    a, b = _factors(scale, m=64, n=96, k=160)
    (m, k), n = a.shape, b.shape[1]
    c, programs, steps = torch.empty(m, n), 7, triton.cdiv(k, 32)
    tiles = triton.cdiv(m, 32) * triton.cdiv(n, 32)
    locks = torch.zeros(tiles, dtype=torch.int32)

    def run():
        locks.zero_()
        stream_k_kernel[(programs,)](
            a, b, c, locks, m, n, k, steps, triton.cdiv(tiles * steps, programs), BM=32, BN=32, BK=32
        )

    return Trial(run, [c], lambda: [a @ b], 1e-3)


@triton.jit
def batched_kernel(
    a_ptr, b_ptr, c_ptr, M, N, K, stride_a, stride_b, stride_c, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr
):
    batch = tl.program_id(2)
    a_block = tl.make_tensor_descriptor(a_ptr + batch * stride_a, [M, K], [K, 1], [BM, BK])
    b_block = tl.make_tensor_descriptor(b_ptr + batch * stride_b, [K, N], [N, 1], [BK, BN])
    c_block = tl.make_tensor_descriptor(c_ptr + batch * stride_c, [M, N], [N, 1], [BM, BN])
    row, column = tl.program_id(0) * BM, tl.program_id(1) * BN
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, K, BK):
        acc = tl.dot(a_block.load([row, k]), b_block.load([k, column]), acc)
    c_block.store([row, column], acc.to(tl.float16))


@case
def batched_matmul_descriptors(scale):
    batch, m, n, k = 3 * scale, 72, 80, 64
    a, b = normal(batch, m, k, dtype=torch.float16), normal(batch, k, n, dtype=torch.float16, seed=1)
    c = torch.empty(batch, m, n, dtype=torch.float16)
    grid = (triton.cdiv(m, 32), triton.cdiv(n, 32), batch)
    return Trial(
        lambda: batched_kernel[grid](a, b, c, m, n, k, a.stride(0), b.stride(0), c.stride(0), BM=32, BN=32, BK=32),
        [c],
        lambda: [(a.float() @ b.float()).half()],
        2e-2,
    )


@triton.jit
def int8_kernel(a_ptr, b_ptr, sa_ptr, sb_ptr, c_ptr, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    offs_m = tl.program_id(0) * BM + tl.arange(0, BM)
    offs_n = tl.program_id(1) * BN + tl.arange(0, BN)
    offs_k = tl.arange(0, BK)
    acc = tl.zeros((BM, BN), dtype=tl.int32)
    for k in range(0, K, BK):
        a = tl.load(a_ptr + offs_m[:, None] * K + k + offs_k[None, :])
        b = tl.load(b_ptr + offs_n[None, :] * K + k + offs_k[:, None])
        acc = tl.dot(a, b, acc, out_dtype=tl.int32)
    scale = tl.load(sa_ptr + offs_m)[:, None] * tl.load(sb_ptr + offs_n)[None, :]
    tl.store(c_ptr + offs_m[:, None] * N + offs_n[None, :], acc.to(tl.float32) * scale)


@case
def int8_matmul(scale):
    m, n, k = 64 * scale, 64, 128
    generator = torch.Generator().manual_seed(0)
    a = torch.randint(-128, 128, (m, k), dtype=torch.int8, generator=generator)
    b = torch.randint(-128, 128, (n, k), dtype=torch.int8, generator=generator)
    sa, sb, c = normal(m).abs(), normal(n, seed=1).abs(), torch.empty(m, n)
    return Trial(
        lambda: int8_kernel[(m // 32, n // 32)](a, b, sa, sb, c, n, k, BM=32, BN=32, BK=64),
        [c],
        lambda: [(a.int() @ b.int().T).float() * sa[:, None] * sb[None, :]],
    )


@triton.jit
def transpose_kernel(x_ptr, out_ptr, M, N, BM: tl.constexpr, BN: tl.constexpr):
    offs_m = tl.program_id(0) * BM + tl.arange(0, BM)
    offs_n = tl.program_id(1) * BN + tl.arange(0, BN)
    mask = (offs_m[:, None] < M) & (offs_n[None, :] < N)
    x = tl.load(x_ptr + offs_m[:, None] * N + offs_n[None, :], mask=mask)
    tl.store(out_ptr + offs_n[:, None] * M + offs_m[None, :], tl.trans(x), mask=tl.trans(mask))


@case
def transpose(scale):
    m, n = 150 * scale, 170
    x, out = normal(m, n), torch.empty(n, m)
    return Trial(
        lambda: transpose_kernel[(triton.cdiv(m, 32), triton.cdiv(n, 64))](x, out, m, n, BM=32, BN=64),
        [out],
        lambda: [x.T],
    )
