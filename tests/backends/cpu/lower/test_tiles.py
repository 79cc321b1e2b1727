"""Tiles of two and three axes, reductions along each of them, views, and every dtype in memory."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from teeny.ir.builder import Builder
from teeny.ir.core import Block, Module, Region, Value
from teeny.ir.dtype import BF16, BOOL, F16, F32, F64, I8, I16, I32, I64, DType
from teeny.ir.types import typed
from teeny.ops.address import addptr_
from teeny.ops.arith import addf, addi, maximumf, maxnumf, minimumf, mulf, muli, subf
from teeny.ops.bits import andi, ori, xori
from teeny.ops.cast import extsi, extui
from teeny.ops.compare import cmpf, cmpi, select
from teeny.ops.division import divf
from teeny.ops.math import exp_
from teeny.ops.reduce import reduce_, reduce_return
from teeny.ops.vocabulary import numpy_dtype
from tests.backends.cpu.lower.harness import ALL, FEW, check
from tests.drafts import Draft

Array = np.ndarray[Any, Any]
DTYPES = (F16, BF16, F32, F64, I8, I16, I32, I64)


def indices(d: Draft, dims: tuple[int, ...]) -> tuple[list[Value], Value]:
    """The index along each axis, and the row-major place, all of the tile's shape."""
    each: list[Value] = []
    for axis, dim in enumerate(dims):
        x = d.range(dim)
        if len(dims) == 2:
            x = d.expand(x, 1 - axis, dims)
        elif len(dims) == 3:
            x = d.reshape(x, tuple(dim if a == axis else 1 for a in range(3)))
            x = d.fill(x, dims)
        each.append(x)
    place = each[0]
    for dim, x in zip(dims[1:], each[1:], strict=True):
        place = d.add(d.mul(place, d.const(dim, x.type)), x)
    return each, place


def data(dtype: DType, *dims: int, seed: int = 0) -> Array:
    rng = np.random.default_rng(seed)
    if dtype.kind == "float":
        return (rng.standard_normal(dims) * 3).astype(numpy_dtype(np, dtype))
    return rng.integers(-100, 100, dims).astype(numpy_dtype(np, dtype))


def reduction(dims: tuple[int, ...], axis: int, dtype: DType, *, bound: int | None = None, masked: int = 0) -> Module:
    """y = reduction of x by +, with a mask `index < n` along the axis `masked`, if there is a bound."""
    d = Draft()
    d.pointer("x", dtype)
    d.pointer("y", dtype)
    d.scalar("n")
    x, y, n = d.begin()
    each, place = indices(d, dims)
    mask = None if bound is None else d.compare("lt", each[masked], d.fill(n, dims))
    tile = d.load(d.at(x, place), mask, None if bound is None else (0.0 if dtype.kind == "float" else 0))
    total = d.reduce(tile, axis, addf if dtype.kind == "float" else addi)
    kept = dims[:axis] + dims[axis + 1 :]
    d.store(d.at(y, indices(d, kept)[1]) if kept else y, total)
    return d.end()


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("dims", [(1, 64), (64, 1), (8, 8), (2, 256), (256, 2), (32, 128), (1, 1), (4, 16)])
def test_sums_of_two_axes(dims: tuple[int, ...], axis: int) -> None:
    x = data(F32, *dims)
    (_, found) = check(reduction(dims, axis, F32), [x, np.zeros(dims[1 - axis], np.float32), 0], (1, 1, 1), FEW)
    np.testing.assert_allclose(found, x.astype(np.float64).sum(axis), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("masked", [0, 1])
@pytest.mark.parametrize("axis", [0, 1])
def test_masked_sums(axis: int, masked: int) -> None:
    dims = (16, 256)
    module = reduction(dims, axis, F32, bound=0, masked=masked)
    compiled: dict[Any, Any] = {}
    for n in (dims[masked], dims[masked] - 3, dims[masked] // 2, 1, 0, -4, 300):
        x = data(F32, *dims)
        check(module, [x, np.zeros(dims[1 - axis], np.float32), n], (1, 1, 1), ALL, compiled=compiled)


@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("dims", [(2, 4, 8), (8, 2, 64), (4, 32, 1), (1, 16, 128)])
def test_sums_of_three_axes(dims: tuple[int, ...], axis: int) -> None:
    kept = dims[:axis] + dims[axis + 1 :]
    x = data(F32, *dims)
    (_, found) = check(reduction(dims, axis, F32), [x, np.zeros(kept, np.float32), 0], (1, 1, 1), FEW)
    np.testing.assert_allclose(found, x.astype(np.float64).sum(axis), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_sums_of_every_dtype(dtype: DType) -> None:
    for dims, axis in (((128,), 0), ((4, 128), 1), ((16, 64), 0)):
        kept = dims[:axis] + dims[axis + 1 :]
        x = data(dtype, *dims)
        check(reduction(dims, axis, dtype), [x, np.zeros(kept or 1, x.dtype), 0], (1, 1, 1), FEW)


@pytest.mark.parametrize("schema", [maxnumf, maximumf, minimumf, mulf, addf], ids=lambda s: s.name)
def test_reductions_with_nan_and_infinity(schema: Any) -> None:
    d = Draft()
    d.pointer("x", F32)
    d.pointer("y", F32)
    x, y = d.begin()
    _, place = indices(d, (4, 128))
    d.store(d.at(y, d.range(4)), d.reduce(d.load(d.at(x, place)), 1, schema))
    values = data(F32, 4, 128)
    values[1, 7] = math.nan
    values[2, :] = math.nan
    values[3, 100] = math.inf
    check(d.end(), [values, np.zeros(4, np.float32)], (1, 1, 1), ALL)


def test_negative_zeros_sum_to_negative_zero() -> None:
    x = np.full((2, 128), -0.0, np.float32)
    (_, found) = check(reduction((2, 128), 1, F32), [x, np.zeros(2, np.float32), 0], (1, 1, 1), ALL)
    assert np.signbit(found).all()


@pytest.mark.parametrize("n", [128, 125, 65, 64, 1])
def test_argmax(n: int) -> None:
    """A reduction of two operands with a combiner of its own: the first of the largest."""
    d = Draft()
    d.pointer("x", F32)
    d.pointer("at", I32)
    d.pointer("top", F32)
    d.scalar("n")
    x, at, top, bound = d.begin()
    index = d.range(128)
    mask = d.compare("lt", index, d.fill(bound, (128,)))
    tile = d.load(d.at(x, index), mask, -math.inf)
    body = Block((F32, I32, F32, I32))
    b = Builder(body)
    left, i, right, j = body.args
    larger = b.create(cmpf, left, right, predicate="ogt")
    equal = b.create(cmpf, left, right, predicate="oeq")
    first = b.create(cmpi, i, j, predicate="slt")
    chosen = b.create(ori, larger, b.create(andi, equal, first))
    b.op(reduce_return, (b.create(select, chosen, left, right), b.create(select, chosen, i, j)))
    results = d.b.op(reduce_, (tile, index), {"axis": 0}, (Region([body]),)).results
    d.store(top, results[0])
    d.store(at, results[1])
    values = data(F32, 128)
    values[5] = values[n - 1] = 50
    found = check(d.end(), [values, np.zeros(1, np.int32), np.zeros(1, np.float32), n], (1, 1, 1), ALL)
    assert found[1][0] == (5 if n > 5 else 0)


def test_bool_in_memory() -> None:
    d = Draft()
    d.pointer("x", BOOL)
    d.pointer("y", BOOL)
    d.pointer("count", I32)
    d.scalar("n")
    x, y, count, n = d.begin()
    at = d.range(128)
    mask = d.compare("lt", at, d.fill(n, (128,)))
    tile = d.load(d.at(x, at), mask)
    flipped = d.apply(xori, tile, d.const(True, tile.type))
    d.store(d.at(y, at), flipped, mask)
    d.store(count, d.reduce(d.b.create(extui, flipped, type=typed((128,), I32)), 0, addi))
    values = np.random.default_rng(0).random(128) < 0.5
    module = d.end()
    for n_value in (128, 100, 0):
        found = check(module, [values, np.zeros(128, np.bool_), np.zeros(1, np.int32), n_value], (1, 1, 1), ALL)
        np.testing.assert_array_equal(found[1][:n_value], ~values[:n_value])
        assert not found[1][n_value:].any()


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_reshape_and_trans(dtype: DType) -> None:
    d = Draft()
    d.pointer("x", dtype)
    d.pointer("y", dtype)
    x, y = d.begin()
    tile = d.load(d.at(x, d.range(512)))
    turned = d.trans(d.reshape(tile, (4, 8, 16)), (2, 0, 1))
    again = d.reshape(d.apply(addf if dtype.kind == "float" else addi, turned, turned), (512,))
    d.store(d.at(y, d.range(512)), again)
    values = data(dtype, 512)
    found = check(d.end(), [values, np.zeros_like(values)], (1, 1, 1), FEW)
    want = values.reshape(4, 8, 16).transpose(2, 0, 1).reshape(512)
    np.testing.assert_array_equal(found[1], want + want)


@pytest.mark.parametrize("stride", [1, 2, 3, 0, -1])
def test_run_time_strides(stride: int) -> None:
    d = Draft()
    d.pointer("x", F32)
    d.pointer("y", F32)
    d.scalar("start")
    d.scalar("stride")
    d.scalar("n")
    x, y, start, step, n = d.begin()
    at = d.range(64)
    mask = d.compare("lt", at, d.fill(n, (64,)))
    where = d.add(d.fill(start, (64,)), d.mul(at, d.fill(step, (64,))))
    d.store(d.at(y, at), d.load(d.at(x, where), mask, 9.0))
    values = data(F32, 200)
    module = d.end()
    for n_value in (64, 61, 0):
        first = 199 if stride < 0 else 0
        found = check(module, [values, np.zeros(64, np.float32), first, stride, n_value], (1, 1, 1), FEW)
        np.testing.assert_array_equal(found[1][:n_value], values[first + stride * np.arange(n_value)])


@pytest.mark.parametrize("dtype", [I32, I64], ids=str)
def test_gather_of_rows(dtype: DType) -> None:
    """w[index[:, None] * columns + d[None, :]]: an address that is linear once the row is known."""
    d = Draft()
    d.pointer("w", F32)
    d.pointer("index", dtype)
    d.pointer("y", F32)
    w, index, y = d.begin()
    (_, col), place = indices(d, (8, 32))
    rows = d.expand(d.load(d.at(index, d.range(8))), 1, (8, 32))
    wide = col if dtype is I32 else d.b.create(extsi, col, type=typed((8, 32), I64))
    where = d.add(d.apply(muli, rows, d.const(32, rows.type)), wide)
    d.store(d.at(y, place), d.load(d.at(w, where)))
    table = data(F32, 50, 32)
    chosen = np.array([3, 49, 0, 7, 7, 1, 2, 30], numpy_dtype(np, dtype))
    if dtype is I32:
        chosen[2] += 1 << 27  # times 32 it wraps to 0
    found = check(d.end(), [table, chosen, np.zeros((8, 32), np.float32)], (1, 1, 1), FEW)
    np.testing.assert_array_equal(found[2], table[chosen % (1 << 27)])


@pytest.mark.parametrize("scatter", [False, True])
def test_rows_that_wrap(scatter: bool) -> None:
    """The offset passes 2**31 inside a row: what lies behind is masked, and would be far away."""
    half = 1 << 31
    d = Draft()
    d.pointer("x", F32)
    d.pointer("index", I32)
    d.pointer("y", F32)
    d.scalar("back", I64)
    d.scalar("n")
    x, index, y, back, n = d.begin()
    dims = (4, 32)
    (_, col), place = indices(d, dims)
    rows = d.expand(d.load(d.at(index, d.range(4))), 1, dims)
    mask = d.compare("lt", col, d.fill(n, dims))
    where = d.add(rows, col)
    if scatter:
        base = d.b.create(addptr_, y, back)
        d.store(d.at(base, where), d.load(d.at(x, place)), mask)
    else:
        base = d.b.create(addptr_, x, back)
        d.store(d.at(y, place), d.load(d.at(base, where), mask, 0.0))
    values = data(F32, 128)
    starts = np.array([half - 8, half - 40, half - 72, half - 104], np.int32)
    check(d.end(), [values, starts, np.zeros(128, np.float32), 104 - half, 8], (1, 1, 1), ALL)


def test_softmax_of_rows_in_one_tile() -> None:
    """Two axes, masks along both, values needed again after each reduction."""
    d = Draft()
    d.pointer("x", F32)
    d.pointer("y", F32)
    d.scalar("m")
    d.scalar("n")
    x, y, m, n = d.begin()
    dims = (8, 64)
    (i, j), _ = indices(d, dims)
    mask = d.apply(andi, d.compare("lt", i, d.fill(m, dims)), d.compare("lt", j, d.fill(n, dims)))
    where = d.add(d.mul(i, d.fill(n, dims)), j)
    tile = d.load(d.at(x, where), mask, -math.inf)
    top = d.expand(d.reduce(tile, 1, maxnumf), 1, dims)
    numerator = d.apply(exp_, d.apply(subf, tile, top))
    total = d.expand(d.reduce(numerator, 1, addf), 1, dims)
    d.store(d.at(y, where), d.apply(divf, numerator, total), mask)
    module = d.end()
    for rows, cols in ((8, 64), (5, 61), (8, 1), (1, 64), (0, 64)):
        values = data(F32, rows, cols)
        found = check(module, [values, np.zeros_like(values), rows, cols], (1, 1, 1), ALL, rtol=1e-5, atol=1e-7)
        wide = np.exp(values.astype(np.float64) - values.max(1, keepdims=True, initial=-np.inf))
        np.testing.assert_allclose(found[1], wide / wide.sum(1, keepdims=True), rtol=1e-5)


def test_sum_of_a_tile_and_its_transpose() -> None:
    d = Draft()
    d.pointer("x", F32)
    d.pointer("y", F32)
    x, y = d.begin()
    _, place = indices(d, (16, 16))
    tile = d.load(d.at(x, place))
    d.store(d.at(y, place), d.apply(addf, tile, d.trans(tile, (1, 0))))
    values = data(F32, 16, 16)
    found = check(d.end(), [values, np.zeros_like(values)], (1, 1, 1), ALL)
    np.testing.assert_array_equal(found[1], values + values.T)


def test_integers_wrap() -> None:
    d = Draft()
    d.pointer("x", I8)
    d.pointer("y", I8)
    x, y = d.begin()
    at = d.range(64)
    tile = d.load(d.at(x, at))
    d.store(d.at(y, at), d.add(d.mul(tile, tile), tile))
    values = data(I8, 64)
    check(d.end(), [values, np.zeros_like(values)], (1, 1, 1), FEW)
