"""Kernels with tensor descriptors and what they mean, element by element. No pytest in here."""

from __future__ import annotations

import itertools
from typing import Any, TypeVar

import numpy as np

import teeny as tn
import teeny.language as tl

D = TypeVar("D", bound=tl.Dtype)
F = TypeVar("F", bound=tl.Float)
I = TypeVar("I", bound=tl.Int)
N = TypeVar("N", bound=tl.Num)


@tn.kernel
def line(
    x: tl.Ptr[D], out: tl.Ptr[D], y: tl.Ptr[D], n: tl.Scalar[tl.i32], i: tl.Scalar[tl.i32], B: tl.Const[tuple[int]],
    PADDING: tl.Const[str],
) -> None:  # fmt: skip
    p = tl.make_tensor_descriptor(x, (n,), (1,), B, PADDING)
    q = tl.make_tensor_descriptor(y, (n,), (1,), B)
    v = p.load((i,))
    tl.make_tensor_descriptor(out, B, (1,), B).store((0,), v)
    q.store((i,), v)


@tn.kernel
def plane(
    x: tl.Ptr[D], out: tl.Ptr[D], y: tl.Ptr[D], m: tl.Scalar[tl.i32], n: tl.Scalar[tl.i32], s: tl.Scalar[tl.i64],
    i: tl.Scalar[tl.i32], j: tl.Scalar[tl.i32], B: tl.Const[tuple[int, int]], PADDING: tl.Const[str],
) -> None:  # fmt: skip
    p = tl.make_tensor_descriptor(x, (m, n), (s, 1), B, PADDING)
    q = tl.make_tensor_descriptor(y, [m, n], [s, 1], [B[0], B[1]])
    v = p.load((i, j))
    tl.make_tensor_descriptor(out, B, (B[1], 1), B).store((0, 0), v)
    q.store([i, j], v)


@tn.kernel
def space(
    x: tl.Ptr[D], out: tl.Ptr[D], y: tl.Ptr[D], l: tl.Scalar[tl.i32], m: tl.Scalar[tl.i32], n: tl.Scalar[tl.i32],
    s0: tl.Scalar[tl.i64], s1: tl.Scalar[tl.i32], h: tl.Scalar[tl.i32], i: tl.Scalar[tl.i32], j: tl.Scalar[tl.i32],
    B: tl.Const[tuple[int, int, int]], PADDING: tl.Const[str],
) -> None:  # fmt: skip
    p = tl.make_tensor_descriptor(x, (l, m, n), (s0, s1, 1), B, PADDING)
    q = tl.make_tensor_descriptor(y, (l, m, n), (s0, s1, 1), B)
    v = tl.load_tensor_descriptor(p, (h, i, j))
    o = tl.make_tensor_descriptor(out, B, (B[1] * B[2], B[2], 1), B)
    tl.store_tensor_descriptor(o, (0, 0, 0), v)
    tl.store_tensor_descriptor(q, (h, i, j), v)


TILES = {1: line, 2: plane, 3: space}
BLOCKS = {1: [(16,), (64,)], 2: [(4, 16), (8, 32), (1, 64)], 3: [(2, 4, 16), (1, 2, 32), (4, 1, 16)]}


def tile_of(x: Any, corner: tuple[int, ...], block: tuple[int, ...], outside: Any) -> Any:
    """The tile at a corner, element by element."""
    found = np.full(block, outside, x.dtype)
    for lane, place in lanes(x.shape, corner, block):
        found[lane] = x[place]
    return found


def lanes(shape: tuple[int, ...], corner: tuple[int, ...], block: tuple[int, ...]) -> Any:
    """Places in a tile and in the array, for those that the array has."""
    for lane in itertools.product(*map(range, block)):
        place = tuple(c + at for c, at in zip(corner, lane, strict=True))
        if all(0 <= p < n for p, n in zip(place, shape, strict=True)):
            yield lane, place


def tile_arguments(seed: int, rank: int, dtype: Any) -> tuple[list[Any], dict[str, Any], Any, Any]:
    """Arguments, Consts, the tile that is read and the array that is written, at random."""
    rng = np.random.default_rng(seed)
    block = BLOCKS[rank][rng.integers(len(BLOCKS[rank]))]
    shape = tuple(int(n) for n in rng.integers(0 if rank < 3 else 1, 40, rank))
    corner = tuple(int(n) for n in rng.integers(-40, 44, rank))
    wide = (*shape[:-1], -(-max(shape[-1], 1) // 16) * 16)
    padding = "nan" if dtype in (np.float32, np.float16) and rng.integers(2) else "zero"
    x, y = (aligned(wide, dtype) for _ in range(2))
    x[...], y[...] = (rng.integers(0, 100, wide).astype(dtype) for _ in range(2))
    inside = tuple(slice(0, n) for n in shape)
    wanted = tile_of(x[inside], corner, block, np.nan if padding == "nan" else 0)
    target = y.copy()
    for lane, place in lanes(shape, corner, block):
        target[place] = wanted[lane]
    out = aligned(block, dtype)
    out[...] = 7
    strides = [int(np.prod(wide[axis + 1 :])) for axis in range(rank - 1)]
    return [x, out, y, *shape, *strides, *corner], {"B": block, "PADDING": padding}, wanted, target


def aligned(shape: tuple[int, ...], dtype: Any) -> Any:
    """An array that starts at a multiple of 16 bytes."""
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    memory = np.zeros(size + 16, np.uint8)
    start = -memory.ctypes.data % 16
    return memory[start : start + size].view(dtype).reshape(shape)


@tn.kernel
def rows(
    x: tl.Ptr[D], y: tl.Ptr[D], at: tl.Ptr[tl.i32], m: tl.Scalar[tl.i32], n: tl.Scalar[tl.i32], j: tl.Scalar[tl.i32],
    k: tl.Scalar[tl.i32], ROWS: tl.Const[int], COLS: tl.Const[int],
) -> None:  # fmt: skip
    p = tl.make_tensor_descriptor(x, (m, n), (n, 1), (1, COLS))
    q = tl.make_tensor_descriptor(y, (m, n), (n, 1), (1, COLS))
    index = tl.load(at + tl.arange(0, ROWS))
    q.scatter(p.gather(index, j), index, k)


def rows_moved(x: Any, y: Any, at: Any, j: int, k: int, columns: int) -> Any:
    """What `rows` leaves in y; the rows differ."""
    found = y.copy()
    for row in at:
        for lane in range(columns):
            if 0 <= row < x.shape[0] and 0 <= k + lane < x.shape[1]:
                found[row, k + lane] = x[row, j + lane] if 0 <= j + lane < x.shape[1] else 0
    return found


@tn.kernel
def sums(x: tl.Ptr[N], y: tl.Ptr[N], m: tl.Scalar[tl.i32], n: tl.Scalar[tl.i32]) -> None:
    p = tl.make_tensor_descriptor(x, (m, n), (n, 1), (8, 16))
    q = tl.make_tensor_descriptor(y, (m, n), (n, 1), (8, 16))
    i, j = tl.program_id(0) * 8 - 3, tl.program_id(1) * 16 - 5
    q.atomic_add((i + 2, j), p.load((i, j)))


@tn.kernel
def extremes(x: tl.Ptr[N], y: tl.Ptr[N], m: tl.Scalar[tl.i32], n: tl.Scalar[tl.i32]) -> None:
    p = tl.make_tensor_descriptor(x, (m, n), (n, 1), (8, 16))
    q = tl.make_tensor_descriptor(y, (m, n), (n, 1), (8, 16))
    v = p.load((0, 0))
    q.atomic_max((1, 4), v)
    q.atomic_min((-2, -4), v)


@tn.kernel
def bits(x: tl.Ptr[I], y: tl.Ptr[I], m: tl.Scalar[tl.i32], n: tl.Scalar[tl.i32]) -> None:
    p = tl.make_tensor_descriptor(x, (m, n), (n, 1), (8, 16))
    q = tl.make_tensor_descriptor(y, (m, n), (n, 1), (8, 16))
    v = p.load((0, 0))
    q.atomic_and((1, 4), v)
    q.atomic_or((-2, -4), v)
    q.atomic_xor((6, 6), v)


def changed(y: Any, v: Any, corner: tuple[int, int], f: Any) -> None:
    """One atomic operation on a tile."""
    for lane, place in lanes(y.shape, corner, v.shape):
        y[place] = f(y[place], v[lane])


def twice(d: tl.TensorDescriptor[F], i: tl.Scalar[tl.i32]) -> tl.Tensor[F]:
    return d.load((i, 0)) * 2.0


@tn.kernel
def chosen(
    x: tl.Ptr[F], y: tl.Ptr[F], out: tl.Ptr[F], m: tl.Scalar[tl.i32], n: tl.Scalar[tl.i32], flag: tl.Scalar[tl.i32],
    SAME: tl.Const[bool],
) -> None:  # fmt: skip
    """Descriptors through a branch, a loop, a tuple, a helper and a compile-time branch; two paddings meet."""
    p = tl.make_tensor_descriptor(x, (m, n), (n, 1), (8, 16), padding_option="nan")
    q = p if SAME else tl.make_tensor_descriptor(y, (m, n), (n, 1), (8, 16))
    pair = (p, q)
    if flag > 0:
        pair = (q, p)
    o = tl.make_tensor_descriptor(out, (q.shape[0], q.shape[1]), (q.strides[0], 1), q.block_shape)
    for k in tl.range(0, m, 8):
        o.store((k, 0), twice(pair[0], k - 2) + pair[1].load((k, 0)))
        if k > 8:
            pair = (pair[1], pair[0])


def chosen_meaning(x: Any, y: Any, flag: int, same: bool) -> Any:
    out = np.zeros_like(x)
    pair = [(x, np.nan), (x, np.nan) if same else (y, 0)]
    if flag > 0:
        pair.reverse()
    for k in range(0, x.shape[0], 8):
        first = tile_of(pair[0][0], (k - 2, 0), (8, 16), pair[0][1]) * 2
        value = first + tile_of(pair[1][0], (k, 0), (8, 16), pair[1][1])
        for lane, place in lanes(out.shape, (k, 0), (8, 16)):
            out[place] = value[lane]
        if k > 8:
            pair.reverse()
    return out


@tn.kernel
def asked(x: tl.Ptr[tl.i32], m: tl.Scalar[tl.i32], n: tl.Scalar[tl.i32], flag: tl.Scalar[tl.i32]) -> None:
    """The sizes of one of two descriptors."""
    p = tl.make_tensor_descriptor(x, (n, m), (2 * n, 1), (8, 16))
    if flag > 0:
        p = tl.make_tensor_descriptor(x, (m, n), (n, 1), (8, 16))
    rows, columns = p.shape
    row, one = p.strides
    tl.store(x, rows)
    tl.store(x + 1, columns)
    tl.store(x + 2, row.to(tl.i32))
    tl.store(x + 3, one.to(tl.i32))
