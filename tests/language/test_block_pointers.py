"""Block pointers against slices of NumPy arrays: random ranks, views, offsets outside, paddings, no elements.

The oracle picks elements one by one. Everything runs on the reference and on the CPU.
"""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import teeny as tn
import teeny.language as tl
from tests.language.blocked import BLOCKS, KERNELS, block_of, held, steps, viewed
from tests.language.executors import EXECUTORS, launch

F = TypeVar("F", bound=tl.Float)


NAMES = {"f32": np.float32, "f16": np.float16, "i32": np.int32, "u8": np.uint8, "bool": np.bool_, "i64": np.int64}


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


def test_every_product_is_of_64_bits() -> None:
    products = [one for one in far.specialize().mlir.splitlines() if "arith.muli" in one]
    assert products
    assert all(one.endswith(("i64", "i64>")) for one in products)


def test_offsets_beyond_32_bits(tmp_path: Path) -> None:
    """Row times stride does not fit an i32. The array is a file with holes, of which two pages are written."""
    stride, row = 65552, 69000
    try:
        x: Any = np.memmap(tmp_path / "sparse.bin", np.uint8, "w+", shape=(70000 * stride,))
    except OSError:
        pytest.skip("no room for a file of 4.6 GB, even with holes")
    x[row * stride : row * stride + 4] = [1, 2, 3, 4]
    x[(row + 1) * stride : (row + 1) * stride + 4] = [5, 6, 7, 8]
    out = np.zeros((2, 4), np.uint8)
    far[(1,)](x, out, row, stride)
    np.testing.assert_array_equal(out, [[1, 2, 3, 4], [5, 6, 7, 8]])
