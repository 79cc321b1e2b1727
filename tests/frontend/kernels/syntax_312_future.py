"""Type parameters beside annotations that are not evaluated."""

from __future__ import annotations

import teeny as tn
import teeny.language as tl


def relu[N: tl.Num](x: tl.Tensor[N]) -> tl.Tensor[N]:
    return tl.maximum(x, 0)


@tn.kernel
def rectified[N: tl.Num](x_ptr: tl.Ptr[N], BLOCK: tl.Const[int]) -> None:
    offs = tl.arange(0, BLOCK)
    tl.store(x_ptr + offs, relu(tl.load(x_ptr + offs)))
