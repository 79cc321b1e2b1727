"""Wrong uses of pointers. Each marked line is reported; no other line is."""

from __future__ import annotations

import teeny as tn
import teeny.language as tl


@tn.kernel
def mixed(x_ptr: tl.Ptr[tl.f32], h_ptr: tl.Ptr[tl.f16], pp: tl.Ptr[tl.Ptr[tl.f32]], i: tl.Scalar[tl.i64]) -> None:
    at = tl.arange(0, 16)
    x_ptr < h_ptr  # BAD
    x_ptr - h_ptr  # BAD
    x_ptr + x_ptr  # BAD
    i - x_ptr  # BAD
    x_ptr < 0  # BAD
    tl.where(at > 3, x_ptr, h_ptr)  # BAD
    tl.load(x_ptr).to(tl.pointer_type(tl.f32))  # BAD
    x_ptr.to(tl.f32)  # BAD
    x_ptr.to(tl.i32)  # BAD
    tl.store(pp, h_ptr)  # BAD
    tl.store(x_ptr, tl.load(pp))  # BAD
    tl.load(pp) * 2  # BAD
    tl.load(x_ptr + at, volatile="yes")  # BAD
    tl.load(x_ptr + at, cache_modifier=1)  # BAD
    tl.load(x_ptr + at, cache_modifier=".zz")  # BAD for the compiler alone
    tl.store(x_ptr + at, tl.load(tl.load(pp) + at))
    tl.store(x_ptr + at, tl.load(i.to(tl.pointer_type(tl.f32)) + at))
