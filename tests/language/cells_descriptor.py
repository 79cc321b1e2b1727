"""Cells of tensor descriptors: tiles loaded, stored, added to, and rows gathered and scattered, with every dtype."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from teeny.ops.function import functions
from tests.language.float8 import FLOATS8
from tests.language.rounding import DTYPES
from tests.language.sheet import GAP, Segment, Sheet, canary
from tests.language.values import ALL, FLOATS, inputs, random

Cell = tuple[str, str, Callable[[], Sheet]]
ROWS, COLUMNS = 12, 64
"""Of the array; a tile is 8 x 32."""
TILE = (8, 32)
LINE = 256
"""Elements that a segment's start is a multiple of, so that its address is one of 16 bytes."""


class Described(Sheet):
    """A sheet on which segments are written through descriptors alone."""

    def region(self, dtype: str, text: str, change: Callable[[Any], Any], shape: tuple[int, ...]) -> str:
        """A segment that holds the canary; the text of a pointer to it. `change` gives what it holds in the end."""
        start = -(-self.sizes.get(dtype, GAP) // LINE) * LINE
        count = int(np.prod(shape))
        self.sizes[dtype] = start + count + GAP
        before = canary(dtype, start + count)[start:].reshape(shape)
        with np.errstate(all="ignore"):
            wanted = np.asarray(change(before.copy()), before.dtype)
        none = np.zeros(shape, np.bool_)
        self.segments.setdefault(dtype, []).append(Segment(start, text, wanted, none, False, None, 0.0, {}))
        return f"out_{dtype} + {start}"


def _part(x: Any, row: int, column: int, fill: Any) -> Any:
    """The tile of an array at a place, filled outside."""
    found = np.full(TILE, fill, x.dtype)
    for i in range(TILE[0]):
        for j in range(TILE[1]):
            if 0 <= row + i < x.shape[0] and 0 <= column + j < x.shape[1]:
                found[i, j] = x[row + i, column + j]
    return found


def _laid(to: Any, tile: Any, row: int, column: int, join: Callable[[Any, Any], Any]) -> Any:
    """An array with a tile joined to what was there, what is outside dropped."""
    for i in range(tile.shape[0]):
        for j in range(tile.shape[1]):
            if 0 <= row + i < to.shape[0] and 0 <= column + j < to.shape[1]:
                to[row + i, column + j] = join(to[row + i : row + i + 1, column + j], tile[i : i + 1, j])[0]
    return to


def _taken(old: Any, new: Any) -> Any:
    return new


def _start(dtype: str) -> tuple[Described, Any]:
    sheet = Described()
    x = inputs(dtype, ROWS * COLUMNS, 21).reshape(ROWS, COLUMNS)
    sheet.array("x", dtype, x.ravel())
    sheet.line(f"d = tl.make_tensor_descriptor(x, [{ROWS}, {COLUMNS}], [{COLUMNS}, 1], [8, 32])")
    return sheet, x


def _made(sheet: Sheet, name: str, place: str) -> None:
    sizes = f"shape=({ROWS}, {COLUMNS}), strides=({COLUMNS}, 1), block_shape=(8, 32)"
    sheet.line(f"{name} = tl.make_tensor_descriptor({place}, {sizes})")


def tiles(dtype: str) -> Sheet:
    """Inside, across each edge, outside; with both paddings."""
    sheet, x = _start(dtype)
    zero = np.zeros((), x.dtype)
    for row, column in ((0, 0), (2, 24), (8, 48), (-3, -5), (100, 0)):
        sheet.put(f"d.load([{row}, {column}])", dtype, _part(x, row, column, zero))
    sheet.put("tl.load_tensor_descriptor(d, (1, 9))", dtype, _part(x, 1, 9, zero))
    if dtype in FLOATS:
        sheet.line(f'n = tl.make_tensor_descriptor(x, ({ROWS}, {COLUMNS}), ({COLUMNS}, 1), (8, 32), "nan")')
        sheet.put("n.load([8, 48])", dtype, _part(x, 8, 48, np.array(np.nan).astype(x.dtype)))
    for at, (row, column) in enumerate(((0, 0), (8, 48), (-3, -5))):
        tile = _part(x, 2, 24, zero)

        def change(before: Any, tile: Any = tile, row: int = row, column: int = column) -> Any:
            return _laid(before, tile, row, column, _taken)

        _made(sheet, f"s{at}", sheet.region(dtype, f"store at {row}, {column}", change, (ROWS, COLUMNS)))
        said = f"s{at}.store([{row}, {column}], d.load([2, 24]))" if at else ""
        sheet.line(said or f"tl.store_tensor_descriptor(s{at}, [{row}, {column}], d.load([2, 24]))")
    return sheet


def rows(dtype: str) -> Sheet:
    """Rows of a descriptor of one row, in any order, some outside."""
    sheet, x = _start(dtype)
    at = np.array([3, 11, 0, 5, 7, 2, 9, 1], np.int32)
    sheet.array("rows", "i32", at)
    sheet.line("at = tl.load(rows + tl.arange(0, 8))")
    sheet.line(f"g = tl.make_tensor_descriptor(x, [{ROWS}, {COLUMNS}], [{COLUMNS}, 1], [1, 32])")
    sheet.put("g.gather(at, 16)", dtype, x[at][:, 16:48])

    def change(before: Any) -> Any:
        before[at, 16:48] = x[at][:, 16:48]
        return before

    place = sheet.region(dtype, "scatter", change, (ROWS, COLUMNS))
    sheet.line(f"s = tl.make_tensor_descriptor({place}, [{ROWS}, {COLUMNS}], [{COLUMNS}, 1], [1, 32])")
    sheet.line("s.scatter(g.gather(at, 16), at, 16)")
    return sheet


def _sum(x: Any, y: Any) -> Any:
    return x + y if x.dtype.kind in "iu" else (x.astype(np.float32) + y.astype(np.float32)).astype(x.dtype)


JOINS: dict[str, Callable[[Any, Any], Any]] = {
    "add": _sum,
    "min": np.minimum,
    "max": np.maximum,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
}  # fmt: skip


def joined(name: str, dtype: str) -> Sheet:
    """What a tile does atomically to what was there."""
    sheet = Described()
    x = random(dtype, ROWS * COLUMNS, 22)
    if dtype in FLOATS:
        x = np.nan_to_num(x.astype(np.float32), posinf=3, neginf=-3).clip(-100, 100).astype(DTYPES[dtype])
    x = x.reshape(ROWS, COLUMNS)
    sheet.array("x", dtype, x.ravel())
    sheet.line(f"d = tl.make_tensor_descriptor(x, [{ROWS}, {COLUMNS}], [{COLUMNS}, 1], [8, 32])")
    for at, (row, column) in enumerate(((0, 0), (8, 48))):
        tile = _part(x, 2, 24, np.zeros((), x.dtype))

        def change(before: Any, tile: Any = tile, row: int = row, column: int = column) -> Any:
            return _laid(before, tile, row, column, JOINS[name])

        _made(sheet, f"s{at}", sheet.region(dtype, f"atomic_{name} at {row}, {column}", change, (ROWS, COLUMNS)))
        sheet.line(f"s{at}.atomic_{name}([{row}, {column}], d.load([2, 24]))")
    return sheet


def cells() -> Iterator[Cell]:
    """By the function and a name for the test."""
    for dtype in (*ALL, *FLOATS8):
        yield "make_tensor_descriptor", f"descriptor-{dtype}", lambda dtype=dtype: tiles(dtype)
        yield "descriptor_gather", f"descriptor_rows-{dtype}", lambda dtype=dtype: rows(dtype)
    for name in JOINS:
        function = f"descriptor_atomic_{name}"
        left_out = [d for leaves in functions()[function].exclude.values() for d in leaves]
        of = ALL[1:] if name in ("add", "min", "max") else ALL[1:9]
        for dtype in of:
            if dtype not in left_out:
                yield function, f"{function}-{dtype}", lambda name=name, dtype=dtype: joined(name, dtype)
