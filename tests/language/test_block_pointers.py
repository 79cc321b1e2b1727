"""Block pointers against slices of NumPy arrays: random ranks, views, offsets outside of the array, paddings, empty arrays.

The oracle picks elements one by one. Everything runs on the reference and on the CPU.
"""

from __future__ import annotations

import itertools
from typing import Any, TypeVar

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import teeny as tn
import teeny.language as tl
from tests.language.executors import EXECUTORS, launch

D = TypeVar("D", bound=tl.Dtype)
F = TypeVar("F", bound=tl.Float)


@tn.kernel
def line(
    x: tl.Ptr[D], out: tl.Ptr[D], y: tl.Ptr[D], n: tl.Scalar[tl.i64], s: tl.Scalar[tl.i64], at: tl.Scalar[tl.i64], move: tl.Scalar[tl.i32], t: tl.Scalar[tl.i64],
    B: tl.Const[tuple[int]], CHECK: tl.Const[tuple[int, ...]], PADDING: tl.Const[str],
) -> None:  # fmt: skip
    p = tl.make_block_ptr(x, (n,), (s,), (at,), B, (0,))
    p = tl.advance(p, (move,))
    q = tl.make_block_ptr(y, (n,), (t,), (at + move,), B, (0,))
    v = tl.load(p, boundary_check=CHECK, padding_option=PADDING)
    tl.store(tl.make_block_ptr(out, (B[0],), (1,), (0,), B, (0,)), v)
    tl.store(q, v, boundary_check=CHECK)


@tn.kernel
def plane(
    x: tl.Ptr[D], out: tl.Ptr[D], y: tl.Ptr[D], m: tl.Scalar[tl.i64], n: tl.Scalar[tl.i64], s0: tl.Scalar[tl.i64], s1: tl.Scalar[tl.i64], i: tl.Scalar[tl.i64], j: tl.Scalar[tl.i64], di: tl.Scalar[tl.i32], dj: tl.Scalar[tl.i32],
    t0: tl.Scalar[tl.i64], t1: tl.Scalar[tl.i64], B: tl.Const[tuple[int, int]], CHECK: tl.Const[tuple[int, ...]], PADDING: tl.Const[str],
) -> None:  # fmt: skip
    p = tl.make_block_ptr(x, (m, n), (s0, s1), (i, j), B, (1, 0))
    p = tl.advance(p, (di, dj))
    q = tl.make_block_ptr(y, (m, n), (t0, t1), (i + di, j + dj), B, (1, 0))
    v = tl.load(p, boundary_check=CHECK, padding_option=PADDING)
    tl.store(tl.make_block_ptr(out, B, (B[1], 1), (0, 0), B, (1, 0)), v)
    tl.store(q, v, boundary_check=CHECK)


@tn.kernel
def space(
    x: tl.Ptr[D], out: tl.Ptr[D], y: tl.Ptr[D], l: tl.Scalar[tl.i64], m: tl.Scalar[tl.i64], n: tl.Scalar[tl.i64], s0: tl.Scalar[tl.i64], s1: tl.Scalar[tl.i64], s2: tl.Scalar[tl.i64], h: tl.Scalar[tl.i64], i: tl.Scalar[tl.i64],
    j: tl.Scalar[tl.i64], dh: tl.Scalar[tl.i32], di: tl.Scalar[tl.i32], dj: tl.Scalar[tl.i32], t0: tl.Scalar[tl.i64], t1: tl.Scalar[tl.i64], t2: tl.Scalar[tl.i64],
    B: tl.Const[tuple[int, int, int]], CHECK: tl.Const[tuple[int, ...]], PADDING: tl.Const[str],
) -> None:  # fmt: skip
    p = tl.make_block_ptr(x, (l, m, n), (s0, s1, s2), (h, i, j), B, (2, 1, 0))
    p = tl.advance(p, (dh, di, dj))
    q = tl.make_block_ptr(y, (l, m, n), (t0, t1, t2), (h + dh, i + di, j + dj), B, (2, 1, 0))
    v = tl.load(p, boundary_check=CHECK, padding_option=PADDING)
    tl.store(tl.make_block_ptr(out, B, (B[1] * B[2], B[2], 1), (0, 0, 0), B, (2, 1, 0)), v)
    tl.store(q, v, boundary_check=CHECK)


KERNELS = {1: line, 2: plane, 3: space}
BLOCKS = {1: [(1,), (4,), (16,)], 2: [(4, 8), (8, 1), (1, 16), (2, 2)], 3: [(2, 4, 4), (1, 2, 8), (4, 1, 2)]}
NAMES = {"f32": np.float32, "f16": np.float16, "i32": np.int32, "u8": np.uint8, "bool": np.bool_, "i64": np.int64}


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


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), rank=st.sampled_from((1, 2, 3)), dtype=st.sampled_from(sorted(NAMES)))
def test_blocks_are_slices(seed: int, rank: int, dtype: str) -> None:
    rng = np.random.default_rng(seed)
    block = BLOCKS[rank][rng.integers(len(BLOCKS[rank]))]
    shape = tuple(int(n) for n in rng.integers(0, 14, rank))
    corner = tuple(int(n) for n in rng.integers(-20, 20, rank))
    inside = [0 <= c <= n - b for c, n, b in zip(corner, shape, block, strict=True)]
    check = tuple(a for a in range(rank) if not inside[a] or rng.integers(2))
    padding = "nan" if dtype[0] == "f" and rng.integers(2) else "zero"
    move = tuple(int(n) for n in rng.integers(-9, 9, rank))
    x, y = viewed(rng, shape, NAMES[dtype]), viewed(rng, shape, NAMES[dtype])
    outside = np.nan if padding == "nan" else 0
    wanted = block_of(x, corner, block, outside)
    target = y.copy()
    for lane in itertools.product(*map(range, block)):
        place = tuple(c + at for c, at in zip(corner, lane, strict=True))
        if all(0 <= p < n for p, n in zip(place, shape, strict=True)):
            target[place] = wanted[lane]
    for executor in EXECUTORS:
        found, into = np.ones(block, NAMES[dtype]), held(y)
        numbers = (*shape, *steps(x), *(c - d for c, d in zip(corner, move, strict=True)), *move, *steps(into))
        constants = {"B": block, "CHECK": check, "PADDING": padding}
        launch(KERNELS[rank], executor, [x, found, into, *numbers], constants=constants, dtypes={"D": leaf(dtype)})
        np.testing.assert_array_equal(found, wanted, executor)
        np.testing.assert_array_equal(into, target, executor)


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


def leaf(name: str) -> Any:
    return getattr(tl, "bool_" if name == "bool" else name)


@tn.kernel
def walk(
    x: tl.Ptr[F],
    out: tl.Ptr[F],
    m: tl.Scalar[tl.i32],
    n: tl.Scalar[tl.i32],
    turns: tl.Scalar[tl.i32],
    mode: tl.Scalar[tl.i32],
    B: tl.Const[int],
    SWAP: tl.Const[bool],
) -> None:
    """Block pointers through a loop, a branch, a `while`, a tuple, and a compile-time branch."""
    p = tl.make_block_ptr(x, (m, n), (n, 1), (0, -B), (B, B), (1, 0))
    start = tl.make_block_ptr(x, (n, m), (1, n), (0, 0), (B, B), (0, 1)) if SWAP else p
    pair = (p, start)
    total = tl.zeros((B, B), x.dtype)
    for k in tl.range(0, turns):
        total += tl.load(pair[0], boundary_check=(0, 1), padding_option="zero")
        if mode > 0:
            pair = (tl.advance(pair[0], (0, B)), tl.advance(pair[1], (1, 0)))
        else:
            pair = (tl.advance(pair[0], (k, 1)), pair[1])
    left = turns
    while left > 0:
        total += tl.load(pair[1], boundary_check=(0, 1), padding_option="zero")
        pair = (pair[0], pair[1].advance((0, mode)))
        left -= 1
    tl.store(tl.make_block_ptr(out, (B, B), (B, 1), (0, 0), (B, B), (1, 0)), total)


@pytest.mark.parametrize("executor", EXECUTORS)
@pytest.mark.parametrize("swap", [False, True])
@pytest.mark.parametrize("mode", [0, 1, 3])
@pytest.mark.parametrize("turns", [0, 1, 4])
def test_control_flow(executor: str, swap: bool, mode: int, turns: int) -> None:
    m, n, size = 11, 19, 8
    x = np.arange(m * n, dtype=np.float32).reshape(m, n)
    corner, other = [0, -size], [0, 0] if swap else [0, -size]
    wanted = np.zeros((size, size), np.float32)
    for k in range(turns):
        wanted += block_of(x, (corner[0], corner[1]), (size, size), 0)
        corner = [corner[0], corner[1] + size] if mode > 0 else [corner[0] + k, corner[1] + 1]
        other[0] += mode > 0
    for _ in range(turns):
        wanted += block_of(x.T if swap else x, (other[0], other[1]), (size, size), 0)
        other[1] += mode
    out = np.zeros((size, size), np.float32)
    launch(
        walk, executor, [x, out, m, n, turns, mode], constants={"B": size, "SWAP": swap}, dtypes={"F": tl.f32}
    )  # fmt: skip
    np.testing.assert_array_equal(out, wanted)


@tn.kernel
def far(x: tl.Ptr[tl.u8], out: tl.Ptr[tl.u8], row: tl.Scalar[tl.i32], stride: tl.Scalar[tl.i32]) -> None:
    p = tl.make_block_ptr(x, (70000, 4), (stride, 1), (row, 0), (2, 4), (1, 0))
    v = tl.load(p, boundary_check=(0,), padding_option="zero")
    tl.store(tl.make_block_ptr(out, (2, 4), (4, 1), (0, 0), (2, 4), (1, 0)), v)


def test_offsets_beyond_32_bits() -> None:
    """Row times stride does not fit an i32: every product is of 64 bits. (Arrays of 4 GiB are for other tests.)"""
    products = [one for one in far.specialize().mlir.splitlines() if "arith.muli" in one]
    assert products
    assert all(one.endswith("i64") or one.endswith("i64>") for one in products)
