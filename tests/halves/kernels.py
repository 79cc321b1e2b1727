"""Kernels of 16-bit floats: every operation of one operand, of two, and the conversions."""

from __future__ import annotations

from typing import TypeVar

import teeny as tn
import teeny.language as tl

F = TypeVar("F", bound=tl.Float)
D = TypeVar("D", bound=tl.Dtype)
E = TypeVar("E", bound=tl.Dtype)
EXACT_UNARY = ("neg", "pos", "abs", "floor", "ceil", "sqrt", "sqrt_rn")
"""What `exact_unary` stores, one after the other."""
BINARY = ("add", "sub", "mul", "truediv", "fdiv", "div_rn", "mod", "maximum", "minimum", "clamp")
COMPARED = ("lt", "le", "gt", "ge", "eq", "ne")
ELEMENTARY = ("exp", "exp2", "expm1", "log", "log2", "log1p", "sin", "cos", "tanh", "erf", "rsqrt")


@tn.kernel
def exact_unary(x: tl.Ptr[F], out: tl.Ptr[F], n: tl.Scalar[tl.i32], BLOCK: tl.Const[int]) -> None:
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + at)
    tl.store(out + at, -v)
    tl.store(out + n + at, +v)
    tl.store(out + 2 * n + at, tl.abs(v))
    tl.store(out + 3 * n + at, tl.floor(v))
    tl.store(out + 4 * n + at, tl.ceil(v))
    tl.store(out + 5 * n + at, tl.sqrt(v))
    tl.store(out + 6 * n + at, tl.sqrt_rn(v))


@tn.kernel
def elementary(x: tl.Ptr[F], out: tl.Ptr[F], n: tl.Scalar[tl.i32], BLOCK: tl.Const[int]) -> None:
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + at)
    tl.store(out + at, tl.exp(v))
    tl.store(out + n + at, tl.exp2(v))
    tl.store(out + 2 * n + at, tl.expm1(v))
    tl.store(out + 3 * n + at, tl.log(v))
    tl.store(out + 4 * n + at, tl.log2(v))
    tl.store(out + 5 * n + at, tl.log1p(v))
    tl.store(out + 6 * n + at, tl.sin(v))
    tl.store(out + 7 * n + at, tl.cos(v))
    tl.store(out + 8 * n + at, tl.tanh(v))
    tl.store(out + 9 * n + at, tl.erf(v))
    tl.store(out + 10 * n + at, tl.rsqrt(v))


@tn.kernel
def binary(x: tl.Ptr[F], y: tl.Ptr[F], out: tl.Ptr[F], n: tl.Scalar[tl.i32], BLOCK: tl.Const[int]) -> None:
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v, w = tl.load(x + at), tl.load(y + at)
    tl.store(out + at, v + w)
    tl.store(out + n + at, v - w)
    tl.store(out + 2 * n + at, v * w)
    tl.store(out + 3 * n + at, v / w)
    tl.store(out + 4 * n + at, tl.fdiv(v, w))
    tl.store(out + 5 * n + at, tl.div_rn(v, w))
    tl.store(out + 6 * n + at, v % w)
    tl.store(out + 7 * n + at, tl.maximum(v, w))
    tl.store(out + 8 * n + at, tl.minimum(v, w))
    tl.store(out + 9 * n + at, tl.clamp(v, w, v))


@tn.kernel
def fused(x: tl.Ptr[F], y: tl.Ptr[F], out: tl.Ptr[F], n: tl.Scalar[tl.i32], BLOCK: tl.Const[int]) -> None:
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v, w = tl.load(x + at), tl.load(y + at)
    tl.store(out + at, tl.fma(v, w, v))
    tl.store(out + n + at, tl.fma(v, v, w))


@tn.kernel
def compared(x: tl.Ptr[F], y: tl.Ptr[F], out: tl.Ptr[tl.bool_], n: tl.Scalar[tl.i32], BLOCK: tl.Const[int]) -> None:
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v, w = tl.load(x + at), tl.load(y + at)
    tl.store(out + at, v < w)
    tl.store(out + n + at, v <= w)
    tl.store(out + 2 * n + at, v > w)
    tl.store(out + 3 * n + at, v >= w)
    tl.store(out + 4 * n + at, v == w)
    tl.store(out + 5 * n + at, v != w)


@tn.kernel
def power(x: tl.Ptr[F], y: tl.Ptr[F], out: tl.Ptr[F], n: tl.Scalar[tl.i32], BLOCK: tl.Const[int]) -> None:
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.pow(tl.load(x + at), tl.load(y + at)))


@tn.kernel
def converted(x: tl.Ptr[D], out: tl.Ptr[E], n: tl.Scalar[tl.i32], BLOCK: tl.Const[int]) -> None:
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + at).to(out.dtype))
