"""Tiles taken apart and put together, ordered and scanned: functions and methods."""

from __future__ import annotations

from typing import TypeVar

import teeny as tn
import teeny.language as tl

D = TypeVar("D", bound=tl.Dtype)
F = TypeVar("F", bound=tl.Float)
N = TypeVar("N", bound=tl.Num)


@tn.kernel
def moved(x_ptr: tl.Ptr[D], y_ptr: tl.Ptr[D], B: tl.Const[int]) -> None:
    at = tl.arange(0, 8)[:, None] * B + tl.arange(0, B)[None, :]
    x = tl.load(x_ptr + at)
    y = tl.load(y_ptr + at)
    left, right = tl.join(x, y).split()
    tl.store(y_ptr + at, left.T.permute(1, 0))
    tl.store(y_ptr + at, tl.flip(right, 0).flip().view(8, B))
    tl.store(y_ptr + at, tl.squeeze(tl.unsqueeze(tl.ravel(x).reshape((8, B)), 0), 0))
    wide, _ = tl.broadcast(x, tl.zeros_like(y))
    tl.store(y_ptr + tl.arange(0, 16)[:, None] * B + tl.arange(0, B)[None, :], tl.cat(wide, x, dim=0))
    tl.store(y_ptr + tl.arange(0, 2 * B), tl.interleave(tl.zeros((B,), x.dtype), tl.zeros((B,), x.dtype)))
    tl.store(y_ptr, tl.item(tl.reshape(tl.load(x_ptr), (1, 1))))


@tn.kernel
def ordered(x_ptr: tl.Ptr[N], y_ptr: tl.Ptr[N], i_ptr: tl.Ptr[tl.i32], B: tl.Const[int]) -> None:
    offs = tl.arange(0, B)
    x = tl.load(x_ptr + offs)
    tl.store(y_ptr + offs, tl.sort(x) + x.sort(descending=True))
    tl.store(y_ptr, tl.topk(x, 1).max())
    tl.store(y_ptr + offs, tl.bitonic_merge(tl.sort(x)))
    value, index = tl.max(x, 0, return_indices=True)
    least, place = x.min(0, True)
    tl.store(y_ptr, value + least)
    tl.store(i_ptr, index + place + tl.argmax(x, 0) + x.argmin(0, tie_break_left=False))
    tl.store(i_ptr + tl.arange(0, 16), tl.histogram(x.to(tl.i32), 16, mask=x > 0))


@tn.kernel
def scanned(x_ptr: tl.Ptr[F], y_ptr: tl.Ptr[F], n_ptr: tl.Ptr[tl.i8], B: tl.Const[int]) -> None:
    offs = tl.arange(0, B)
    x = tl.load(x_ptr + offs)
    total = tl.cumsum(x) + x.cumsum(0, reverse=True) + tl.cumprod(x, axis=0)
    counts = tl.load(n_ptr + offs)
    wide = tl.cumsum(counts, dtype=tl.i32) * tl.prod(counts, dtype=tl.i32)
    tl.store(y_ptr + offs, total * wide.to(y_ptr.dtype) + x.softmax() + tl.softmax(x, 0, ieee_rounding=True))
    tl.store(n_ptr, tl.xor_sum(counts) | counts.reduce_or(0))
    i, j = tl.swizzle2d(tl.program_id(0), tl.program_id(1), 8, 8, 4)
    tl.store(y_ptr + i * 8 + j, tl.prod(x))
