"""Reductions, helpers, and kernels over rows."""

from __future__ import annotations

from typing import TypeVar

import teeny as tn
import teeny.language as tl
from teeny.language import Const, Ptr, Scalar, Tensor, f32, i32, i64

F = TypeVar("F", bound=tl.Float)
W = TypeVar("W", bound=tl.Float)
N = TypeVar("N", bound=tl.Num)

EPSILON: Const[float] = 1e-6
LOG2_E: Const[float] = 1.4426950408889634


def row_softmax(x: Tensor[F]) -> Tensor[F]:
    """A helper for any float dtype."""
    e = tl.exp(x - tl.max(x, axis=0))
    return e / tl.sum(e, axis=0)


def moments(x: Tensor[f32], n: Scalar[i32]) -> tuple[Tensor[f32], Tensor[f32]]:
    """Two results."""
    count = n.to(f32)
    mean = tl.sum(x, 0) / count
    return mean, tl.sum(x * x, 0) / count - mean * mean


def clamp(x: Tensor[N], low: Tensor[N], high: Tensor[N]) -> Tensor[N]:
    return tl.minimum(tl.maximum(x, low), high)


@tn.kernel
def softmax(x_ptr: Ptr[F], y_ptr: Ptr[F], n: Scalar[i32], stride: Scalar[i32], BLOCK: Const[int]) -> None:
    cols = tl.arange(0, BLOCK)
    mask = cols < n
    at = tl.program_id(0) * stride + cols
    x = tl.load(x_ptr + at, mask, other=-float("inf"))
    tl.store(y_ptr + at, row_softmax(x), mask)
    tl.store(y_ptr + at, row_softmax(x.to(f32)).to(y_ptr.dtype), mask)


@tn.kernel
def layer_norm(
    x_ptr: Ptr[F],
    weight_ptr: Ptr[W],
    bias_ptr: Ptr[W] | None,
    y_ptr: Ptr[F],
    n: Scalar[i32],
    eps: Scalar[f32],
    BLOCK: Const[int],
) -> None:
    cols = tl.arange(0, BLOCK)
    mask = cols < n
    at = tl.program_id(0).to(i64) * n + cols
    x = tl.load(x_ptr + at, mask, other=0.0).to(f32)
    mean, variance = moments(x, n)
    y = tl.where(mask, x - mean, 0.0) * tl.rsqrt(variance + eps)
    y = y * tl.load(weight_ptr + cols, mask, other=1.0).to(f32)
    if bias_ptr is not None:
        y = y + tl.load(bias_ptr + cols, mask, other=0.0).to(f32)
    tl.store(y_ptr + at, y.to(y_ptr.dtype), mask)


@tn.kernel
def rms_norm(x_ptr: Ptr[F], y_ptr: Ptr[F], n: Scalar[i32], SCALE: Const[float], BLOCK: Const[int]) -> None:
    """Globals and float Consts are numbers."""
    cols = tl.arange(0, BLOCK)
    mask = cols < n
    x = tl.load(x_ptr + cols, mask, other=0.0).to(f32)
    y = x * tl.rsqrt(tl.sum(x * x) / n.to(f32) + EPSILON) * LOG2_E
    tl.store(y_ptr + cols, (y * SCALE).to(y_ptr.dtype), mask)


@tn.kernel
def reductions(x_ptr: Ptr[f32], i_ptr: Ptr[i32], small_ptr: Ptr[tl.i8], out_ptr: Ptr[i64], BLOCK: Const[int]) -> None:
    offs = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs)
    i = tl.load(i_ptr + offs)
    small = tl.load(small_ptr + offs)
    total = tl.sum(i) + tl.sum(small, dtype=i32) + tl.sum(i > 0, axis=0, dtype=tl.i32)
    tl.store(out_ptr, total.to(i64) + tl.sum(small, dtype=i64) + tl.max(i, axis=None))
    tl.store(x_ptr + offs, x - tl.max(x, axis=-1, keep_dims=True) + x.sum() + x.max(axis=0) - tl.min(x, 0))
    tl.store(i_ptr + offs, clamp(i, tl.min(i), tl.max(i)))
    tl.store(x_ptr + offs, clamp(x, tl.load(x_ptr), tl.load(x_ptr + 1)))


@tn.kernel
def persistent(x_ptr: Ptr[F], y_ptr: Ptr[F], rows: Scalar[i32], n: Scalar[i32], BLOCK: Const[int]) -> None:
    cols = tl.arange(0, BLOCK)
    mask = cols < n
    for row in tl.range(tl.program_id(0), rows, tl.num_programs(0)):
        x = tl.load(x_ptr + row * n + cols, mask, other=-float("inf")).to(f32)
        tl.store(y_ptr + row * n + cols, row_softmax(x).to(y_ptr.dtype), mask=mask)


@tn.kernel
def online_sum(x_ptr: Ptr[F], y_ptr: Ptr[f32], n: Scalar[i32], BLOCK: Const[int]) -> None:
    """Loop-carried tiles, and scalars."""
    offs = tl.arange(0, BLOCK)
    acc = tl.zeros((BLOCK,), f32)
    top = tl.full((), -float("inf"), f32)
    at = x_ptr + offs
    for start in tl.range(0, n, BLOCK):
        inside = offs + start < n
        x = tl.load(at, inside, other=0.0).to(f32)
        acc += x
        top = tl.maximum(top, tl.max(tl.where(inside, x, -float("inf"))))
        at += BLOCK
    tl.store(y_ptr, tl.sum(acc) + top)
