"""Kernels for the tests of Triton's compiler."""

from __future__ import annotations

from typing import TypeVar

import teeny as tn
import teeny.language as tl

D = TypeVar("D", bound=tl.Float)


@tn.kernel
def copy(x_ptr: tl.Ptr[D], y_ptr: tl.Ptr[D], n: tl.Scalar[tl.i32], BLOCK: tl.Const[int]) -> None:
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    tl.store(y_ptr + at, tl.load(x_ptr + at, mask=inside) * 2.0, mask=inside)


@tn.kernel
def scale(x_ptr: tl.Ptr[D], y_ptr: tl.Ptr[D], a: tl.Scalar[D], b: tl.Scalar[D], BLOCK: tl.Const[int]) -> None:
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + at, tl.load(x_ptr + at) * a + b)


@tn.kernel
def product(
    a_ptr: tl.Ptr[D],
    b_ptr: tl.Ptr[D],
    c_ptr: tl.Ptr[tl.f32],
    k: tl.Scalar[tl.i32],
    BM: tl.Const[int],
    BN: tl.Const[int],
    BK: tl.Const[int],
) -> None:
    """A tile of BM x BN; rows of both operands are contiguous, so their loads can be wide and run ahead."""
    rows, cols, inner = tl.arange(0, BM), tl.arange(0, BN), tl.arange(0, BK)
    acc = tl.zeros((BM, BN), tl.f32)
    for start in tl.range(0, k, BK):
        a = tl.load(a_ptr + (rows[:, None] * k + start + inner[None, :]))
        b = tl.load(b_ptr + ((start + inner)[:, None] * BN + cols[None, :]))
        acc = tl.dot(a, b, acc)
    tl.store(c_ptr + (rows[:, None] * BN + cols[None, :]), acc)


@tn.kernel
def total(x_ptr: tl.Ptr[D], y_ptr: tl.Ptr[D], ROWS: tl.Const[int], COLS: tl.Const[int]) -> None:
    at = tl.arange(0, ROWS)[:, None] * COLS + tl.arange(0, COLS)[None, :]
    tl.store(y_ptr + tl.arange(0, ROWS), tl.sum(tl.load(x_ptr + at), axis=1))
