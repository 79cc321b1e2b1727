"""Block pointers and tensor descriptors on a CUDA device, against slices of arrays; skipped where there is none."""

from __future__ import annotations

from importlib.util import find_spec

import numpy as np
import pytest

from teeny.runtime.cuda_driver import problem
from tests.language import blocked, described
from tests.language.described import aligned, changed
from tests.language.executors import launch

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(problem() is not None, reason=f"no CUDA device ({problem()})"),
    pytest.mark.skipif(find_spec("triton") is None, reason="triton is not installed"),
]
KINDS = {"f32": np.float32, "f16": np.float16, "i32": np.int32, "u16": np.uint16, "i64": np.int64}


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("rank", [1, 2, 3])
@pytest.mark.parametrize("dtype", KINDS)
def test_tiles_are_slices(seed: int, rank: int, dtype: str) -> None:
    arguments, constants, wanted, target = described.tile_arguments(seed, rank, KINDS[dtype])
    launch(described.TILES[rank], "cuda", arguments, constants=constants)
    np.testing.assert_array_equal(arguments[1], wanted)
    np.testing.assert_array_equal(arguments[2], target)


@pytest.mark.parametrize(("j", "k"), [(0, 0), (8, -4), (-8, 28)])
def test_rows(j: int, k: int) -> None:
    x, y = aligned((20, 36), np.float32), aligned((20, 36), np.float32)
    x[...] = np.arange(720).reshape(20, 36)
    y[...] = -1
    at = np.array([3, 19, 0, -1, 20, 5, 7, 1 << 30], np.int32)
    wanted = described.rows_moved(x, y, at, j, k, 16)
    launch(described.rows, "cuda", [x, y, at, 20, 36, j, k], constants={"ROWS": 8, "COLS": 16})
    np.testing.assert_array_equal(y, wanted)


@pytest.mark.parametrize("dtype", ["int32", "uint32", "uint64", "float32"])
def test_sums(dtype: str) -> None:
    kind = np.dtype(dtype)
    x, y = aligned((20, 36), kind), aligned((20, 36), kind)
    x[...] = np.arange(720).reshape(20, 36) % 50
    y[...] = 3
    wanted = y.copy()
    for i in range(3):
        for j in range(3):
            corner = (8 * i - 3, 16 * j - 5)
            changed(wanted, described.tile_of(x, corner, (8, 16), 0), (corner[0] + 2, corner[1]), np.add)
    launch(described.sums, "cuda", [x, y, 20, 36], (3, 3))
    np.testing.assert_array_equal(y, wanted)


@pytest.mark.parametrize("dtype", ["int32", "uint32", "int64", "uint64"])
def test_extremes_and_bits(dtype: str) -> None:
    kind = np.dtype(dtype)
    rng = np.random.default_rng(5)
    x, y, z = (aligned((20, 36), kind) for _ in range(3))
    for one in (x, y, z):
        one[...] = rng.integers(np.iinfo(kind).min, np.iinfo(kind).max, (20, 36), kind)
    v = x[:8, :16]
    wanted, other = y.copy(), z.copy()
    changed(wanted, v, (1, 4), max)
    changed(wanted, v, (-2, -4), min)
    changed(other, v, (1, 4), np.bitwise_and)
    changed(other, v, (-2, -4), np.bitwise_or)
    changed(other, v, (6, 6), np.bitwise_xor)
    launch(described.extremes, "cuda", [x, y, 20, 36])
    launch(described.bits, "cuda", [x, z, 20, 36])
    np.testing.assert_array_equal(y, wanted)
    np.testing.assert_array_equal(z, other)


@pytest.mark.parametrize("flag", [0, 1])
@pytest.mark.parametrize("same", [False, True])
def test_control_flow(flag: int, same: bool) -> None:
    x, y, out = (aligned((37, 20), np.float32) for _ in range(3))
    x[...] = np.arange(740).reshape(37, 20)
    y[...] = -x
    launch(described.chosen, "cuda", [x, y, out, 37, 20, flag], constants={"SAME": same})
    np.testing.assert_array_equal(out, described.chosen_meaning(x, y, flag, same))


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("rank", [1, 2, 3])
def test_blocks(seed: int, rank: int) -> None:
    rng = np.random.default_rng(seed)
    block = blocked.BLOCKS[rank][rng.integers(len(blocked.BLOCKS[rank]))]
    shape = tuple(int(n) for n in rng.integers(0, 14, rank))
    corner = tuple(int(n) for n in rng.integers(-20, 20, rank))
    x, y = (np.zeros(shape, np.float32) for _ in range(2))
    x[...], y[...] = rng.integers(0, 99, shape), rng.integers(0, 99, shape)
    wanted = blocked.block_of(x, corner, block, np.nan)
    target = y.copy()
    for lane, place in described.lanes(shape, corner, block):
        target[place] = wanted[lane]
    strides = blocked.steps(x)
    out = np.ones(block, np.float32)
    constants = {"B": block, "CHECK": tuple(range(rank)), "PADDING": "nan"}
    numbers = [*shape, *strides, *corner, *([0] * rank), *strides]
    launch(blocked.KERNELS[rank], "cuda", [x, out, y, *numbers], constants=constants)
    np.testing.assert_array_equal(out, wanted)
    np.testing.assert_array_equal(y, target)
