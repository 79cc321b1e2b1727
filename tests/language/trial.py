"""A described kernel built and run: its meaning in NumPy, the reference and the CPU, compared bit for bit."""

from __future__ import annotations

import ctypes
import mmap
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import teeny.language as tl
from teeny.backends.cpu.kernel import CpuKernel, compile_module
from teeny.backends.cpu.lower.state import Options
from teeny.backends.cpu.target import Level, supported_levels
from teeny.backends.reference import Buffer, Memory, run
from teeny.diag.errors import TeenyError
from teeny.diag.render import render_all
from teeny.frontend.lower import Definition, define, lower_concrete, lower_generic
from teeny.ir.core import Module
from teeny.ir.dtype import LEAVES, DType
from teeny.ir.verify import verify
from teeny.passes.widen import widen
from tests.language.description import Program, Run
from tests.language.executors import module_of
from tests.language.expressions import Choices
from tests.language.interpret import HALF, Field, Interpreter, UnfitError
from tests.language.meaning import ulp_errors
from tests.language.rounding import NAMES
from tests.language.same import different
from tests.language.source import source

assert tl
PAGE = mmap.PAGESIZE
_libc = ctypes.CDLL(None)
_libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]


class FaultError(Exception):
    """A kernel that should be right was refused, or does not do what it says."""


def _modes() -> list[tuple[Level, Options]]:
    """Ways to compile: most kernels as they are by default, some for other machines, widths, or in general form."""
    found: list[tuple[Level, Options]] = [("native", Options())] * 6
    found += [("native", Options(width=width)) for width in (1, 4)] + [("native", Options(exact=True))] * 2
    return found + [(level, Options()) for level in supported_levels() if level in ("x86-64-v2", "x86-64-v3")]


MODES = _modes()


@dataclass(slots=True)
class Built:
    """A kernel and its specialisations so far."""

    program: Program
    text: str
    definition: Definition
    made: dict[str, tuple[Module, CpuKernel]]


def build(program: Program, folder: Path) -> Built:
    """Write the source, read it, check it in general: it has no faults. Raises UnfitError for what is too large."""
    text = source(program).replace("@tn.kernel\n", "")
    fn = module_of(text, folder).kernel
    try:
        definition, faults = define(fn)
        faults = [*faults, *lower_generic(definition).faults]
    except TeenyError as error:
        raise FaultError(f"{error}\n{text}") from error
    if any(one.message == "too many branches of branches return" for one in faults):
        raise UnfitError("returns too deep in branches")
    if faults:
        raise FaultError(f"{render_all(tuple(faults))}\n{text}")
    return Built(program, text, definition, {})


def specialise(built: Built, chosen: Run) -> tuple[Module, CpuKernel]:
    key = repr((chosen.dtypes, chosen.constants, chosen.mode))
    if key not in built.made:
        dtypes: Mapping[DType, DType] = {v: LEAVES[chosen.dtypes[v.name]] for v in built.definition.variables}
        module = lower_concrete(built.definition, dtypes, chosen.constants)
        widen(module)
        verify(module, concrete=True)
        level, options = MODES[chosen.mode % len(MODES)]
        built.made[key] = (module, compile_module(module, level, options=options))
    return built.made[key]


class Guarded:
    """A copy of an array in memory of its own, flush with a page that faults: at its end, or at its start."""

    def __init__(self, content: Any, at_end: bool) -> None:
        size = content.nbytes
        pages = max(1, -(-size // PAGE)) * PAGE
        self.map = mmap.mmap(-1, pages + 2 * PAGE)
        base = ctypes.addressof(ctypes.c_char.from_buffer(self.map))
        for guard in (base, base + PAGE + pages):
            assert _libc.mprotect(guard, PAGE, 0) == 0
        self.start, self.pages = base + PAGE, pages
        self.address = self.start + (pages - size if at_end else 0)
        self.whole = np.frombuffer((ctypes.c_ubyte * pages).from_address(self.start), np.uint8)
        self.whole[:] = 0xA5
        self.inside = slice(self.address - self.start, self.address - self.start + size)
        self.whole[self.inside] = np.ascontiguousarray(content).view(np.uint8).reshape(-1)
        self.dtype = content.dtype

    @property
    def array(self) -> Any:
        return self.whole[self.inside].view(self.dtype)

    @property
    def untouched(self) -> bool:
        """Whether the bytes around hold what they were filled with."""
        return bool((self.whole[: self.inside.start] == 0xA5).all() and (self.whole[self.inside.stop :] == 0xA5).all())


@dataclass(slots=True)
class Prepared:
    """The arrays of one launch. `spans`: what part of a field the array is, by the pointer that owns it."""

    fields: dict[str, tuple[Field, int]]
    spans: dict[str, tuple[int, int]]
    owner: dict[str, str]


def prepare(program: Program, chosen: Run) -> Prepared:
    """Give the launch its meaning and find the memory that it touches. Raises UnfitError."""
    interpreter = Interpreter(program, chosen)
    interpreter.launch()
    spans: dict[str, tuple[int, int]] = {}
    for pointer in program.pointers:
        if pointer.name not in chosen.aliases:
            touched = np.flatnonzero(interpreter.fields[pointer.name][0].touched)
            spans[pointer.name] = (int(touched[0]), int(touched[-1]) + 1) if touched.size else (HALF, HALF)
    owner = {p.name: chosen.aliases[p.name][0] if p.name in chosen.aliases else p.name for p in program.pointers}
    return Prepared(interpreter.fields, spans, owner)


def compare(program: Program, chosen: Run, prepared: Prepared, found: dict[str, Any], executor: str) -> None:
    """The arrays after a run against the fields, where they are defined."""
    for pointer in program.pointers:
        if pointer.name not in prepared.spans:
            continue
        low, high = prepared.spans[pointer.name]
        memory = prepared.fields[pointer.name][0]
        wanted, got = memory.now[low:high], found[pointer.name]
        if pointer.loose:
            wrong = (
                ulp_errors(got, wanted.astype(np.float64 if NAMES[wanted.dtype] != "f64" else np.longdouble), wanted)
                > 3
            ) & different(got, wanted)
        else:
            wrong = different(got, wanted)
        wrong &= ~memory.poison[low:high]
        if wrong.any():
            at = np.flatnonzero(wrong)
            kind = "a place that is not written" if (memory.writer[low:high][at] == -1).any() else "a result"
            raise FaultError(
                f"{executor}: `{pointer.name}` differs in {at.size} of {wrong.size} elements ({kind}): "
                f"{at[:6] + low - HALF}: {got[at[:6]]} for {wanted[at[:6]]}\n{chosen}"
            )  # fmt: skip


def check(built: Built, chosen: Run, executors: tuple[str, ...] = ("reference", "cpu")) -> None:
    """Run and compare. Raises FaultError where something is wrong, UnfitError where nothing can be said."""
    program = built.program
    prepared = prepare(program, chosen)
    try:
        module, native = specialise(built, chosen)
    except Exception as error:
        raise FaultError(f"{type(error).__name__}: {error}\n{chosen}") from error
    for executor in executors:
        at_end = bool(chosen.seed & 1)
        memories = {
            name: Guarded(prepared.fields[name][0].before[low:high], at_end)
            for name, (low, high) in prepared.spans.items()
        }
        try:
            (_reference if executor == "reference" else _native)(program, chosen, prepared, memories, module, native)
        except Exception as error:
            raise FaultError(f"{executor}: {type(error).__name__}: {error}\n{chosen}") from error
        if not all(m.untouched for m in memories.values()):
            raise FaultError(f"{executor}: wrote outside an array\n{chosen}")
        compare(program, chosen, prepared, {name: m.array for name, m in memories.items()}, executor)


def _first(prepared: Prepared, name: str) -> tuple[str, int]:
    """The array of a pointer and the element of it that it points at, which may lie outside."""
    owner = prepared.owner[name]
    return owner, HALF + prepared.fields[name][1] - prepared.spans[owner][0]


def _reference(
    program: Program, chosen: Run, prepared: Prepared, memories: dict[str, Guarded], module: Module, native: CpuKernel
) -> None:
    shadows = {name: Memory.of(m.whole[m.inside]) for name, m in memories.items()}
    arguments: list[Any] = []
    for pointer in program.pointers:
        owner, first = _first(prepared, pointer.name)
        arguments.append(Buffer(shadows[owner], first * memories[owner].dtype.itemsize))
    run(module, [*arguments, *_scalars(program, chosen)], chosen.grid)
    for name, (low, high) in prepared.spans.items():
        undefined = shadows[name].poison.reshape(high - low, memories[name].dtype.itemsize).any(axis=1)
        if (undefined & ~prepared.fields[name][0].poison[low:high]).any():
            raise FaultError(f"`{name}` has undefined elements that should be defined")


def _native(
    program: Program, chosen: Run, prepared: Prepared, memories: dict[str, Guarded], module: Module, native: CpuKernel
) -> None:
    arguments: list[int] = []
    for pointer in program.pointers:
        owner, first = _first(prepared, pointer.name)
        arguments.append(memories[owner].address + first * memories[owner].dtype.itemsize)
    native.launch([*arguments, *_scalars(program, chosen)], chosen.grid)


def _scalars(program: Program, chosen: Run) -> list[int]:
    return [chosen.scalars[name] for name in program.scalars]


SIZES: dict[int, tuple[tuple[int, int, int], ...]] = {
    1: tuple((1 << at, 1, 1) for at in range(9)),
    2: (
        (1, 1, 1), (1, 16, 1), (16, 1, 1), (2, 2, 1), (4, 8, 1), (8, 4, 1), (2, 64, 1), (32, 2, 1), (16, 16, 1),
        (8, 32, 1), (4, 128, 1),
    ),
    3: ((1, 1, 1), (2, 2, 2), (1, 8, 4), (4, 1, 8), (4, 4, 1), (2, 16, 4), (4, 8, 8), (16, 2, 2), (2, 64, 2)),
}  # fmt: skip
"""BM, BN and BK by the rank."""
GRIDS = ((1, 1, 1), (1, 1, 1), (2, 1, 1), (3, 1, 1), (2, 2, 1), (1, 2, 2), (5, 1, 1), (0, 1, 1))


def arguments(c: Choices, program: Program, seed: int, like: Run | None = None) -> Run:
    """What to run a program on, with the dtypes and Consts of another run if one is given.

    Places in outputs are apart for each lane and program.
    """
    if like is not None:
        dtypes, constants = like.dtypes, like.constants
    else:
        dtypes = {v: c.pick(program.leaves(v)) for v in program.variables}
        constants = dict(zip(("BM", "BN", "BK"), c.pick(SIZES[program.rank]), strict=True))
        constants |= {"K": c.number(0, 5), "FLAG": c.chance(50)}
    sizes = [constants[name] for name in ("BM", "BN", "BK")]
    bm, bn, bk = sizes
    scalars = {name: c.number(-3, 12) for name in program.scalars}
    scalars["m"], scalars["n"] = c.number(-1, bm + 2), c.number(-1, (bm if program.rank == 1 else bn) + 2)
    scalars["a"] = c.pick((1, -1, 0, 2, bn, bm, bn + 1, 7))
    scalars["b"] = c.pick((1, 1, 0, -2, bm, bm + 3))
    scalars["w"] = c.pick((1, -1, 0, 3, bm * bn, 17))
    order = c.pick(((1, 0, 2), (1, 0, 2), (0, 1, 2), (2, 1, 0), (1, 2, 0)))
    step = c.pick((1, 1, 1, 2))
    reach = 1
    for axis in order:
        scalars[f"t{axis}"] = step * c.pick((1, 1, 1, -1))
        reach += (sizes[axis] - 1) * step
        step = step * sizes[axis] + c.pick((0, 0, 1, 5))
    scalars["t"] = (max(bm * bn * bk, reach) * 2 + c.pick((0, 0, 3))) * c.pick((1, 1, -1))
    chosen = Run(dtypes, constants, scalars, c.pick(GRIDS), seed, c.number(0, 99) if like is None else like.mode)
    outputs = [p for p in program.pointers if p.output and p.sure and not p.loose]
    if outputs and c.chance(25):
        out = c.pick(outputs)
        leaf = dtypes.get(out.dtype, out.dtype)
        same = [p.name for p in program.pointers if not p.output and dtypes.get(p.dtype, p.dtype) == leaf]
        if same:
            chosen.aliases[c.pick(same)] = (out.name, c.pick((0, 0, 1, -1, 2, bn)))
    return chosen
