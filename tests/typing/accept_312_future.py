"""The same under postponed annotations, which hide type parameters from the module."""

from __future__ import annotations

import teeny as tn
import teeny.language as tl


def twice[D: tl.Num](x: tl.Tensor[D]) -> tl.Tensor[D]:
    return x + x


@tn.kernel
def double[D: tl.Num](x_ptr: tl.Ptr[D], BLOCK: tl.Const[int]) -> None:
    offs = tl.arange(0, BLOCK)
    tl.store(x_ptr + offs, twice(tl.load(x_ptr + offs)))
