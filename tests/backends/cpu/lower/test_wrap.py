"""Index arithmetic keeps its declared width: it wraps, in addresses and in masks, whichever version of a nest runs."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest

from teeny.ir.core import Module
from teeny.ir.dtype import F32, I8, I64
from teeny.ir.types import typed
from teeny.ops.arith import subi
from teeny.ops.bits import andi
from teeny.ops.cast import extsi, extui, trunci
from teeny.ops.compare import cmpi
from tests.backends.cpu.lower.harness import ALL, Mode, check
from tests.drafts import Draft

MODES = (Mode(), Mode(width=4), Mode(width=1), Mode(exact=True))
TOP = (1 << 31) - 1


@functools.cache
def wrapped_masks() -> tuple[Module, dict[Mode, Any]]:
    d = Draft()
    d.pointer("y", F32)
    d.scalar("start")
    d.scalar("bound")
    y, s, n = d.begin()
    at = d.range(128)
    mask = d.compare("lt", d.add(d.fill(s, (128,)), at), d.fill(n, (128,)))
    d.store(d.at(y, at), d.const(1.0, typed((128,), F32)), mask)
    return d.end(), {}


@pytest.mark.parametrize("start", [0, TOP - 300, TOP - 100, TOP - 3, TOP, -TOP - 1, -TOP + 5])
@pytest.mark.parametrize("bound", [0, -1, 40, TOP, -TOP - 1, -TOP + 60])
def test_wrapped_masks(start: int, bound: int) -> None:
    """start + i < bound, where the sum wraps."""
    module, compiled = wrapped_masks()
    (found,) = check(module, [np.zeros(128, np.float32), start, bound], (1, 1, 1), MODES, compiled=compiled)
    wrapped = (np.arange(128) + start + (1 << 31)) % (1 << 32) - (1 << 31)
    np.testing.assert_array_equal(found, wrapped < bound)


@pytest.mark.parametrize("start", [0, TOP - 60, TOP, -TOP - 1, 1 << 20])
@pytest.mark.parametrize("wide", [False, True])
def test_wrapped_offsets(start: int, wide: bool) -> None:
    """(start + i) - start is i again, although the sum wraps; widened in between it is not."""
    d = Draft()
    d.pointer("x", F32)
    d.pointer("y", F32)
    d.scalar("start")
    x, y, s = d.begin()
    at = d.range(128)
    moved = d.add(d.fill(s, (128,)), at)
    if wide:
        i64 = typed((128,), I64)
        moved = d.b.create(extsi, moved, type=i64)
        low = d.b.create(extsi, d.fill(s, (128,)), type=i64)
        back = d.apply(subi, moved, low)
        ok = d.compare("lt", back, d.const(128, i64))
        ok = d.apply(andi, ok, d.compare("ge", back, d.const(0, i64)))
        d.store(d.at(y, at), d.load(d.at(x, back), ok, -1.0))
    else:
        back = d.apply(subi, moved, d.fill(s, (128,)))
        d.store(d.at(y, at), d.load(d.at(x, back)))
    check(d.end(), [np.arange(128, dtype=np.float32), np.zeros(128, np.float32), start], (1, 1, 1), MODES)


@pytest.mark.parametrize("scale", [1, 3, 5])
def test_offsets_of_eight_bits(scale: int) -> None:
    """trunc(i * scale) to i8 as an offset goes around at 128."""
    d = Draft()
    d.pointer("x", F32)
    d.pointer("y", F32)
    d.scalar("scale")
    d.scalar("half", I64)
    x, y, s, half = d.begin()
    at = d.range(256)
    narrow = d.b.create(trunci, d.mul(at, d.fill(s, (256,))), type=typed((256,), I8))
    middle = d.at(x, half)
    d.store(d.at(y, at), d.load(d.at(middle, narrow)))
    found = check(d.end(), [np.arange(256, dtype=np.float32), np.zeros(256, np.float32), scale, 128], (1, 1, 1), MODES)
    want = (np.arange(256) * scale).astype(np.int8).astype(np.float32) + 128
    np.testing.assert_array_equal(found[1], want)


@pytest.mark.parametrize("start", [0, -5, -200, TOP - 10])
def test_unsigned_masks(start: int) -> None:
    """A negative index is large when read without a sign."""
    d = Draft()
    d.pointer("y", F32)
    d.scalar("start")
    y, s = d.begin()
    at = d.range(64)
    mask = d.apply(cmpi, d.add(d.fill(s, (64,)), at), d.const(40, at.type), predicate="ult")
    d.store(d.at(y, at), d.const(1.0, typed((64,), F32)), mask)
    (found,) = check(d.end(), [np.zeros(64, np.float32), start], (1, 1, 1), ALL)
    np.testing.assert_array_equal(found, ((np.arange(64) + start) % (1 << 32)) < 40)


@pytest.mark.parametrize("start", [0, -5, 7])
def test_zero_extension(start: int) -> None:
    """extui of a sum that may be negative."""
    d = Draft()
    d.pointer("y", I64)
    d.scalar("start")
    y, s = d.begin()
    at = d.range(64)
    wide = d.b.create(extui, d.add(d.fill(s, (64,)), at), type=typed((64,), I64))
    d.store(d.at(y, at), wide)
    (found,) = check(d.end(), [np.zeros(64, np.int64), start], (1, 1, 1), MODES)
    np.testing.assert_array_equal(found, (np.arange(64) + start) % (1 << 32))


@functools.cache
def masks_of_i64() -> tuple[Module, dict[Mode, Any]]:
    d = Draft()
    d.pointer("y", F32)
    d.scalar("start", I64)
    d.scalar("n", I64)
    y, s, bound = d.begin()
    at = d.range(64)
    wide = d.b.create(extsi, at, type=typed((64,), I64))
    mask = d.compare("lt", d.add(d.fill(s, (64,)), wide), d.fill(bound, (64,)))
    d.store(d.at(y, at), d.const(1.0, typed((64,), F32)), mask)
    return d.end(), {}


@pytest.mark.parametrize("n", [0, 1, 64, 1 << 62, -(1 << 62), (1 << 63) - 1, -(1 << 63)])
@pytest.mark.parametrize("start", [0, 30, (1 << 63) - 10, -(1 << 63), 1 << 62])
def test_masks_of_i64(n: int, start: int) -> None:
    module, compiled = masks_of_i64()
    (found,) = check(module, [np.zeros(64, np.float32), start, n], (1, 1, 1), MODES, compiled=compiled)
    exact = [(i + start + (1 << 63)) % (1 << 64) - (1 << 63) < n for i in range(64)]
    np.testing.assert_array_equal(found, exact)
