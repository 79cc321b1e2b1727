"""Loops, branches and what they carry: scalars, tiles, moving pointers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from teeny.ir.builder import Builder
from teeny.ir.core import Block, Module, Region, Value
from teeny.ir.dtype import F32, I32, I64
from teeny.ir.types import pointer, typed
from teeny.ops.address import addptr_
from teeny.ops.arith import addf, addi, mulf, subf
from teeny.ops.bits import ori, xori
from teeny.ops.cast import extsi, sitofp
from teeny.ops.compare import select
from teeny.ops.control import condition_, while_, yield_
from teeny.ops.memory import load_
from tests.backends.cpu.lower.harness import ALL, FEW, Mode, check, compile_in, native
from tests.drafts import Draft

Array = np.ndarray[Any, Any]
SIZE = 64


def ramp(count: int = SIZE) -> Array:
    return np.arange(1, count + 1, dtype=np.float32) / 7


def drafted(*scalars: str) -> tuple[Draft, list[Value]]:
    """A kernel of x, y and i32 scalars."""
    d = Draft()
    d.pointer("x", F32)
    d.pointer("y", F32)
    for name in scalars:
        d.scalar(name)
    return d, list(d.begin())


def number(d: Draft, value: int) -> Value:
    return d.const(value, I32)


@pytest.mark.parametrize("trips", [0, 1, 2, 7])
def test_parallel_assignment(trips: int) -> None:
    """(a, b) = (b, a + b): each yield reads what the other one overwrites."""
    d, (x, y, n) = drafted("n")
    at = d.range(SIZE)
    a, b = d.load(d.at(x, at)), d.load(d.at(x, d.add(at, d.const(SIZE, at.type))))
    left, right = d.loop(number(d, 0), n, number(d, 1), (a, b), lambda i, a, b: (b, d.apply(addf, a, b)))
    d.store(d.at(y, at), d.apply(subf, left, right))
    check(d.end(), [ramp(2 * SIZE), ramp(), trips], (1, 1, 1), ALL)


@pytest.mark.parametrize("trips", [0, 1, 2, 5])
def test_carried_tiles_of_several_shapes(trips: int) -> None:
    """A square that is turned each time, and its row sums: the one is read across while the other is written."""
    d, (x, y, n) = drafted("n")
    dims = (16, 16)
    i, j = d.expand(d.range(16), 1, dims), d.expand(d.range(16), 0, dims)
    place = d.add(d.mul(i, d.const(16, i.type)), j)
    square = d.load(d.at(x, place))
    sums = d.const(0.0, typed((16,), F32))

    def body(index: Value, square: Value, sums: Value) -> tuple[Value, ...]:
        turned = d.trans(square, (1, 0))
        spread = d.expand(sums, 1, dims)
        return d.apply(addf, turned, spread), d.apply(addf, sums, d.reduce(square, 1, addf))

    found, total = d.loop(number(d, 0), n, number(d, 1), (square, sums), body)
    d.store(d.at(y, place), found)
    d.store(d.at(y, d.add(d.range(16), d.const(256, typed((16,), I32)))), total)
    check(d.end(), [ramp(256) / 16, np.zeros(272, np.float32), trips], (1, 1, 1), ALL)


def moving(step: int) -> Module:
    """y[i] = sum over k of x[i + k * step], through a pointer that moves along."""
    d, (x, y, n) = drafted("n")
    at = d.range(SIZE)
    pointers = d.at(x, at)
    zero = d.const(0.0, typed((SIZE,), F32))
    by = d.const(step, at.type)

    def body(index: Value, pointers: Value, total: Value) -> tuple[Value, ...]:
        return d.apply(addptr_, pointers, by), d.apply(addf, total, d.load(pointers))

    last, total = d.loop(number(d, 0), n, number(d, 1), (pointers, zero), body)
    d.store(d.at(y, at), total)
    d.store(d.at(y, d.add(at, d.const(SIZE, at.type))), d.load(last))
    return d.end()


@pytest.mark.parametrize("step", [1, SIZE, 3])
def test_moving_pointers(step: int) -> None:
    module = moving(step)
    for trips in (0, 1, 4):
        x = ramp(SIZE + 4 * step)
        found = check(module, [x, np.zeros(2 * SIZE, np.float32), trips], (1, 1, 1), FEW)
        np.testing.assert_array_equal(found[1][SIZE:], x[step * trips : step * trips + SIZE])
    lowered, _ = compile_in(module, Mode())
    assert "masked.gather" not in lowered.ir_text


@pytest.mark.parametrize(
    ("start", "end", "step"), [(0, 10, 3), (10, 0, -3), (5, 5, 1), (7, 3, 1), (-4, 4, 2), (0, 9, -1)]
)
@pytest.mark.parametrize("known", [False, True])
def test_ranges(start: int, end: int, step: int, known: bool) -> None:
    """The carried sum of index * index + last, with a step that is known or not."""
    d, (_, y, first, last, by) = drafted("first", "last", "by")
    by = number(d, step) if known else by
    values = d.loop(first, last, by, (number(d, 0), number(d, -99)), lambda i, s, p: (d.add(s, d.mul(i, i)), i))
    at = d.range(4)
    for k, value in enumerate(values):
        tile = d.fill(value, (4,))
        d.store(d.at(y, d.add(at, d.const(4 * k, at.type))), d.b.create(sitofp, tile, type=typed((4,), F32)))
    found = check(d.end(), [ramp(4), np.zeros(8, np.float32), start, end, step], (1, 1, 1), FEW)
    indices = list(range(start, end, step))
    assert found[1][0] == sum(i * i for i in indices)
    assert found[1][4] == (indices[-1] if indices else -99)


def test_loop_at_the_end_of_the_range() -> None:
    """The index after the last one does not fit."""
    top = (1 << 31) - 1
    d, (_, y, first, last) = drafted("first", "last")
    (count,) = d.loop(first, last, number(d, 1 << 30), (number(d, 0),), lambda i, s: (d.add(s, number(d, 1)),))
    at = d.range(4)
    d.store(d.at(y, at), d.b.create(sitofp, d.fill(count, (4,)), type=typed((4,), F32)))
    found = check(d.end(), [ramp(4), np.zeros(4, np.float32), 0, top], (1, 1, 1), FEW)
    assert found[1][0] == 2


def test_loop_of_i64() -> None:
    d = Draft()
    d.pointer("y", I64)
    d.scalar("first", I64)
    d.scalar("last", I64)
    y, first, last = d.begin()
    total = d.loop(first, last, d.const(1 << 62, I64), (d.const(0, I64),), lambda i, s: (d.add(s, d.const(1, I64)),))
    d.store(y, total[0])
    (found,) = check(d.end(), [np.zeros(1, np.int64), -(1 << 63), (1 << 63) - 1], (1, 1, 1), FEW)
    assert found[0] == 4


@pytest.mark.parametrize("n", [0, 1, 5])
def test_stores_are_seen_by_later_iterations(n: int) -> None:
    """y[i + 1] = y[i] * 2 with whole tiles: each iteration reads what the one before has written."""
    d, (x, y, trips) = drafted("trips")
    at = d.range(SIZE)
    next_ = d.add(at, d.const(1, at.type))

    def body(index: Value) -> tuple[Value, ...]:
        d.store(d.at(y, next_), d.apply(addf, d.load(d.at(y, at)), d.load(d.at(x, at))))
        return ()

    d.loop(number(d, 0), trips, number(d, 1), (), body)
    check(d.end(), [ramp(), ramp(SIZE + 1), n], (1, 1, 1), FEW)


def test_branch_in_a_loop() -> None:
    """A branch that gives a scalar and a tile, in a loop, under a nested loop."""
    d, (x, y, n) = drafted("n")
    at = d.range(SIZE)
    tile = d.load(d.at(x, at))
    zero = number(d, 0)

    def inner(k: Value, total: Value) -> tuple[Value, ...]:
        return (d.apply(addf, total, d.apply(mulf, tile, d.const(0.5, tile.type))),)

    def body(i: Value, count: Value, total: Value) -> tuple[Value, ...]:
        odd = d.compare("gt", d.mul(i, i), number(d, 3))

        def then() -> tuple[Value, ...]:
            return d.add(count, number(d, 1)), d.loop(zero, i, number(d, 1), (total,), inner)[0]

        return d.branch(odd, then, lambda: (count, d.apply(subf, total, tile)))

    count, total = d.loop(zero, n, number(d, 1), (zero, tile), body)
    scaled = d.b.create(sitofp, d.fill(count, (SIZE,)), type=typed((SIZE,), F32))
    d.store(d.at(y, at), d.apply(addf, total, scaled))
    module = d.end()
    for trips in (0, 1, 5):
        check(module, [ramp(), np.zeros(SIZE, np.float32), trips], (1, 1, 1), ALL)


@pytest.mark.parametrize("flag", [0, 1])
def test_branch_of_pointers(flag: int) -> None:
    """Which tile of pointers is read is decided at run time."""
    d, (x, y, chosen) = drafted("chosen")
    at = d.range(SIZE)
    low, high = d.at(x, at), d.at(x, d.add(at, d.const(SIZE, at.type)))
    (where,) = d.branch(d.compare("eq", chosen, number(d, 0)), lambda: (low,), lambda: (high,))
    d.store(d.at(y, at), d.load(where))
    found = check(d.end(), [ramp(2 * SIZE), np.zeros(SIZE, np.float32), flag], (1, 1, 1), FEW)
    np.testing.assert_array_equal(found[1], ramp(2 * SIZE)[flag * SIZE :][:SIZE])


def test_while_with_tiles() -> None:
    """Doubles a tile and keeps the one before, until a count is reached; what is passed on is not what is carried."""
    d, (x, y, n) = drafted("n")
    at = d.range(SIZE)
    tile = d.load(d.at(x, at))
    kinds = (I32, tile.type, tile.type)
    before, after = Block(kinds), Block(kinds)
    outer = d.b
    d.b = Builder(before)
    count, a, b = before.args
    d.b.op(condition_, (d.compare("lt", count, n), count, b, d.apply(addf, a, b)))
    d.b = Builder(after)
    count, b, total = after.args
    d.b.op(yield_, (d.add(count, number(d, 1)), total, b))
    d.b = outer
    regions = (Region([before]), Region([after]))
    results = d.b.op(while_, (number(d, 0), tile, tile), regions=regions, types=kinds).results
    d.store(d.at(y, at), d.apply(subf, results[2], results[1]))
    module = d.end()
    for trips in (0, 1, 4):
        check(module, [ramp(), np.zeros(SIZE, np.float32), trips], (1, 1, 1), ALL)


def test_grid_of_three_axes() -> None:
    d, (x, y) = drafted()
    px, py, pz = (d.program(axis) for axis in range(3))
    flat = d.add(px, d.mul(number(d, 3), d.add(py, d.mul(number(d, 2), pz))))
    at = d.add(d.range(4), d.fill(d.mul(flat, number(d, 4)), (4,)))
    d.store(d.at(y, at), d.load(d.at(x, at)))
    found = check(d.end(), [ramp(4 * 24), np.zeros(4 * 24, np.float32)], (3, 2, 4), FEW)
    np.testing.assert_array_equal(found[1], ramp(4 * 24))


def test_moving_integers() -> None:
    """offsets += step, in i32 that widens to i64 in the address."""
    d, (x, y, n, step) = drafted("n", "step")
    at = d.range(SIZE)
    by = d.fill(step, (SIZE,))

    def body(index: Value, offsets: Value, total: Value) -> tuple[Value, ...]:
        wide = d.b.create(extsi, offsets, type=typed((SIZE,), I64))
        return d.apply(addi, offsets, by), d.apply(addf, total, d.load(d.at(x, wide)))

    offsets, total = d.loop(number(d, 0), n, number(d, 1), (at, d.const(0.0, typed((SIZE,), F32))), body)
    d.store(d.at(y, at), total)
    d.store(d.at(y, d.add(at, d.const(SIZE, at.type))), d.load(d.at(x, offsets)))
    module = d.end()
    for trips, by_ in ((0, 5), (1, 5), (4, 16), (4, 0)):
        check(module, [ramp(SIZE + 64), np.zeros(2 * SIZE, np.float32), trips, by_], (1, 1, 1), FEW)


def test_long_chains() -> None:
    """An unrolled loop makes a chain of a thousand operations."""
    d, (x, y) = drafted()
    at = d.range(SIZE)
    total = tile = d.load(d.at(x, at))
    for _ in range(1000):
        total = d.apply(addf, total, tile)
    d.store(d.at(y, at), total)
    check(d.end(), [ramp(), np.zeros(SIZE, np.float32)], (1, 1, 1), (Mode(),))


def test_carried_conditions() -> None:
    """Tiles of bools in a loop and out of a branch."""
    d, (x, y, n) = drafted("n")
    at = d.range(SIZE)
    tile = d.load(d.at(x, at))
    start = d.compare("gt", tile, d.const(3.0, tile.type))

    def body(i: Value, flags: Value) -> tuple[Value, ...]:
        other = d.compare("lt", tile, d.const(5.0, tile.type))
        turned = d.apply(xori, flags, other)
        return d.branch(d.compare("gt", i, number(d, 1)), lambda: (turned,), lambda: (d.apply(ori, flags, other),))

    (flags,) = d.loop(number(d, 0), n, number(d, 1), (start,), body)
    d.store(d.at(y, at), d.b.create(select, flags, tile, d.const(0.0, tile.type)))
    module = d.end()
    for trips in (0, 1, 2, 5):
        check(module, [ramp(), np.zeros(SIZE, np.float32), trips], (1, 1, 1), FEW)


def test_pointers_in_memory() -> None:
    """A table of pointers: each row is read through its own."""
    d = Draft()
    d.parameter("table", pointer(pointer(F32)))
    d.pointer("y", F32)
    table, y = d.begin()
    row = d.program()
    base = d.b.create(load_, d.b.create(addptr_, table, row), type=pointer(F32))
    at = d.range(SIZE)
    where = d.add(at, d.fill(d.mul(row, number(d, SIZE)), (SIZE,)))
    d.store(d.at(y, where), d.load(d.at(base, at)))
    rows = [ramp() + k for k in range(3)]
    addresses = np.array([r.ctypes.data for r in rows], np.uint64)
    module = d.end()
    for mode in FEW:
        _, found = native(*compile_in(module, mode), [addresses, np.zeros(3 * SIZE, np.float32)], (3, 1, 1))
        np.testing.assert_array_equal(found, np.concatenate(rows))
