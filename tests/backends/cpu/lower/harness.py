"""Kernels run natively in many modes, in guarded memory, and compared with the reference."""

from __future__ import annotations

import ctypes
import mmap
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import teeny.language
from teeny.backends.cpu.engine import compile_object, load
from teeny.backends.cpu.lower.entry import LoweredKernel, lower
from teeny.backends.cpu.lower.state import Options
from teeny.backends.cpu.target import LEVELS, Level, supported_levels
from teeny.backends.reference.run import run
from teeny.ir.core import Module
from teeny.ir.verify import verify

assert teeny.language
Grid = tuple[int, int, int]
PAGE = mmap.PAGESIZE
_libc = ctypes.CDLL(None)
_libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
PROT_NONE = 0
CANARY = 0xA5
ENTRY = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64, ctypes.c_void_p)


@dataclass(frozen=True)
class Mode:
    """One way to compile a kernel."""

    level: Level = "native"
    width: int | None = None
    exact: bool = False
    disjoint: bool = False

    @property
    def options(self) -> Options:
        return Options(width=self.width, exact=self.exact, disjoint=self.disjoint)


WIDTHS = tuple(Mode(width=w) for w in (16, 8, 4, 1))
EXACT = (Mode(exact=True),)
OTHER_LEVELS = tuple(
    Mode(level=level) for level in LEVELS if level in supported_levels() and level not in ("native", "x86-64")
)
FEW = (Mode(), Mode(width=4), Mode(width=1), Mode(exact=True))
ALL = (Mode(), *WIDTHS, *EXACT, *OTHER_LEVELS)


class Guarded:
    """Memory between two pages that must not be touched; it ends right before the second one."""

    def __init__(self, size: int, fill: int = CANARY, tail: int = 0) -> None:
        self.pages = (size + tail + PAGE - 1) // PAGE * PAGE or PAGE
        self.map = mmap.mmap(-1, self.pages + 2 * PAGE)
        self.base = ctypes.addressof(ctypes.c_char.from_buffer(self.map))
        ctypes.memset(self.base + PAGE, fill, self.pages)
        for at in (self.base, self.base + PAGE + self.pages):
            assert _libc.mprotect(at, PAGE, PROT_NONE) == 0
        self.size = size
        self.address = self.base + PAGE + self.pages - size - tail
        self.fill = fill

    def bytes(self) -> np.ndarray[Any, Any]:
        return np.frombuffer((ctypes.c_ubyte * self.size).from_address(self.address), np.uint8)

    def untouched(self) -> bool:
        """Whether the bytes before the array still hold what they were filled with."""
        before = self.address - self.base - PAGE
        return ctypes.string_at(self.base + PAGE, before) == bytes([self.fill]) * before


def compile_in(module: Module, mode: Mode) -> tuple[LoweredKernel, int]:
    """Lowered code and its address."""
    lowered = lower(module, level=mode.level, options=mode.options)
    return lowered, load(compile_object(lowered.ir_text, mode.level), lowered.symbol)


def bits(value: Any, name: str) -> int:
    """A scalar argument's slot."""
    if name in ("f32", "f64"):
        return int.from_bytes(struct.pack("<f" if name == "f32" else "<d", value), "little")
    if name in ("f16", "bf16"):
        import ml_dtypes

        dtype = np.float16 if name == "f16" else ml_dtypes.bfloat16
        return int(np.asarray(value, dtype).view(np.uint16))
    return int(value) & (1 << 64) - 1


def native(lowered: LoweredKernel, address: int, args: Sequence[Any], grid: Grid) -> list[np.ndarray[Any, Any]]:
    """Run on copies of the arrays in guarded memory; gives the arrays as they are afterwards.

    An array given as `(array, offset in bytes)` shares memory with the array itself, which must come first.
    """
    slots: list[int] = []
    held: list[tuple[Guarded, np.ndarray[Any, Any]] | None] = []
    places: dict[int, Guarded] = {}
    for value, name in zip(args, lowered.params, strict=True):
        if isinstance(value, tuple):
            array, offset = value
            slots.append(places[id(array)].address + offset)
            held.append(None)
        elif isinstance(value, np.ndarray):
            memory = Guarded(value.nbytes)
            memory.bytes()[:] = np.ascontiguousarray(value).reshape(-1).view(np.uint8)
            places[id(value)] = memory
            slots.append(memory.address)
            held.append((memory, value))
        else:
            slots.append(bits(value, name))
            held.append(None)
    block = (ctypes.c_uint64 * (len(slots) + 3))(*slots, *grid)
    scratch = Guarded((lowered.scratch_bytes + 63) // 64 * 64, fill=0xFF)
    assert scratch.address % 64 == 0
    ENTRY(address)(ctypes.addressof(block), 0, grid[0] * grid[1] * grid[2], scratch.address)
    assert scratch.untouched(), "the kernel wrote before its arena"
    found: list[np.ndarray[Any, Any]] = []
    for one in held:
        if one is not None:
            memory, array = one
            assert memory.untouched(), "the kernel wrote before an array"
            found.append(memory.bytes().copy().view(array.dtype).reshape(array.shape))
    return found


def same_bits(x: np.ndarray[Any, Any], y: np.ndarray[Any, Any]) -> bool:
    """Equal bit for bit, but for the payload and sign of NaNs."""
    if x.dtype.kind in "fV":
        wide_x, wide_y = x.astype(np.float64), y.astype(np.float64)
        nan = np.isnan(wide_x)
        if not np.array_equal(nan, np.isnan(wide_y)):
            return False
        return bool(np.all(nan | ((wide_x == wide_y) & (np.signbit(wide_x) == np.signbit(wide_y)))))
    return bool(np.array_equal(x, y))


def expected(module: Module, args: Sequence[Any], grid: Grid) -> list[np.ndarray[Any, Any]]:
    """What the reference makes of copies of the arrays."""
    copies: dict[int, np.ndarray[Any, Any]] = {}
    given: list[Any] = []
    for value in args:
        if isinstance(value, tuple):
            array, offset = value
            flat = copies[id(array)].reshape(-1)
            given.append(flat[offset // flat.itemsize :])
        elif isinstance(value, np.ndarray):
            copies[id(value)] = value.copy()
            given.append(copies[id(value)])
        else:
            given.append(value)
    run(module, given, grid, strict=False)
    return list(copies.values())


def check(
    module: Module,
    args: Sequence[Any],
    grid: Grid,
    modes: Sequence[Mode] = FEW,
    *,
    rtol: float = 0.0,
    atol: float = 0.0,
    compiled: dict[Mode, tuple[LoweredKernel, int]] | None = None,
) -> list[np.ndarray[Any, Any]]:
    """Run in each mode: all agree bit for bit, and with the reference (within the tolerance, if one is given)."""
    verify(module, concrete=True)
    want = expected(module, args, grid)
    first: list[np.ndarray[Any, Any]] | None = None
    cache = compiled if compiled is not None else {}
    for mode in modes:
        if mode not in cache:
            cache[mode] = compile_in(module, mode)
        got = native(*cache[mode], args, grid)
        for at, (x, y) in enumerate(zip(got, want, strict=True)):
            if rtol or atol:
                np.testing.assert_allclose(
                    x.astype(np.float64), y.astype(np.float64), rtol=rtol, atol=atol, err_msg=f"array {at}, {mode}"
                )
            elif not same_bits(x, y):
                np.testing.assert_array_equal(x, y, err_msg=f"array {at}, {mode}")
                raise AssertionError(f"array {at} differs in {mode}")
        if first is not None:
            for at, (x, y) in enumerate(zip(got, first, strict=True)):
                assert same_bits(x, y), f"array {at}: {mode} differs from {modes[0]}"
        first = first or got
    assert first is not None
    return first
