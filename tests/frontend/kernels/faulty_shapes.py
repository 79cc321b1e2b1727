"""Shapes: each marked line has one fault, and no other line has any."""

from typing import TypeVar

import teeny as tn
import teeny.language as tl

D = TypeVar("D", bound=tl.Float)


@tn.kernel
def broadcasting(x_ptr: tl.Ptr[tl.f32], width: tl.Scalar[tl.i32], BM: tl.Const[int], BN: tl.Const[int]) -> None:
    rows, cols = tl.arange(0, BM), tl.arange(0, BN)
    a, b = tl.arange(0, 16), tl.arange(0, 32)
    c = a + b  # error[S001]
    d = rows * width + cols  # error[S008]
    e = rows[:, None] + a[None, :] + b[None, :]  # error[S001]
    tl.store(x_ptr + a, 1.0, mask=b < width)  # error[S006]
    tl.store(x_ptr + rows, tl.load(x_ptr + cols))  # error[S008]
    tl.store(x_ptr + a, tl.zeros((16, 16), tl.f32))  # error[S006]
    tl.store(x_ptr, 1.0, mask=a < width)  # error[S006]
    f = tl.where(a < 3, b, 0)  # error[S001]
    g = tl.broadcast_to(rows, (BN, BM, 4))  # error[S008]
    h = tl.broadcast_to(a, (32,))  # error[S001]


@tn.kernel
def sizes(x_ptr: tl.Ptr[D], n: tl.Scalar[tl.i32], BLOCK: tl.Const[int]) -> None:
    a = tl.arange(0, 100)  # error[S002]
    b = tl.arange(64, 0)  # error[S009]
    c = tl.arange(0, 2097152)  # error[S007]
    d = tl.zeros((4, 3), tl.f32)  # error[S002]
    e = tl.zeros((2048, 1024), tl.f32)  # error[S007]
    f = tl.arange(0, BLOCK)
    g = tl.arange(0, BLOCK * 3)  # error[S002]
    h = tl.reshape(f, (BLOCK // 2, 4))  # error[S004]
    i = tl.reshape(tl.arange(0, 64), (16, 8))  # error[S004]
    j = tl.reshape(f, (BLOCK, 3))  # error[S002]
    k = tl.arange(BLOCK, BLOCK)  # error[S009]


@tn.kernel
def axes(x_ptr: tl.Ptr[D], BLOCK: tl.Const[int]) -> None:
    f = tl.load(x_ptr + tl.arange(0, BLOCK))
    a = tl.sum(f, axis=1)  # error[S003]
    b = tl.max(f, axis=-2)  # error[S003]
    c = tl.trans(f)  # error[S005]
    d = f[:, :, None]  # error[S005]
    e = f[None, None]  # error[S005]
    g = tl.program_id(3)  # error[S003]
    h = tl.trans(f[:, None], (0, 0))  # error[S003]
    i = tl.expand_dims(f, 4)  # error[S003]
    j = tl.sum(tl.load(x_ptr))  # error[S005]
    k = (1, 2)[5]  # error[S003]


@tn.kernel
def swapped(x_ptr: tl.Ptr[D], y_ptr: tl.Ptr[D], n: tl.Scalar[tl.i32], BM: tl.Const[int], BN: tl.Const[int]) -> None:
    """Two axes are swapped, which square tiles would hide."""
    rows, cols = tl.arange(0, BM), tl.arange(0, BN)
    x = tl.load(x_ptr + rows[:, None] * n + cols[None, :])
    tl.store(y_ptr + rows[:, None] * n + cols[None, :], tl.trans(x))  # error[S008]
    total = tl.sum(x, axis=0)
    tl.store(y_ptr + rows, total)  # error[S008]
    tl.store(y_ptr + rows[:, None] * n + cols[None, :], x - tl.max(x, axis=1))  # error[S008]
