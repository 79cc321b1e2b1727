"""Programs, loops, branches, helpers: what runs, how often and in which order."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import teeny as tn
import teeny.language as tl
from tests.language.executors import EXECUTORS, launch

both = pytest.mark.parametrize("executor", EXECUTORS)


@tn.kernel
def programs(y_ptr: tl.Ptr[tl.i32]) -> None:
    x, y, z = tl.program_id(0), tl.program_id(1), tl.program_id(axis=2)
    nx, ny, nz = tl.num_programs(0), tl.num_programs(1), tl.num_programs(2)
    at = ((z * ny + y) * nx + x) * 4
    tl.store(y_ptr + at, x)
    tl.store(y_ptr + at + 1, y)
    tl.store(y_ptr + at + 2, z)
    tl.store(y_ptr + at + 3, nx * 10000 + ny * 100 + nz)


@both
@pytest.mark.parametrize("grid", [(1,), (7,), (3, 2), (2, 3, 5), (1, 1, 4), (1000,), (1, 70, 3)])
def test_programs(executor: str, grid: tuple[int, ...]) -> None:
    nx, ny, nz = (*grid, 1, 1)[:3]
    found = np.full((nz, ny, nx, 4), -1, np.int32)
    launch(programs, executor, [found], grid)
    z, y, x = np.meshgrid(np.arange(nz), np.arange(ny), np.arange(nx), indexing="ij")
    wanted = np.stack([x, y, z, np.full_like(x, nx * 10000 + ny * 100 + nz)], axis=-1)
    assert np.array_equal(found, wanted)


@tn.kernel
def ranges(
    y_ptr: tl.Ptr[tl.i32], z_ptr: tl.Ptr[tl.i64], start: tl.Scalar[tl.i32], end: tl.Scalar[tl.i32],
    step: tl.Scalar[tl.i32], long: tl.Scalar[tl.i64],
) -> None:  # fmt: skip
    order = tl.zeros((), tl.i32)
    for i in tl.range(start, end, step):
        order = order * 31 + i
    tl.store(y_ptr, order)
    order = tl.zeros((), tl.i32)
    for i in tl.range(end):
        order = order * 31 + i
    tl.store(y_ptr + 1, order)
    order = tl.zeros((), tl.i32)
    for i in tl.range(start, end):
        order = order * 31 + i
    tl.store(y_ptr + 2, order)
    order = tl.zeros((), tl.i32)
    for i in tl.range(end, start, -2):
        order = order * 31 + i
    tl.store(y_ptr + 3, order)
    order = tl.zeros((), tl.i32)
    for i in range(start, end, 3):
        order = order * 31 + i
    tl.store(y_ptr + 4, order)
    wide = tl.zeros((), tl.i64)
    for i in tl.range(long, long + 3):
        wide = wide * 31 + i
    tl.store(z_ptr, wide)
    wide = tl.zeros((), tl.i64)
    for i in tl.range(start, end=long, step=1073741824):
        wide = wide + i
    tl.store(z_ptr + 1, wide)


def folded(numbers: Any, bits: int = 32) -> int:
    total = 0
    for i in numbers:
        total = total * 31 + i
    half = 1 << (bits - 1)
    return (total + half) % (2 * half) - half


@both
@pytest.mark.parametrize(
    ("start", "end", "step"), [(0, 5, 1), (2, 11, 3), (5, 2, 1), (-3, 4, 2), (7, 7, 1), (0, 1, 100), (-9, -1, 5)]
)
def test_ranges(executor: str, start: int, end: int, step: int) -> None:
    y, z = np.zeros(5, np.int32), np.zeros(2, np.int64)
    long = 1 << 40
    launch(ranges, executor, [y, z, start, end, step, long])
    wanted = [range(start, end, step), range(end), range(start, end), range(end, start, -2), range(start, end, 3)]
    assert list(y) == [folded(r) for r in wanted]
    assert list(z) == [folded(range(long, long + 3), 64), sum(range(start, long, 1073741824))]


@tn.kernel
def unrolled(y_ptr: tl.Ptr[tl.i32], n: tl.Scalar[tl.i32], STEPS: tl.Const[int]) -> None:
    tl.static_assert(STEPS >= 0, "no negative steps")
    order = n + 0
    for i in tl.static_range(STEPS):
        order = order * 31 + i
    for i in tl.static_range(1, STEPS, 2):
        order = order * 31 + i
        for j in tl.static_range(i):
            order = order * 3 + j
    for i in tl.static_range(STEPS, 0, -1):
        if i % 2 == 0:
            order = order + i
    tl.store(y_ptr, order)


@both
@pytest.mark.parametrize("steps", [0, 1, 4, 9])
def test_static_ranges(executor: str, steps: int) -> None:
    order = 5
    for i in range(steps):
        order = order * 31 + i
    for i in range(1, steps, 2):
        order = order * 31 + i
        for j in range(i):
            order = order * 3 + j
    for i in range(steps, 0, -1):
        if i % 2 == 0:
            order = order + i
    y = np.zeros(1, np.int32)
    launch(unrolled, executor, [y, 5], (1,), {"STEPS": steps})
    assert y[0] == (order + 2**31) % 2**32 - 2**31


def test_a_static_assert_refuses() -> None:
    with pytest.raises(tn.KernelError):
        unrolled.specialize(STEPS=-1)


@tn.kernel
def collatz(x_ptr: tl.Ptr[tl.i64], y_ptr: tl.Ptr[tl.i32]) -> None:
    """One number a program; a tile is carried along with the scalars."""
    pid = tl.program_id(0)
    x = tl.load(x_ptr + pid)
    steps = tl.zeros((), tl.i32)
    seen = tl.zeros((4,), tl.i64)
    while x > 1:
        if x % 2 == 0:
            x = x // 2
        else:
            x = 3 * x + 1
        steps += 1
        seen = tl.maximum(seen, x)
    tl.store(y_ptr + pid * 2, steps)
    tl.store(y_ptr + pid * 2 + 1, tl.max(seen).to(tl.i32))


@both
def test_while(executor: str) -> None:
    x = np.arange(0, 40, dtype=np.int64)
    y, wanted = np.zeros(80, np.int32), []
    for number in range(40):
        steps, top = 0, 0
        while number > 1:
            number = number // 2 if number % 2 == 0 else 3 * number + 1
            steps, top = steps + 1, max(top, number)
        wanted += [steps, top]
    launch(collatz, executor, [x, y], (40,))
    assert list(y) == wanted


def sign(x: tl.Tensor[tl.f32]) -> tl.Tensor[tl.i32]:
    """Returns on several paths of run-time conditions."""
    if x > 0:
        return tl.full((), 1, tl.i32)
    if x < 0:
        return tl.full((), -1, tl.i32)
    return tl.full((), 0, tl.i32)


def ordered(x: tl.Tensor[tl.f32], y: tl.Tensor[tl.f32]) -> tuple[tl.Tensor[tl.f32], tl.Tensor[tl.f32]]:
    if x <= y:
        return x, y
    return y, x


@tn.kernel
def branches(
    x_ptr: tl.Ptr[tl.f32], y_ptr: tl.Ptr[tl.f32], z_ptr: tl.Ptr[tl.i32], n: tl.Scalar[tl.i32], TWICE: tl.Const[bool]
) -> None:
    pid = tl.program_id(0)
    if pid >= n:
        return
    a, b = tl.load(x_ptr + pid * 2), tl.load(x_ptr + pid * 2 + 1)
    tl.store(z_ptr + pid, sign(a) * 10 + sign(b))
    low, high = ordered(a, b)
    if TWICE:
        low = low * 2
        scale = low - low + 3
    else:
        scale = tl.full((), 5, tl.f32)
    if low < 0 and high > 0:
        high = high * scale
    elif low == low:
        low = low - (scale - scale + 1 if high > 100 else low - low + 2)
    tl.store(y_ptr + pid * 2, low)
    tl.store(y_ptr + pid * 2 + 1, high)


@both
@pytest.mark.parametrize("twice", [True, False])
def test_branches_and_helpers(executor: str, twice: bool) -> None:
    x = np.array([1, 2, 5, -3, -7, -7, 0, -0.0, 300, 200, np.nan, 1, 2, np.nan, -1, 8], np.float32)
    y, z = np.full(20, 77, np.float32), np.full(10, 77, np.int32)
    wanted_y, wanted_z = y.copy(), z.copy()
    for pid in range(7):
        a, b = x[2 * pid], x[2 * pid + 1]
        wanted_z[pid] = (int(a > 0) - int(a < 0)) * 10 + int(b > 0) - int(b < 0)
        low, high = (a, b) if a <= b else (b, a)
        low = low * 2 if twice else low
        if low < 0 and high > 0:
            high = high * (3 if twice else 5)
        elif low == low:
            low = low - (1 if high > 100 else 2)
        wanted_y[2 * pid : 2 * pid + 2] = low, high
    launch(branches, executor, [x, y, z, 7], (8,), {"TWICE": twice})
    assert np.array_equal(z, wanted_z)
    assert np.array_equal(y, wanted_y, equal_nan=True)
