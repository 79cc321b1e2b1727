"""Cells of sorts, of histograms, and of what is written in the language about rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tests.language.rounding import DTYPES
from tests.language.sheet import Sheet
from tests.language.values import CLASSES, FLOATS, inputs

Cell = tuple[str, str, Callable[[], Sheet]]
N = 64


def ordered(x: Any, axis: int = -1) -> Any:
    """Sorted upwards: -0 before 0, NaNs last."""
    if x.dtype.kind not in "fV":
        return np.sort(x, axis)
    wide = x.astype(np.float64)
    return np.take_along_axis(x, np.lexsort((~np.signbit(wide), wide), axis=axis), axis)


def sorts(dtype: str) -> Sheet:
    """`sort topk bitonic_merge`."""
    sheet = Sheet()
    x = np.roll(inputs(dtype, N, 21), 5)
    sheet.array("x", dtype, x)
    sheet.line(f"row = tl.load(x + tl.arange(0, {N}))")
    sheet.line("tile = tl.reshape(row, (4, 16))")
    tile = x.reshape(4, 16)
    up, tile_up = ordered(x), ordered(tile)
    puts: list[tuple[str, Any]] = [
        ("tl.sort(row)", up), ("tl.sort(tile, descending=True)", tile_up[:, ::-1]),
        ("tile.sort(1, 1)", tile_up[:, ::-1]),
        ("tl.sort(tile, 0)", ordered(tile, 0)), ("tl.sort(tile, 0, True)", ordered(tile, 0)[::-1]),
        ("tl.topk(row, 8)", up[::-1][:8]), ("tl.topk(tile, 4, descending=False)", tile_up[:, :4]),
        ("tl.topk(tile, 2, dim=0)", ordered(tile, 0)[::-1][:2]), ("tl.topk(row, 1)", up[::-1][:1]),
        (f"tl.topk(row, k={N}, dim=0)", up[::-1]),
        ("tl.bitonic_merge(tl.cat(tl.sort(row), tl.sort(row, descending=True)))", np.repeat(up, 2)),
        ("tl.bitonic_merge(tl.reshape(tl.cat(tl.sort(row), tl.flip(tl.sort(row))), (1, 128)), 1, True)",
         np.repeat(up, 2)[::-1].reshape(1, 128)),
    ]  # fmt: skip
    for text, wanted in puts:
        sheet.put(text, dtype, np.ascontiguousarray(wanted))
    return sheet


def histograms(dtype: str) -> Sheet:
    sheet = Sheet()
    x = np.random.default_rng(22).integers(-3 if dtype == "i32" else 0, 20, 256).astype(DTYPES[dtype])
    sheet.array("x", dtype, x)
    sheet.line("row = tl.load(x + tl.arange(0, 256))")

    def counts(values: Any, bins: int) -> Any:
        return np.bincount(values[(values >= 0) & (values < bins)], minlength=bins).astype(np.int32)

    even = x % 2 == 0
    sheet.put("tl.histogram(row, 16)", "i32", counts(x, 16))
    sheet.put("row.histogram(num_bins=32)", "i32", counts(x, 32))
    sheet.put("tl.histogram(row, 8, row % 2 == 0)", "i32", counts(x[even], 8))
    sheet.put("tl.histogram(row, 64, mask=tl.arange(0, 256) < 100)", "i32", counts(x[:100], 64))
    sheet.put("tl.histogram(row, 16, mask=tl.load(x + 3) > 100)", "i32", counts(x[:0], 16))
    return sheet


def softmaxes(dtype: str) -> Sheet:
    """Exact where all elements are equal, else near the exact value."""
    sheet = Sheet()
    x = (np.random.default_rng(23).standard_normal((8, 32)) * 3).astype(DTYPES[dtype])
    sheet.array("x", dtype, x)
    sheet.line("tile = tl.load(x + tl.arange(0, 8)[:, None] * 32 + tl.arange(0, 32)[None, :])")
    wide = x.astype(np.float64)

    def exact(axis: int) -> Any:
        parts = np.exp(wide - wide.max(axis, keepdims=True))
        return parts / parts.sum(axis, keepdims=True)

    for text, axis in (("tl.softmax(tile)", 0), ("tl.softmax(tile, 1)", 1), ("tile.softmax(dim=-1)", 1),
                       ("tl.softmax(tile, 0, ieee_rounding=True)", 0)):  # fmt: skip
        value = exact(axis)
        sheet.put(text, dtype, value.astype(DTYPES[dtype]), value=value, ulp=16.0 if dtype in ("f32", "f64") else 1.0,
                  gpu=64.0 if dtype == "f32" else 1.0 if dtype != "f64" else 16.0)  # fmt: skip
    return sheet


def swizzles(dtype: str) -> Sheet:
    """Against the order that the docstring describes, with a last group that is shorter."""
    sheet = Sheet()
    rows, columns, group = 5, 4, 2
    sheet.array("x", dtype, np.arange(rows * columns).astype(DTYPES[dtype]))
    at = "tl.load(x + tl.arange(0, 16))"
    sheet.line(f"i, j = tl.swizzle2d({at} // {columns}, {at} % {columns}, {rows}, {columns}, {group})")
    order = [(i, j) for g in range(0, rows, group) for j in range(columns) for i in range(g, min(g + group, rows))]
    for text, number in (("i", 0), ("j", 1)):
        sheet.put(text, dtype, np.array([place[number] for place in order[:16]]).astype(DTYPES[dtype]))
    return sheet


def cells() -> Iterator[Cell]:
    for dtype in CLASSES["N"]:
        yield "sort", f"sort-{dtype}", lambda d=dtype: sorts(d)
    for dtype in ("i32", "u32"):
        yield "histogram", f"histogram-{dtype}", lambda d=dtype: histograms(d)
    for dtype in FLOATS:
        yield "softmax", f"softmax-{dtype}", lambda d=dtype: softmaxes(d)
    for dtype in CLASSES["I"]:
        yield "swizzle2d", f"swizzle2d-{dtype}", lambda d=dtype: swizzles(d)
