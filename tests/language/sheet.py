"""A sheet: one kernel that stores many expressions, each with the array that it should give."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from tests.language.executors import EXECUTORS, fresh, kernel_of, launch
from tests.language.meaning import ulp_errors
from tests.language.rounding import DTYPES
from tests.language.same import different, flushed, told

GAP = 5
"""Elements between segments that nothing may write."""


@dataclass(slots=True)
class Segment:
    """One stored expression. `skip`: lanes that are unspecified. `value`: what `ulp` is measured against.

    `gpu`: the ulp that a GPU's result may be off, where it is not what a CPU's may; `near`: the absolute error that it
    may have beyond, where it adds up in another order.
    """

    start: int
    text: str
    wanted: Any
    skip: Any
    free_zero: bool
    value: Any
    ulp: float
    inputs: dict[str, Any]
    gpu: float | None = None
    near: float = 0.0
    worst: float = 0.0
    """The largest error found on a GPU, in ulp."""

    def fault(self, found: Any, executor: str = "cpu") -> str:
        """What is wrong with the elements found; empty where nothing is."""
        if executor == "cuda" and (self.value is not None or self.gpu is not None or self.near):
            return self._fault_on_gpu(found)
        if self.value is not None:
            errors = ulp_errors(found, self.value, self.wanted)
            wrong = (errors > self.ulp) & ~self.skip
            note = f"(worst {errors[~self.skip].max(initial=0):.2f} ulp, {self.ulp} allowed) "
        else:
            wrong, note = different(found, self.wanted, free_zero=self.free_zero) & ~self.skip, ""
        return f"{self.text}: {note}{told(found, self.wanted, wrong, self.inputs)}" if wrong.any() else ""

    def _fault_on_gpu(self, found: Any) -> str:
        """Lanes whose arguments or results a GPU takes for zero do not count."""
        wide = np.asarray(self.wanted.astype(np.float64) if self.value is None else self.value)
        skip = self.skip | flushed(found.dtype, wide, self.inputs)
        if self.near:
            with np.errstate(all="ignore"):
                skip = skip | (np.abs(found.astype(np.float64) - wide.astype(np.float64)) <= self.near)
        errors = np.where(skip, 0.0, ulp_errors(found, wide, self.wanted))
        self.worst = float(errors.max(initial=0.0))
        allowed = self.ulp if self.gpu is None else self.gpu
        wrong = errors > allowed
        if not wrong.any():
            return ""
        note = f"(worst {self.worst:.2f} ulp, {allowed} allowed on a GPU) "
        return f"{self.text}: {note}{told(found, self.wanted, wrong, self.inputs)}"


@dataclass(slots=True)
class Sheet:
    """Inputs, lines of code, and segments by the dtype of the result."""

    inputs: dict[str, tuple[str, Any]] = field(default_factory=dict[str, tuple[str, Any]])
    lines: list[str] = field(default_factory=list[str])
    segments: dict[str, list[Segment]] = field(default_factory=dict[str, list[Segment]])
    sizes: dict[str, int] = field(default_factory=dict[str, int])
    head: str = ""
    """Source text before the kernel: functions that it calls."""

    def array(self, name: str, dtype: str, values: Any) -> None:
        """A pointer parameter."""
        self.inputs[name] = (f"tl.Ptr[tl.{spelled(dtype)}]", np.ascontiguousarray(values, DTYPES[dtype]))

    def scalar(self, name: str, dtype: str, value: Any) -> None:
        self.inputs[name] = (f"tl.Scalar[tl.{spelled(dtype)}]", value)

    def line(self, text: str) -> None:
        self.lines.append(text)

    def put(
        self, text: str, dtype: str, wanted: Any, *, skip: Any = False, free_zero: bool = False, value: Any = None,
        ulp: float = 0.0, gpu: float | None = None, near: float = 0.0, **inputs: Any,
    ) -> None:  # fmt: skip
        """Store an expression whose dtype and value are stated. See `Segment`."""
        wanted = np.asarray(wanted)
        assert wanted.dtype == DTYPES[dtype], f"the oracle of `{text}` gives {wanted.dtype} for {dtype}"
        start = self.sizes.get(dtype, GAP)
        self.sizes[dtype] = start + wanted.size + GAP
        at = places(wanted.shape)
        self.line(f"tl.store(out_{dtype} + {start}{' + ' + at if at else ''}, {text})")
        skip = np.broadcast_to(np.asarray(skip), wanted.shape)
        self.segments.setdefault(dtype, []).append(
            Segment(start, text, wanted, skip, free_zero, value, ulp, inputs, gpu, near),
        )

    def text(self, most: int = 0) -> str:
        """The kernel's source; with `most`, that of so many expressions of each rank alone."""
        left = self._few(most) if most else self.lines
        names = [f"{name}: {kind}" for name, (kind, _) in self.inputs.items()]
        names += [f"out_{dtype}: tl.Ptr[tl.{spelled(dtype)}]" for dtype in self.segments]
        body = "".join(f"    {line}\n" for line in left)
        return f"{self.head}@tn.kernel\ndef kernel({', '.join(names)}) -> None:\n{body}"

    def _few(self, most: int) -> list[str]:
        counts: dict[int, int] = {}
        kept: list[str] = []
        ranks = {
            f"out_{dtype} + {one.start}": one.wanted.ndim for dtype, found in self.segments.items() for one in found
        }
        for line in self.lines:
            place = re.match(r"tl\.store\((out_\w+ \+ \d+)\b", line)
            if place is not None and place[1] in ranks:
                rank = ranks[place[1]]
                counts[rank] = counts.get(rank, 0) + 1
                if counts[rank] > most:
                    continue
            kept.append(line)
        return kept

    def check(self, folder: Path, executors: tuple[str, ...] = EXECUTORS) -> None:
        """Run on each executor and compare every segment and every gap."""
        kernel = kernel_of(self.text(), folder)
        given = [value for _, value in self.inputs.values()]
        faults: list[str] = []
        for executor in executors:
            outputs = {dtype: canary(dtype, self.sizes[dtype]) for dtype in self.segments}
            arguments = fresh(given)
            launch(kernel, executor, [*arguments, *outputs.values()])
            for dtype, found in outputs.items():
                untouched = np.ones(found.size, np.bool_)
                for one in self.segments[dtype]:
                    end = one.start + one.wanted.size
                    untouched[one.start : end] = False
                    fault = one.fault(found[one.start : end].reshape(one.wanted.shape), executor)
                    if fault:
                        faults.append(f"{executor}: {fault}")
                if different(found, canary(dtype, found.size))[untouched].any():
                    faults.append(f"{executor}: the {dtype} output was written outside its segments")
            for before, after in zip(given, arguments, strict=True):
                if isinstance(before, np.ndarray) and different(before, after).any():
                    faults.append(f"{executor}: an input was written")
        assert not faults, "\n".join(faults)


def spelled(dtype: str) -> str:
    """The dtype as an attribute of `tl`."""
    return "bool_" if dtype == "bool" else dtype


def places(shape: tuple[int, ...]) -> str:
    """An expression of each lane's place in a dense row-major array."""
    terms: list[str] = []
    step = 1
    for axis in reversed(range(len(shape))):
        index = ", ".join(":" if at == axis else "None" for at in range(len(shape)))
        expanded = f"[{index}]" if len(shape) > 1 else ""
        terms.append(f"tl.arange(0, {shape[axis]}){expanded}" + (f" * {step}" if step != 1 else ""))
        step *= shape[axis]
    return " + ".join(reversed(terms))


def canary(dtype: str, size: int) -> Any:
    """What outputs hold before: a pattern that no result is likely to be."""
    kind = DTYPES[dtype]
    if dtype == "bool":
        return np.arange(size) % 3 == 0
    return np.frombuffer(b"\xa5\x5a\x3c\xc3\x69\x96\xb4\x4b" * (size * kind.itemsize // 8 + 1), kind)[:size].copy()
