"""Cells of what moves lanes: views, new axes, joins, splits, concatenations, flips."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tests.language.sheet import Sheet
from tests.language.values import ALL, inputs

Cell = tuple[str, str, Callable[[], Sheet]]
N = 256


def _tiles(dtype: str, seed: int) -> tuple[Sheet, Any]:
    """`row` of 256, `tile` of 16 x 16, `cube` of 4 x 8 x 8, `pair` of 128 x 2, `one` and `two` scalars."""
    sheet = Sheet()
    x = inputs(dtype, N, seed)
    sheet.array("x", dtype, x)
    sheet.line(f"row = tl.load(x + tl.arange(0, {N}))")
    sheet.line("tile = tl.load(x + tl.arange(0, 16)[:, None] * 16 + tl.arange(0, 16)[None, :])")
    sheet.line("cube = tl.reshape(row, (4, 8, 8))")
    sheet.line("pair = tl.load(x + tl.arange(0, 128)[:, None] * 2 + tl.arange(0, 2)[None, :])")
    sheet.line("one = tl.load(x + 7)")
    sheet.line("two = tl.load(x + 9)")
    return sheet, x


def _put(sheet: Sheet, dtype: str, puts: list[tuple[str, Any]]) -> Sheet:
    for text, wanted in puts:
        sheet.put(text, dtype, np.ascontiguousarray(wanted).reshape(np.shape(wanted)))
    return sheet


def views(dtype: str) -> Sheet:
    """`view ravel permute squeeze unsqueeze expand_dims .T zeros_like`, and sizes as separate arguments."""
    sheet, x = _tiles(dtype, 11)
    tile, cube = x.reshape(16, 16), x.reshape(4, 8, 8)
    return _put(sheet, dtype, [
        ("tl.reshape(tile, 4, 64)", x.reshape(4, 64)), ("tile.reshape([2, 8, 16])", x.reshape(2, 8, 16)),
        ("tl.ravel(cube)", x), ("tile.ravel()", x), ("tl.ravel(tile.T)", tile.T.ravel()),
        ("tile.T", tile.T), ("tl.permute(cube, (1, 2, 0))", cube.transpose(1, 2, 0)),
        ("cube.permute(2, 0, 1)", cube.transpose(2, 0, 1)), ("tl.trans(cube, 0, 2, 1)", cube.transpose(0, 2, 1)),
        ("tl.unsqueeze(row, 0)", x[None]), ("tl.unsqueeze(tile, -1)", tile[:, :, None]),
        ("tl.squeeze(tl.unsqueeze(tile, 1), 1)", tile), ("tl.squeeze(row[None, :], -2)", x),
        ("tl.squeeze(tl.reshape(one, (1,)), 0)", x[7]),
        ("tl.expand_dims(row, (0, 2))", x[None, :, None]), ("tl.expand_dims(tile, [-1, 0])", tile[None, :, :, None]),
        ("tl.expand_dims(one, (0, 1))", x[7].reshape(1, 1)), ("tile.expand_dims((1, 2))", tile[:, None, None, :]),
        ("tl.broadcast_to(one, 4, 2)", np.broadcast_to(x[7], (4, 2))),
        ("tl.zeros_like(tile)", np.zeros_like(tile)), ("tl.zeros_like(one)", np.zeros_like(x[7])),
        ("tl.item(tl.reshape(one, (1, 1)))", x[7]),
    ])  # fmt: skip


def reordered(dtype: str) -> Sheet:
    """Where a GPU may order elements otherwise, what does not depend on the order is stored."""
    sheet, x = _tiles(dtype, 12)
    for text in ("tl.view(tile, (4, 64))", "tile.view(64, 4)", "tl.reshape(tile, 256, can_reorder=True)",
                 "tl.ravel(tile, True)", "tl.cat(row, row, can_reorder=True)"):  # fmt: skip
        twice = 2 if "cat" in text else 1
        sheet.put(f"tl.sum(({text} == {text}).to(tl.i32))", "i32", np.asarray(twice * int((x == x).sum()), np.int32))
    return sheet


def broadcasts(dtype: str) -> Sheet:
    sheet, x = _tiles(dtype, 13)
    left, right = np.broadcast_arrays(x[:16][:, None], x[:8])
    sheet.line("a, b = tl.broadcast(tl.load(x + tl.arange(0, 16))[:, None], tl.load(x + tl.arange(0, 8)))")
    sheet.line("c, d = tl.broadcast(one, row)")
    return _put(sheet, dtype, [("a", left), ("b", right), ("c", np.broadcast_to(x[7], N)), ("d", x)])


def joins(dtype: str) -> Sheet:
    """`join split interleave cat`."""
    sheet, x = _tiles(dtype, 14)
    tile, pair = x.reshape(16, 16), x.reshape(128, 2)
    sheet.line("other = tile.T")
    other = tile.T
    by_turns = np.stack((tile, other), -1)
    for name, value in (("pair", "pair"), ("joined", "tl.join(tile, other)"), ("small", "tl.reshape(row, (2, 64, 2))")):
        sheet.line(f"{name}0, {name}1 = tl.split({value})")
    sheet.line("left, right = tl.join(one, two).split()")
    sheet.line("deep0, deep1 = tl.split(tl.reshape(tl.join(tl.join(row, row), tl.join(row, row)), (256, 2, 2)))")
    return _put(sheet, dtype, [
        ("tl.join(tile, other)", by_turns), ("tl.join(one, two)", x[[7, 9]]),
        ("tl.join(tile, one)", np.stack((tile, np.broadcast_to(x[7], (16, 16))), -1)),
        ("pair0", pair[:, 0]), ("pair1", pair[:, 1]), ("joined0", tile), ("joined1", other),
        ("small0", x.reshape(2, 64, 2)[..., 0]), ("small1", x.reshape(2, 64, 2)[..., 1]), ("left", x[7]),
        ("right", x[9]), ("deep0", np.stack((x, x), -1)), ("deep1", np.stack((x, x), -1)),
        ("tl.interleave(row, row)", np.repeat(x, 2)), ("tl.interleave(tile, other)", by_turns.reshape(16, 32)),
        ("tl.interleave(one, two)", x[[7, 9]]),
        ("tl.permute(tl.join(tile, other), (2, 0, 1))", np.stack((tile, other))),
        ("tl.interleave(row, tl.ravel(other))", np.stack((x, other.ravel()), -1).ravel()),
        ("tl.cat(row, tl.ravel(other))", np.concatenate((x, other.ravel()))),
        ("tl.cat(tile, other)", np.concatenate((tile, other))),
        ("tl.cat(tile, other, dim=1)", np.concatenate((tile, other), 1)),
        ("tl.cat(cube, cube, False, -2)", np.concatenate((x.reshape(4, 8, 8),) * 2, 1)),
    ])  # fmt: skip


def flips(dtype: str) -> Sheet:
    sheet, x = _tiles(dtype, 15)
    tile, cube = x.reshape(16, 16), x.reshape(4, 8, 8)
    return _put(sheet, dtype, [
        ("tl.flip(row)", x[::-1]), ("tl.flip(tile, 0)", tile[::-1]), ("tile.flip(1)", tile[:, ::-1]),
        ("tl.flip(tile.T, 1)", tile.T[:, ::-1]), ("tl.flip(cube, -2)", cube[:, ::-1]), ("tl.flip(cube, 0)", cube[::-1]),
        ("tl.flip(tl.flip(tile, 0), 1)", tile[::-1, ::-1]), ("tl.flip(row[:, None], 1)", x[:, None]),
        ("tl.flip(pair)", x.reshape(128, 2)[:, ::-1]),
    ])  # fmt: skip


def cells() -> Iterator[Cell]:
    for dtype in ALL:
        yield "ravel", f"views-{dtype}", lambda d=dtype: views(d)
        yield "join", f"join-{dtype}", lambda d=dtype: joins(d)
        yield "broadcast", f"broadcast-{dtype}", lambda d=dtype: broadcasts(d)
        yield "flip", f"flip-{dtype}", lambda d=dtype: flips(d)
        yield "view", f"view-{dtype}", lambda d=dtype: reordered(d)
