"""Block pointers: made, moved, carried, passed to helpers, read and written."""

from __future__ import annotations

from typing import TypeVar

import teeny as tn
import teeny.language as tl

D = TypeVar("D", bound=tl.Dtype)
F = TypeVar("F", bound=tl.Float)


def moved(p: tl.BlockPtr[D], by: tl.Scalar[tl.i32]) -> tl.BlockPtr[D]:
    return tl.advance(p, (0, by))


def read(p: tl.BlockPtr[F]) -> tl.Tensor[F]:
    return tl.load(p, boundary_check=(0, 1), padding_option="nan") + 1.0


@tn.kernel
def copied(
    x_ptr: tl.Ptr[F],
    y_ptr: tl.Ptr[F],
    m: tl.Scalar[tl.i32],
    n: tl.Scalar[tl.i64],
    BM: tl.Const[int],
    BN: tl.Const[int],
    FIRST: tl.Const[bool],
) -> None:
    i = tl.program_id(0) * BM
    p = tl.make_block_ptr(x_ptr, (m, n), (n, 1), (i, 0), (BM, BN), (1, 0))
    q = tl.make_block_ptr(base=y_ptr, shape=[m, n], strides=[n, 1], offsets=[i, 0], block_shape=[BM, BN], order=[1, 0])
    pair = (p, q)
    while i < m:
        tl.store(pair[1], read(pair[0]).to(q.dtype), boundary_check=(0, 1))
        pair = (moved(pair[0], i), pair[1].advance([0, BN]))
        i += BM
    r = p if FIRST else q
    if m > 3:
        r = tl.advance(r, (n, -1))
    tl.store(r, 0.0)
    tl.store(r, 1, boundary_check=0)


def doubled(d: tl.TensorDescriptor[F], i: tl.Scalar[tl.i32]) -> tl.Tensor[F]:
    return d.load((i, 0)) * 2.0


@tn.kernel
def described(
    x_ptr: tl.Ptr[F], u_ptr: tl.Ptr[tl.u32], at_ptr: tl.Ptr[tl.i32], m: tl.Scalar[tl.i32], n: tl.Scalar[tl.i32]
) -> None:
    x = tl.make_tensor_descriptor(x_ptr, (m, n), (n, 1), (8, 32), padding_option="nan")
    u = tl.make_tensor_descriptor(base=u_ptr, shape=[m, n], strides=[n, 1], block_shape=[8, 32])
    row = tl.make_tensor_descriptor(x_ptr, (m, n), (n, 1), (1, 32))
    for i in tl.range(0, m, 8):
        x.store([i, 0], doubled(x, i).to(x.dtype))
        tl.store_tensor_descriptor(u, (i, 0), tl.load_tensor_descriptor(u, (i, 0)))
    u.atomic_add((0, 0), u.load((0, 0)))
    u.atomic_max((0, 0), u.load((0, 0)))
    u.atomic_xor((0, 0), u.load((0, 0)))
    rows = tl.load(at_ptr + tl.arange(0, 8))
    row.scatter(row.gather(rows, 0), rows, n)
    tl.store(at_ptr, u.shape[0] + u.block_shape[1])


@tn.kernel
def passed(x: tl.TensorDescriptor[F], y: tl.TensorDescriptor[F] | None, k: tl.Scalar[tl.i32]) -> None:
    tile = x.load([k, 0])
    if y is not None:
        y.store([k, 0], tile)
    tl.static_assert(x.block_shape[0] >= 1)
