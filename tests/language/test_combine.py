"""Functions that take a function: reductions and scans by any combiner, maps over elements."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
import pytest

import teeny as tn
import teeny.language as tl
from tests.language.executors import EXECUTORS, launch

D = TypeVar("D", bound=tl.Num)
N = TypeVar("N", bound=tl.Num)
both = pytest.mark.parametrize("executor", EXECUTORS)
NAMES = {"float32": "f32", "int32": "i32", "int64": "i64", "uint8": "u8", "float16": "f16", "float64": "f64"}


def added(a: tl.Tensor[N], b: tl.Tensor[N]) -> tl.Tensor[N]:
    return a + b


def multiplied(a, b):  # a combiner may do without types, as in ported code
    return a * b


def larger(a: tl.Scalar[N], b: tl.Scalar[N]) -> tl.Scalar[N]:
    if a > b:
        return a
    return b


def argmax(
    v: tl.Tensor[tl.f32], i: tl.Tensor[tl.i32], w: tl.Tensor[tl.f32], j: tl.Tensor[tl.i32]
) -> tuple[tl.Tensor[tl.f32], tl.Tensor[tl.i32]]:
    first = (v > w) | ((v == w) & (i < j))
    return tl.where(first, v, w), tl.where(first, i, j)


def moments(
    n: tl.Tensor[tl.i32], s: tl.Tensor[tl.f32], q: tl.Tensor[tl.f32], m: tl.Tensor[tl.i32], t: tl.Tensor[tl.f32],
    r: tl.Tensor[tl.f32],
) -> tuple[tl.Tensor[tl.i32], tl.Tensor[tl.f32], tl.Tensor[tl.f32]]:  # fmt: skip
    return n + m, s + t, q + r


def decayed(
    a: tl.Tensor[tl.f32], x: tl.Tensor[tl.f32], b: tl.Tensor[tl.f32], y: tl.Tensor[tl.f32]
) -> tuple[tl.Tensor[tl.f32], tl.Tensor[tl.f32]]:
    return a * b, x * b + y


@tn.kernel
def reduces(x_ptr: tl.Ptr[D], y_ptr: tl.Ptr[D]) -> None:
    rows, cols = tl.arange(0, 4), tl.arange(0, 8)
    x = tl.load(x_ptr + rows[:, None] * 8 + cols[None, :])
    tl.store(y_ptr + rows, tl.reduce(x, 1, added))
    tl.store(y_ptr + 8 + cols[None, :], x.reduce(axis=0, combine_fn=larger, keep_dims=True))
    tl.store(y_ptr + 16, tl.reduce(x, None, multiplied))
    tl.store(y_ptr + 24 + cols, tl.reduce(x, -2, tl.minimum))


@both
@pytest.mark.parametrize("dtype", NAMES)
def test_reductions(executor: str, dtype: str) -> None:
    rng = np.random.default_rng(1)
    x = rng.integers(1, 3, (4, 8)).astype(dtype)
    if dtype in ("uint8", "float16"):
        x[1:, 1:] = 1
    y = np.zeros(32, dtype)
    launch(reduces, executor, [x, y], dtypes={"D": NAMES[dtype]})
    assert list(y[:4]) == list(x.sum(1, dtype=dtype))
    assert list(y[8:16]) == list(x.max(0))
    assert y[16] == x.prod(dtype=dtype)
    assert list(y[24:]) == list(x.min(0))


@tn.kernel
def tuples(x_ptr: tl.Ptr[tl.f32], y_ptr: tl.Ptr[tl.f32], i_ptr: tl.Ptr[tl.i32]) -> None:
    rows, cols = tl.arange(0, 4), tl.arange(0, 8)
    x = tl.load(x_ptr + rows[:, None] * 8 + cols[None, :])
    at = tl.broadcast_to(cols[None, :], 4, 8)
    best, where = tl.reduce((x, at), 1, argmax)
    tl.store(y_ptr + rows, best)
    tl.store(i_ptr + rows, where)
    ones = tl.full((4, 8), 1, tl.i32)
    count, total, squares = tl.reduce((ones, x, x * x), None, moments)
    tl.store(i_ptr + 4, count)
    tl.store(y_ptr + 4, total)
    tl.store(y_ptr + 5, squares)


@both
def test_reductions_of_tuples(executor: str) -> None:
    x = np.random.default_rng(2).integers(-4, 5, (4, 8)).astype(np.float32)
    y, i = np.zeros(6, np.float32), np.zeros(5, np.int32)
    launch(tuples, executor, [x, y, i])
    assert list(y) == [*x.max(1), x.sum(), (x * x).sum()]
    assert list(i) == [*x.argmax(1), 32]


@tn.kernel
def scans(x_ptr: tl.Ptr[tl.f32], y_ptr: tl.Ptr[tl.f32], REVERSE: tl.Const[bool]) -> None:
    rows, cols = tl.arange(0, 4), tl.arange(0, 8)
    offs = rows[:, None] * 8 + cols[None, :]
    x = tl.load(x_ptr + offs)
    tl.store(y_ptr + offs, tl.associative_scan(x, 1, added, reverse=REVERSE))
    tl.store(y_ptr + 32 + offs, x.associative_scan(0, larger))
    half = tl.full((4, 8), 0.5, tl.f32)
    _, state = tl.associative_scan((half, x), 1, decayed, REVERSE)
    tl.store(y_ptr + 64 + offs, state)


@both
@pytest.mark.parametrize("reverse", [False, True])
def test_scans(executor: str, reverse: bool) -> None:
    x = np.random.default_rng(3).integers(-4, 5, (4, 8)).astype(np.float32)
    y = np.zeros((3, 4, 8), np.float32)
    launch(scans, executor, [x, y], constants={"REVERSE": reverse})
    order = slice(None, None, -1) if reverse else slice(None)
    assert np.array_equal(y[0][:, order], np.cumsum(x[:, order], axis=1))
    assert np.array_equal(y[1], np.maximum.accumulate(x, axis=0))
    state, wanted = np.zeros(4, np.float32), np.zeros((4, 8), np.float32)
    for column in range(8)[order]:
        state = state * np.float32(0.5) + x[:, column]
        wanted[:, column] = state
    assert np.array_equal(y[2], wanted)


@tn.kernel
def chosen(x_ptr: tl.Ptr[tl.f32], y_ptr: tl.Ptr[tl.f32], join: tl.Const[Callable[..., Any]]) -> None:
    tl.store(y_ptr, tl.reduce(tl.load(x_ptr + tl.arange(0, 8)), 0, join))


@both
def test_a_combiner_as_parameter(executor: str) -> None:
    x, y = np.arange(1, 9, dtype=np.float32), np.zeros(1, np.float32)
    for join, wanted in ((added, 36), (larger, 8), (multiplied, 40320)):
        launch(chosen, executor, [x, y], constants={"join": join})
        assert y[0] == wanted


def halves(x: tl.Scalar[tl.f32], steps: tl.Scalar[tl.i32] | int, scale: tl.Const[float]) -> tl.Scalar[tl.f32]:
    if x < 0.0:
        return -x
    y = x
    for i in tl.range(steps):
        if i > 0:
            y = y * scale
    for _ in tl.range(2):
        y = y + 1.0
    return y


def collatz(n: tl.Scalar[tl.i32]) -> tuple[tl.Scalar[tl.i32], tl.Scalar[tl.bool_]]:
    steps = tl.full((), 0, tl.i32)
    if n > 0:
        while n != 1:
            n = n // 2 if n % 2 == 0 else 3 * n + 1
            steps += 1
    return steps, n == 1


@tn.kernel
def maps(x_ptr: tl.Ptr[tl.f32], y_ptr: tl.Ptr[tl.f32], i_ptr: tl.Ptr[tl.i32], f_ptr: tl.Ptr[tl.bool_]) -> None:
    rows, cols = tl.arange(0, 2), tl.arange(0, 8)
    offs = rows[:, None] * 8 + cols[None, :]
    tl.store(y_ptr + offs, tl.map_elementwise(halves, tl.load(x_ptr + offs), cols[None, :], 0.5))
    steps, one = tl.map_elementwise(collatz, offs - 1)
    tl.store(i_ptr + offs, steps)
    tl.store(f_ptr + offs, one)
    tl.store(y_ptr + 16, tl.map_elementwise(halves, tl.load(x_ptr), 3, 2.0))


def stepped(n: int) -> int:
    count = 0
    while n > 1:
        n, count = (n // 2 if n % 2 == 0 else 3 * n + 1), count + 1
    return count


@both
def test_maps(executor: str) -> None:
    x = np.random.default_rng(4).integers(-4, 5, (2, 8)).astype(np.float32)
    x[0, 0] = 3
    y, i, f = np.zeros(17, np.float32), np.zeros(16, np.int32), np.zeros(16, np.bool_)
    launch(maps, executor, [x, y, i, f])
    factor = np.float32(0.5) ** np.maximum(np.arange(8) - 1, 0)
    assert np.array_equal(y[:16].reshape(2, 8), np.where(x < 0, -x, x * factor + 2))
    assert y[16] == 14
    assert list(i) == [stepped(n) for n in range(-1, 15)]
    assert list(f) == [False, False] + [True] * 14


def gcd(a: tl.Scalar[tl.i32], b: tl.Scalar[tl.i32]) -> tl.Scalar[tl.i32]:
    while b != 0:
        a, b = b, a % b
    return a


@tn.kernel
def divisors(x_ptr: tl.Ptr[tl.i32], y_ptr: tl.Ptr[tl.i32]) -> None:
    x = tl.load(x_ptr + tl.arange(0, 8))
    tl.store(y_ptr, tl.reduce(x, 0, gcd))
    tl.store(y_ptr + 1 + tl.arange(0, 8), tl.associative_scan(x, 0, gcd))


@both
def test_a_combiner_that_loops(executor: str) -> None:
    x, y = np.array([360, 840, 60, 90, 12, 18, 48, 6], np.int32), np.zeros(9, np.int32)
    launch(divisors, executor, [x, y])
    assert list(y) == [6, *np.gcd.accumulate(x)]


def test_triton_takes_no_loop_there() -> None:
    pytest.importorskip("triton")
    from teeny.backends.triton import compile_module

    with pytest.raises(tn.CompileError, match=r"on sm_90 a function that joins elements cannot loop") as caught:
        compile_module(divisors.specialize().module, 90)
    assert "while b != 0" in str(caught.value)


def exchanged(
    a: tl.Scalar[tl.i32], b: tl.Scalar[tl.i32], c: tl.Scalar[tl.i32], d: tl.Scalar[tl.i32], by: tl.Const[int]
) -> tuple[tl.Scalar[tl.i32], tl.Scalar[tl.i32], tl.Scalar[tl.i32], tl.Scalar[tl.i32]]:
    if a > 4:
        return b, a, d, c
    return d * by, c, b, a


def sums(
    a: tl.Scalar[tl.i32], b: tl.Scalar[tl.i32], c: tl.Scalar[tl.i32], d: tl.Scalar[tl.i32]
) -> tuple[tl.Scalar[tl.i32], tl.Scalar[tl.i32], tl.Scalar[tl.i32], tl.Scalar[tl.i32]]:
    return a + c, b + d, a * c, b * d


@tn.kernel
def packs(x_ptr: tl.Ptr[tl.i32], y_ptr: tl.Ptr[tl.i32], N: tl.Const[int]) -> None:
    offs = tl.arange(0, 2)[:, None] * N + tl.arange(0, N)[None, :]
    x = tl.load(x_ptr + offs)
    (four,) = tl.map_elementwise(exchanged, x, 10, pack=4)
    tl.store(y_ptr + offs, four)
    added, multiplied = tl.map_elementwise(sums, x, tl.arange(0, N)[None, :], pack=2)
    tl.store(y_ptr + 2 * N + offs, added)
    tl.store(y_ptr + 4 * N + offs, multiplied)


@both
def test_packs(executor: str) -> None:
    x, y = np.random.default_rng(5).integers(0, 9, (2, 8)).astype(np.int32), np.zeros((3, 2, 8), np.int32)
    launch(packs, executor, [x, y], constants={"N": 8})
    wanted = [(b, a, d, c) if a > 4 else (d * 10, c, b, a) for a, b, c, d in x.reshape(4, 4)]
    assert np.array_equal(y[0].reshape(4, 4), wanted)
    assert np.array_equal(y[1], x + np.arange(8))
    assert np.array_equal(y[2], x * np.arange(8))


# ---- faults ---------------------------------------------------------------------------------------------------------


def widened(a: tl.Tensor[tl.f16], b: tl.Tensor[tl.f16]) -> tl.Tensor[tl.f32]:
    return (a + b).to(tl.f32)


def wide(x_ptr: tl.Ptr[tl.f16], y_ptr: tl.Ptr[tl.f32]) -> None:
    combine: Any = widened
    tl.store(y_ptr, tl.reduce(tl.load(x_ptr + tl.arange(0, 8)), 0, combine))


def unary(a: Any) -> Any:
    return a


def few(x_ptr: tl.Ptr[tl.f32]) -> None:
    tl.store(x_ptr, tl.reduce(tl.load(x_ptr + tl.arange(0, 8)), 0, unary))


def typed_otherwise(x_ptr: tl.Ptr[tl.i32]) -> None:
    combine: Any = argmax
    x = tl.load(x_ptr + tl.arange(0, 8))
    best, _ = tl.reduce((x, x), 0, combine)
    tl.store(x_ptr, best)


def peeking(a: Any, b: Any) -> Any:
    return a + b + tl.program_id(0)


def peeks(x_ptr: tl.Ptr[tl.i32]) -> None:
    tl.store(x_ptr, tl.reduce(tl.load(x_ptr + tl.arange(0, 8)), 0, peeking))


def no_function(x_ptr: tl.Ptr[tl.i32]) -> None:
    combine: Any = 3
    tl.store(x_ptr, tl.reduce(tl.load(x_ptr + tl.arange(0, 8)), 0, combine))


def run_time_axis(x_ptr: tl.Ptr[tl.f32], n: tl.Scalar[tl.i32]) -> None:
    axis: Any = n
    tl.store(x_ptr, tl.reduce(tl.load(x_ptr + tl.arange(0, 8)), axis, added))


def no_axis(x_ptr: tl.Ptr[tl.f32]) -> None:
    tl.store(x_ptr, tl.reduce(tl.load(x_ptr + tl.arange(0, 8)), 1, added))


def shapes(x_ptr: tl.Ptr[tl.f32], i_ptr: tl.Ptr[tl.i32]) -> None:
    x, i = tl.load(x_ptr + tl.arange(0, 8)), tl.load(i_ptr + tl.arange(0, 4))
    best, _ = tl.reduce((x, i), 0, argmax)
    tl.store(x_ptr, best)


def scalar(x_ptr: tl.Ptr[tl.f32]) -> None:
    tl.store(x_ptr, tl.associative_scan(tl.load(x_ptr), 0, added))


def pointers(x_ptr: tl.Ptr[tl.f32]) -> None:
    given: Any = x_ptr + tl.arange(0, 8)
    tl.store(x_ptr, tl.reduce(given, 0, added))


def too_wide(x_ptr: tl.Ptr[tl.i32]) -> None:
    tl.store(x_ptr, tl.sum(tl.map_elementwise(peeking, tl.load(x_ptr + tl.arange(0, 8)), pack=16)))


def odd_pack(x_ptr: tl.Ptr[tl.i32]) -> None:
    tl.store(x_ptr, tl.sum(tl.map_elementwise(peeking, tl.load(x_ptr + tl.arange(0, 8)), pack=3)))


def constant(x: Any) -> Any:
    return 1.0


def of_constants(x_ptr: tl.Ptr[tl.f32]) -> None:
    tl.store(x_ptr + tl.arange(0, 8), tl.map_elementwise(constant, tl.load(x_ptr + tl.arange(0, 8))))


@pytest.mark.parametrize(
    ("fn", "code", "text"),
    [
        (wide, "T014", "`widened` must give Scalar[f16], what it takes; it gives Scalar[f32]"),
        (few, "E005", "`unary` takes 1 argument, found 2"),
        (typed_otherwise, "T002", "`argmax` needs tl.Tensor[tl.f32] for `v`; `x` is Scalar[i32]"),
        (peeks, "E004", "`tl.program_id` cannot stand in a function that `tl.reduce` applies to elements"),
        (no_function, "T010", "`tl.reduce` needs a function for `combine_fn`; `combine` is the int 3"),
        (run_time_axis, "E008", "`axis` of `tl.reduce` must be known at compile time"),
        (no_axis, "S003", "the operand has no axis 1"),
        (shapes, "S001", "the tensors of `tl.reduce` differ in shape: 8 and 4 differ"),
        (scalar, "S005", "a scan needs a block, found a scalar"),
        (pointers, "T005", "`tl.reduce` needs a tensor, or a tuple of tensors, for `input`; found Ptr[f32]"),
        (too_wide, "S004", "the last axis must have `pack=16` elements"),
        (odd_pack, "S002", "`pack` of `tl.map_elementwise` must be a power of two, found 3"),
        (of_constants, "T014", "`constant` must give scalars; it gives the float 1.0"),
    ],
)
def test_faults(fn: Any, code: str, text: str) -> None:
    with pytest.raises(tn.KernelError) as caught:
        tn.kernel(fn)
    first = caught.value.diagnostics[0]
    assert first.code == code, caught.value
    assert text in first.message
