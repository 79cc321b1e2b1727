"""8-bit floats: what can be done with them."""

from __future__ import annotations

from typing import TypeVar

import teeny as tn
import teeny.language as tl

D = TypeVar("D", bound=tl.Dtype)
F = TypeVar("F", bound=tl.Float)
Q = TypeVar("Q", bound=tl.Float8)


@tn.kernel
def quantise(
    x_ptr: tl.Ptr[F], y_ptr: tl.Ptr[Q], scale_ptr: tl.Ptr[tl.f32], n: tl.Scalar[tl.i32], BLOCK: tl.Const[int]
) -> None:
    at = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n, other=0.0).to(tl.f32)
    scale = tl.max(tl.abs(x), axis=0) / 448.0
    tl.store(y_ptr + at, (x / scale).to(y_ptr.dtype), mask=at < n)
    tl.store(scale_ptr, scale)


@tn.kernel
def dequantise(
    y_ptr: tl.Ptr[Q], scale_ptr: tl.Ptr[tl.f32], x_ptr: tl.Ptr[F], n: tl.Scalar[tl.i32], BLOCK: tl.Const[int]
) -> None:
    at = tl.arange(0, BLOCK)
    y = tl.load(y_ptr + at, mask=at < n, other=0.0)
    tl.store(x_ptr + at, (y.to(tl.f32) * tl.load(scale_ptr)).to(x_ptr.dtype), mask=at < n)


@tn.kernel
def formats(x_ptr: tl.Ptr[tl.f32], y_ptr: tl.Ptr[tl.float8e4nv], u_ptr: tl.Ptr[tl.u8], BLOCK: tl.Const[int]) -> None:
    at = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at)
    y = x.to(tl.float8e5).to(tl.f8e4m3)
    tl.store(y_ptr + at, y)
    tl.store(y_ptr + BLOCK + at, tl.cast(x, tl.float8e4nv, fp_downcast_rounding="rtz"))
    tl.store(y_ptr + 2 * BLOCK, 1.5)
    tl.store(u_ptr + at, y.to(tl.u8, bitcast=True))
    tl.store(u_ptr + at, x.to(tl.float8e4b8).to(tl.float8e5b16).to(tl.u8, bitcast=True))


@tn.kernel
def moved(x_ptr: tl.Ptr[Q], y_ptr: tl.Ptr[Q], BLOCK: tl.Const[int]) -> None:
    at = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at)
    tile = tl.reshape(tl.broadcast_to(tl.where(x.to(tl.f32) > 0, x, 0.0), (2, BLOCK)), (2 * BLOCK,))
    tl.store(y_ptr + tl.arange(0, 2 * BLOCK), tile)
    tl.store(y_ptr + at, tl.full((BLOCK,), 1.0, y_ptr.dtype))
    tl.store(y_ptr + at, tl.zeros((BLOCK,), y_ptr.dtype))


@tn.kernel
def copy(x_ptr: tl.Ptr[D], y_ptr: tl.Ptr[D], BLOCK: tl.Const[int]) -> None:
    at = tl.arange(0, BLOCK)
    tl.store(y_ptr + at, tl.load(x_ptr + at))
