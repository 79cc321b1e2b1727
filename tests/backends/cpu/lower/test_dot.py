"""Products of tiles on the CPU against the reference and the bound of NumPy's product in f64.

All modes give the reference's bits, but for f32 without fused multiply-adds and for bf16 by pairs.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from teeny.ir.core import Module, walk_function
from tests.backends.cpu.lower import dots
from tests.backends.cpu.lower.dots import Array, assert_within, normal, product
from tests.backends.cpu.lower.harness import ALL, FEW, Mode, compile_in, expected, native, same_bits

Grid = tuple[int, int, int]
EXACT = {
    "f16": tuple(ALL),
    "f32": tuple(mode for mode in ALL if mode.level != "x86-64-v2"),
    "bf16": tuple(mode for mode in ALL if mode.level != "native" or mode.width in (8, 4, 1)),
}


def results(
    module: Module, args: list[Any], grid: Grid, at: int, dtype: str, modes: tuple[Mode, ...] = ALL
) -> list[Array]:
    """Argument `at` after a run in each mode; those that promise it agree bit for bit with the reference."""
    want = expected(module, args, grid)[at]
    found: list[Array] = [want]
    for mode in modes:
        got = native(*compile_in(module, mode), args, grid)[at]
        if mode in EXACT.get(dtype, ALL):
            assert same_bits(got, want), f"{mode}: {got} for {want}"
        found.append(got)
    return found


SIZES = [(32, 64, 32), (33, 65, 17), (1, 1, 1), (70, 50, 45), (5, 128, 3), (64, 7, 64)]


@pytest.mark.parametrize("dtype", dots.DTYPES)
def test_ragged_sizes(dtype: str) -> None:
    module = dots.matmul.specialize(F=dtype, BM=32, BN=64, BK=16).module
    compiled = {mode: compile_in(module, mode) for mode in ALL}
    for m, n, k in SIZES:
        a, b = normal((m, k), dtype), normal((k, n), dtype, 1)
        args = [a, b, np.zeros((m, n), np.float32), m, n, k, k, 1, n, 1]
        grid = (-(-m // 32), -(-n // 64), 1)
        want = expected(module, args, grid)[2]
        assert_within(want, *product(a, b))
        for mode, code in compiled.items():
            got = native(*code, args, grid)[2]
            assert_within(got, *product(a, b))
            assert mode not in EXACT[dtype] or same_bits(got, want), f"{(m, n, k)}, {mode}"


@pytest.mark.parametrize("dtype", dots.DTYPES)
def test_strided_operands(dtype: str) -> None:
    module = dots.matmul.specialize(F=dtype, BM=16, BN=32, BK=32).module
    m, n, k = 40, 37, 33
    a, b = normal((k, 2 * m), dtype), normal((n, 3 * k), dtype, 1)
    args = [a, b, np.zeros((m, n), np.float32), m, n, k, 2, 2 * m, 3, 3 * k]
    for found in results(module, args, (3, 2, 1), 2, dtype):
        assert_within(found, *product(a[:, ::2].T, b[:, ::3].T))


@pytest.mark.parametrize("dtype", dots.DTYPES)
@pytest.mark.parametrize(("a_turned", "b_turned"), [(False, True), (True, False), (True, True)])
@pytest.mark.parametrize("sizes", [(16, 32, 16), (4, 64, 8), (64, 16, 32)])
def test_transposed_operands(dtype: str, a_turned: bool, b_turned: bool, sizes: tuple[int, int, int]) -> None:
    m, n, k = sizes
    kernel = dots.transposed.specialize(F=dtype, A_TURNED=a_turned, B_TURNED=b_turned, M=m, N=n, K=k)
    a, b = normal((m, k), dtype), normal((k, n), dtype, 1)
    stored = [np.ascontiguousarray(a.T if a_turned else a), np.ascontiguousarray(b.T if b_turned else b)]
    args = [*stored, np.zeros((m, n), np.float32)]
    for found in results(kernel.module, args, (1, 1, 1), 2, dtype, FEW):
        assert_within(found, *product(a, b))


SMALL = [(1, 1, 1), (1, 64, 16), (2, 2, 2), (16, 4, 64), (8, 8, 128), (128, 128, 1), (1, 256, 2)]


@pytest.mark.parametrize("sizes", SMALL)
@pytest.mark.parametrize("dtype", dots.DTYPES)
def test_small_and_long_tiles(dtype: str, sizes: tuple[int, int, int]) -> None:
    """The CPU has no least size."""
    m, n, k = sizes
    kernel = dots.transposed.specialize(F=dtype, A_TURNED=False, B_TURNED=False, M=m, N=n, K=k)
    a, b = normal((m, k), dtype), normal((k, n), dtype, 1)
    for found in results(kernel.module, [a, b, np.zeros((m, n), np.float32)], (1, 1, 1), 2, dtype, FEW):
        assert_within(found, *product(a, b))


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("sizes", [(16, 32, 32), (4, 4, 1), (2, 64, 2)])
def test_integers_wrap(turned: bool, sizes: tuple[int, int, int]) -> None:
    m, n, k = sizes
    kernel = dots.integers.specialize(TURNED=turned, M=m, N=n, K=k)
    random = np.random.default_rng(0)
    for inner in {k, max(1, k - 3)}:
        a, b = (random.integers(-128, 128, shape).astype(np.int8) for shape in ((m, inner), (inner, n)))
        c = random.integers(-(2**31), 2**31, (m, n)).astype(np.int32)
        c[0, 0] = 2**31 - 1
        right = (a.astype(np.int64) @ b.astype(np.int64) + c).astype(np.int32)
        args = [a, np.ascontiguousarray(b.T if turned else b), c, inner]
        for found in results(kernel.module, args, (1, 1, 1), 2, "i8"):
            np.testing.assert_array_equal(found, right)


@pytest.mark.parametrize("dtype", dots.DTYPES)
def test_batches(dtype: str) -> None:
    kernel = dots.batches.specialize(F=dtype, B=4, M=8, N=32, K=16)
    a, b = normal((4, 8, 16), dtype), normal((4, 16, 32), dtype, 1)
    for found in results(kernel.module, [a, b, np.zeros((4, 8, 32), np.float32)], (1, 1, 1), 2, dtype):
        assert_within(found, *product(a, b))


def folded(form: str, a: Array, b: Array, c: Array) -> Array:
    """What the kernel `accumulators` stores, in f64."""
    acc = before = c.astype(np.float64)
    size = c.shape[0]
    keep = np.tril(np.ones((size, size), bool))
    for x, y in zip(a.astype(np.float64), b.astype(np.float64), strict=True):
        match form:
            case "scaled":
                acc = x @ y + acc * 0.5
            case "turned":
                acc = x @ y + acc.T
            case "operand":
                acc = acc @ y + acc
            case "kept":
                before, acc = acc, x @ y + acc
            case "twice":
                acc = y @ x + (x @ y + acc)
            case "masked":
                acc = x @ y + np.where(keep, acc, 1.0)
            case _:
                acc = x @ y + acc
    return acc + before


@pytest.mark.parametrize("size", [4, 32])
@pytest.mark.parametrize("form", ["acc", "sum", "scaled", "turned", "operand", "kept", "later", "twice", "masked"])
def test_accumulators(form: str, size: int) -> None:
    """A carried sum is updated in place only where nothing else needs its old value."""
    kernel = dots.accumulators.specialize(form=form, S=size)
    a, b = normal((3, size, size), "f32"), normal((3, size, size), "f32", 1)
    c = normal((size, size), "f32", 2)
    right = folded(form, a, b, c)
    for found in results(kernel.module, [a, b, c], (1, 1, 1), 2, "f32", (*FEW, Mode(disjoint=True))):
        np.testing.assert_allclose(found, right, rtol=1e-4, atol=1e-4 * np.abs(right).max())


def test_a_sum_with_a_product_is_one_product() -> None:
    kernel = dots.accumulators.specialize(form="sum", S=16).module.kernel
    (dot,) = [op for op in walk_function(kernel) if op.name == "tt.dot"]
    start = dot.operands[2]
    assert start.op is None, "the product starts with the carried sum"


@pytest.mark.parametrize("dtype", dots.DTYPES)
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("n", [64, 45, 1])
def test_attention(dtype: str, causal: bool, n: int) -> None:
    d = 32
    kernel = dots.attention.specialize(F=dtype, CAUSAL=causal, BM=16, BN=32, D=d)
    q, k, v = (normal((n, d), dtype, seed) for seed in range(3))
    args = [q, k, v, np.zeros_like(q), n, d**-0.5]
    x, y, z = (array.astype(np.float64) for array in (q, k, v))
    scores = x @ y.T * d**-0.5
    if causal:
        scores[np.triu_indices(n, 1)] = -np.inf
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    right = weights / weights.sum(axis=1, keepdims=True) @ z
    close = {"f32": 2e-5, "f16": 4e-3, "bf16": 3e-2}[dtype]
    for mode in (Mode(), Mode(width=8), Mode(exact=True), Mode(level="x86-64-v2"), Mode(level="x86-64-v3")):
        found = native(*compile_in(kernel.module, mode), args, (-(-n // 16), 1, 1))[3]
        np.testing.assert_allclose(found.astype(np.float64), right, rtol=close, atol=close)


def test_values_that_are_no_numbers_spread() -> None:
    kernel = dots.transposed.specialize(F="f32", A_TURNED=False, B_TURNED=False, M=4, N=16, K=8)
    a, b = normal((4, 8), "f32"), normal((8, 16), "f32", 1)
    a[1, 3], b[5, 7] = np.inf, np.nan
    for found in results(kernel.module, [a, b, np.zeros((4, 16), np.float32)], (1, 1, 1), 2, "f32"):
        assert np.isnan(found[:, 7]).all()
        assert np.isinf(np.delete(found[1], 7)).all()
        assert np.isfinite(np.delete(np.delete(found, 1, 0), 7, 1)).all()


def test_a_carried_sum_takes_no_second_buffer() -> None:
    """The scratch memory of a product: the sum, and a copy of each operand."""
    sizes = {"f32": 64 * 64 * 4 * 3, "bf16": 64 * 64 * (4 + 2 + 4 + 2)}
    for dtype, bytes_ in sizes.items():
        lowered, _ = compile_in(dots.matmul.specialize(F=dtype, BM=64, BN=64, BK=64).module, Mode())
        assert lowered.scratch_bytes <= bytes_, dtype


def test_a_contiguous_operand_is_read_where_it_is() -> None:
    """No gather, and no scratch memory but for the result and the second operand, packed."""
    kernel = dots.transposed.specialize(F="f32", A_TURNED=False, B_TURNED=False, M=64, N=64, K=64)
    lowered, _ = compile_in(kernel.module, Mode())
    assert "gather" not in lowered.ir_text
    assert lowered.scratch_bytes == 2 * 64 * 64 * 4
