"""Random kernels of loads, stores, atomic operations and picked lanes on arrays that overlap: the CPU as the reference.

`TEENY_FUZZ_MEMORY=1000` runs as many of them.
"""

from __future__ import annotations

import os
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from teeny.backends.cpu.kernel import compile_module
from teeny.backends.cpu.lower.state import Options
from teeny.backends.reference import run
from tests.language.executors import kernel_of

COUNT = int(os.environ.get("TEENY_FUZZ_MEMORY", "24"))
SIZE = 400
MODES = (Options(), Options(), Options(width=4), Options(exact=True))
STEPS = ("add", "max", "min", "and", "or", "xor", "xchg")


class Writer:
    """The lines of one kernel. Values are `v0`, `v1`, ...: tiles of 64 i32; every place lies within the arrays."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.lines: list[str] = []
        self.count = 0
        self.indent = "    "

    def pick(self, *options: str) -> str:
        return self.random.choice(options)

    def line(self, text: str) -> None:
        self.lines.append(self.indent + text)

    def value(self) -> str:
        if not self.count or self.random.random() < 0.2:
            return self.pick("at", "at * 3 - 7", "n + at", f"tl.full((64,), {self.random.randint(-9, 9)}, tl.i32)")
        x, y = (f"v{self.random.randrange(self.count)}" for _ in range(2))
        return self.pick(x, x, f"{x} + {y}", f"{x} * 3 - {y}", f"tl.maximum({x}, {y})", f"tl.where({x} < {y}, {x}, at)")

    def place(self) -> str:
        """A tile of pointers, somewhere from 0 to 300 in an array."""
        base = self.pick("x", "x", "y", "z", "near")
        start = self.random.randint(0, 40)
        at = self.pick("at", "at", "63 - at", "2 * at", "at // 3", "at % 5", "at * 0", "(at * 7) % 64")
        if self.count and self.random.random() < 0.2:
            at = f"(v{self.random.randrange(self.count)} & 63)"
        return f"{base} + {start} + {at}"

    def mask(self) -> str:
        return self.pick("", "", ", mask=at < n", ", mask=at % 3 != 1", ", mask=at >= 17", f", mask={self.value()} > 0")

    def new(self, text: str) -> None:
        self.line(f"v{self.count} = {text}")
        self.count += 1

    def step(self) -> None:
        kind = self.random.random()
        mask = self.mask()
        if kind < 0.3:
            volatile = self.pick("", "", "", ", volatile=True")
            self.new(f"tl.load({self.place()}{mask}{', other=3' if mask else ''}{volatile})")
        elif kind < 0.5:
            self.line(f"tl.store({self.place()}, {self.value()}{mask})")
        elif kind < 0.8:
            call = f"tl.atomic_{self.pick(*STEPS)}({self.place()}, {self.value()}{mask})"
            if self.random.random() < 0.6:
                self.new(f"tl.where({mask.removeprefix(', mask=')}, {call}, at)" if mask else call)
            else:
                self.line(call)
        elif kind < 0.86:
            self.new(f"tl.atomic_cas({self.place()}, {self.value()}, {self.value()})")
        elif kind < 0.93 and self.count:
            self.new(f"tl.gather({self.value()} + at * 0, {self.value()} & 63, 0)")
        else:
            self.new(self.value() + " + at * 0")

    def text(self) -> str:
        names = "x: tl.Ptr[tl.i32], y: tl.Ptr[tl.i32], a: tl.Ptr[tl.i64], out: tl.Ptr[tl.i32], n: tl.Scalar[tl.i32]"
        self.lines = ["@tn.kernel", f"def kernel({names}) -> None:"]
        self.line("at = tl.arange(0, 64)")
        self.line("z = tl.load(a).to(tl.pointer_type(tl.i32))")
        self.line("near = y + 2")
        self.line("if n > 40:")
        self.line("    near = x + 5")
        for _ in range(self.random.randint(3, 7)):
            self.step()
        if self.random.random() < 0.6:
            self.line(f"for step in tl.range(0, {self.random.randint(1, 3)}):")
            self.indent, kept = "        ", self.count
            for _ in range(self.random.randint(1, 4)):
                self.step()
            self.indent, self.count = "    ", kept
        for _ in range(self.random.randint(0, 3)):
            self.step()
        for number in range(self.count):
            self.line(f"tl.store(out + {64 * number} + at, v{number})")
        return "\n".join(self.lines) + "\n"


@pytest.mark.parametrize("seed", range(COUNT))
def test_the_cpu_does_as_the_reference(seed: int, tmp_path: Path) -> None:
    writer = Writer(seed)
    text = writer.text()
    module = kernel_of(text, tmp_path).specialize().module
    code = compile_module(module, options=MODES[seed % len(MODES)])
    shift = writer.random.choice((0, 1, 40, 200, 400))
    for n in (30, 60):
        results: list[list[Any]] = []
        for executor in ("reference", "cpu"):
            memory = (np.arange(2 * SIZE + 64) * 37 % 101 - 50).astype(np.int32)
            x, y = memory[:SIZE], memory[shift : shift + SIZE]
            a, out = np.array([memory[3:].ctypes.data], np.int64), np.zeros(64 * writer.count, np.int32)
            if executor == "reference":
                run(module, [x, y, a, out, n], (1, 1, 1))
            else:
                code.launch([x.ctypes.data, y.ctypes.data, a.ctypes.data, out.ctypes.data, n], (1, 1, 1))
            results.append([memory, out])
        for wanted, found in zip(*results, strict=True):
            assert (wanted == found).all(), f"seed {seed}, n {n}, shift {shift}\n{text}"
