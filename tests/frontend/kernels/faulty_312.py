"""Faults beside type parameters in the syntax of Python 3.12."""

import teeny as tn
import teeny.language as tl


def silu[D: tl.Float](x: tl.Tensor[D]) -> tl.Tensor[D]:
    return x / (1.0 + tl.exp(-x))


@tn.kernel
def wrong[D: tl.Num, E: tl.Float](x_ptr: tl.Ptr[D], y_ptr: tl.Ptr[E], BLOCK: tl.Const[int]) -> None:
    offs = tl.arange(0, BLOCK)
    x = silu(tl.load(x_ptr + offs))  # error[T001]
    tl.store(y_ptr + offs, tl.load(x_ptr + offs))  # error[T003]
    tl.store(y_ptr + offs, tl.zeros((BLOCK,), E))  # error[E015]
