"""Functions as arguments, several results, tuples: each marked line is reported; no other is."""

from __future__ import annotations

from typing import TypeVar

import teeny as tn
import teeny.language as tl
from teeny.language import Const, Ptr, Scalar, Tensor

F = TypeVar("F", bound=tl.Float)
N = TypeVar("N", bound=tl.Num)


def add(a: Tensor[N], b: Tensor[N]) -> Tensor[N]:
    return a + b


def of_floats(a: Tensor[F], b: Tensor[F]) -> Tensor[F]:
    return tl.exp(a) + b


def widened(a: Tensor[tl.f16], b: Tensor[tl.f16]) -> Tensor[tl.f32]:
    return (a + b).to(tl.f32)


def one(a: Tensor[N]) -> Tensor[N]:
    return a


def pair(a: Tensor[N], i: Tensor[tl.i32], b: Tensor[N], j: Tensor[tl.i32]) -> tuple[Tensor[N], Tensor[tl.i32]]:
    return a + b, i + j


@tn.kernel
def combiners(x_ptr: Ptr[tl.i32], h_ptr: Ptr[tl.f16], n: Scalar[tl.i32], BLOCK: Const[int]) -> None:
    offs = tl.arange(0, BLOCK)
    x, h = tl.load(x_ptr + offs), tl.load(h_ptr + offs)
    tl.reduce(x, 0, of_floats)  # BAD
    tl.reduce(h, 0, widened)  # BAD
    tl.reduce(x, 0, one)  # BAD
    tl.reduce(x, 0, pair)  # BAD
    tl.reduce((x, h), 0, pair)  # BAD
    tl.reduce(x, 0)  # BAD
    tl.reduce(x, 0, 3)  # BAD
    tl.reduce(x, 0.5, add)  # BAD
    tl.reduce(x, n, add)  # BAD
    tl.reduce(x_ptr, 0, add)  # BAD
    tl.associative_scan(h, 0, widened)  # BAD
    tl.associative_scan(x, None, add)  # BAD
    tl.associative_scan(x, 0, add, reverse=2)  # BAD
    best, at = tl.reduce((x, offs), 0, pair)
    tl.store(h_ptr, at)  # BAD
    tl.store(x_ptr, best)


def swapped(both: tuple[Tensor[F], Tensor[F]]) -> tuple[Tensor[F], Tensor[F]]:
    return both[1], both[0]


def total(*parts: Tensor[tl.f32]) -> Tensor[tl.f32]:
    return parts[0]


@tn.kernel
def tuples(x_ptr: Ptr[tl.f32], n: Scalar[tl.i32], BLOCK: Const[int]) -> None:
    x = tl.load(x_ptr + tl.arange(0, BLOCK))
    swapped((x, n))  # BAD
    swapped(x)  # BAD
    _a, _b, _c = swapped((x, x))  # BAD
    total(x, n)  # BAD
    (x, x)[2]  # BAD
    x.reshape(n, 2)  # BAD
    x.trans(0.5)  # BAD
    tl.store(x_ptr, swapped((x, x)))  # BAD
    tl.store(x_ptr + tl.arange(0, BLOCK), x)
