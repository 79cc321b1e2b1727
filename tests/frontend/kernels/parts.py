"""Tiles taken apart and put together, ordered and scanned, with sizes that are known at specialisation alone."""

from __future__ import annotations

from typing import TypeVar

import teeny as tn
import teeny.language as tl

D = TypeVar("D", bound=tl.Dtype)
F = TypeVar("F", bound=tl.Float)
N = TypeVar("N", bound=tl.Num)
I = TypeVar("I", bound=tl.Int)

VALUES = {"best.K": [1, 8]}


@tn.kernel
def rotated(x_ptr: tl.Ptr[F], y_ptr: tl.Ptr[F], n: tl.Scalar[tl.i32], SIZE: tl.Const[int]) -> None:
    offs = tl.program_id(0) * SIZE + tl.arange(0, SIZE)
    x = tl.load(x_ptr + offs, mask=offs < n, other=0)
    left, right = tl.split(tl.reshape(x, (SIZE // 2, 2)))
    tl.store(y_ptr + offs, tl.interleave(-right, left), mask=offs < n)


@tn.kernel
def best(x_ptr: tl.Ptr[N], y_ptr: tl.Ptr[N], i_ptr: tl.Ptr[tl.i32], SIZE: tl.Const[int], K: tl.Const[int]) -> None:
    x = tl.load(x_ptr + tl.arange(0, SIZE))
    tl.static_assert(K <= SIZE)
    tl.store(y_ptr + tl.arange(0, K), tl.topk(x, K))
    value, index = tl.max(x, 0, return_indices=True)
    tl.store(i_ptr, index)
    tl.store(i_ptr + 1, tl.argmin(x, 0) + (value > 0).to(tl.i32))
    tl.store(y_ptr + tl.arange(0, SIZE), tl.sort(x, descending=True))


@tn.kernel
def moved(x_ptr: tl.Ptr[D], y_ptr: tl.Ptr[D], SIZE: tl.Const[int]) -> None:
    rows, cols = tl.arange(0, 8), tl.arange(0, SIZE)
    at = rows[:, None] * SIZE + cols[None, :]
    x = tl.load(x_ptr + at)
    back = tl.permute(tl.flip(x.T, 0), (1, 0))
    tl.store(y_ptr + at, tl.reshape(tl.ravel(back), 8, SIZE))
    tl.store(y_ptr + at, tl.squeeze(tl.unsqueeze(x, 1), 1))
    tl.store(y_ptr + tl.arange(0, 16)[:, None] * SIZE + cols[None, :], tl.cat(x, tl.zeros_like(x)))
    whole = tl.join(x, back)
    tl.store(y_ptr + (at * 2)[:, :, None] + tl.arange(0, 2)[None, None, :], whole)
    a, b = tl.broadcast(x, rows[:, None])
    tl.store(y_ptr + at + b, a)


@tn.kernel
def sums_so_far(x_ptr: tl.Ptr[F], y_ptr: tl.Ptr[F], SIZE: tl.Const[int], REVERSE: tl.Const[bool]) -> None:
    at = tl.arange(0, 4)[:, None] * SIZE + tl.arange(0, SIZE)[None, :]
    x = tl.load(x_ptr + at)
    tl.store(y_ptr + at, tl.cumsum(x, 1, reverse=REVERSE) + tl.cumprod(x, 0))
    tl.store(y_ptr + at, tl.softmax(x, 1) + x.softmax() + x.sigmoid())
    tl.store(y_ptr + tl.arange(0, 4), tl.prod(x, 1))


@tn.kernel
def bits_of(x_ptr: tl.Ptr[I], y_ptr: tl.Ptr[I], c_ptr: tl.Ptr[tl.i32], SIZE: tl.Const[int]) -> None:
    x = tl.load(x_ptr + tl.arange(0, SIZE))
    tl.store(y_ptr, tl.xor_sum(x.cdiv(2)) | tl.reduce_or(x, 0))
    counts = tl.histogram(x.to(tl.i32), SIZE, mask=x != 0)
    tl.store(c_ptr + tl.arange(0, SIZE), counts)
    i, j = tl.swizzle2d(tl.program_id(0), tl.program_id(1), tl.num_programs(0), tl.num_programs(1), 4)
    tl.store(c_ptr, i + j)
