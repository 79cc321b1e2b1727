"""Memory access, lane movement and reductions of the builder."""

from __future__ import annotations

import ctypes
import mmap
from typing import Any

import numpy as np
import pytest

from teeny.backends.cpu.builder import Builder
from teeny.backends.cpu.target import Level
from teeny.ir.lanes import Lane
from tests.backends.cpu.harness import FORCED, NUMPY, WIDTHS, call, compiled

DTYPES = ("i8", "i16", "i32", "i64", "f16", "bf16", "f32", "f64")


def argument(b: Builder, index: int, dtype: str = "ptr") -> Lane:
    return b.load(b.offset(b.parameter("args", "ptr"), b.const("i64", index), "i64"), dtype)


def edge(size: int) -> tuple[mmap.mmap, int]:
    """A mapping of two pages, and the address `size` bytes before the second, which cannot be touched."""
    page = mmap.PAGESIZE
    memory = mmap.mmap(-1, 2 * page)
    base = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    assert ctypes.CDLL(None).mprotect(ctypes.c_void_p(base + page), ctypes.c_size_t(page), 0) == 0
    return memory, base + page - size


def numbers(dtype: str, count: int) -> np.ndarray[Any, Any]:
    return np.arange(1, count + 1).astype(NUMPY[dtype])


@pytest.mark.parametrize("level", FORCED)
@pytest.mark.parametrize("dtype", DTYPES)
def test_masked_access_touches_nothing_else(dtype: str, level: Level) -> None:
    size = np.dtype(NUMPY[dtype]).itemsize
    for width in WIDTHS:

        def body(b: Builder, width: int = width) -> None:
            mask = b.prefix_mask(argument(b, 2, "i64"), width)
            value = b.masked_load(argument(b, 0), mask, b.const(dtype, 99), dtype, width)
            b.masked_store(argument(b, 1), value, mask)
            b.store(argument(b, 3), value)

        address = compiled({"k": body}, level, width)["k"]
        for count in (-5, 0, 1, width // 2, width - 1, width, width + 3):
            n = min(max(count, 0), width)
            source_memory, source = edge(n * size)
            target_memory, target = edge(n * size)
            values, out = numbers(dtype, n), np.zeros(width, NUMPY[dtype])
            ctypes.memmove(source, values.ctypes.data, n * size)
            call(address, [source, target, count, out.ctypes.data])
            assert ctypes.string_at(target, n * size) == values.tobytes()
            expected = np.concatenate([values, np.full(width - n, 99).astype(NUMPY[dtype])])
            assert out.tobytes() == expected.tobytes()
            del source_memory, target_memory


@pytest.mark.parametrize("level", FORCED)
@pytest.mark.parametrize("dtype", DTYPES)
def test_gather_and_scatter(dtype: str, level: Level) -> None:
    rng = np.random.default_rng(0)
    source = numbers(dtype, 100)
    for width in WIDTHS:

        def body(b: Builder, width: int = width) -> None:
            index = b.load(argument(b, 1), "i64", width)
            mask = b.icmp("sge", index, b.const("i64", 0))
            value = b.gather(b.offset(argument(b, 0), index, dtype), dtype, mask, b.const(dtype, 77))
            b.store(argument(b, 2), value)
            b.scatter(b.offset(argument(b, 3), index, dtype), value, mask)
            plain = b.gather(b.offset(argument(b, 0), b.smax(index, b.const("i64", 0)), dtype), dtype)
            b.store(argument(b, 4), plain)

        address = compiled({"k": body}, level, width)["k"]
        index = np.where(rng.random(width) < 0.3, -(1 << 40), rng.permutation(100)[:width])
        out, plain, target = np.zeros(width, NUMPY[dtype]), np.zeros(width, NUMPY[dtype]), np.zeros(100, NUMPY[dtype])
        call(address, [a.ctypes.data for a in (source, index, out, target, plain)])
        expected = np.where(index >= 0, source[np.maximum(index, 0)], np.array(77).astype(NUMPY[dtype]))
        np.testing.assert_array_equal(out, expected)
        np.testing.assert_array_equal(plain, source[np.maximum(index, 0)])
        wanted = np.zeros(100, NUMPY[dtype])
        wanted[index[index >= 0]] = source[index[index >= 0]]
        np.testing.assert_array_equal(target, wanted)


def test_unaligned_and_aligned_access() -> None:
    memory = np.zeros(4096, np.uint8)
    start = -memory.ctypes.data % 64
    for dtype in DTYPES:
        size = np.dtype(NUMPY[dtype]).itemsize
        for align in (1, size, 16 * size):

            def body(b: Builder, dtype: str = dtype, align: int = align) -> None:
                b.store(argument(b, 1), b.load(argument(b, 0), dtype, 16, align=align), align=align)

            shift = 1 if align == 1 else align % 64
            source, target = memory[start + shift :][: 16 * size], memory[start + 2048 + shift :][: 16 * size]
            source[:] = np.random.default_rng(1).integers(0, 256, 16 * size)
            target[:] = 0
            call(compiled({"k": body}, "native", 16)["k"], [source.ctypes.data, target.ctypes.data])
            np.testing.assert_array_equal(source, target)


def test_nontemporal_store() -> None:
    def body(b: Builder) -> None:
        b.store(argument(b, 1), b.load(argument(b, 0), "f32", 16), align=64, nontemporal=True)
        b.fence()

    memory = np.zeros(64, np.float32)
    target = memory[(-memory.ctypes.data % 64) // 4 :][:16]
    source = numbers("f32", 16)
    call(compiled({"k": body}, "native", 16)["k"], [source.ctypes.data, target.ctypes.data])
    np.testing.assert_array_equal(source, target)


def canonical_sum(values: np.ndarray[Any, Any]) -> Any:
    while values.size > 1:
        half = values.size // 2
        values = values[:half] + values[half:]
    return values[0]


@pytest.mark.parametrize("level", FORCED)
@pytest.mark.parametrize("dtype", ["f32", "f64", "i32"])
def test_reduction_is_the_same_tree_at_every_width(dtype: str, level: Level) -> None:
    values = (np.random.default_rng(0).normal(size=64) * 1000).astype(NUMPY[dtype])
    for width in WIDTHS:

        def body(b: Builder, width: int = width) -> None:
            base = argument(b, 0)
            parts = [b.load(b.offset(base, b.const("i64", i), dtype), dtype, width) for i in range(0, 64, width)]
            b.store(argument(b, 1), b.reduce(b.fadd if dtype[0] == "f" else b.add, parts))

        out = np.zeros(1, NUMPY[dtype])
        call(compiled({"k": body}, level, width)["k"], [values.ctypes.data, out.ctypes.data])
        assert out[0] == canonical_sum(values), width


def test_lanes_move() -> None:
    source = numbers("f32", 16)

    def body(b: Builder) -> None:
        v = b.load(argument(b, 0), "f32", 16)
        results = [
            b.shuffle(v, v, range(15, -1, -1)),
            b.splat(b.extract(v, 3), 16),
            b.insert(v, b.const("f32", -1), 5),
            b.splat(b.extract_at(v, b.add(argument(b, 2, "i64"), b.const("i64", 2))), 16),
            b.sitofp(b.ramp(argument(b, 2, "i64"), 16, 3), "f32"),
            b.shuffle(
                b.pack([b.extract(v, i) for i in (1, 0, 2, 7)]),
                b.shuffle(v, v, (8, 9, 10, 11)),
                [0, 1, 2, 3, 4, 5, 6, 7] * 2,
            ),
            b.sitofp(b.lane_ids("i16", 16), "f32"),
        ]
        for i, value in enumerate(results):
            b.store(b.offset(argument(b, 1), b.const("i64", 16 * i), "f32"), value)

    out = np.zeros((7, 16), np.float32)
    call(compiled({"k": body}, "native", 16)["k"], [source.ctypes.data, out.ctypes.data, 4])
    inserted = source.copy()
    inserted[5] = -1
    np.testing.assert_array_equal(out[0], source[::-1])
    np.testing.assert_array_equal(out[1], np.full(16, 4))
    np.testing.assert_array_equal(out[2], inserted)
    np.testing.assert_array_equal(out[3], np.full(16, 7))
    np.testing.assert_array_equal(out[4], 4 + 3 * np.arange(16))
    np.testing.assert_array_equal(out[5], [2, 1, 3, 8, 9, 10, 11, 12] * 2)
    np.testing.assert_array_equal(out[6], np.arange(16))


def test_pointers_are_values() -> None:
    def body(b: Builder) -> None:
        first, second = argument(b, 0), argument(b, 1)
        null = b.const("ptr", 0)
        chosen = b.select(b.icmp("eq", first, null), second, first)
        b.store(chosen, b.bitcast(chosen, "i64"))
        both = b.pack([first, second, null, b.const("ptr", 64)])
        b.store(b.offset(second, b.const("i64", 1), "i64"), both)
        b.store(b.offset(second, b.const("i64", 5), "i64"), b.zext(b.icmp("ne", both, null), "i64"))

    out = np.zeros(9, np.int64)
    call(compiled({"k": body}, "native", 16)["k"], [0, out.ctypes.data])
    assert out.tolist() == [out.ctypes.data, 0, out.ctypes.data, 0, 64, 0, 1, 0, 1]


def test_offsets_in_every_form() -> None:
    table = np.arange(1000, dtype=np.int64)

    def body(b: Builder) -> None:
        base = argument(b, 0)
        scalar = b.offset(base, argument(b, 1, "i64"), "i64")
        narrow = b.offset(scalar, b.trunc(argument(b, 2, "i64"), "i32"), "i64")
        odd = b.offset(narrow, b.const("i64", 2), "i64", bytes_each=24)
        rows = b.offset(odd, b.ramp(b.const("i64", 0), 4, 10), "i64")
        grid = b.offset(rows, b.lane_ids("i32", 4), "i64")
        b.store(argument(b, 3), b.gather(grid, "i64"))

    out = np.zeros(4, np.int64)
    call(compiled({"k": body}, "native", 16)["k"], [table.ctypes.data, 500, -100, out.ctypes.data])
    np.testing.assert_array_equal(out, 500 - 100 + 6 + 11 * np.arange(4))
