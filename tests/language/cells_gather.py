"""Cells of `gather`: along every axis, with more and fewer places than there are, by integers of every dtype."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tests.language.rounding import DTYPES
from tests.language.sheet import Sheet, places
from tests.language.values import ALL, INTEGERS, inputs

Cell = tuple[str, str, Callable[[], Sheet]]
N = 128


def picked(dtype: str) -> Sheet:
    """Of one dtype, by i32."""
    sheet = Sheet()
    x = inputs(dtype, N, 31)
    sheet.array("x", dtype, x)
    rng = np.random.default_rng(7)
    shapes: list[tuple[tuple[int, ...], tuple[int, ...], int]] = [
        ((128,), (128,), 0), ((128,), (16,), 0), ((16,), (128,), 0), ((1,), (8,), 0), ((8, 16), (8, 16), 1),
        ((8, 16), (8, 16), 0), ((8, 16), (8, 4), 1), ((8, 16), (64, 16), 0), ((8, 16), (2, 16), -2),
        ((16, 8), (16, 1), -1),
        ((4, 8, 4), (4, 2, 4), 1), ((4, 8, 4), (4, 8, 16), 2), ((2, 8, 8), (4, 8, 8), 0),
    ]  # fmt: skip
    for number, (shape, wanted, axis) in enumerate(shapes):
        index = rng.integers(0, shape[axis], wanted).astype(np.int32)
        tile = x[: int(np.prod(shape))].reshape(shape)
        sheet.array(f"i{number}", "i32", index)
        sheet.line(f"t{number} = tl.load(x + {places(shape) or 0})")
        sheet.line(f"j{number} = tl.load(i{number} + {places(wanted) or 0})")
        result: Any = np.take_along_axis(tile, index.astype(np.int64), axis)
        form = f"tl.gather(t{number}, j{number}, {axis})" if number % 2 else f"t{number}.gather(j{number}, axis={axis})"
        sheet.put(form, dtype, result)
    # the tile is computed, turned, or the same everywhere; the index is computed
    rows, columns = np.arange(8)[:, None], np.arange(16)[None, :]
    sheet.line("r, c = tl.arange(0, 8)[:, None], tl.arange(0, 16)[None, :]")
    sheet.line("tile = tl.load(x + (r * 16 + c))")
    sheet.line("tall = tl.load(x + (tl.arange(0, 16)[:, None] * 8 + tl.arange(0, 8)[None, :]))")
    index = (rows * 3 + columns * 5) % 16
    sheet.put("tl.gather(tile, (r * 3 + c * 5) % 16, 1)", dtype, np.take_along_axis(x.reshape(8, 16), index, 1))
    sheet.put(
        "tl.gather(tl.trans(tall), (r * 3 + c * 5) % 16, 1)", dtype, np.take_along_axis(x.reshape(16, 8).T, index, 1)
    )
    sheet.put("tl.gather(tl.full((8, 16), tl.load(x + 3), x.dtype), (r + c) % 8, 0)", dtype, np.full((8, 16), x[3]))
    sheet.put("tl.gather(tl.gather(tile, (r + c) % 8, 0), (r + c) % 16, 1)", dtype, _twice(x.reshape(8, 16)))
    return sheet


def _twice(tile: Any) -> Any:
    rows, columns = np.arange(8)[:, None], np.arange(16)[None, :]
    return np.take_along_axis(np.take_along_axis(tile, (rows + columns) % 8, 0), (rows + columns) % 16, 1)


def by(dtype: str) -> Sheet:
    """By an index of one dtype; unsigned ones have no negative places."""
    sheet = Sheet()
    x = np.arange(256, dtype=np.int32) * 3 + 1
    high = min(int(np.iinfo(DTYPES[dtype]).max), 255)
    index = np.linspace(0, high, 64).astype(DTYPES[dtype])
    sheet.array("x", "i32", x)
    sheet.array("i", dtype, index)
    sheet.line("tile = tl.load(x + tl.arange(0, 256))")
    sheet.line("at = tl.load(i + tl.arange(0, 64))")
    sheet.put("tl.gather(tile, at, 0)", "i32", x[index.astype(np.int64)])
    sheet.put("tile.gather(index=at, axis=-1)", "i32", x[index.astype(np.int64)])
    return sheet


def cells() -> Iterator[Cell]:
    for dtype in ALL:
        yield "gather", f"gather-{dtype}", lambda dtype=dtype: picked(dtype)
    for dtype in INTEGERS:
        yield "gather", f"gather-by-{dtype}", lambda dtype=dtype: by(dtype)
