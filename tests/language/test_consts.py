"""Compile-time values: Python's arithmetic, and how they become run-time values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
import pytest

import teeny as tn
import teeny.language as tl
from tests.language.executors import EXECUTORS, launch
from tests.language.meaning import cast
from tests.language.rounding import DTYPES

D = TypeVar("D", bound=tl.Float)
N = TypeVar("N", bound=tl.Num)
both = pytest.mark.parametrize("executor", EXECUTORS)
FACTORS: tl.Const[tuple[int, ...]] = (3, 5, 7)
SCALE: tl.Const[float] = 0.1
NAME: tl.Const[str] = "second"


@tn.kernel
def arithmetic(
    y_ptr: tl.Ptr[tl.i64], A: tl.Const[int], B: tl.Const[int], F: tl.Const[float], S: tl.Const[tuple[int, int]]
) -> None:
    one = tl.full((), 1, tl.i64)
    tl.store(y_ptr, one * (A // B))
    tl.store(y_ptr + 1, one * (A % B))
    tl.store(y_ptr + 2, one * (A - B * 3))
    tl.store(y_ptr + 3, one * (A << 3 >> 1))
    tl.store(y_ptr + 4, one * (A & 12 | B ^ 5))
    tl.store(y_ptr + 5, one * max(A, B, 2))
    tl.store(y_ptr + 6, one * min(A, B))
    tl.store(y_ptr + 7, one * abs(A))
    tl.store(y_ptr + 8, one * int(F * 10))
    tl.store(y_ptr + 9, one * (S[0] + S[-1] * len(S)))
    tl.store(y_ptr + 10, one * FACTORS[A % 3])
    tl.store(y_ptr + 11, one * (1 if A > B > 0 else 2 if NAME == "second" else 3))
    tl.store(y_ptr + 12, one * (-A) + ~B)
    tl.store(y_ptr + 13, one * tl.cdiv(A, 4) * B**2)
    tl.store(y_ptr + 14, one * int(B in (2, 3)))


@both
@pytest.mark.parametrize(("a", "b"), [(7, 2), (-7, 2), (7, -3), (9, 3), (-1, 64)])
def test_arithmetic_is_that_of_python(executor: str, a: int, b: int) -> None:
    y = np.zeros(15, np.int64)
    f, s = 2.75, (11, 4)
    launch(arithmetic, executor, [y], (1,), {"A": a, "B": b, "F": f, "S": s})
    wanted = [
        a // b, a % b, a - b * 3, a << 3 >> 1, a & 12 | b ^ 5, max(a, b, 2), min(a, b), abs(a), int(f * 10),
        s[0] + s[1] * 2, FACTORS[a % 3], 1 if a > b > 0 else 2, -a + ~b, (a + 3) // 4 * b**2, int(b in (2, 3)),
    ]  # fmt: skip
    assert list(y) == wanted


@tn.kernel
def floats(x_ptr: tl.Ptr[D], y_ptr: tl.Ptr[D], F: tl.Const[float]) -> None:
    at = tl.arange(0, 8)
    x = tl.load(x_ptr + at)
    tl.store(y_ptr + at, x * F)
    tl.store(y_ptr + 8 + at, x + SCALE)
    tl.store(y_ptr + 16 + at, tl.full((8,), F, x.dtype))
    tl.store(y_ptr + 24 + at, F - x)
    tl.store(y_ptr + 32 + at, tl.where(x > F, SCALE * F, x))
    tl.store(y_ptr + 40 + at, F / 3 * x)


@both
@pytest.mark.parametrize("dtype", ["f16", "bf16", "f32", "f64"])
@pytest.mark.parametrize("value", [0.1, 1 / 3, 1 + 2.0**-9 + 2.0**-40, 2.0**-24 * 1.1])
def test_floats_round_once_to_the_dtype_beside(executor: str, dtype: str, value: float) -> None:
    x = np.array([0.3, 1.0, -2.0, 1000.0, 0.007, -0.1, 5.5, 0.0]).astype(DTYPES[dtype])
    y = np.zeros(48, x.dtype)
    launch(floats, executor, [x, y], (1,), {"F": value}, {"D": dtype})

    def one(v: float) -> Any:
        return cast(np.asarray(v, np.float64), dtype)

    wanted = [x * one(value), x + one(SCALE), np.full(8, one(value)), one(value) - x]
    wanted += [np.where(x > one(value), one(SCALE * value), x), one(value / 3) * x]
    assert np.array_equal(y, np.concatenate(wanted).astype(x.dtype))


@tn.kernel
def entering(x_ptr: tl.Ptr[tl.i32], y_ptr: tl.Ptr[tl.i32], n: tl.Scalar[tl.i32], START: tl.Const[int]) -> None:
    """Consts that become run-time values in loops and branches."""
    total, count, found, steps = START, 0, False, 0
    for i in tl.range(n):
        x = tl.load(x_ptr + i)
        total = total + x
        if x > 3:
            count = count + 1
        if x == 7:
            found = True
    while steps < n and not found:
        steps = steps + 2
    if n > 4:
        kind = 1
    elif n > 2:
        kind = START
    else:
        kind = 3
    last = 5
    if found:
        last = -last
    tl.store(y_ptr, total)
    tl.store(y_ptr + 1, count)
    tl.store(y_ptr + 2, found.to(tl.i32))
    tl.store(y_ptr + 3, steps)
    tl.store(y_ptr + 4, kind)
    tl.store(y_ptr + 5, last)


@both
@pytest.mark.parametrize("n", [0, 1, 3, 4, 5, 6])
def test_consts_enter_loops_and_branches(executor: str, n: int) -> None:
    x, y = np.array([1, 4, 2, 9, 7, 8], np.int32), np.zeros(6, np.int32)
    launch(entering, executor, [x, y, n], (1,), {"START": 100})
    found = 7 in x[:n]
    steps = 0 if found else n + n % 2
    kind = 1 if n > 4 else 100 if n > 2 else 3
    assert list(y) == [100 + x[:n].sum(), (x[:n] > 3).sum(), found, steps, kind, -5 if found else 5]


def power(x: tl.Tensor[N], EXPONENT: tl.Const[int] = 2) -> tl.Tensor[N]:
    if EXPONENT == 0:
        return x - x + 1
    y = x
    for _ in tl.static_range(EXPONENT - 1):
        y = y * x
    return y


def apply(x: tl.Tensor[N], f: Callable[[tl.Tensor[N]], tl.Tensor[N]]) -> tl.Tensor[N]:
    return f(f(x))


def increment(x: tl.Tensor[N]) -> tl.Tensor[N]:
    return x + 1


def ends(x: tl.Tensor[N]) -> tuple[tl.Tensor[N], tl.Tensor[N], tl.Tensor[N]]:
    low, high = tl.min(x), tl.max(x)
    return low, high, high - low


@tn.kernel
def helpers(
    x_ptr: tl.Ptr[N], y_ptr: tl.Ptr[N], E: tl.Const[int], ORDER: tl.Const[str], WHOLE: tl.Const[bool] = True
) -> None:
    at = tl.arange(0, 16)
    x = tl.load(x_ptr + at)
    tl.store(y_ptr + at, power(x))
    tl.store(y_ptr + 16 + at, power(EXPONENT=E, x=x))
    tl.store(y_ptr + 32 + at, apply(increment(x), increment))
    low, high, width = ends(x)
    bounds = (low, high)
    if ORDER == "down":
        low, high = high, low
    tl.store(y_ptr + 48 + at, tl.where(at < 8, low, high) + width * bounds[0])
    if (not WHOLE and E > 2) or ORDER == "none":
        tl.store(y_ptr + 64 + at, x)


@both
@pytest.mark.parametrize("dtype", ["i32", "u8", "f32", "i64"])
@pytest.mark.parametrize(
    ("e", "order", "whole"), [(3, "up", True), (0, "down", False), (4, "down", False), (1, "none", True)]
)
def test_helpers(executor: str, dtype: str, e: int, order: str, whole: bool) -> None:
    x = np.arange(1, 17).astype(DTYPES[dtype])
    y = np.full(80, 99).astype(DTYPES[dtype])
    launch(helpers, executor, [x, y], (1,), {"E": e, "ORDER": order, "WHOLE": whole}, {"N": dtype})
    low, high = (16, 1) if order == "down" else (1, 16)
    last = x if (not whole and e > 2) or order == "none" else np.full(16, 99)
    wanted = np.concatenate([x**2, x**e, x + 3, np.where(np.arange(16) < 8, low, high) + 15, last]).astype(x.dtype)
    assert np.array_equal(y, wanted)


@tn.kernel
def by_dtype(x_ptr: tl.Ptr[D], y_ptr: tl.Ptr[tl.f32]) -> None:
    """Branches on a type variable see it as the leaf."""
    x = tl.load(x_ptr + tl.arange(0, 4))
    if x_ptr.dtype == tl.f32:
        y = x + tl.load(y_ptr + tl.arange(0, 4))
    elif x.dtype == tl.f16:
        y = (x * 2).to(tl.f32)
    else:
        y = x.to(tl.f32) - 1
    size = x.shape[0]
    tl.store(y_ptr + tl.arange(0, size), y * size)


@both
@pytest.mark.parametrize("dtype", ["f16", "bf16", "f32", "f64"])
def test_branches_on_a_dtype(executor: str, dtype: str) -> None:
    x, y = np.arange(4).astype(DTYPES[dtype]), np.full(4, 10, np.float32)
    launch(by_dtype, executor, [x, y], (1,), {}, {"D": dtype})
    plain = np.arange(4)
    assert list(y) == list(4 * {"f32": plain + 10, "f16": plain * 2}.get(dtype, plain - 1))
