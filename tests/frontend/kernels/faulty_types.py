"""Dtypes: each marked line has one fault, and no other line has any."""

from typing import TypeVar

import teeny as tn
import teeny.language as tl

D = TypeVar("D", bound=tl.Float)
E = TypeVar("E", bound=tl.Float)
N = TypeVar("N", bound=tl.Num)
I = TypeVar("I", bound=tl.Int)


@tn.kernel
def exp_of_ints(x_ptr: tl.Ptr[tl.i32], y_ptr: tl.Ptr[N], BLOCK: tl.Const[int]) -> None:
    offs = tl.arange(0, BLOCK)
    a = tl.exp(offs)  # error[T001]
    b = tl.log(tl.load(x_ptr + offs))  # error[T001]
    c = tl.sqrt(tl.load(y_ptr + offs))  # error[T001]
    d = tl.load(y_ptr + offs) / 2.0  # error[T001]
    e = offs / offs  # error[T001]
    tl.store(y_ptr + offs, d)
    f = tl.load(y_ptr + offs) & 1  # error[T001]


@tn.kernel
def mixed(x_ptr: tl.Ptr[tl.f16], y_ptr: tl.Ptr[tl.f32], a_ptr: tl.Ptr[D], b_ptr: tl.Ptr[E], BLOCK: tl.Const[int]) -> None:
    offs = tl.arange(0, BLOCK)
    x, y = tl.load(x_ptr + offs), tl.load(y_ptr + offs)
    z = x + y  # error[T002]
    w = tl.load(a_ptr + offs) * tl.load(b_ptr + offs)  # error[T002]
    ok = x < y  # error[T002]
    chosen = tl.where(offs > 3, x, y)  # error[T002]
    m = tl.maximum(tl.load(a_ptr + offs), y)  # error[T002]
    tl.store(y_ptr + offs, z, mask=ok)
    tl.store(x_ptr + offs, y)  # error[T003]
    tl.store(b_ptr + offs, tl.load(a_ptr + offs))  # error[T003]
    tl.store(a_ptr + offs, tl.exp(y))  # error[T003]
    n = offs + offs.to(tl.u32)  # error[T002]


@tn.kernel
def masks(x_ptr: tl.Ptr[D], n: tl.Scalar[tl.i32], BLOCK: tl.Const[int]) -> None:
    offs = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs, mask=offs)  # error[T004]
    y = tl.load(x_ptr + offs, mask=n - offs, other=0.0)  # error[T004]
    tl.store(x_ptr + offs, 1.0, mask=n)  # error[T004]
    z = tl.load(x_ptr + offs, mask=1)  # error[T004]
    w = tl.load(x_ptr + offs, other=0.0)  # error[T011]
    v = tl.where(offs, 1.0, tl.load(x_ptr + offs))  # error[T007]


@tn.kernel
def pointers(x_ptr: tl.Ptr[D], y_ptr: tl.Ptr[tl.f32], BLOCK: tl.Const[int]) -> None:
    offs = tl.arange(0, BLOCK)
    a = (x_ptr + offs) * 2.0  # error[T005]
    b = tl.load(x_ptr + tl.load(y_ptr + offs))  # error[T005]
    c = tl.load(tl.load(y_ptr + offs))  # error[T005]
    d = x_ptr + y_ptr  # error[T005]
    e = tl.exp(y_ptr)  # error[T005]
    f = y_ptr < 3  # error[T005]
    g = -y_ptr  # error[T005]
    tl.store(offs, 1.0)  # error[T005]
    tl.store(y_ptr + offs, y_ptr + offs)  # error[T005]


@tn.kernel
def literals(x_ptr: tl.Ptr[tl.i32], s_ptr: tl.Ptr[tl.i8], u_ptr: tl.Ptr[tl.u32], BLOCK: tl.Const[int]) -> None:
    offs = tl.arange(0, BLOCK)
    a = offs + 0.5  # error[T006]
    b = tl.load(x_ptr + offs, mask=offs < 4, other=0.5)  # error[T006]
    c = tl.full((BLOCK,), 1.5, tl.i32)  # error[T006]
    d = tl.where(offs > 3, offs, 0.5)  # error[T006]
    tl.store(s_ptr + offs, 300)  # error[T006]
    e = tl.load(u_ptr + offs) + -1  # error[T006]
    f = tl.load(s_ptr + offs) & 255  # error[T006]
    g = offs < 1 << 40  # error[T006]
    tl.store(x_ptr + offs, 1.5)  # error[T006]
    h = (offs > 2) & 3  # error[T006]


@tn.kernel
def conditions(x_ptr: tl.Ptr[D], n: tl.Scalar[tl.i32], BLOCK: tl.Const[int]) -> None:
    offs = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs)
    if x > 0.0:  # error[T007]
        x = x * 2.0
    if n:  # error[T007]
        x = x + 1.0
    while n:  # error[T007]
        n = n - 1
    a = offs > 3 and offs < 5  # error[T007]
    b = not (offs > 3)  # error[T007]
    c = n or offs  # error[T007]
    d = x if offs > 3 else -x  # error[T007]
    tl.store(x_ptr + offs, x)


@tn.kernel
def narrow_sums(x_ptr: tl.Ptr[tl.i8], y_ptr: tl.Ptr[tl.f32], out_ptr: tl.Ptr[tl.i32], BLOCK: tl.Const[int]) -> None:
    offs = tl.arange(0, BLOCK)
    tl.store(out_ptr, tl.sum(tl.load(y_ptr + offs) > 0.0, axis=0))  # error[T012]
    tl.store(out_ptr, tl.sum(tl.load(x_ptr + offs), axis=0))  # error[T012]


@tn.kernel
def kinds(x_ptr: tl.Ptr[tl.f32], n: tl.Scalar[tl.i32], BLOCK: tl.Const[int]) -> None:
    offs = tl.arange(0, BLOCK)
    a = tl.zeros((BLOCK,), 0.0)  # error[T010]
    b = tl.zeros(BLOCK, tl.f32)  # error[T010]
    c = offs.to(3)  # error[T010]
    d = tl.exp("x")  # error[T010]
    e = tl.zeros((BLOCK, 2.0), tl.f32)  # error[T010]
    f = tl.sum(offs, axis="rows")  # error[T010]
    g, h, i = (n, n)  # error[T010]
    j, k = n  # error[T010]
    l = tl.load(x_ptr + offs, mask=None, other=None)
    m = tl.exp(tl.exp)  # error[T010]
    o = offs + None  # error[T010]


@tn.kernel
def bounds(x_ptr: tl.Ptr[N], i_ptr: tl.Ptr[I], BLOCK: tl.Const[int]) -> None:
    offs = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs)
    i = tl.load(i_ptr + offs)
    a = x % 2 + x
    b = x // 2  # error[T001]
    c = tl.fma(x, x, x)  # error[T001]
    d = tl.rsqrt(i)  # error[T001]
    e = i + 1.0  # error[T006]
    tl.store(i_ptr + offs, tl.max(x, axis=0))  # error[T003]
