"""Cells of atomic operations: what memory holds afterwards and what each lane found, on places of the output.

A cell first stores what an atomic operation is to find there. Floats are small integers, so that sums are exact.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tests.language.rounding import DTYPES
from tests.language.sheet import GAP, Sheet
from tests.language.values import FLOATS

Cell = tuple[str, str, Callable[[], Sheet]]
"""The function, a name for the test, and the sheet."""
N = 64
WIDE = ("i32", "u32", "i64", "u64")
HALVES = ("f16", "bf16")
SINGLES = ("f32", "f64")
OF: dict[str, tuple[str, ...]] = {
    "atomic_add": (*WIDE, *HALVES, *SINGLES), "atomic_max": (*WIDE, *SINGLES), "atomic_min": (*WIDE, *SINGLES),
    "atomic_and": WIDE, "atomic_or": WIDE, "atomic_xor": WIDE, "atomic_xchg": (*WIDE, *SINGLES),
}  # fmt: skip
WORDS = (("", ""), (', sem="relaxed"', ', scope="cta"'), (', sem="acquire"', ', scope="sys"'), (', sem="release"', ""))


def meant(name: str, old: Any, x: Any) -> Any:
    """What memory holds after one step, lane by lane, in the dtype of both. A NaN loses."""
    kind = old.dtype
    if name == "atomic_xchg":
        return x
    if name in ("atomic_max", "atomic_min"):
        best = {"atomic_max": np.fmax, "atomic_min": np.fmin} if kind.kind == "f" else None
        plain = {"atomic_max": np.maximum, "atomic_min": np.minimum}
        return (best or plain)[name](old, x)
    if name == "atomic_add":
        wide = old.astype(np.float64) + x.astype(np.float64) if kind.kind not in "iu" else old + x
        return wide.astype(kind)
    bits = {"atomic_and": np.bitwise_and, "atomic_or": np.bitwise_or, "atomic_xor": np.bitwise_xor}
    return bits[name](old, x)


def numbers(dtype: str, seed: int, count: int = N) -> Any:
    """Small integers, and for integers some large ones too."""
    rng = np.random.default_rng(seed)
    if dtype in FLOATS:
        return rng.integers(-8, 9, count).astype(np.float32).astype(DTYPES[dtype])
    limits = np.iinfo(DTYPES[dtype])
    values: Any = rng.integers(limits.min, limits.max, count, DTYPES[dtype], endpoint=True)
    values[::3] = rng.integers(0, 9, len(values[::3]))
    return values


def chosen(condition: Any, x: Any, y: Any) -> Any:
    """x where the condition holds, else y."""
    return np.where(np.asarray(condition), np.asarray(x), np.asarray(y))


class Steps(Sheet):
    """A sheet on which places of the output are changed by steps."""

    def prepared(self, dtype: str, text: str, after: Any) -> str:
        """Store what a step finds; the place, as the text of a pointer. `after` is what it holds in the end."""
        start = self.sizes.get(dtype, GAP)
        self.put(text, dtype, after)
        self.line("tl.debug_barrier()")
        return f"out_{dtype} + {start}"


def steps(name: str, dtype: str) -> Sheet:
    """One step a lane: a block, some lanes of it, a matrix, scalars, literals, lanes at one place."""
    sheet = Steps()
    before, x = numbers(dtype, 1), numbers(dtype, 2)
    if dtype in SINGLES and name in ("atomic_max", "atomic_min"):
        before[:6], x[:6] = [-0.0, 1.0, -1.0, 0.0, np.inf, -np.inf], [-1.0, np.nan, np.nan, -2.0, np.nan, -np.inf]
    sheet.array("b", dtype, before)
    sheet.array("x", dtype, x)
    sheet.line(f"at = tl.arange(0, {N})")
    sheet.line("before = tl.load(b + at)")
    sheet.line("x1 = tl.load(x + at)")
    sheet.line("x0 = tl.load(x + 9)")
    zero = DTYPES[dtype].type(0)
    with np.errstate(all="ignore"):
        for number, (sem, scope) in enumerate(WORDS):
            place = sheet.prepared(dtype, "before", meant(name, before, x))
            sheet.line(f"old{number} = tl.{name}({place} + at, x1{sem}{scope})")
            sheet.put(f"old{number}", dtype, before)
        some = np.arange(N) % 3 == 1
        place = sheet.prepared(dtype, "before", chosen(some, meant(name, before, x), before))
        sheet.line(f"masked = tl.{name}({place} + at, x1, mask=at % 3 == 1)")
        sheet.put("tl.where(at % 3 == 1, masked, before)", dtype, before)
        first = np.arange(N) < 37
        place = sheet.prepared(dtype, "before", chosen(first, meant(name, before, np.full(N, x[9])), before))
        sheet.line(f"tl.{name}({place} + at, x0, at < 37)")
        tile = before.reshape(8, 8)
        place = sheet.prepared(dtype, "tl.reshape(before, (8, 8))", meant(name, tile, x[None, :8].repeat(8, 0)))
        sheet.line("row = tl.load(x + tl.arange(0, 8))")
        sheet.line(
            f"tile = tl.{name}({place} + (tl.arange(0, 8)[:, None] * 8 + tl.arange(0, 8)[None, :]), row[None, :])"
        )
        sheet.put("tile", dtype, tile)
        place = sheet.prepared(dtype, "tl.load(b + 3)", meant(name, before[3], x[9]))
        sheet.line(f"one = tl.{name}({place}, x0)")
        sheet.put("one", dtype, before[3])
        place = sheet.prepared(dtype, "tl.load(b + 3)", before[3])
        sheet.line(f"tl.{name}({place}, x0, mask=at.shape[0] < 0)")
        literal = DTYPES[dtype].type(5)
        place = sheet.prepared(dtype, "before", meant(name, before, np.full(N, literal)))
        sheet.line(f"tl.{name}({place} + at, 5)")
        if dtype in FLOATS:
            place = sheet.prepared(dtype, "before", meant(name, before, np.full(N, DTYPES[dtype].type(-2.5))))
            sheet.line(f"tl.{name}({place} + at, -2.5)")
        if name != "atomic_xchg":  # many lanes at few places: each counts once
            few = np.zeros(4, DTYPES[dtype]) if name != "atomic_and" else np.full(4, -1).astype(DTYPES[dtype])
            start = f"tl.full((4,), {few.astype(np.float64)[0]:.0f}, tl.{dtype})" if name != "atomic_and" else None
            after = few.copy()
            for lane in range(N):
                after[lane % 4] = meant(name, after[lane % 4 : lane % 4 + 1], x[lane : lane + 1])[0]
            if start is not None:
                place = sheet.prepared(dtype, start, after)
                sheet.line(f"tl.{name}({place} + at % 4, x1)")
                total = zero[None] if name == "atomic_add" else None
                if total is not None:
                    for _ in range(N):
                        total = meant(name, total, x[9:10])
                    place = sheet.prepared(dtype, f"tl.zeros((), tl.{dtype})", total[0])
                    sheet.line(f"tl.{name}({place} + at * 0, x0)")
    return sheet


def swaps(dtype: str) -> Sheet:
    """`atomic_cas`: lanes that find what they expect, and others."""
    sheet = Steps()
    before, x = numbers(dtype, 3), numbers(dtype, 4)
    wanted = chosen(np.arange(N) % 2 == 0, before, x)
    if dtype in FLOATS:
        before[:2], wanted[:2] = [0.0, -0.0], [-0.0, 0.0]
        before[2], wanted[2] = np.nan, np.nan
    integer = np.dtype(f"u{DTYPES[dtype].itemsize}")
    same = before.view(integer) == wanted.view(integer)
    after = chosen(same, x, before).astype(before.dtype)
    for letter, values in (("b", before), ("x", x), ("w", wanted)):
        sheet.array(letter, dtype, values)
    sheet.line(f"at = tl.arange(0, {N})")
    sheet.line("before = tl.load(b + at)")
    place = sheet.prepared(dtype, "before", after)
    sheet.line(f"old = tl.atomic_cas({place} + at, tl.load(w + at), tl.load(x + at))")
    sheet.put("old", dtype, before)
    place = sheet.prepared(dtype, "tl.load(b + 8)", x[8])
    sheet.line(f'one = tl.atomic_cas({place}, tl.load(b + 8), tl.load(x + 8), sem="acquire", scope="sys")')
    sheet.put("one", dtype, before[8])
    three, four = DTYPES[dtype].type(3), DTYPES[dtype].type(4)
    place = sheet.prepared(dtype, f"tl.full(({N},), 3, tl.{dtype})", np.full(N, four))
    sheet.line(f"tl.atomic_cas({place} + at, 3, 4)")
    place = sheet.prepared(dtype, f"tl.full((), 3, tl.{dtype})", three)
    sheet.line(f"tl.atomic_cas({place}, 4, 3)")
    return sheet


def accesses(dtype: str) -> Sheet:
    """`atomic_load` and `atomic_store`."""
    sheet = Steps()
    x = np.arange(N) % 3 == 0 if dtype == "bool" else numbers(dtype, 5)
    sheet.array("x", dtype, x)
    sheet.line(f"at = tl.arange(0, {N})")
    sheet.line("x1 = tl.load(x + at)")
    sheet.put("tl.atomic_load(x + at)", dtype, x)
    sheet.put('tl.atomic_load(x + 3, sem="relaxed", scope="cta")', dtype, x[3])
    sheet.put("tl.where(at < 40, tl.atomic_load(x + at, at < 40), tl.load(x + 7))", dtype, chosen(at40(), x, x[7]))
    place = sheet.prepared(dtype, "x1", x[::-1])
    sheet.line(f"tl.atomic_store({place} + {N - 1} - at, x1)")
    place = sheet.prepared(dtype, "x1", chosen(at40(), x[3], x))
    sheet.line(f'tl.atomic_store({place} + at, tl.load(x + 3), mask=at < 40, sem="relaxed", scope="sys")')
    place = sheet.prepared(dtype, "tl.load(x)", x[5])
    sheet.line(f"tl.atomic_store({place}, tl.load(x + 5))")
    return sheet


def at40() -> Any:
    return np.arange(N) < 40


def polls(dtype: str) -> Sheet:
    """`atomic_poll` of what is there, and of what never comes."""
    sheet = Sheet()
    x = numbers(dtype, 6)
    y: Any = chosen(np.arange(N) % 4 == 0, x, x + 1).astype(x.dtype)
    sheet.array("x", dtype, x)
    sheet.array("y", dtype, y)
    sheet.line(f"at = tl.arange(0, {N})")
    sheet.put("tl.atomic_poll(x + at, tl.load(x + at))", "bool", np.ones(N, np.bool_))
    sheet.put("tl.atomic_poll(x + 3, tl.load(x + 3), timeout_ns=10**9)", "bool", np.ones((), np.bool_))
    sheet.put("tl.atomic_poll(x + at, tl.load(y + at), timeout_ns=1000)", "bool", x == y)
    sheet.put('tl.atomic_poll(x + 3, tl.load(y + 3), sem="relaxed", timeout_ns=0)', "bool", x[3] == y[3])
    return sheet


def cells() -> Iterator[Cell]:
    for name, dtypes in OF.items():
        for dtype in dtypes:
            yield name, f"{name}-{dtype}", lambda name=name, dtype=dtype: steps(name, dtype)
    for dtype in ("i16", "u16", *WIDE, *HALVES, *SINGLES):
        yield "atomic_cas", f"atomic_cas-{dtype}", lambda dtype=dtype: swaps(dtype)
    for dtype in ("bool", "i8", "u8", "i16", "u16", *WIDE, *HALVES, *SINGLES):
        yield "atomic_load", f"atomic_load-{dtype}", lambda dtype=dtype: accesses(dtype)
        yield "atomic_store", f"atomic_store-{dtype}", lambda dtype=dtype: accesses(dtype)
    for dtype in ("i16", "u16", *WIDE):
        yield "atomic_poll", f"atomic_poll-{dtype}", lambda dtype=dtype: polls(dtype)
