"""Four mistakes in a softmax, each caught at the definition: `teeny check mistakes.py` shows them all.

Python itself stops at the first: `@tn.kernel` raises for a faulty kernel, before anything runs.
"""

from typing import TypeVar

import teeny as tn
import teeny.language as tl

D = TypeVar("D", bound=tl.Float)


@tn.kernel
def integers(x_ptr: tl.Ptr[tl.i32], y_ptr: tl.Ptr[tl.f32], n: tl.Scalar[tl.i32], BLOCK_SIZE: tl.Const[int]) -> None:
    """The exponential of integers: nothing is promoted in silence."""
    row = tl.program_id(0).to(tl.i64)
    cols = tl.arange(0, BLOCK_SIZE)
    mask = cols < n
    x = tl.load(x_ptr + row * n + cols, mask=mask, other=tl.lowest(tl.i32))
    num = tl.exp(x - tl.max(x, axis=0))
    tl.store(y_ptr + row * n + cols, num / tl.sum(num, axis=0), mask=mask)


@tn.kernel
def no_mask(x_ptr: tl.Ptr[D], y_ptr: tl.Ptr[D], n_cols: tl.Scalar[tl.i32], BLOCK_SIZE: tl.Const[int]) -> None:
    """A mask that is no mask: column numbers, never compared with `n_cols`."""
    row = tl.program_id(0).to(tl.i64)
    cols = tl.arange(0, BLOCK_SIZE)
    x = tl.load(x_ptr + row * n_cols + cols, mask=cols, other=-float("inf"))
    num = tl.exp(x - tl.max(x, axis=0))
    tl.store(y_ptr + row * n_cols + cols, num / tl.sum(num, axis=0), mask=cols < n_cols)


@tn.kernel
def narrow(x_ptr: tl.Ptr[tl.f32], y_ptr: tl.Ptr[tl.f16], n_cols: tl.Scalar[tl.i32], BLOCK_SIZE: tl.Const[int]) -> None:
    """f32 stored through a pointer to f16: a store does not convert either."""
    row = tl.program_id(0).to(tl.i64)
    cols = tl.arange(0, BLOCK_SIZE)
    mask = cols < n_cols
    x = tl.load(x_ptr + row * n_cols + cols, mask=mask, other=-float("inf"))
    num = tl.exp(x - tl.max(x, axis=0))
    tl.store(y_ptr + row * n_cols + cols, num / tl.sum(num, axis=0), mask=mask)


@tn.kernel
def unfilled(x_ptr: tl.Ptr[D], y_ptr: tl.Ptr[D], n_cols: tl.Scalar[tl.i32], BLOCK_SIZE: tl.Const[int]) -> None:
    """No fill before the maximum: lanes past the end of the row hold anything, and take part."""
    row = tl.program_id(0).to(tl.i64)
    cols = tl.arange(0, BLOCK_SIZE)
    mask = cols < n_cols
    x = tl.load(x_ptr + row * n_cols + cols, mask=mask)
    num = tl.exp(x - tl.max(x, axis=0))
    tl.store(y_ptr + row * n_cols + cols, num / tl.sum(num, axis=0), mask=mask)
