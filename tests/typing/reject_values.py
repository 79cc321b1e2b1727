"""Dtypes, flags and Triton's names used wrongly: each marked line is reported; no other is."""

from __future__ import annotations

from typing import TypeVar

import teeny as tn
import teeny.language as tl
from teeny.language import Const, Ptr, Scalar

N = TypeVar("N", bound=tl.Num)


@tn.kernel
def asked(x_ptr: Ptr[N], BLOCK: Const[int]) -> None:
    x = tl.load(x_ptr + tl.arange(0, BLOCK))
    x.dtype.is_wide()  # BAD
    x.dtype.is_fp16(1)  # BAD
    x.dtype.bits  # BAD
    x.numel()  # BAD
    x.strides  # BAD
    tl.store(x_ptr + tl.arange(0, BLOCK), x)


@tn.kernel
def flags(x_ptr: Ptr[tl.f32], n: Scalar[tl.i32], FLAG: Const[bool], S: Const[float]) -> None:
    offs = tl.arange(0, 16)
    x = tl.load(x_ptr + offs)
    tl.where("yes", x, 0.0)  # BAD
    tl.where(S, x, 0.0)  # BAD
    offs & S  # BAD
    offs * S  # BAD
    tl.to_tensor("1")  # BAD
    tl.add(x, offs)  # BAD
    tl.mul(x, "2")  # BAD
    tl.store(x_ptr + offs, x, mask=S)  # BAD
    tl.store(x_ptr + offs, tl.where(FLAG, x, S), mask=(offs < n) & FLAG)
