"""Cells of random numbers: words and uniform numbers bit for bit, normal ones to some ulp."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tests.language import philox
from tests.language.rounding import DTYPES
from tests.language.sheet import Sheet
from tests.language.values import FLOATS, INTEGERS

N = 128
SEED = 20_240_917
ROUNDING = 6.0
"""Ulp that a product of a root and a cosine may be off."""
LOOSE = 2.0**14
"""The same on a GPU, whose logarithm near 1 is far off."""


def offsets(dtype: str) -> Any:
    """Counts, and numbers of the dtype's whole width."""
    limits = np.iinfo(DTYPES[dtype])
    rng: Any = np.random.default_rng(3)
    wide = rng.integers(limits.min, limits.max, N - 64, dtype=DTYPES[dtype], endpoint=True)
    return np.concatenate([np.arange(64).astype(DTYPES[dtype]), wide])


def numbers(dtype: str) -> Sheet:
    """Everything that is made of a seed and a block of offsets."""
    sheet = Sheet()
    given = offsets(dtype)
    sheet.array("x", dtype, given)
    sheet.scalar("seed", "i32", SEED)
    sheet.line(f"o = tl.load(x + tl.arange(0, {N}))")
    words = philox.randint4x(SEED, given)
    few = philox.randint4x(7, given, 6)
    uniform = [philox.uniform(v) for v in words]
    normal = [*philox.normal(uniform[0], uniform[1]), *philox.normal(uniform[2], uniform[3])]

    def near(text: str, value: Any) -> None:
        sheet.put(text, "f32", value.astype(np.float32), value=value, ulp=ROUNDING, gpu=LOOSE)

    sheet.line("a, b, c, d = tl.randint4x(seed, o)")
    sheet.line("e, f, g, h = tl.rand4x(seed, o)")
    sheet.line("i, j, k, l = tl.randn4x(seed, o)")
    for names, values in (("abcd", words), ("efgh", uniform)):
        for name, value in zip(names, values, strict=True):
            sheet.put(name, "u32" if names == "abcd" else "f32", value)
    for name, value in zip("ijkl", normal, strict=True):
        near(name, value)
    sheet.put("tl.randint(seed, o)", "u32", words[0])
    sheet.put("tl.randint(7, o, n_rounds=6)", "u32", few[0])
    sheet.put("tl.rand(seed, o)", "f32", uniform[0])
    sheet.put("tl.uint_to_uniform_float(a)", "f32", uniform[0])
    sheet.put("tl.uint_to_uniform_float(b.to(tl.i32))", "f32", uniform[1])
    near("tl.randn(seed, o)", normal[0])
    sheet.line("p, q = tl.pair_uniform_to_normal(e, f)")
    near("p", normal[0])
    near("q", normal[1])
    return sheet


def pairs(dtype: str) -> Sheet:
    """Uniform numbers of a dtype as normal ones."""
    sheet = Sheet()
    rng = np.random.default_rng(9)
    u, v = (rng.random(N).astype(np.float32).astype(DTYPES[dtype]) for _ in range(2))
    u[:4] = [0.0, 1.0, 0.5, 0.25]
    v[:4] = [0.25, 0.5, 0.125, 0.0]
    for name, values in (("u", u), ("v", v)):
        sheet.array(name, dtype, values)
        sheet.line(f"{name}1 = tl.load({name} + tl.arange(0, {N}))")
    sheet.line("x, y = tl.pair_uniform_to_normal(u1, v1)")
    narrow = dtype in ("f16", "bf16")
    low = np.asarray(1e-7).astype(DTYPES[dtype])
    angle = (np.asarray(6.283185307179586).astype(DTYPES[dtype]) * v).astype(DTYPES[dtype]).astype(np.float64)
    exact = np.sqrt(-2.0 * np.log(np.maximum(u, low).astype(np.float64)))
    for name, value in (("x", exact * np.cos(angle)), ("y", exact * np.sin(angle))):
        rounded = value.astype(np.float32).astype(DTYPES[dtype]) if narrow else value.astype(DTYPES[dtype])
        wider = value.astype(np.longdouble) if dtype == "f64" else value
        sheet.put(name, dtype, rounded, value=wider, ulp=8.0 if dtype == "f64" else ROUNDING, gpu=LOOSE)
    return sheet


def counters(dtype: str) -> Sheet:
    """`philox` of counters as wide as the dtype, and the key behind it."""
    sheet = Sheet()
    given = offsets(dtype)
    bits = 8 * given.dtype.itemsize
    word = f"u{bits}"
    sheet.array("x", dtype, given)
    sheet.line(f"o = tl.load(x + tl.arange(0, {N}))")
    key = int(given[70]) % (1 << 64)
    sheet.put("tl.philox_key(tl.load(x + 70))", "u64", np.asarray(key, np.uint64))
    sheet.put("tl.philox_key(-5)", "u64", np.asarray((1 << 64) - 5, np.uint64))
    halves = (key, key >> 32) if bits == 32 else (key, 0)
    found = philox.philox(halves, (given, 5, given.astype(object), 0), bits)
    sheet.line("a, b, c, d = tl.philox(tl.load(x + 70), o, 5, o, 0)")
    for name, value in zip("abcd", found, strict=True):
        sheet.put(name, word, value)
    sheet.put("tl.uint_to_uniform_float(a)", "f32", philox.uniform(found[0]))
    if dtype == word:
        known = philox.philox((3, 4), (given, given, given, given), bits, 3)
        sheet.line(f"t, f = tl.full((), 3, tl.{word}), tl.full((), 4, tl.{word})")
        sheet.line("e, g, h, i = tl.philox_impl(o, o, o, o, t, f, 3)")
        for name, value in zip("eghi", known, strict=True):
            sheet.put(name, word, value)
    return sheet


def cells() -> list[tuple[str, str, Callable[[], Sheet]]]:
    """The function, a name for the test, and the sheet."""
    found: list[tuple[str, str, Callable[[], Sheet]]] = [
        ("rand", f"rand-{dtype}", lambda dtype=dtype: numbers(dtype)) for dtype in INTEGERS
    ]
    found += [("pair_uniform_to_normal", f"pair-{dtype}", lambda dtype=dtype: pairs(dtype)) for dtype in FLOATS]
    wide = ("i32", "u32", "i64", "u64")
    found += [("philox", f"philox-{dtype}", lambda dtype=dtype: counters(dtype)) for dtype in wide]
    return found
