"""Wrong arguments of random numbers and libdevice. Each line with the mark is reported by both, no other line is."""

from __future__ import annotations

import teeny as tn
import teeny.language as tl
from teeny.language.extra import libdevice


@tn.kernel
def wrong(x_ptr: tl.Ptr[tl.f32], n_ptr: tl.Ptr[tl.i32], h_ptr: tl.Ptr[tl.f16], BLOCK: tl.Const[int]) -> None:
    at = tl.arange(0, BLOCK)
    x, n, h = tl.load(x_ptr + at), tl.load(n_ptr + at), tl.load(h_ptr + at)
    tl.rand(1, x)  # BAD
    tl.rand(1.5, at)  # BAD
    tl.uint_to_uniform_float(x)  # BAD
    libdevice.tan(n)  # BAD
    libdevice.popc(x)  # BAD
    libdevice.atan2(x, h)  # BAD
    libdevice.float_as_int(h)  # BAD
    libdevice.fast_expf(h)  # BAD
    libdevice.ldexp(x, x)  # BAD
    n.exp()  # BAD
    x.abs() & n  # BAD
