"""The canonical order of reductions, against one written out element by element."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from teeny.backends.reference import run
from teeny.ir.builder import Builder
from teeny.ir.core import Block, Region
from teeny.ir.dtype import F32, I32
from teeny.ir.types import shape_of
from teeny.ops.arith import addf, maxnumf, mulf, subf
from teeny.ops.compare import cmpf, select
from teeny.ops.control import if_, yield_
from teeny.ops.reduce import reduce_, reduce_return
from tests.drafts import Draft


def written_out(x: Any) -> Any:
    """The sum of a float32 row: 64 accumulators or as many as elements, then halves."""
    sums = [x[j] for j in range(min(64, len(x)))]
    for i in range(len(sums), len(x)):
        sums[i % 64] = sums[i % 64] + x[i]
    while len(sums) > 1:
        half = len(sums) // 2
        sums = [sums[j] + sums[j + half] for j in range(half)]
    return sums[0]


def summed(x: Any, axis: int) -> Any:
    d = Draft()
    d.pointer("x", F32)
    d.pointer("y", F32)
    ptr, out = d.begin()
    offsets = d.range(x.size)
    tile = d.load(d.at(ptr, offsets))
    if x.ndim == 2:
        tile = d.reshape(tile, x.shape)
    found = d.reduce(tile, axis, addf)
    shape = shape_of(found.type)
    d.store(d.at(out, d.range(shape[0])) if shape else out, found)
    y = np.zeros(shape or 1, np.float32)
    run(d.end(), [x, y], (1, 1, 1))
    return y


@pytest.mark.parametrize("size", [1, 2, 4, 32, 64, 128, 1024])
def test_the_last_axis(size: int) -> None:
    x = (np.random.default_rng(size).standard_normal(size) * 1e3).astype(np.float32)
    assert summed(x, 0)[0] == written_out(x)


def test_the_order_shows_in_the_bits() -> None:
    x = (np.random.default_rng(3).standard_normal(1024) * 1e3).astype(np.float32)
    assert summed(x, 0)[0] != np.cumsum(x)[-1]


def test_no_identity_enters() -> None:
    """The sum of -0.0 alone is -0.0: with an accumulator that starts at 0 it would be 0."""
    assert np.signbit(summed(np.full(128, -0.0, np.float32), 0)[0])


def test_each_row_by_itself() -> None:
    x = (np.random.default_rng(0).standard_normal((4, 128)) * 1e3).astype(np.float32)
    assert summed(x, 1).tolist() == [written_out(row) for row in x]


def test_another_axis_takes_its_elements_in_rising_order() -> None:
    x = (np.random.default_rng(1).standard_normal((128, 4)) * 1e3).astype(np.float32)
    total = x[0].copy()
    for row in x[1:]:
        total = total + row
    assert np.array_equal(summed(x, 0), total)


def test_the_accumulator_is_the_left_operand() -> None:
    """acc - x does not commute: ((1 - 2) - 3) - 4 along axis 0, and (1 - 3) - (2 - 4) in the tree of the last axis."""
    for shape, expected in (((4, 1), -8.0), ((4,), 0.0)):
        d = Draft()
        d.pointer("x", F32)
        (x,) = d.begin()
        tile = d.load(d.at(x, d.range(4)))
        tile = d.reshape(tile, shape) if len(shape) == 2 else tile
        found = d.reduce(tile, 0, subf)
        d.store(d.at(x, d.range(1)) if len(shape) == 2 else x, found)
        data = np.arange(1, 5, dtype=np.float32)
        run(d.end(), [data], (1, 1, 1))
        assert data[0] == expected


def test_several_operands_and_a_combiner_of_several_operations() -> None:
    """The index of the largest element; equal ones: the left one stays."""
    d = Draft()
    d.pointer("x", F32)
    d.pointer("y", I32)
    x, y = d.begin()
    offsets = d.range(128)
    body = Block((F32, I32, F32, I32))
    b = Builder(body)
    left, at_left, right, at_right = body.args
    keep = b.create(cmpf, left, right, predicate="oge")
    b.op(reduce_return, (b.create(select, keep, left, right), b.create(select, keep, at_left, at_right)))
    found = d.b.op(reduce_, (d.load(d.at(x, offsets)), offsets), {"axis": 0}, (Region([body]),)).results
    d.store(y, found[1])
    data = np.random.default_rng(2).permutation(128).astype(np.float32)
    at = np.zeros(1, np.int32)
    run(d.end(), [data, at], (1, 1, 1))
    assert at[0] == data.argmax()


def test_a_combiner_with_control_flow_runs_lane_by_lane() -> None:
    d = Draft()
    d.pointer("x", F32)
    d.pointer("y", F32)
    x, y = d.begin()
    body = Block((F32, F32))
    b = Builder(body)
    arms = Block(), Block()
    Builder(arms[0]).op(yield_, (body.args[0],))
    Builder(arms[1]).op(yield_, (body.args[1],))
    condition = b.create(cmpf, *body.args, predicate="ogt")
    found = b.op(if_, (condition,), regions=(Region([arms[0]]), Region([arms[1]])), types=(F32,)).result
    b.op(reduce_return, (found,))
    tile = d.reshape(d.load(d.at(x, d.range(32))), (4, 8))
    result = d.b.op(reduce_, (tile,), {"axis": 1}, (Region([body]),)).result
    d.store(d.at(y, d.range(4)), result)
    data = np.random.default_rng(2).standard_normal(32).astype(np.float32)
    largest = np.zeros(4, np.float32)
    run(d.end(), [data, largest], (1, 1, 1))
    assert np.array_equal(largest, data.reshape(4, 8).max(1))


@pytest.mark.parametrize(("schema", "oracle"), [(maxnumf, np.fmax.reduce), (mulf, np.multiply.reduce)])
def test_other_combiners(schema: Any, oracle: Any) -> None:
    d = Draft()
    d.pointer("x", F32)
    (x,) = d.begin()
    d.store(x, d.reduce(d.load(d.at(x, d.range(8))), 0, schema))
    data = np.array([1, 2, np.nan if schema is maxnumf else 1, 4, 0.5, 2, 1, 2], np.float32)
    expected = oracle(data)
    run(d.end(), [data], (1, 1, 1))
    assert data[0] == expected
