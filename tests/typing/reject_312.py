"""Faults in the spelling of Python 3.12. Each marked line is reported; no other line is."""

import teeny as tn
import teeny.language as tl


@tn.kernel
def generic[F: tl.Float, N: tl.Num](x_ptr: tl.Ptr[F], y_ptr: tl.Ptr[N], BLOCK: tl.Const[int]) -> None:
    offs = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs)
    y = tl.load(y_ptr + offs)
    tl.exp(y)  # BAD
    x + y  # BAD
    tl.store(x_ptr + offs, x.to(tl.f32))  # BAD
    tl.store(y_ptr + offs, x)  # BAD
    tl.store(y_ptr + offs, x.to(y.dtype) * y)
