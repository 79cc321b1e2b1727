"""Functions as arguments, several results, tuples, sizes as separate arguments: right on every line."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import teeny as tn
import teeny.language as tl
from teeny.language import Const, Ptr, Scalar, Tensor

D = TypeVar("D", bound=tl.Num)
F = TypeVar("F", bound=tl.Float)
N = TypeVar("N", bound=tl.Num)


def add(a: Tensor[N], b: Tensor[N]) -> Tensor[N]:
    return a + b


def larger(a: Scalar[F], b: Scalar[F]) -> Scalar[F]:
    if a > b:
        return a
    return b


def first_largest(v: Tensor[N], i: Tensor[tl.i32], w: Tensor[N], j: Tensor[tl.i32]) -> tuple[Tensor[N], Tensor[tl.i32]]:
    best = (v > w) | ((v == w) & (i < j))
    return tl.where(best, v, w), tl.where(best, i, j)


def three(
    a: Tensor[N], b: Tensor[tl.i32], c: Tensor[tl.f32], d: Tensor[N], e: Tensor[tl.i32], f: Tensor[tl.f32]
) -> tuple[Tensor[N], Tensor[tl.i32], Tensor[tl.f32]]:
    return a + d, b + e, c + f


def swish(x: Scalar[F], sharp: Scalar[F]) -> Scalar[F]:
    if x > 3.0:
        return x
    return x / (1.0 + tl.exp(-sharp * x))


def both(x: Scalar[F]) -> tuple[Scalar[F], Scalar[tl.i32]]:
    return x * x, x.to(tl.i32)


@tn.kernel
def reductions(x_ptr: Ptr[D], i_ptr: Ptr[tl.i32], BLOCK: Const[int]) -> None:
    offs = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs)
    tl.store(x_ptr, tl.reduce(x, 0, add))
    tl.store(x_ptr, x.reduce(axis=None, combine_fn=add, keep_dims=False))
    best, at = tl.reduce((x, offs), axis=0, combine_fn=first_largest)
    tl.store(x_ptr + 1, best)
    tl.store(i_ptr, at)
    p, q, r = tl.reduce((x, offs, offs.to(tl.f32)), 0, three)
    tl.store(x_ptr + 2, p)
    tl.store(i_ptr + 1, q + r.to(tl.i32))
    so_far, places = tl.associative_scan((x, offs), 0, first_largest, reverse=True)
    tl.store(x_ptr + offs, so_far)
    tl.store(i_ptr + offs, places)
    tl.store(x_ptr + offs, x.associative_scan(0, add))


@tn.kernel
def maps(
    x_ptr: Ptr[F], i_ptr: Ptr[tl.i32], BLOCK: Const[int], join: Const[Callable[[Tensor[F], Tensor[F]], Tensor[F]]]
) -> None:
    offs = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs)
    y = tl.map_elementwise(swish, x, x * 2.0)
    square, whole = tl.map_elementwise(both, y)
    tl.store(x_ptr + offs, square)
    tl.store(i_ptr + offs, whole)
    tl.store(x_ptr, tl.reduce(x, 0, join) + tl.reduce(x, 0, larger))


def total(*parts: Tensor[F]) -> Tensor[F]:
    found = parts[0]
    for part in parts[1:]:
        found = found + part
    return found


def swapped(pair: tuple[Tensor[F], Tensor[F]]) -> tuple[Tensor[F], Tensor[F]]:
    a, b = pair
    return b, a


@tn.kernel
def tuples(x_ptr: Ptr[F], SHAPE: Const[tuple[int, ...]], A: Const[int], B: Const[int]) -> None:
    x = tl.load(x_ptr + tl.arange(0, A * B))
    a, b = swapped((x, x + 1.0))
    first, *rest = (a, b, x)
    tl.store(x_ptr + tl.arange(0, A * B), total(first, *rest))
    for i, one in enumerate((a, b)):
        tl.store(x_ptr + i, tl.sum(one))
    for p, q in zip((a, b), (1, 2), strict=True):
        tl.store(x_ptr, tl.sum(p * q))
    grid = x.reshape(A, B) + tl.reshape(x, (A, B)) + x.reshape([A, B])
    tl.store(x_ptr, tl.sum(grid.trans(1, 0) + grid.T + tl.trans(grid, (1, 0)) + tl.permute(grid, 1, 0)))
    tl.store(x_ptr, tl.sum(tl.zeros((*SHAPE, 2), x.dtype)))
    tl.store(x_ptr, tl.sum(tl.broadcast_to(x.reshape(1, A * B), 2, A * B)))
    for size in SHAPE:
        tl.store(x_ptr + size, 1.0)
    several = tl.tuple([a, b])
    tl.store(x_ptr + tl.arange(0, A * B), several[0] + several[-1])
