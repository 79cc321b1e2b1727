"""Wrong pointers, masks, fills and stored values. Each marked line is reported; no other line is."""

from __future__ import annotations

from typing import TypeVar

import teeny as tn
import teeny.language as tl

F = TypeVar("F", bound=tl.Float)
G = TypeVar("G", bound=tl.Float)
I = TypeVar("I", bound=tl.Int)


@tn.kernel
def masks(x_ptr: tl.Ptr[F], n: tl.Scalar[tl.i32], BLOCK: tl.Const[int]) -> None:
    offs = tl.arange(0, BLOCK)
    tl.load(x_ptr + offs, mask=offs)  # BAD
    tl.load(x_ptr + offs, offs & 1, other=0.0)  # BAD
    tl.load(x_ptr + offs, n)  # BAD
    x = tl.load(x_ptr + offs, offs < n, other=0.0)
    tl.store(x_ptr + offs, x, mask=x)  # BAD
    tl.store(x_ptr + offs, x, offs - n)  # BAD
    tl.store(x_ptr + offs, x, mask=offs < n)


@tn.kernel
def stored_dtype(x_ptr: tl.Ptr[tl.f16], y_ptr: tl.Ptr[tl.f32], i_ptr: tl.Ptr[tl.i64], BLOCK: tl.Const[int]) -> None:
    offs = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs)
    y = tl.load(y_ptr + offs)
    tl.store(x_ptr + offs, y)  # BAD
    tl.store(y_ptr + offs, x)  # BAD
    tl.store(i_ptr + offs, offs)  # BAD
    tl.store(y_ptr + offs, offs)  # BAD
    tl.store(x_ptr + offs, x > 0)  # BAD
    tl.store(i_ptr + offs, 0.5)  # BAD
    tl.store(x_ptr + offs, y.to(tl.f16))


@tn.kernel
def stored_generic(x_ptr: tl.Ptr[F], y_ptr: tl.Ptr[G], BLOCK: tl.Const[int]) -> None:
    """A cast is forgotten."""
    offs = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs)
    wide = x.to(tl.f32)
    tl.store(x_ptr + offs, wide * 2.0)  # BAD
    tl.store(y_ptr + offs, x)  # BAD
    tl.store(y_ptr + offs, x.to(x_ptr.dtype))  # BAD
    tl.store(y_ptr + offs, x.to(y_ptr.dtype))


@tn.kernel
def fills(x_ptr: tl.Ptr[F], i_ptr: tl.Ptr[I], b_ptr: tl.Ptr[tl.bool_], BLOCK: tl.Const[int]) -> None:
    offs = tl.arange(0, BLOCK)
    ok = offs > 1
    tl.load(i_ptr + offs, ok, other=0.5)  # BAD
    tl.load(i_ptr + offs, ok, -float("inf"))  # BAD
    tl.load(x_ptr + offs, ok, other=offs)  # BAD
    tl.load(x_ptr + offs, ok, other=tl.load(i_ptr + offs))  # BAD
    tl.load(b_ptr + offs, ok, other=1.0)  # BAD
    tl.store(x_ptr + offs, tl.load(x_ptr + offs, ok, other=0.5), ok)


@tn.kernel
def pointers(x_ptr: tl.Ptr[tl.f32], i_ptr: tl.Ptr[tl.i32], BLOCK: tl.Const[int]) -> None:
    offs = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs)
    x_ptr + x  # BAD
    x_ptr + 1.5  # BAD
    x_ptr * 2  # BAD
    x_ptr - 1.5  # BAD
    x_ptr - x  # BAD
    offs - x_ptr  # BAD
    x_ptr - i_ptr  # BAD
    x_ptr + i_ptr  # BAD
    x_ptr + (offs > 0)  # BAD
    tl.load(offs)  # BAD
    tl.store(x, x)  # BAD
    tl.exp(x_ptr)  # BAD
    tl.where(offs > 0, x_ptr, 0)  # BAD
    tl.store(x_ptr + offs, x)


@tn.kernel
def scalars(x_ptr: tl.Ptr[tl.f32], n: tl.Scalar[tl.i32], s: tl.Scalar[tl.f64], BLOCK: tl.Const[int]) -> None:
    offs = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs)
    x * s  # BAD
    x + n  # BAD
    x_ptr + s  # BAD
    tl.store(x_ptr + offs, x * s.to(tl.f32) + n.to(tl.f32))
