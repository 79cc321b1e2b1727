"""Wrong dtypes. Each line with the mark is reported by pyright and by the compiler; no other line is."""

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
def function_of_an_integer(x_ptr: tl.Ptr[F], BLOCK: tl.Const[int]) -> None:
    offs = tl.arange(0, BLOCK)
    tl.exp(offs)  # BAD
    tl.sqrt(tl.load(x_ptr + offs) > 0)  # BAD
    tl.floor(tl.program_id(0))  # BAD
    tl.store(x_ptr + offs, tl.exp(tl.load(x_ptr + offs)))


@tn.kernel
def function_of_any_number(x_ptr: tl.Ptr[N], BLOCK: tl.Const[int]) -> None:
    """N may be an integer."""
    offs = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs)
    tl.exp(x)  # BAD
    tl.rsqrt(x)  # BAD
    tl.sin(x)  # BAD
    tl.pow(x, x)  # BAD
    tl.clamp(x, 0.5, 1)  # BAD
    tl.umulhi(x, x)  # BAD
    tl.sigmoid(x)  # BAD
    x / x  # BAD
    x & x  # BAD
    x // 2  # BAD
    tl.store(x_ptr + offs, x)


@tn.kernel
def arithmetic_of_any_dtype(x_ptr: tl.Ptr[D], BLOCK: tl.Const[int]) -> None:
    """D may be bool."""
    offs = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs)
    x + x  # BAD
    -x  # BAD
    x < x  # BAD
    tl.abs(x)  # BAD
    tl.maximum(x, x)  # BAD
    tl.sum(x, axis=0)  # BAD
    tl.store(x_ptr + offs, x)


@tn.kernel
def division(x_ptr: tl.Ptr[I], y_ptr: tl.Ptr[F], BLOCK: tl.Const[int]) -> None:
    offs = tl.arange(0, BLOCK)
    offs / offs  # BAD
    offs / 2  # BAD
    1 / offs  # BAD
    tl.load(x_ptr + offs) / 2.0  # BAD
    tl.load(y_ptr + offs) // 2  # BAD
    offs // 2.0  # BAD
    offs % 2.5  # BAD


@tn.kernel
def two_dtypes(
    x_ptr: tl.Ptr[tl.f16],
    y_ptr: tl.Ptr[tl.f32],
    b_ptr: tl.Ptr[tl.bf16],
    k_ptr: tl.Ptr[tl.i64],
    u_ptr: tl.Ptr[tl.u32],
    BLOCK: tl.Const[int],
) -> None:
    """Only i32 widens to i64; floats never do."""
    offs = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs)
    y = tl.load(y_ptr + offs)
    x + y  # BAD
    y * x  # BAD
    x - tl.load(b_ptr + offs)  # BAD
    y + offs  # BAD
    offs * y  # BAD
    offs + tl.load(u_ptr + offs)  # BAD
    x < y  # BAD
    x == y  # BAD
    tl.maximum(x, y)  # BAD
    tl.fma(x, x, y)  # BAD
    tl.where(x > 0, x, y)  # BAD
    tl.where(offs > 0, offs, tl.load(k_ptr + offs))  # BAD
    offs & tl.load(k_ptr + offs)  # BAD
    offs + (offs > 0)  # BAD
    tl.store(k_ptr + offs, offs + tl.load(k_ptr + offs))


@tn.kernel
def two_variables(x_ptr: tl.Ptr[F], y_ptr: tl.Ptr[G], BLOCK: tl.Const[int]) -> None:
    offs = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs)
    y = tl.load(y_ptr + offs)
    x + y  # BAD
    x + y.to(tl.f32)  # BAD
    tl.where(x > 0, x, y)  # BAD
    tl.where(x > y, x, x)  # BAD
    tl.store(x_ptr + offs, x + y.to(x.dtype))


@tn.kernel
def logic(x_ptr: tl.Ptr[tl.f32], BLOCK: tl.Const[int]) -> None:
    offs = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs)
    ~x  # BAD
    x | x  # BAD
    (offs > 1) & offs  # BAD
    x << 1  # BAD
    offs >> (offs > 1)  # BAD
    tl.where(offs, x, x)  # BAD
    tl.where(x, 1.0, x)  # BAD
    tl.store(x_ptr + offs, x)


@tn.kernel
def precedence(x_ptr: tl.Ptr[tl.i32], n: tl.Scalar[tl.i32], BLOCK: tl.Const[int]) -> None:
    """`&` binds tighter than `<`: the compiler sees a comparison of comparisons."""
    offs = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs)
    ok = x > 3
    ok & x < n  # BAD
    tl.store(x_ptr + offs, x, ok & (x < n))


@tn.kernel
def sums(x_ptr: tl.Ptr[F], BLOCK: tl.Const[int]) -> None:
    offs = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs)
    tl.sum(x > 0)  # BAD
    tl.max(x > 0, axis=0)  # BAD
    x + tl.sum(offs)  # BAD
    tl.store(x_ptr + offs, x)


@tn.kernel
def products(
    x_ptr: tl.Ptr[F],
    h_ptr: tl.Ptr[tl.f16],
    i_ptr: tl.Ptr[tl.i8],
    u_ptr: tl.Ptr[tl.u8],
    n_ptr: tl.Ptr[N],
    d_ptr: tl.Ptr[tl.f64],
    q_ptr: tl.Ptr[tl.f8e4m3],
) -> None:
    at = tl.arange(0, 16)[:, None] * 16 + tl.arange(0, 16)[None, :]
    x, h, i, u = tl.load(x_ptr + at), tl.load(h_ptr + at), tl.load(i_ptr + at), tl.load(u_ptr + at)
    tl.dot(x, h)  # BAD
    tl.dot(i, u)  # BAD
    d, q = tl.load(d_ptr + at), tl.load(q_ptr + at)
    tl.dot(u, u, tl.zeros((16, 16), tl.u32))  # BAD
    tl.dot(x, x, x)  # BAD
    tl.dot(h, h, h, out_dtype=tl.f32)  # BAD
    tl.dot(x, x, out_dtype=tl.f16)  # BAD
    tl.dot(d, d, tl.zeros((16, 16), tl.f32), out_dtype=tl.f64)  # BAD
    tl.dot(q, h)  # BAD
    tl.dot(q, q, out_dtype=tl.bf16)  # BAD
    tl.dot(i, i, tl.zeros((16, 16), tl.f32))  # BAD
    tl.dot(h, h, out_dtype=tl.bf16)  # BAD
    tl.dot_scaled(q, u, "e4m3", q, i, "e4m3")  # BAD
    tl.dot_scaled(q, None, "e4m3", q, None, "e4m3", h)  # BAD
    tl.dot_scaled(q, "e4m3", q, "e4m3")  # BAD
    tl.dot_scaled(q, None, 8, q, None, "e4m3")  # BAD
    tl.dot(tl.load(n_ptr + at), tl.load(n_ptr + at))  # BAD
    tl.dot(x, x, input_precision=3)  # BAD
    tl.dot(x, 1.0)  # BAD
    tl.store(h_ptr + at, tl.dot(h, h).to(tl.f16))
