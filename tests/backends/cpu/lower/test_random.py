"""Random kernels: native code in many modes equals the reference bit for bit, wherever that is defined."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from teeny.backends.cpu.lower.entry import LoweredKernel
from teeny.backends.reference.run import run
from teeny.ir.dtype import I8, I16, I32, I64
from teeny.ir.verify import verify
from tests.backends.cpu.lower.harness import ALL, ENTRY, Grid, Guarded, Mode, bits, compile_in, native
from tests.same import assert_same, reference
from tests.strategies import Features, Sample, samples

MODES = ALL
UNHURRIED = settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))


def agree(sample: Sample, modes: tuple[Mode, ...]) -> None:
    verify(sample.module, concrete=True)
    expected, undefined = reference(sample)
    for mode in modes:
        arguments = sample.arguments()
        found = iter(native(*compile_in(sample.module, mode), arguments, sample.grid))
        after = [next(found) if isinstance(a, np.ndarray) else a for a in arguments]
        try:
            assert_same(after, expected, undefined)
        except AssertionError as error:
            raise AssertionError(f"{mode}: {error}") from None


@given(samples(Features(exact=True)), st.integers(0, len(MODES) - 1))
@UNHURRIED
def test_random_kernels(sample: Sample, mode: int) -> None:
    agree(sample, (MODES[0], MODES[mode]))


def overlapping(sample: Sample, seed: int) -> tuple[np.ndarray[Any, Any], list[Any]]:
    """The sample's arguments with all arrays in one memory, at random places: most of them overlap."""
    rng = np.random.default_rng(seed)
    arguments = sample.arguments()
    arrays = [a for a in arguments if isinstance(a, np.ndarray)]
    longest = max(a.nbytes for a in arrays)
    memory = np.zeros(longest + int(rng.integers(0, longest + 1)), np.uint8)
    placed: list[Any] = []
    for value in arguments:
        if isinstance(value, np.ndarray):
            step = int(rng.choice([1, value.itemsize, value.itemsize]))
            start = int(rng.integers(0, (memory.size - value.nbytes) // step + 1)) * step
            view = memory[start : start + value.nbytes].view(value.dtype)
            view[:] = value
            placed.append(view)
        else:
            placed.append(value)
    return memory, placed


def run_in_place(lowered: LoweredKernel, address: int, memory: Any, arguments: list[Any], grid: Grid) -> Any:
    """Native code on a copy of the memory; gives the copy."""
    copy = Guarded(memory.nbytes)
    copy.bytes()[:] = memory
    base = memory.ctypes.data
    slots = [
        copy.address + a.ctypes.data - base if isinstance(a, np.ndarray) else bits(a, name)
        for a, name in zip(arguments, lowered.params, strict=True)
    ]
    block = (ctypes.c_uint64 * (len(slots) + 3))(*slots, *grid)
    scratch = Guarded((lowered.scratch_bytes + 63) // 64 * 64, fill=0xFF)
    ENTRY(address)(ctypes.addressof(block), 0, grid[0] * grid[1] * grid[2], scratch.address)
    assert copy.untouched()
    return copy.bytes().copy()


def agree_where_memory_overlaps(sample: Sample, seed: int, modes: tuple[Mode, ...]) -> None:
    memory, arguments = overlapping(sample, seed)
    code = [compile_in(sample.module, mode) for mode in modes]
    found = [run_in_place(*one, memory, arguments, sample.grid) for one in code]
    run(sample.module, arguments, sample.grid, strict=False)
    for mode, bytes_ in zip(modes, found, strict=True):
        assert np.array_equal(bytes_, memory), f"{mode}: bytes {np.flatnonzero(bytes_ != memory)[:8]} differ"


@given(samples(Features(dtypes=(I32, I64, I16, I8), undefined=False)), st.integers(0, 1 << 30))
@UNHURRIED
def test_random_kernels_on_memory_that_overlaps(sample: Sample, seed: int) -> None:
    agree_where_memory_overlaps(sample, seed, (MODES[0], MODES[1 + seed % (len(MODES) - 1)]))
