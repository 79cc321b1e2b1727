"""`kernel.trace(...)`: one program run on the reference executor, each named value shown at its source line.

The arrays are copied first, so a trace changes nothing; arrays that share memory share their copy.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass
from operator import index
from typing import TYPE_CHECKING, Any, cast

from teeny.diag.errors import LaunchError
from teeny.diag.span import user_location
from teeny.ir.dtype import LEAVES
from teeny.ir.types import PointerType, element_of
from teeny.runtime.arrays import ArrayInfo
from teeny.runtime.grid import Grid

if TYPE_CHECKING:
    from teeny.backends.reference.run import Event
    from teeny.runtime.specialization import Specialization

_SHOWN = 8
"""Lanes shown from the start of a row; as many rows."""


@dataclass(frozen=True, slots=True, eq=False)
class Step:
    """A named value: where it was computed, its lanes as a NumPy array, and which of them are undefined (or None)."""

    name: str
    line: int
    source: str
    dtype: str
    value: Any
    undefined: Any

    def __str__(self) -> str:
        shape = "" if self.value.ndim == 0 else f" {self.value.shape}"
        return f"{self.name}: {self.dtype}{shape} = {_lanes(self.value, self.undefined)}"


@dataclass(frozen=True, slots=True, eq=False)
class Trace:
    """What one program computed, in order. `fault`: what stopped it, such as an access outside an array; else ""."""

    kernel: str
    program: Grid
    steps: tuple[Step, ...]
    fault: str

    def __getitem__(self, name: str) -> Step:
        """The last value of that name. Raises KeyError."""
        for step in reversed(self.steps):
            if step.name == name:
                return step
        raise KeyError(name)

    def __str__(self) -> str:
        width = max((len(str(s.line)) for s in self.steps), default=1)
        lines = [f"{self.kernel}, program {self.program}"]
        last = 0
        for step in self.steps:
            if step.line != last:
                lines.append(f"{step.line:>{width}} | {step.source}")
                last = step.line
            lines.append(f"{'':>{width}} |     {step}")
        if any(s.undefined is not None and s.undefined.any() for s in self.steps):
            lines.append(f"{'':>{width}} = ? is an undefined lane")
        if self.fault:
            lines.append(f"{'':>{width}} = stopped: {self.fault}")
        return "\n".join(lines)

    __repr__ = __str__


def trace(kernel: Specialization, values: Sequence[Any], grid: Grid, program: Any) -> Trace:
    """Run one program on checked arguments. Raises LaunchError for a program outside the grid, or arrays of a GPU."""
    from teeny.backends.reference.errors import ExecutionError
    from teeny.backends.reference.run import run

    at = _program(kernel.name, program, grid)
    steps: list[Step] = []
    fault = ""
    try:
        run(kernel.module, _arguments(kernel, values), grid, trace=lambda e: steps.extend(_steps(e)), program=at)
    except ExecutionError as error:
        fault = str(error)
    return Trace(kernel.name, at, tuple(steps), fault)


def _program(kernel: str, given: Any, grid: Grid) -> Grid:
    entries = tuple(cast("Sequence[Any]", given)) if isinstance(given, tuple | list) else (given,)
    try:
        full = tuple(index(n) for n in (*entries, 0, 0)[:3])
    except TypeError:
        full = (-1, 0, 0)
    ok = len(entries) <= 3 and all(0 <= n < size for n, size in zip(full, grid, strict=True))
    if not ok:
        needed = f"indices below the grid {grid}"
        raise LaunchError.of(
            "L008",
            f"`{kernel}` has no such program to trace",
            kernel=kernel,
            argument="program",
            found=str(entries),
            needed=needed,
        )
    return full[0], full[1], full[2]


def _steps(event: Event) -> list[Step]:
    """The named values among an operation's results; pointers say nothing and are left out."""
    op = event.op
    found: list[Step] = []
    for result, lanes in zip(op.results, event.results, strict=True):
        if result.name is None or op.loc is None or isinstance(element_of(result.type), PointerType):
            continue
        if not result.name.isidentifier():  # the flag of a loop with `break`
            continue
        span = user_location(op.loc).span
        element = element_of(result.type)
        undefined = None if lanes.poison is None else lanes.mask
        source = span.source.line(span.line).rstrip()
        found.append(Step(result.name, span.line, source, str(element), lanes.value, undefined))
    return found


def _lanes(value: Any, undefined: Any) -> str:
    if value.ndim == 0:
        return "?" if undefined is not None and undefined else _number(value)
    if value.ndim == 1:
        shown = [
            "?" if undefined is not None and undefined[at] else _number(value[at])
            for at in range(min(len(value), _SHOWN))
        ]
        more = len(value) - len(shown)
        return f"[{' '.join(shown)}{f' ... {more} more' if more else ''}]"
    rows = [_lanes(value[at], None if undefined is None else undefined[at]) for at in range(min(len(value), _SHOWN))]
    more = len(value) - len(rows)
    return f"[{' '.join(rows)}{f' ... {more} more' if more else ''}]"


def _number(value: Any) -> str:
    plain = value.item()
    return f"{plain:.6g}" if isinstance(plain, float) else str(plain)


def _arguments(kernel: Specialization, values: Sequence[Any]) -> list[Any]:
    """Copies of the arrays' storage; scalars as they are."""
    from teeny.backends.reference.memory import Buffer, Memory

    sizes = {a.name: _bytes(a.dtype) for a in kernel.interface.arguments}
    spans: list[tuple[int, int]] = []
    for argument, value in zip(kernel.interface.arguments, values, strict=True):
        if isinstance(value, ArrayInfo):
            if value.device != "cpu":
                raise LaunchError.of(
                    "L004", f"`{kernel.name}` is traced on the CPU", kernel=kernel.name, argument=argument.name,
                    found=value.device, needed="an array in the memory of the CPU",
                )  # fmt: skip
            spans.append(_storage(value, sizes[argument.name]))
    memories: dict[tuple[int, int], Memory] = {}
    for low, high in _merged(spans):  # at its old address, which the kernel may find in memory
        plain = Memory.of(_copy(low, high))
        memories[low, high] = Memory(plain.bytes, plain.poison, low, plain.owner)
    made: list[Any] = []
    for argument, value in zip(kernel.interface.arguments, values, strict=True):
        if not isinstance(value, ArrayInfo):
            made.append(value)
            continue
        low, high = _storage(value, sizes[argument.name])
        start, memory = next((s[0], m) for s, m in memories.items() if s[0] <= low and high <= s[1])
        made.append(Buffer(memory, value.pointer - start, low - start, high - start, not value.readonly))
    return made


def _bytes(dtype: str) -> int:
    return LEAVES[dtype].bytes


def _storage(info: ArrayInfo, size: int) -> tuple[int, int]:
    """The addresses of the storage's first byte and of the one after its last."""
    low = info.pointer - info.storage_offset_elements * size
    return low, info.pointer + info.storage_elements_after_pointer * size


def _merged(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    merged: list[tuple[int, int]] = []
    for low, high in sorted(set(spans)):
        if merged and low < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(high, merged[-1][1]))
        else:
            merged.append((low, high))
    return merged


def _copy(low: int, high: int) -> Any:
    import numpy

    return numpy.frombuffer(bytearray(ctypes.string_at(low, high - low)), numpy.uint8)
