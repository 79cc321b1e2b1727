"""Type parameters in the syntax of Python 3.12."""

import teeny as tn
import teeny.language as tl


def silu[D: tl.Float](x: tl.Tensor[D]) -> tl.Tensor[D]:
    return x / (1.0 + tl.exp(-x))


@tn.kernel
def activation[D: tl.Float](x_ptr: tl.Ptr[D], y_ptr: tl.Ptr[D], n: tl.Scalar[tl.i32], BLOCK: tl.Const[int]) -> None:
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs, mask=offs < n)
    tl.store(y_ptr + offs, silu(x), mask=offs < n)


@tn.kernel
def two_types[D: tl.Float, W: tl.Num](x_ptr: tl.Ptr[D], w_ptr: tl.Ptr[W], BLOCK: tl.Const[int]) -> None:
    offs = tl.arange(0, BLOCK)
    tl.store(x_ptr + offs, tl.load(x_ptr + offs) * tl.load(w_ptr + offs).to(x_ptr.dtype))
