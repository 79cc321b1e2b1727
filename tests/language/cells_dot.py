"""Cells of matrix products: small integers, so that each sum is exact on every executor and in every order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tests.language.rounding import DTYPES
from tests.language.sheet import Sheet, places, spelled

Made = Callable[[], Sheet]
TOTALS = {"i8": ("i32",), "u8": ("i32",), "f16": ("f32", "f16"), "bf16": ("f32",), "f32": ("f32",), "f64": ("f64",)}
"""The dtypes that products of a dtype are added up in; the first is the default."""
FLOAT8 = tuple(name for name in DTYPES if name.startswith("f8"))
MIXED = [(x, y) for x in FLOAT8 for y in FLOAT8 if x.endswith("fnuz") == y.endswith("fnuz")]
"""Pairs of 8-bit floats: each with itself, and the two kinds of a family with each other."""
PRECISIONS = ("tf32", "tf32x3", "ieee", "bf16x3", "bf16x6")
M, N, K = 16, 32, 32


def drawn(dtype: str, shape: tuple[int, ...], seed: int) -> Any:
    """Small integers, of which every dtype has all, but the bytes: any."""
    random = np.random.default_rng([seed, *shape])
    if dtype in ("i8", "u8"):
        limits = np.iinfo(DTYPES[dtype])
        return random.integers(limits.min, limits.max, shape, endpoint=True).astype(DTYPES[dtype])
    low = -3 if not dtype.startswith("u") else 0
    return random.integers(low, 4, shape).astype(np.float32).astype(DTYPES[dtype])


def exact(x: Any, y: Any, start: Any, total: str) -> Any:
    """The product in integers."""
    x, y, start = (v.astype(np.float64).astype(np.int64) for v in (x, y, start))
    found = np.matmul(x, y) + start
    return found.astype(np.int32) if total == "i32" else found.astype(np.float64).astype(DTYPES[total])


def _load(sheet: Sheet, name: str, dtype: str, values: Any) -> Any:
    sheet.array(name, dtype, values)
    sheet.line(f"{name}1 = tl.load({name} + {places(values.shape)})")
    return values


def products(dtype: str, other: str, total: str, *, default: bool) -> Sheet:
    """With and without an accumulator, one of the operands turned, in batches."""
    sheet = Sheet()
    x, y = _load(sheet, "x", dtype, drawn(dtype, (M, K), 1)), _load(sheet, "y", other, drawn(other, (K, N), 2))
    z = _load(sheet, "z", other, drawn(other, (N, K), 3))
    c = _load(sheet, "c", total, drawn(total if total != "i32" else "f32", (M, N), 4).astype(DTYPES[total]))
    zero = np.zeros((M, N), DTYPES[total])
    out = f"out_dtype=tl.{spelled(total)}"
    if default:
        sheet.put("tl.dot(x1, y1)", total, exact(x, y, zero, total))
    sheet.put(f"tl.dot(x1, tl.trans(z1), {out})", total, exact(x, z.T, zero, total))
    sheet.put("tl.dot(x1, y1, c1)", total, exact(x, y, c, total))
    sheet.put(f"tl.dot(x1, y1, acc=c1 + c1, {out})", total, exact(x, y, c + c, total))
    sheet.put(f"tl.dot(x1, y1, {out}) + c1", total, exact(x, y, c, total))
    return sheet


def batches(dtype: str, other: str, total: str) -> Sheet:
    """Three axes, and four."""
    sheet = Sheet()
    x, y = (drawn(d, (4, *s), seed) for d, s, seed in ((dtype, (M, K), 5), (other, (K, M), 6)))
    c = drawn("f32", (4, M, M), 7).astype(DTYPES[total])
    for name, values, kind in (("x", x, dtype), ("y", y, other), ("c", c, total)):
        _load(sheet, name, kind, values)
    wanted = exact(x, y, c, total)
    sheet.put("tl.dot(x1, y1, c1)", total, wanted)
    out = f"out_dtype=tl.{spelled(total)}"
    four = f"tl.dot(tl.reshape(x1, (2, 2, {M}, {K})), tl.reshape(y1, (2, 2, {K}, {M})), {out})"
    sheet.put(four, total, exact(x, y, np.zeros_like(c), total).reshape(2, 2, M, M))
    return sheet


def precisions() -> Sheet:
    """What a GPU may round f32 to holds small integers."""
    sheet = Sheet()
    x, y = _load(sheet, "x", "f32", drawn("f32", (M, K), 8)), _load(sheet, "y", "f32", drawn("f32", (K, N), 9))
    wanted = exact(x, y, np.zeros((M, N)), "f32")
    for precision in PRECISIONS:
        sheet.put(f"tl.dot(x1, y1, input_precision={precision!r})", "f32", wanted)
    for allow in (True, False):
        sheet.put(f"tl.dot(x1, y1, allow_tf32={allow})", "f32", wanted)
    sheet.put("tl.dot(x1, y1, None, None, None, None, tl.float32)", "f32", wanted)
    return sheet


def cells() -> list[tuple[str, Made]]:
    """By a name for the test."""
    found: list[tuple[str, Made]] = [("dot-f32-precisions", precisions)]
    pairs = [(d, d, totals) for d, totals in TOTALS.items()] + [(x, y, ("f32", "f16")) for x, y in MIXED]
    for x, y, totals in pairs:
        for total in totals:
            name = f"dot-{x if x == y else f'{x}*{y}'}-{total}"
            default = total == totals[0] and x != "f64"
            found.append((name, lambda x=x, y=y, t=total, d=default: products(x, y, t, default=d)))
            found.append((f"{name}-batches", lambda x=x, y=y, t=total: batches(x, y, t)))
    return found
