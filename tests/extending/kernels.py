"""Kernels that use functions from outside the package."""

from __future__ import annotations

from typing import TypeVar

import teeny as tn
import teeny.language as tl
from tests.extending.softsign import composed, softsign

D = TypeVar("D", bound=tl.Float)


@tn.kernel
def by_operation(x_ptr: tl.Ptr[D], y_ptr: tl.Ptr[D], n: tl.Scalar[tl.i32], BLOCK: tl.Const[int]) -> None:
    """y = softsign(x) on n elements."""
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs, mask=offs < n)
    tl.store(y_ptr + offs, softsign(x), mask=offs < n)


@tn.kernel
def by_composition(x_ptr: tl.Ptr[D], y_ptr: tl.Ptr[D], n: tl.Scalar[tl.i32], BLOCK: tl.Const[int]) -> None:
    """The same."""
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs, mask=offs < n)
    tl.store(y_ptr + offs, composed(x), mask=offs < n)


@tn.kernel
def summed(x_ptr: tl.Ptr[tl.f32], out_ptr: tl.Ptr[tl.f32], n: tl.Scalar[tl.i32], BLOCK: tl.Const[int]) -> None:
    """The sum of softsign(x). A lane that the mask leaves out holds softsign(0) = 0: the checks know by `fold`."""
    offs = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs, mask=offs < n, other=0.0)
    tl.store(out_ptr, tl.sum(softsign(x), axis=0))
