"""Joins, splits, concatenations, flips: at every width, from memory, from computed tiles and from one another."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import teeny.language
from teeny.ir.core import Value
from teeny.ir.dtype import BOOL, F16, F32, F64, I8, I32, DType
from teeny.ir.schema import registry
from teeny.ir.types import element_of, shape_of, typed
from teeny.ops.arith import addf
from tests.backends.cpu.lower.harness import ALL, FEW, check
from tests.backends.cpu.lower.test_scan import Shape, places, values
from tests.drafts import Draft

assert teeny.language
DTYPES = (BOOL, I8, F16, F32, F64, I32)


def op(d: Draft, name: str, *operands: Value, **attrs: Any) -> tuple[Value, ...]:
    return d.b.op(registry()[name], operands, attrs).results


def cat(d: Draft, x: Value, y: Value) -> Value:
    size = int(str(shape_of(x.type)[0])) + int(str(shape_of(y.type)[0]))
    return d.b.create(registry()["tt.cat"], x, y, type=typed((size,), element_of(x.type)))


def begun(dtype: DType, shape: Shape, outputs: int) -> tuple[Draft, Value, tuple[Value, ...]]:
    """A draft, the tile that it loads, and where results go."""
    d = Draft()
    d.pointer("x", dtype)
    for number in range(outputs):
        d.pointer(f"y{number}", dtype)
    x, *ys = d.begin()
    return d, d.load(places(d, x, shape)), tuple(ys)


def stored(d: Draft, pointer: Value, value: Value) -> None:
    dims = tuple(int(str(n)) for n in shape_of(value.type))
    d.store(places(d, pointer, dims) if dims else pointer, value)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("shape", [(64, 2), (4, 16, 2), (1, 2), (2, 2), (2, 1, 2)])
def test_split_and_join(dtype: DType, shape: Shape) -> None:
    d, tile, (first, second, both) = begun(dtype, shape, 3)
    left, right = op(d, "tt.split", tile)
    stored(d, first, left)
    stored(d, second, right)
    stored(d, both, op(d, "tt.join", right, left)[0])
    x = values(dtype, shape)
    half = np.zeros(shape[:-1], x.dtype)
    _, *found = check(d.end(), [x, half, half.copy(), np.zeros_like(x)], (1, 1, 1), ALL if dtype is F32 else FEW)
    for got, wanted in zip(found, (x[..., 0], x[..., 1], x[..., ::-1]), strict=True):
        np.testing.assert_array_equal(got, wanted)


@pytest.mark.parametrize("shape", [(64,), (8, 16), (2, 4, 8), (1, 1)])
def test_interleaved_and_one_after_the_other(shape: Shape) -> None:
    d, tile, (turns, whole) = begun(F32, shape, 2)
    other = d.apply(addf, tile, tile)
    joined = op(d, "tt.join", tile, other)[0]
    stored(d, turns, d.reshape(joined, (*shape[:-1], 2 * shape[-1])))
    rank = len(shape)
    stored(d, whole, d.reshape(d.trans(joined, (rank, *range(rank))), (2 * shape[0], *shape[1:])))
    x = values(F32, shape)
    y = np.zeros(2 * x.size, np.float32)
    _, first, second = check(d.end(), [x, y, y.copy()], (1, 1, 1))
    np.testing.assert_array_equal(first, np.stack((x, x + x), -1).reshape(-1))
    np.testing.assert_array_equal(second, np.stack((x, x + x)).reshape(-1))


def test_joined_twice_and_split_again() -> None:
    d, tile, ys = begun(F32, (32,), 4)
    deep = op(d, "tt.join", op(d, "tt.join", tile, d.apply(addf, tile, tile))[0], op(d, "tt.join", tile, tile)[0])[0]
    parts = [part for half in op(d, "tt.split", deep) for part in op(d, "tt.split", half)]
    for pointer, part in zip(ys, parts, strict=True):
        stored(d, pointer, part)
    x = values(F32, (32,))
    _, *found = check(d.end(), [x, *(np.zeros_like(x) for _ in ys)], (1, 1, 1))
    for got, wanted in zip(found, (x, x + x, x, x), strict=True):
        np.testing.assert_array_equal(got, wanted)


def test_rows_of_different_lengths() -> None:
    d, tile, (y,) = begun(F32, (32,), 1)
    total = cat(
        d, cat(d, tile, d.apply(addf, tile, tile)), d.reshape(d.load(places(d, d.function.args[0], (64,))), (64,))
    )
    stored(d, y, total)
    x = values(F32, (64,))
    _, found = check(d.end(), [x, np.zeros(128, np.float32)], (1, 1, 1))
    np.testing.assert_array_equal(found, np.concatenate((x[:32], x[:32] * 2, x)))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize(
    ("shape", "axis"), [((64,), 0), ((1,), 0), ((8, 16), 0), ((8, 16), 1), ((2, 4, 8), 1), ((4, 1), 1)]
)
def test_flips(dtype: DType, shape: Shape, axis: int) -> None:
    d, tile, (y, z) = begun(dtype, shape, 2)
    turned = op(d, "teeny.flip", tile, axis=axis)[0]
    stored(d, y, turned)
    stored(d, z, op(d, "teeny.flip", turned, axis=0)[0])
    x = values(dtype, shape)
    _, found, again = check(d.end(), [x, np.zeros_like(x), np.zeros_like(x)], (1, 1, 1))
    np.testing.assert_array_equal(found, np.flip(x, axis))
    np.testing.assert_array_equal(again, np.flip(np.flip(x, axis), 0))


def test_carried_through_a_loop() -> None:
    """What a loop carries is split, exchanged and joined: views of its buffer must not change under it."""
    d, tile, (y,) = begun(F32, (16, 2), 1)
    bounds = (d.const(0, I32), d.const(3, I32), d.const(1, I32))

    def body(i: Value, carried: Value) -> tuple[Value, ...]:
        left, right = op(d, "tt.split", carried)
        turned = op(d, "teeny.flip", op(d, "tt.join", right, d.apply(addf, left, right))[0], axis=0)[0]
        return (turned,)

    stored(d, y, d.loop(*bounds, (tile,), body)[0])
    x = values(F32, (16, 2))
    _, found = check(d.end(), [x, np.zeros_like(x)], (1, 1, 1))
    wanted = x
    for _ in range(3):
        wanted = np.stack((wanted[:, 1], wanted[:, 0] + wanted[:, 1]), -1)[::-1]
    np.testing.assert_array_equal(found, wanted)


def test_one_element() -> None:
    d, tile, (y,) = begun(F32, (1, 1), 1)
    d.store(y, d.apply(registry()["tt.unsplat"], d.apply(addf, tile, tile)))
    _, found = check(d.end(), [values(F32, (1, 1)), np.zeros(1, np.float32)], (1, 1, 1))
    assert found[0] == 2 * values(F32, (1, 1))[0, 0]
