"""Atomic operations: every form, in concrete and in generic code."""

from __future__ import annotations

from typing import TypeVar

import teeny as tn
import teeny.language as tl

N = TypeVar("N", tl.i32, tl.u64, tl.f32)
W = TypeVar("W", tl.i32, tl.i64)


@tn.kernel
def steps(x_ptr: tl.Ptr[N], n: tl.Scalar[tl.i32], BLOCK: tl.Const[int]) -> None:
    at = tl.arange(0, BLOCK)
    x: tl.Tensor[N] = tl.atomic_add(x_ptr + at, 1, mask=at < n, sem="relaxed", scope="cta")
    tl.atomic_max(x_ptr + at, x, at < n)
    y = tl.atomic_add(x_ptr + at, 2)
    tl.atomic_min(x_ptr, tl.max(y))
    old: tl.Tensor[N] = tl.atomic_xchg(x_ptr + at, y, None, "acquire")
    tl.atomic_cas(x_ptr + at, old, 0)
    tl.atomic_store(x_ptr + at, tl.atomic_load(x_ptr + at), mask=at < n)


@tn.kernel
def bits(x_ptr: tl.Ptr[W], done_ptr: tl.Ptr[tl.bool_], f_ptr: tl.Ptr[tl.f64]) -> None:
    x: tl.Tensor[W] = tl.atomic_and(x_ptr, 3)
    tl.atomic_or(x_ptr, x, sem="release")
    tl.atomic_xor(x_ptr, x)
    tl.atomic_store(done_ptr, True)
    tl.atomic_store(done_ptr + 1, tl.atomic_poll(x_ptr, x, timeout_ns=1000))
    tl.atomic_add(f_ptr, 0.5)
    tl.atomic_cas(f_ptr, 0.5, 1)
    while tl.atomic_cas(x_ptr, 0, 1) == 1:
        pass
    tl.atomic_xchg(x_ptr, 0)
