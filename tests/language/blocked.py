"""Kernels with block pointers of each rank, views to use them on, and what they mean. No pytest in here."""

from __future__ import annotations

import itertools
from typing import Any, TypeVar

import numpy as np

import teeny as tn
import teeny.language as tl

D = TypeVar("D", bound=tl.Dtype)


@tn.kernel
def line(
    x: tl.Ptr[D],
    out: tl.Ptr[D],
    y: tl.Ptr[D],
    n: tl.Scalar[tl.i64],
    s: tl.Scalar[tl.i64],
    at: tl.Scalar[tl.i64],
    move: tl.Scalar[tl.i32],
    t: tl.Scalar[tl.i64],
    B: tl.Const[tuple[int]],
    CHECK: tl.Const[tuple[int, ...]],
    PADDING: tl.Const[str],
) -> None:
    p = tl.make_block_ptr(x, (n,), (s,), (at,), B, (0,))
    p = tl.advance(p, (move,))
    q = tl.make_block_ptr(y, (n,), (t,), (at + move,), B, (0,))
    v = tl.load(p, boundary_check=CHECK, padding_option=PADDING)
    tl.store(tl.make_block_ptr(out, (B[0],), (1,), (0,), B, (0,)), v)
    tl.store(q, v, boundary_check=CHECK)


@tn.kernel
def plane(
    x: tl.Ptr[D],
    out: tl.Ptr[D],
    y: tl.Ptr[D],
    m: tl.Scalar[tl.i64],
    n: tl.Scalar[tl.i64],
    s0: tl.Scalar[tl.i64],
    s1: tl.Scalar[tl.i64],
    i: tl.Scalar[tl.i64],
    j: tl.Scalar[tl.i64],
    di: tl.Scalar[tl.i32],
    dj: tl.Scalar[tl.i32],
    t0: tl.Scalar[tl.i64],
    t1: tl.Scalar[tl.i64],
    B: tl.Const[tuple[int, int]],
    CHECK: tl.Const[tuple[int, ...]],
    PADDING: tl.Const[str],
) -> None:
    p = tl.make_block_ptr(x, (m, n), (s0, s1), (i, j), B, (1, 0))
    p = tl.advance(p, (di, dj))
    q = tl.make_block_ptr(y, (m, n), (t0, t1), (i + di, j + dj), B, (1, 0))
    v = tl.load(p, boundary_check=CHECK, padding_option=PADDING)
    tl.store(tl.make_block_ptr(out, B, (B[1], 1), (0, 0), B, (1, 0)), v)
    tl.store(q, v, boundary_check=CHECK)


@tn.kernel
def space(
    x: tl.Ptr[D],
    out: tl.Ptr[D],
    y: tl.Ptr[D],
    l: tl.Scalar[tl.i64],
    m: tl.Scalar[tl.i64],
    n: tl.Scalar[tl.i64],
    s0: tl.Scalar[tl.i64],
    s1: tl.Scalar[tl.i64],
    s2: tl.Scalar[tl.i64],
    h: tl.Scalar[tl.i64],
    i: tl.Scalar[tl.i64],
    j: tl.Scalar[tl.i64],
    dh: tl.Scalar[tl.i32],
    di: tl.Scalar[tl.i32],
    dj: tl.Scalar[tl.i32],
    t0: tl.Scalar[tl.i64],
    t1: tl.Scalar[tl.i64],
    t2: tl.Scalar[tl.i64],
    B: tl.Const[tuple[int, int, int]],
    CHECK: tl.Const[tuple[int, ...]],
    PADDING: tl.Const[str],
) -> None:
    p = tl.make_block_ptr(x, (l, m, n), (s0, s1, s2), (h, i, j), B, (2, 1, 0))
    p = tl.advance(p, (dh, di, dj))
    q = tl.make_block_ptr(y, (l, m, n), (t0, t1, t2), (h + dh, i + di, j + dj), B, (2, 1, 0))
    v = tl.load(p, boundary_check=CHECK, padding_option=PADDING)
    tl.store(tl.make_block_ptr(out, B, (B[1] * B[2], B[2], 1), (0, 0, 0), B, (2, 1, 0)), v)
    tl.store(q, v, boundary_check=CHECK)


KERNELS = {1: line, 2: plane, 3: space}
BLOCKS = {1: [(1,), (4,), (16,)], 2: [(4, 8), (8, 1), (1, 16), (2, 2)], 3: [(2, 4, 4), (1, 2, 8), (4, 1, 2)]}


def viewed(rng: np.random.Generator, shape: tuple[int, ...], dtype: Any) -> Any:
    """A view of that shape with gaps, reversed or swapped axes."""
    steps = [int(rng.choice([1, 2, 3, -1, -2])) for _ in shape]
    order = [int(a) for a in rng.permutation(len(shape))]
    whole = rng.integers(0, 100, [shape[a] * abs(steps[a]) + 1 for a in order]).astype(dtype)
    turned = whole.transpose([order.index(a) for a in range(len(shape))])
    return turned[tuple(slice(None, None, s) for s in steps)][tuple(slice(0, n) for n in shape)]


def block_of(x: Any, corner: tuple[int, ...], block: tuple[int, ...], outside: Any) -> Any:
    """The block at a corner, element by element."""
    found = np.full(block, outside, x.dtype)
    for lane in itertools.product(*map(range, block)):
        place = tuple(c + at for c, at in zip(corner, lane, strict=True))
        if all(0 <= p < n for p, n in zip(place, x.shape, strict=True)):
            found[lane] = x[place]
    return found


def held(view: Any) -> Any:
    """A copy of a view with its strides, in memory of its own."""
    if not view.size:
        return view.copy()
    low, high = np.lib.array_utils.byte_bounds(view)
    memory = np.empty(high - low, np.uint8)
    start = view.__array_interface__["data"][0] - low
    made = np.ndarray(view.shape, view.dtype, memory, start, view.strides)
    made[...] = view
    return made


def steps(view: Any) -> tuple[int, ...]:
    return tuple(s // view.itemsize for s in view.strides)
