"""Wrong block pointers. Each marked line is reported; no other line is."""

from __future__ import annotations

from typing import TypeVar

import teeny as tn
import teeny.language as tl

F = TypeVar("F", bound=tl.Float)


@tn.kernel
def made(x_ptr: tl.Ptr[F], n: tl.Scalar[tl.i32], z: tl.Scalar[tl.f32], B: tl.Const[int]) -> None:
    tl.make_block_ptr(x_ptr, (n,), (1,), (0,), (n,), (0,))  # BAD
    tl.make_block_ptr(x_ptr, (n,), (1,), (z,), (B,), (0,))  # BAD
    tl.make_block_ptr(x_ptr, (n,), (1,), (0.5,), (B,), (0,))  # BAD
    tl.make_block_ptr(x_ptr, (n,), (1,), (0,), (B,))  # BAD
    tl.make_block_ptr(n, (n,), (1,), (0,), (B,), (0,))  # BAD
    tl.make_block_ptr(x_ptr, (n, n), (n, 1), (0,), (B, B), (1, 0))  # BAD for the compiler alone
    tl.make_block_ptr(x_ptr, (n, n), (n, 1), (0, 0), (B, B), (1, 1))  # BAD for the compiler alone


@tn.kernel
def used(x_ptr: tl.Ptr[F], n: tl.Scalar[tl.i32], B: tl.Const[int]) -> None:
    p = tl.make_block_ptr(x_ptr, (n,), (1,), (0,), (B,), (0,))
    tl.load(p, mask=tl.arange(0, B) < n)  # BAD
    tl.load(p, boundary_check=(n,))  # BAD
    tl.load(p, boundary_check=(1,))  # BAD for the compiler alone
    tl.load(p, boundary_check=(0,), padding_option=0)  # BAD
    tl.load(p, boundary_check=(0,), padding_option="zeros")  # BAD for the compiler alone
    tl.load(x_ptr, boundary_check=(0,))  # BAD
    tl.store(p, tl.zeros((B,), tl.i32))  # BAD
    tl.advance(p, (0, 0))  # BAD for the compiler alone
    tl.advance(x_ptr, (0,))  # BAD
    p.advance(0.5)  # BAD


@tn.kernel
def described(x_ptr: tl.Ptr[tl.f32], n: tl.Scalar[tl.i32], w: tl.Scalar[tl.i64], B: tl.Const[int]) -> None:
    tl.make_tensor_descriptor(x_ptr, (w,), (1,), (B,))  # BAD
    tl.make_tensor_descriptor(x_ptr, (n,), (1,), (n,))  # BAD
    tl.make_tensor_descriptor(x_ptr, (n, n), (n, n), (B, B))  # BAD for the compiler alone
    d = tl.make_tensor_descriptor(x_ptr, (n, n), (n, 1), (B, B))
    d.load((0, w))  # BAD
    d.load((0,))  # BAD for the compiler alone
    d.store((0, 0), tl.zeros((B, B), tl.f16))  # BAD
    d.atomic_min((0, 0), tl.zeros((B, B), tl.f32))  # BAD for the compiler alone
    d.order  # BAD
    d.atomic_and((0, 0), tl.zeros((B, B), tl.f32))  # BAD
    e = tl.make_tensor_descriptor(x_ptr, (n, n), (n, 1), (B, B))
    tl.load(e)  # BAD
