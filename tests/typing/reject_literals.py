"""Literals of the wrong kind. Each marked line is reported; no other line is."""

from __future__ import annotations

from typing import TypeVar

import teeny as tn
import teeny.language as tl

I = TypeVar("I", bound=tl.Int)
N = TypeVar("N", bound=tl.Num)


@tn.kernel
def floats_beside_integers(x_ptr: tl.Ptr[I], BLOCK: tl.Const[int]) -> None:
    offs = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs)
    x + 0.5  # BAD
    0.5 * x  # BAD
    1.0 - offs  # BAD
    offs < 2.5  # BAD
    offs == 2.5  # BAD for the compiler alone: a float compares with any object
    2.5 != offs  # BAD for the compiler alone
    tl.maximum(x, 0.0)  # BAD
    tl.where(offs > 1, offs, 0.5)  # BAD
    tl.where(offs > 1, 0.5, x)  # BAD
    x & 1.0  # BAD
    x << 1.0  # BAD
    tl.full((BLOCK,), 1.5, tl.i32)  # BAD
    tl.full((BLOCK,), 1.5, x_ptr.dtype)  # BAD
    x.to(tl.i64) + 1.5  # BAD
    tl.store(x_ptr + offs, x)


@tn.kernel
def floats_beside_numbers(x_ptr: tl.Ptr[N], BLOCK: tl.Const[int]) -> None:
    """N may be an integer, which has no 0.5."""
    offs = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs)
    x * 0.5  # BAD
    tl.where(x > 0, x, 0.5)  # BAD
    tl.load(x_ptr + offs, offs > 1, other=0.0)  # BAD
    tl.full((BLOCK,), 0.0, x_ptr.dtype)  # BAD
    tl.store(x_ptr + offs, 1.0)  # BAD
    tl.store(x_ptr + offs, tl.zeros((BLOCK,), x_ptr.dtype) + x)


@tn.kernel
def numbers_are_no_tensors(x_ptr: tl.Ptr[tl.f32], BLOCK: tl.Const[int]) -> None:
    offs = tl.arange(0, BLOCK)
    tl.exp(1.0)  # BAD
    tl.sum(1, axis=0)  # BAD
    tl.maximum(1.0, 2.0)  # BAD
    tl.store(x_ptr + offs, "1.0")  # BAD
    tl.load(x_ptr + offs) + "1"  # BAD
    tl.load(x_ptr + offs) + None  # BAD
    tl.load(x_ptr + offs, other="0")  # BAD
