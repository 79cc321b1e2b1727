"""Tuples of Consts, tensors and pointers: built, starred, unpacked, looped over, carried, passed and returned."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import teeny as tn
import teeny.language as tl
from tests.language.executors import EXECUTORS, launch

both = pytest.mark.parametrize("executor", EXECUTORS)
LAST: tl.Const[tuple[int, ...]] = (2,)


def sum_and_difference(a: tl.Tensor[tl.f32], b: tl.Tensor[tl.f32]) -> tuple[tl.Tensor[tl.f32], tl.Tensor[tl.f32]]:
    return a + b, a - b


def total(*parts: tl.Tensor[tl.f32]) -> tl.Tensor[tl.f32]:
    found = parts[0]
    for part in parts[1:]:
        found = found + part
    return found


def swapped(pair: tuple[tl.Tensor[tl.f32], tl.Tensor[tl.f32]]) -> tuple[tl.Tensor[tl.f32], tl.Tensor[tl.f32]]:
    return pair[1], pair[0]


@tn.kernel
def builds(x_ptr: tl.Ptr[tl.f32], y_ptr: tl.Ptr[tl.f32]) -> None:
    x = tl.load(x_ptr)
    a, b = swapped((x, x + 1.0))
    pair = sum_and_difference(*swapped((a, b)))
    first, *rest = (*pair, a, b)
    tl.store(y_ptr, first)
    for i, one in enumerate(rest):
        tl.store(y_ptr + 1 + i, one)
    tl.store(y_ptr + 4, total(a, b, *pair))
    (p, q), r = pair, total(a)
    for at, (u, v) in enumerate(zip((p, q), (r, a), strict=True)):
        tl.store(y_ptr + 5 + at, u * v)
    for place, factor in [(7, 2), (8, 3)]:
        tl.store(y_ptr + place, x * factor)
    squares = ()
    for i in tl.static_range(3):
        squares += (x * i * i,)
    tl.store(y_ptr + 9, squares[-1] + len(squares[1:]))
    *some, last = tl.tuple([x, 2])
    tl.store(y_ptr + 10, some[0] * last)
    for ptr, value in ((x_ptr, -1.0), (y_ptr + 11, 1.0)):
        tl.store(ptr, value)


@both
def test_built(executor: str) -> None:
    x, y = np.full(1, 3, np.float32), np.zeros(12, np.float32)
    launch(builds, executor, [x, y])
    a, b = 4, 3
    p, q = b + a, b - a
    assert list(y) == [p, q, a, b, a + b + p + q, p * a, q * a, 6, 9, 14, 6, 1]
    assert x[0] == -1


@tn.kernel
def carried(x_ptr: tl.Ptr[tl.f32], n: tl.Scalar[tl.i32]) -> None:
    pair = (tl.load(x_ptr), tl.load(x_ptr + 1))
    for i in tl.range(n):
        pair = sum_and_difference(*pair)
        if i > 1:
            pair = swapped(pair)
        else:
            for _ in tl.range(2):
                pair = (pair[0] + 1.0, pair[1])
    tl.store(x_ptr, pair[0])
    tl.store(x_ptr + 1, pair[1])


@both
@pytest.mark.parametrize("n", [0, 1, 5])
def test_carried(executor: str, n: int) -> None:
    x = np.array([1, 2], np.float32)
    launch(carried, executor, [x, n])
    a, b = 1, 2
    for i in range(n):
        a, b = a + b, a - b
        if i > 1:
            a, b = b, a
        else:
            a += 2
    assert list(x) == [a, b]


@tn.kernel
def bounds(x_ptr: tl.Ptr[tl.f32], n: tl.Scalar[tl.i32]) -> None:
    whole = (0, n, 2)
    for i in tl.range(*whole):
        tl.store(x_ptr + i, 1.0)
    for i in tl.static_range(*(1, 4), step=2):
        tl.store(x_ptr + i, 2.0)


@both
def test_starred_bounds(executor: str) -> None:
    x = np.zeros(6, np.float32)
    launch(bounds, executor, [x, 6])
    assert list(x) == [1, 2, 1, 2, 1, 0]


@tn.kernel
def shapes(x_ptr: tl.Ptr[tl.f32], SHAPE: tl.Const[tuple[int, ...]], STEPS: tl.Const[tuple[int, ...]]) -> None:
    tile = tl.zeros((*SHAPE, 2), tl.f32) + tl.full(SHAPE + LAST, 1.0, tl.f32) + tl.full([*SHAPE, 2], 1.0, tl.f32)
    tl.store(x_ptr, tl.sum(tile.reshape(tile.numel)))
    for i, step in enumerate(STEPS):
        tl.store(x_ptr + 1 + i, 1.0 * step)
    for step in STEPS:
        if step > 4:
            tl.store(x_ptr, 1.0 * step)


@both
def test_of_any_length(executor: str) -> None:
    x = np.zeros(4, np.float32)
    launch(shapes, executor, [x], constants={"SHAPE": (4, 2), "STEPS": (1, 2, 3)})
    assert list(x) == [32, 1, 2, 3]
    launch(shapes, executor, [x], constants={"SHAPE": (), "STEPS": (5,)})
    assert list(x) == [5, 5, 2, 3]


# ---- faults ---------------------------------------------------------------------------------------------------------


def appended(x_ptr: tl.Ptr[tl.f32]) -> None:
    values = [1, 2]
    values.append(3)
    tl.store(x_ptr, 1.0 * values[0])


def assigned(x_ptr: tl.Ptr[tl.f32]) -> None:
    values = [1, 2]
    values[0] = 3
    tl.store(x_ptr, 1.0 * values[0])


def by_run_time_index(x_ptr: tl.Ptr[tl.f32], n: tl.Scalar[tl.i32]) -> None:
    tl.store(x_ptr, (1.0, 2.0)[n])


def starred_scalar(x_ptr: tl.Ptr[tl.f32]) -> None:
    x: Any = tl.load(x_ptr)
    tl.store(x_ptr, total(*x))


def too_few(x_ptr: tl.Ptr[tl.f32]) -> None:
    pair: Any = (1.0,)
    a, b, *_ = pair
    tl.store(x_ptr, a + b)


def wrong_rest(x_ptr: tl.Ptr[tl.f32]) -> None:
    i: Any = tl.arange(0, 2)
    tl.store(x_ptr, total(tl.load(x_ptr), i))


def broken(x_ptr: tl.Ptr[tl.f32]) -> None:
    for i in (1, 2):
        if i > 1:
            break
        tl.store(x_ptr + i, 1.0)


def over_tensor(x_ptr: tl.Ptr[tl.f32]) -> None:
    x: Any = tl.load(x_ptr + tl.arange(0, 4))
    for one in x:
        tl.store(x_ptr, one)


@pytest.mark.parametrize(
    ("fn", "code", "text"),
    [
        (appended, "E001", "a list is a tuple here, which stays as it is: values = (*values, new)"),
        (assigned, "E001", "`values[0]` cannot be assigned: a tuple keeps its elements"),
        (by_run_time_index, "E008", "an index of a tuple must be a known Const int; `n` is Scalar[i32]"),
        (starred_scalar, "T010", "`*x` needs a tuple; `x` is Scalar[f32]"),
        (too_few, "T010", "3 names for a tuple of 1"),
        (wrong_rest, "T002", "`total` needs tl.Tensor[tl.f32] for `parts`; `i` is Tensor[i32]"),
        (broken, "E016", "`break` cannot end a loop that is unrolled"),
        (over_tensor, "E016", "a loop runs over tl.range, tl.static_range or a tuple, not over `x`"),
    ],
)
def test_faults(fn: Any, code: str, text: str) -> None:
    with pytest.raises(tn.KernelError) as caught:
        tn.kernel(fn)
    assert caught.value.diagnostics[0].code == code, caught.value
    assert text in str(caught.value)
