"""Pointers: to pointers, from and to integers, compared, chosen."""

from __future__ import annotations

from typing import TypeVar

import teeny as tn
import teeny.language as tl

D = TypeVar("D", bound=tl.Num)


def advanced(p: tl.Ptr[D], by: tl.Tensor[tl.i32]) -> tl.Ptr[D]:
    return p + by


@tn.kernel
def grouped(x_ptrs: tl.Ptr[tl.Ptr[D]], y_ptr: tl.Ptr[D], n: tl.Scalar[tl.i32], BLOCK: tl.Const[int]) -> None:
    at = tl.arange(0, BLOCK)
    x_ptr: tl.Ptr[D] = tl.load(x_ptrs + tl.program_id(0))
    x: tl.Tensor[D] = tl.load(advanced(x_ptr, at), mask=at < n, other=0)
    tl.store(y_ptr + at, x, mask=at < n)
    tl.store(x_ptrs, x_ptr + 1)
    tl.store(x_ptrs + at, tl.load(x_ptrs + at + 1, mask=at < n), mask=at < n)


@tn.kernel
def addresses(i_ptr: tl.Ptr[tl.i64], x_ptr: tl.Ptr[tl.f32], out_ptr: tl.Ptr[tl.bool_]) -> None:
    at = tl.arange(0, 16)
    p: tl.Ptr[tl.f32] = tl.load(i_ptr).to(tl.pointer_type(tl.float32))
    q = tl.load(i_ptr + at).to(tl.Ptr[tl.f32])
    tl.store(q, tl.load(p + at))
    tl.store(i_ptr, p.to(tl.int64))
    tl.store(i_ptr + 1, (p + 3) - p)
    bits: tl.Ptr[tl.i32] = p.to(tl.pointer_type(tl.int32), bitcast=True)
    tl.store(bits, 3)
    tl.store(out_ptr + at, (q == p) | (q != x_ptr + at) & (p < x_ptr))
    chosen: tl.Ptr[tl.f32] = tl.where(at > 3, q, x_ptr)
    tl.store(chosen, 1.0)
    x_ptr.atomic_add(1.0)
    tl.store(x_ptr, tl.cast(p, tl.uint64).to(tl.f32))


@tn.kernel
def cached(x_ptr: tl.Ptr[D], y_ptr: tl.Ptr[D], BLOCK: tl.Const[int]) -> None:
    at = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, cache_modifier=".cg", volatile=True)
    z = tl.load(pointer=x_ptr + at, mask=at < 3, other=0, eviction_policy="evict_first")
    tl.store(y_ptr + at, x + z, cache_modifier=".cs")
    tl.store(y_ptr, 0, eviction_policy="evict_last")
