"""Memory that is read and written by one program: every load happens before every later store, whatever overlaps."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from teeny.ir.core import Block, Module
from teeny.ir.dtype import F32, I32
from teeny.ir.types import pointer
from teeny.ops.arith import addf, mulf, subi
from tests.backends.cpu.lower.harness import Mode, check, compile_in, native
from tests.drafts import Draft
from tests.kernels_text import load

BLOCK = 128
MODES = (Mode(), Mode(width=4), Mode(exact=True))
SHIFTS = (0, 1, 3, 16, 17, 64, 127, 128, 200)


def ramp(count: int) -> np.ndarray[Any, Any]:
    return np.arange(1, count + 1, dtype=np.float32)


def kernel(body: Callable[[Draft, Any, Any, Any, Any], None]) -> Module:
    """A kernel of two pointers and a bound; `body` gets them and a range with its mask."""
    d = Draft()
    d.pointer("x", F32)
    d.pointer("y", F32)
    d.scalar("n")
    x, y, n = d.begin()
    at = d.range(BLOCK)
    mask = d.compare("lt", at, d.fill(n, (BLOCK,)))
    body(d, x, y, at, mask)
    return d.end()


@functools.cache
def shared(body: Callable[..., None]) -> tuple[Module, dict[Mode, Any]]:
    """The kernel with an unused first argument, the array that holds both; and what has been compiled of it."""
    module = kernel(body)
    entry = module.kernel.entry
    first = Block((pointer(F32),), ("memory",)).args[0]
    first.block = entry
    entry.args = (first, *entry.args)
    for number, argument in enumerate(entry.args):
        argument.index = number
    return module, {}


def copy(d: Draft, x: Any, y: Any, at: Any, mask: Any) -> None:
    value = d.load(d.at(x, at), mask)
    d.store(d.at(y, at), d.apply(addf, value, value), mask)


def two_stores(d: Draft, x: Any, y: Any, at: Any, mask: Any) -> None:
    value = d.load(d.at(x, at), mask)
    d.store(d.at(y, at), d.apply(addf, value, value), mask)
    d.store(d.at(y, d.add(at, d.const(1, at.type))), value, mask)


def scalar_store_between(d: Draft, x: Any, y: Any, at: Any, mask: Any) -> None:
    value = d.load(d.at(x, at), mask)
    d.store(y, d.const(-7.0, F32))
    d.store(d.at(y, d.add(at, d.const(1, at.type))), value, mask)


def stencil(d: Draft, x: Any, y: Any, at: Any, mask: Any) -> None:
    left = d.load(d.at(x, at), mask, 0.0)
    right = d.load(d.at(x, d.add(at, d.const(1, at.type))), mask, 0.0)
    d.store(d.at(y, at), d.apply(addf, left, right), mask)


def reversed_(d: Draft, x: Any, y: Any, at: Any, mask: Any) -> None:
    down = d.apply(subi, d.const(BLOCK - 1, at.type), at)
    d.store(d.at(y, at), d.load(d.at(x, down)), mask)


def store_in_loop(d: Draft, x: Any, y: Any, at: Any, mask: Any) -> None:
    value = d.load(d.at(x, at), mask, 0.0)

    def body(i: Any) -> tuple[Any, ...]:
        where = d.add(at, d.fill(i, (BLOCK,)))
        d.store(d.at(y, where), d.apply(addf, value, d.const(1.0, value.type)), mask)
        return ()

    d.loop(d.const(0, I32), d.const(3, I32), d.const(1, I32), (), body)


@pytest.mark.parametrize("shift", SHIFTS)
@pytest.mark.parametrize("back", [False, True])
@pytest.mark.parametrize("body", [copy, two_stores, scalar_store_between, stencil, reversed_, store_in_loop])
def test_overlap(body: Callable[..., None], shift: int, back: bool) -> None:
    """x and y in one array, y `shift` elements after x, or before it."""
    module, compiled = shared(body)
    memory = ramp(BLOCK + max(SHIFTS))
    size = memory.itemsize * min(shift, max(SHIFTS) - 4)
    pair: list[Any] = [(memory, size), (memory, 0)] if back else [(memory, 0), (memory, size)]
    for n in (BLOCK, BLOCK - 3, 1, 0) if body is not reversed_ else (BLOCK,):
        check(module, [memory, *pair, n], (1, 1, 1), MODES, compiled=compiled)


def test_in_place_stays_fast() -> None:
    """The same pointers, element by element: the version with vectors runs, and it is right."""
    x = ramp(BLOCK)
    lowered, address = compile_in(kernel(copy), Mode())
    assert "masked.store" in lowered.ir_text
    (found,) = native(lowered, address, [x, (x, 0), BLOCK - 3], (1, 1, 1))
    np.testing.assert_array_equal(found[:-3], 2 * x[:-3])


def gather(*, scatter: bool) -> Module:
    d = Draft()
    d.pointer("x", F32)
    d.pointer("index", I32)
    d.pointer("y", F32)
    x, index, y = d.begin()
    at = d.range(BLOCK)
    where = d.load(d.at(index, at))
    if scatter:
        d.store(d.at(y, where), d.apply(mulf, d.load(d.at(x, at)), d.const(2.0, d.load(d.at(x, at)).type)))
    else:
        d.store(d.at(y, at), d.load(d.at(x, where)))
    return d.end()


@pytest.mark.parametrize("scatter", [False, True])
@pytest.mark.parametrize("shift", [0, 1, 16, 100])
def test_gather_and_scatter_overlap(scatter: bool, shift: int) -> None:
    x = ramp(BLOCK + 200)
    index = np.random.default_rng(0).permutation(BLOCK).astype(np.int32)
    check(gather(scatter=scatter), [x, index, (x, 4 * shift)], (1, 1, 1), MODES)


def test_gather_from_disjoint_memory() -> None:
    """Nothing is staged when the caller vouches that arguments are disjoint."""
    x, y = ramp(BLOCK), np.zeros(BLOCK, np.float32)
    index = np.random.default_rng(0).permutation(BLOCK).astype(np.int32)
    modes = (*MODES, Mode(disjoint=True))
    check(gather(scatter=False), [x, index, y], (1, 1, 1), modes)
    staged, _ = compile_in(gather(scatter=False), Mode())
    direct, _ = compile_in(gather(scatter=False), Mode(disjoint=True))
    assert direct.ir_text.count("masked.gather") == staged.ir_text.count("masked.gather")
    assert direct.scratch_bytes < staged.scratch_bytes


@pytest.mark.parametrize("shift", [0, 1, 7, 64, 300])
@pytest.mark.parametrize("name", ["softmax", "layer_norm"])
def test_rows_over_themselves(name: str, shift: int) -> None:
    n = 200
    x = np.random.default_rng(1).standard_normal(4 * n + 300).astype(np.float32)
    if name == "softmax":
        check(load(name), [x, (x, 4 * shift), n, n, n], (2, 1, 1), MODES, rtol=1e-5, atol=1e-6)
    else:
        w, b = ramp(n), ramp(n)
        check(load(name), [x, (x, 4 * shift), w, b, n, n, 1e-5], (2, 1, 1), MODES, rtol=1e-5, atol=1e-5)


def test_transpose_in_place() -> None:
    d = Draft()
    d.pointer("x", F32)
    (x,) = d.begin()
    rows, cols = d.range(16), d.range(16)
    i, j = d.expand(rows, 1, (16, 16)), d.expand(cols, 0, (16, 16))
    there = d.add(d.mul(i, d.const(16, i.type)), j)
    d.store(d.at(x, there), d.trans(d.load(d.at(x, there)), (1, 0)))
    a = ramp(256).reshape(16, 16)
    (found,) = check(d.end(), [a], (1, 1, 1), MODES)
    np.testing.assert_array_equal(found, a.T)


def test_halves_swap() -> None:
    """Two loads, two stores that write what the other load read."""
    d = Draft()
    d.pointer("x", F32)
    (x,) = d.begin()
    low = d.range(64)
    high = d.add(low, d.const(64, low.type))
    a, c = d.load(d.at(x, low)), d.load(d.at(x, high))
    d.store(d.at(x, low), c)
    d.store(d.at(x, high), a)
    (found,) = check(d.end(), [ramp(128)], (1, 1, 1), MODES)
    np.testing.assert_array_equal(found, np.roll(ramp(128), 64))


def columns(d: Draft, x: Any, n: Any, shift: Any) -> None:
    """x[:, shift:][:, :16] = 2 * x[:, :16] in rows of n elements."""
    dims = (4, 16)
    i, j = d.expand(d.range(4), 1, dims), d.expand(d.range(16), 0, dims)
    place = d.add(d.mul(i, d.fill(n, dims)), j)
    tile = d.load(d.at(x, place))
    d.store(d.at(x, d.add(place, d.fill(shift, dims))), d.apply(addf, tile, tile))


@pytest.mark.parametrize("n", [32, 33, 48, 64])
@pytest.mark.parametrize("shift", [0, 1, 15, 16, 17, 31, 32, 47])
def test_columns_of_one_matrix(n: int, shift: int) -> None:
    """Blocks of columns interleave in memory; side by side they do not overlap, else they may."""
    module, compiled = columns_kernel()
    check(module, [ramp(5 * 64), n, shift], (1, 1, 1), MODES, compiled=compiled)


@functools.cache
def columns_kernel() -> tuple[Module, dict[Mode, Any]]:
    d = Draft()
    d.pointer("x", F32)
    d.scalar("n")
    d.scalar("shift")
    columns(d, *d.begin())
    return d.end(), {}
