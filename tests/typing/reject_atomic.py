"""Wrong uses of atomic operations. Each marked line is reported; no other line is."""

from __future__ import annotations

import teeny as tn
import teeny.language as tl


@tn.kernel
def dtypes(x_ptr: tl.Ptr[tl.f32], i_ptr: tl.Ptr[tl.i32], h_ptr: tl.Ptr[tl.f16], b_ptr: tl.Ptr[tl.bool_]) -> None:
    at = tl.arange(0, 16)
    tl.atomic_and(x_ptr, 1)  # BAD
    tl.atomic_add(b_ptr, True)  # BAD
    tl.atomic_add(i_ptr, 0.5)  # BAD
    tl.atomic_add(i_ptr + at, tl.load(x_ptr + at))  # BAD
    tl.atomic_add(h_ptr + at, tl.load(x_ptr + at))  # BAD
    tl.atomic_cas(i_ptr, 0, 1.5)  # BAD
    tl.atomic_xchg(i_ptr + at, at > 3)  # BAD
    tl.atomic_store(x_ptr + at, at)  # BAD
    tl.atomic_poll(x_ptr, 1)  # BAD
    tl.atomic_max(h_ptr, 1)  # BAD for the compiler alone
    tl.atomic_add(x_ptr + at, 1.0, mask=at)  # BAD
    tl.atomic_add(at, 1)  # BAD
    tl.atomic_add(x_ptr, 1.0, sem="seq_cst")  # BAD for the compiler alone
    tl.atomic_add(h_ptr, 1.0)
