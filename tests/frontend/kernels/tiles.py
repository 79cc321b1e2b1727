"""Shapes: axes, reductions, reshapes, broadcasting; and every kind of operator."""

from typing import TypeVar

import teeny as tn
import teeny.language as tl

D = TypeVar("D", bound=tl.Float)
N = TypeVar("N", bound=tl.Num)
I = TypeVar("I", bound=tl.Int)
ANY = TypeVar("ANY", bound=tl.Dtype)

VALUES = {"reshaped.BM": [16], "reshaped.BN": [32, 16]}


@tn.kernel
def copied(x_ptr: tl.Ptr[ANY], y_ptr: tl.Ptr[ANY], n: tl.Scalar[tl.i32], BLOCK: tl.Const[int]) -> None:
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    tl.store(y_ptr + offs, tl.load(x_ptr + offs, mask=mask), mask=mask)


@tn.kernel
def transposed(x_ptr: tl.Ptr[N], y_ptr: tl.Ptr[N], m: tl.Scalar[tl.i32], n: tl.Scalar[tl.i32], BM: tl.Const[int], BN: tl.Const[int]) -> None:
    tl.extent(x_ptr, (m, n), strides=(n, 1))
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    cols = tl.program_id(1) * BN + tl.arange(0, BN)
    inside = (rows < m)[:, None] & (cols < n)[None, :]
    x = tl.load(x_ptr + rows[:, None] * n + cols[None, :], mask=inside)
    tl.store(y_ptr + cols[:, None] * m + rows[None, :], tl.trans(x), mask=tl.trans(inside))


@tn.kernel
def all_axes(x_ptr: tl.Ptr[N], y_ptr: tl.Ptr[N], BM: tl.Const[int], BN: tl.Const[int]) -> None:
    """Reductions along each axis, counted from the front and the back, with and without the axis kept."""
    rows = tl.arange(0, BM)[:, None]
    cols = tl.arange(0, BN)[None, :]
    x = tl.load(x_ptr + rows * BN + cols)
    tl.store(y_ptr + tl.arange(0, BN), tl.max(x, axis=0))
    tl.store(y_ptr + tl.arange(0, BM), tl.min(x, axis=-1))
    centred = x - tl.max(x, axis=1, keep_dims=True) + tl.min(x, axis=-2, keep_dims=True)
    tl.store(y_ptr, tl.max(centred))
    tl.store(y_ptr + 1, tl.sum(centred.to(tl.f32)).to(y_ptr.dtype))
    tl.store(y_ptr + rows * BN + cols, centred - tl.max(centred, keep_dims=True))


@tn.kernel
def reshaped(x_ptr: tl.Ptr[D], BM: tl.Const[int], BN: tl.Const[int]) -> None:
    flat = tl.arange(0, BM * BN)
    x = tl.reshape(tl.load(x_ptr + flat), (BM, BN))
    y = tl.trans(x).reshape((BM, BN)) + tl.broadcast_to(tl.sum(x, axis=1, keep_dims=True), (BM, BN))
    z = tl.reshape(tl.expand_dims(y, 0), (BN * BM,))
    deep = tl.trans(tl.reshape(x, (BM, 2, BN // 2)), (1, 0, 2))
    tl.store(x_ptr + flat, z + tl.reshape(deep, (BM * BN,)))


@tn.kernel
def three_axes(x_ptr: tl.Ptr[tl.f32], A: tl.Const[int], B: tl.Const[int], C: tl.Const[int]) -> None:
    a = tl.arange(0, A)[:, None, None]
    b = tl.arange(0, B)[None, :, None]
    c = tl.arange(0, C)
    at = x_ptr + (a * B + b) * C + c
    x = tl.load(at)
    y = x - tl.sum(x, axis=1, keep_dims=True) / (B * 1.0)
    tl.store(at, y * tl.max(tl.max(x, axis=2), axis=0)[None, :, None])


@tn.kernel
def bits(x_ptr: tl.Ptr[I], BLOCK: tl.Const[int]) -> None:
    offs = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs)
    y = (x & 15 | x >> 2 ^ x << 1) + ~x + (x // 3) % 5 - -x + (+x)
    odd = (x & 1) == 1
    even = ~odd & (x != 0) | (x >= 100) ^ (x < 3)
    tl.store(x_ptr + offs, tl.where(odd | even, y, 1))


@tn.kernel
def elementary(x_ptr: tl.Ptr[D], BLOCK: tl.Const[int]) -> None:
    offs = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs)
    y = tl.log(tl.abs(x) + 1.0) + tl.log2(2.0 + tl.exp(x)) - tl.sqrt(x * x) * tl.rsqrt(x * x + 1)
    z = tl.fma(x, y, 1.0) + tl.floor(x) - tl.ceil(y) + tl.minimum(x, y) + tl.maximum(0.0 - x, y, propagate_nan=True)
    tl.store(x_ptr + offs, z / (y % 2.0) + 1 / (x + 3))


@tn.kernel
def casts(x_ptr: tl.Ptr[N], y_ptr: tl.Ptr[tl.f32], flags_ptr: tl.Ptr[tl.bool_], BLOCK: tl.Const[int]) -> None:
    offs = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs)
    flag = x.to(tl.bool_)
    tl.store(flags_ptr + offs, flag)
    tl.store(y_ptr + offs, x.to(tl.f32) + flag.to(tl.f32) + tl.cast(x, tl.f16).to(tl.f32) + x.to(tl.u8).to(tl.f32))
    tl.store(x_ptr + offs, tl.full((BLOCK,), 3, x_ptr.dtype) + tl.zeros((BLOCK,), x_ptr.dtype))
    count = tl.sum(flag, dtype=tl.i32)
    tl.store(y_ptr, count.to(tl.f32))


@tn.kernel
def limits(x_ptr: tl.Ptr[N], n: tl.Scalar[tl.i32], BLOCK: tl.Const[int]) -> None:
    offs = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs, mask=offs < n, other=tl.lowest(x_ptr.dtype))
    low = tl.load(x_ptr + offs, mask=offs < n, other=tl.highest(x_ptr.dtype))
    tl.store(x_ptr, tl.max(x) + tl.min(low))


@tn.kernel
def widening(x_ptr: tl.Ptr[tl.f32], n: tl.Scalar[tl.i64], k: tl.Scalar[tl.u32], s: tl.Scalar[tl.f32], BLOCK: tl.Const[int]) -> None:
    """i32 beside i64; unsigned; scalars of other dtypes."""
    offs = tl.arange(0, BLOCK)
    far = n + offs
    near = offs * n
    mask = (far < n) & (near >= offs) & (offs == n)
    tl.store(x_ptr + far, tl.load(x_ptr + near, mask=mask, other=1) * s, mask=mask & (k > 3))


@tn.kernel
def scalars(x_ptr: tl.Ptr[D], s: tl.Scalar[D], n: tl.Scalar[tl.i32]) -> None:
    """A scalar parameter of a dtype variable, scalar loads and stores."""
    x = tl.load(x_ptr + n)
    tl.store(x_ptr, x * s + tl.load(x_ptr, mask=n > 0, other=s), mask=n > 1)
    tl.store(x_ptr + tl.arange(0, 16)[:, None] + n[None, None], s)


@tn.kernel
def two_dimensional(
    x_ptr: tl.Ptr[N], y_ptr: tl.Ptr[N], rows: tl.Scalar[tl.i32], cols: tl.Scalar[tl.i32], BM: tl.Const[int], BN: tl.Const[int]
) -> None:
    """A tile walks along a row; the mask of each step is new."""
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    best = tl.full((BM,), 0, x_ptr.dtype)
    for start in tl.range(0, cols, BN):
        rn = start + tl.arange(0, BN)
        inside = (rm[:, None] < rows) & (rn[None, :] < cols)
        x = tl.load(x_ptr + rm[:, None] * cols + rn[None, :], mask=inside, other=0)
        best = tl.maximum(best, tl.max(x, axis=1))
    tl.store(y_ptr + rm, best, mask=rm < rows)
