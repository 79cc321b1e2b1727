"""Wrong uses of what orders, scans, joins and splits tiles."""

from __future__ import annotations

from typing import TypeVar

import teeny as tn
import teeny.language as tl

D = TypeVar("D", bound=tl.Dtype)
F = TypeVar("F", bound=tl.Float)


@tn.kernel
def parts(x_ptr: tl.Ptr[D], y_ptr: tl.Ptr[tl.f16], i_ptr: tl.Ptr[tl.i32], B: tl.Const[int]) -> None:
    at = tl.arange(0, B)
    x, y, i = tl.load(x_ptr + at), tl.load(y_ptr + at), tl.load(i_ptr + at)
    tl.join(y, i)  # BAD
    tl.cat(y, i)  # BAD
    tl.interleave(x, y)  # BAD
    tl.flip(y, dim=i)  # BAD
    tl.split(tl.join(y, y)) + y  # BAD
    tl.permute(y, "0")  # BAD
    tl.store(y_ptr + at, tl.join(i, i).split()[0])  # BAD
    tl.store(y_ptr + at, y)


@tn.kernel
def orders(x_ptr: tl.Ptr[D], y_ptr: tl.Ptr[F], i_ptr: tl.Ptr[tl.i32], B: tl.Const[int]) -> None:
    at = tl.arange(0, B)
    x, y, i = tl.load(x_ptr + at), tl.load(y_ptr + at), tl.load(i_ptr + at)
    tl.sort(x)  # BAD
    tl.sort(y > 0)  # BAD
    tl.topk(y, i)  # BAD
    tl.topk(y)  # BAD
    tl.argmax(y > 0, 0)  # BAD
    tl.argmax(y)  # BAD
    tl.max(y, 0, return_indices=True) + y  # BAD
    tl.store(y_ptr, tl.argmax(y, 0))  # BAD
    tl.xor_sum(y)  # BAD
    tl.reduce_or(y, 0)  # BAD
    tl.histogram(y, 8)  # BAD
    tl.histogram(i, 8, mask=i)  # BAD
    tl.softmax(i)  # BAD
    tl.cumsum(y > 0)  # BAD
    tl.cumprod(y, reverse=1)  # BAD
    tl.store(y_ptr + at, y)
