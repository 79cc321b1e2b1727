"""The spelling of Python 3.12: type parameters of the function itself."""

import teeny as tn
import teeny.language as tl
from teeny.language import Const, Ptr, Scalar, Tensor, f32, i32


def relu[N: tl.Num](x: Tensor[N]) -> Tensor[N]:
    return tl.maximum(x, 0)


@tn.kernel
def softmax[F: tl.Float](x_ptr: Ptr[F], y_ptr: Ptr[F], n: Scalar[i32], BLOCK: Const[int]) -> None:
    cols = tl.arange(0, BLOCK)
    mask = cols < n
    x = tl.load(x_ptr + cols, mask, other=-float("inf")).to(f32)
    e = tl.exp(x - tl.max(x, axis=0))
    tl.store(y_ptr + cols, (e / tl.sum(e, axis=0)).to(y_ptr.dtype), mask)


@tn.kernel
def rectify[A: tl.Num, B: tl.Num](x_ptr: Ptr[A], y_ptr: Ptr[B], BLOCK: Const[int]) -> None:
    cols = tl.arange(0, BLOCK)
    tl.store(y_ptr + cols, relu(tl.load(x_ptr + cols)).to(y_ptr.dtype))
