"""Kernels that work lane by lane."""

from __future__ import annotations

from typing import TypeVar

import teeny as tn
import teeny.language as tl

D = TypeVar("D", bound=tl.Dtype)
F = TypeVar("F", bound=tl.Float)
G = TypeVar("G", bound=tl.Float)
I = TypeVar("I", bound=tl.Int)
N = TypeVar("N", bound=tl.Num)


@tn.kernel
def copy(x_ptr: tl.Ptr[D], y_ptr: tl.Ptr[D], n: tl.Scalar[tl.i32], BLOCK: tl.Const[int]) -> None:
    """Any dtype, bool too."""
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    tl.store(y_ptr + offs, tl.load(x_ptr + offs, mask), mask)


@tn.kernel
def axpy(x_ptr: tl.Ptr[F], y_ptr: tl.Ptr[F], a: tl.Scalar[F], n: tl.Scalar[tl.i32], BLOCK: tl.Const[int] = 128) -> None:
    offs = tl.program_id(axis=0) * BLOCK + tl.arange(0, BLOCK)
    mask = (offs < n) & (offs >= 0)
    x = tl.load(x_ptr + offs, mask=mask, other=0.0)
    y = tl.load(y_ptr + offs, mask=mask, other=0)
    tl.store(y_ptr + offs, a * x + y, mask=mask)


@tn.kernel
def convert(x_ptr: tl.Ptr[F], y_ptr: tl.Ptr[G], z_ptr: tl.Ptr[tl.i32], BLOCK: tl.Const[int]) -> None:
    offs = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs)
    tl.store(y_ptr + offs, x.to(y_ptr.dtype))
    tl.store(y_ptr + offs, tl.cast(x, y_ptr.dtype))
    tl.store(z_ptr + offs, x.to(tl.int32))
    tl.store(z_ptr + offs, (x > 0).to(tl.i32))
    tl.store(x_ptr + offs, (x.to(tl.f32) * 2).to(x.dtype))


@tn.kernel
def sigmoid(x_ptr: tl.Ptr[F], BLOCK: tl.Const[int]) -> None:
    """Literals of either kind beside floats, on both sides."""
    offs = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs)
    y = 1 / (1.0 + tl.exp(-x))
    y = 2 * y - 1 + (1 - y) * 0.5 - (1.0 - y) / 3
    y = tl.maximum(y, 0.0) + tl.minimum(y, 1) + tl.maximum(y, x, propagate_nan=True)
    y = tl.fma(y, 2.0, x) + tl.fma(y, x, 1.0)
    y = tl.where(y > 0, y, 0.0) + tl.where(y <= 1.5, 1.0, y) + tl.where(y == x, y, x) + tl.where(y != 0, 0, y)
    tl.store(x_ptr + offs, y)


@tn.kernel
def functions(x_ptr: tl.Ptr[F], BLOCK: tl.Const[int]) -> None:
    offs = tl.arange(0, BLOCK)
    x = tl.abs(tl.load(x_ptr + offs))
    x = tl.exp2(x) + tl.log(x) + tl.log2(x) + tl.sqrt(x) + tl.rsqrt(x)
    x += tl.sin(x) * tl.cos(x) + tl.tanh(x) * tl.math.erf(x) - tl.expm1(x) / tl.log1p(x)
    x += tl.pow(x, 2.0) + tl.pow(x, x) + tl.sqrt_rn(x) + tl.div_rn(x, 3.0) + tl.fdiv(x, x, ieee_rounding=True)
    x = tl.clamp(x, 0.0, 1.0) + tl.clamp(x, x, 7, propagate_nan=True) + tl.sigmoid(x)
    x += tl.floor(x) * tl.ceil(x)
    x -= x % 2.0
    x *= +x
    x /= 3
    tl.store(x_ptr + offs, x)


@tn.kernel
def integers(x_ptr: tl.Ptr[I], y_ptr: tl.Ptr[tl.u8], k: tl.Scalar[tl.i64], BLOCK: tl.Const[int]) -> None:
    offs = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs)
    x = (x // 3) * 3 + x % 7 - (x & 15) + (x | 1) ^ ~x
    x = x << 2 >> 1
    tl.store(x_ptr + offs, -x)
    tl.store(x_ptr + offs, 2 - x)
    wide = offs + k
    tl.store(x_ptr + wide * 2, 10 // x)
    same = (offs == k) | (k != offs) | (offs != wide)
    tl.store(y_ptr + wide, (wide % 256).to(tl.u8), (offs < k) & same)


@tn.kernel
def numbers(x_ptr: tl.Ptr[N], low: tl.Scalar[N], BLOCK: tl.Const[int]) -> None:
    """Floats and integers alike."""
    offs = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs, offs < 100, other=0)
    x = tl.maximum(x * 2 + low - 1, low)
    x = tl.where(x > 3, x, 0)
    x = tl.where(x > tl.lowest(x.dtype), tl.highest(x_ptr.dtype), x)
    tl.store(x_ptr + offs, tl.full((BLOCK,), 1, x.dtype) + x)
    tl.store(x_ptr + offs, tl.zeros((BLOCK,), x_ptr.dtype))


@tn.kernel
def predicates(x_ptr: tl.Ptr[tl.i16], b_ptr: tl.Ptr[tl.bool_], BLOCK: tl.Const[int]) -> None:
    offs = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs)
    b = tl.load(b_ptr + offs)
    c = b & (x > 1) | ~b ^ (x == 3)
    tl.store(b_ptr + offs, c == b)
    tl.store(b_ptr + offs, x != 0, mask=c)
    tl.store(b_ptr + offs, x.to(tl.bool_), mask=c & (offs > 4))


@tn.kernel
def literals(x_ptr: tl.Ptr[F], i_ptr: tl.Ptr[I], BLOCK: tl.Const[int]) -> None:
    """A literal where a tensor may stand."""
    offs = tl.arange(0, BLOCK)
    tl.store(x_ptr + offs, 0.5)
    tl.store(x_ptr + offs, 1)
    tl.store(i_ptr + offs, 1)
    tl.store(x_ptr, -float("inf"))
    tl.store(x_ptr + offs, tl.load(x_ptr + offs, offs > 1, -float("inf")))
    tl.store(i_ptr + offs, tl.load(i_ptr + offs, offs > 1, 3))
    tl.store(i_ptr + offs, tl.load(i_ptr + offs, mask=offs > 1, other=tl.load(i_ptr)))


@tn.kernel
def literals_first(x_ptr: tl.Ptr[F], i_ptr: tl.Ptr[tl.i64], n: tl.Scalar[tl.i32], BLOCK: tl.Const[int]) -> None:
    offs = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs)
    x = tl.maximum(0.0, abs(x)) + tl.minimum(1, x) + tl.fdiv(1.0, x) + tl.div_rn(1.0, x) + tl.pow(2.0, x)
    tl.store(x_ptr + offs, tl.fma(2.0, x, 1.0) + tl.fma(2.0, x, x) + tl.fma(2.0, 3.0, x))
    i = tl.load(i_ptr + offs)
    tl.store(i_ptr + offs, tl.maximum(i, offs) + tl.minimum(n, i) + tl.maximum(3, i))
    penalty: tl.Tensor[tl.f32] = tl.where(offs < n, 0, -1.0e6)
    counted: tl.Tensor[tl.i32] = tl.where(offs < n, 1, 0)
    tl.store(i_ptr + offs, (penalty.to(tl.i32) + counted).to(tl.i64))
