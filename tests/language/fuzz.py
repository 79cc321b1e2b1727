"""Random kernels by seed: `python -m tests.language.fuzz 0 1000` runs seeds 0 to 999 and prints what is wrong.

`python -m tests.language.fuzz SEED` shows one kernel in full, `... shrink SEED` a small one with the same fault.
From seed `FLOW` on the kernels are those of an author who is fond of control flow; `... flow 0 1000` counts from there.
"""

from __future__ import annotations

import functools
import os
import random
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

from tests.language.author import program
from tests.language.description import Program, Run
from tests.language.expressions import Choices
from tests.language.flow import Flow
from tests.language.interpret import UnfitError
from tests.language.shrink import shrink
from tests.language.source import source
from tests.language.trial import FaultError, arguments, build, check

T = TypeVar("T")
LAUNCHES = 4
FLOW = 10_000_000
"""The first seed of a kernel by `flow.Flow`."""


def made_of(c: Choices, seed: int) -> Program:
    """The kernel of a seed."""
    return program(c, Flow) if seed >= FLOW else program(c)


class Seeded:
    """Choices of a random generator."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def pick(self, options: Sequence[T]) -> T:
        return options[self.random.randrange(len(options))]

    def chance(self, percent: int) -> bool:
        return self.random.randrange(100) < percent

    def number(self, low: int, high: int) -> int:
        return self.random.randint(low, high)


def launches(c: Seeded, made: Program, seed: int) -> list[Run]:
    """Launches of one specialisation."""
    first = arguments(c, made, 10 * seed)
    count = LAUNCHES if seed < FLOW else 2
    return [first, *(arguments(c, made, 10 * seed + at, first) for at in range(1, count))]


def trial(seed: int, folder: Path, show: bool = False) -> tuple[int, int]:
    """One kernel on several launches; how many there were, and how many said something. Raises FaultError."""
    c = Seeded(seed)
    made = made_of(c, seed)
    runs = launches(c, made, seed)
    said = 0
    try:
        built = build(made, folder)
    except UnfitError:
        return len(runs), said
    if show:
        print(built.text)
    for chosen in runs:
        try:
            check(built, chosen)
            said += 1
        except UnfitError as reason:
            if show:
                print("unfit:", reason)
    return len(runs), said


def shrunk(seed: int, folder: Path) -> str:
    """The source of a small kernel with the same fault, and the fault."""
    c = Seeded(seed)
    made = made_of(c, seed)

    def fault_of(candidate: Program, chosen: Run) -> str:
        return apart(lambda: fault_in(candidate, chosen, folder))

    chosen = next((run for run in launches(c, made, seed) if fault_of(made, run)), None)
    if chosen is None:
        return "there is no fault"
    kind = fault_of(made, chosen).split(" at ")[0].split("differs")[0][:90]
    small = shrink(made, lambda p: fault_of(p, chosen).startswith(kind))
    return f"{source(small)}\n{fault_of(small, chosen)}"


def main(arguments: list[str]) -> int:
    if "flow" in arguments:
        numbers = [a for a in arguments if a != "flow"]
        arguments = [str(int(a) + FLOW) if a.isdecimal() else a for a in numbers]
    if arguments[0] == "shrink":
        with tempfile.TemporaryDirectory() as name:
            print(shrunk(int(arguments[1]), Path(name)))
        return 1
    first = int(arguments[0])
    if len(arguments) == 1:
        with tempfile.TemporaryDirectory() as name:
            trial(first, Path(name), True)
        return 0
    count = said = faults = 0
    start = time.perf_counter()
    with tempfile.TemporaryDirectory() as name:
        for seed in range(first, int(arguments[1])):
            one, two, fault = apart(functools.partial(report, seed, Path(name))).split(" ", 2)
            count, said, faults = count + int(one), said + int(two), faults + bool(fault)
            if fault:
                print(f"seed {seed}: {fault}", flush=True)
            if (seed - first) % 100 == 99:
                print(f"{seed - first + 1} kernels, {time.perf_counter() - start:.0f} s", flush=True)
    seconds = time.perf_counter() - start
    print(
        f"{int(arguments[1]) - first} kernels, {count} launches of which {said} fit, {faults} faults, {seconds:.1f} s"
    )
    return 1 if faults else 0


def fault_in(candidate: Program, chosen: Run, folder: Path) -> str:
    """What is wrong with a kernel, if it can be built at all."""
    try:
        check(build(candidate, folder), chosen)
    except FaultError as fault:
        return str(fault)
    except Exception:
        return ""
    return ""


def report(seed: int, folder: Path) -> str:
    """Launches, those that fit, and the fault of one seed."""
    try:
        one, two = trial(seed, folder)
    except FaultError as fault:
        return f"0 0 {fault}"
    except Exception:
        return f"0 0 {traceback.format_exc()}"
    return f"{one} {two} "


def apart(work: Callable[[], str]) -> str:
    """Do something in a process of its own, which an access outside an array ends."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        os.write(writing, work().encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        said = pipe.read().decode()
    _, status = os.waitpid(child, 0)
    return said if not status else f"0 0 the process died of signal {status & 127}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
