"""Cells of casts, reductions, choices, moves, constants, loads and pointers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tests.language.forms import SIDE, N, literal
from tests.language.meaning import FREE_ZERO, MEANING, cast
from tests.language.rounding import DTYPES
from tests.language.sheet import Sheet, spelled
from tests.language.values import ALL, FLOATS, INTEGERS, inputs, random


def casts(dtype: str) -> Sheet:
    """From one dtype to every dtype, as a method and as a function."""
    sheet = Sheet()
    x = inputs(dtype, N, 4)
    if dtype in FLOATS:
        edges = [127.5, 128.0, -128.9, -129.0, 255.9, 32767.5, 65535.9, 2147483647.0, 2147483648.0, -2147483648.0]
        edges += [4294967295.0, 4294967296.0, 9.3e18, -9.3e18, 1.85e19, 9223372036854774784.0, 18446744073709549568.0]
        edges += [
            1 + 2.0**-9 + 2.0**-40,
            1 + 2.0**-8 + 2.0**-40,
            65519.999999,
            65520.0,
            3.3961775292304957e38,
            2.0**-25,
            2.0**-25 * 1.0000001,
        ]
        with np.errstate(all="ignore"):
            x[-len(edges) :] = np.array(edges).astype(DTYPES[dtype])
    elif dtype in ("i64", "u64"):
        edges = [
            2**53 + 1,
            2**24 + 1,
            2**60 + 2**36 + 1,
            2**60 + 2**36,
            2049,
            2051,
            257,
            65519,
            65520,
            2**62 + 2**54 + 1,
            2**62 + 2**38 + 1,
        ]
        edges += [-v for v in edges] if dtype == "i64" else [2**63 + 2**55 + 1, 2**63 + 2**39 + 1]
        x[-len(edges) :] = np.array(edges, DTYPES[dtype])
    elif dtype in ("i32", "u32"):
        edges = [2**24 + 2**16 + 1, 2**30 + 2**22 + 1, 2**30 + 2**22, 2**24 + 1, 65519, 65520, 2049, 257]
        edges += [-v for v in edges] if dtype == "i32" else []
        x[-len(edges) :] = np.array(edges, DTYPES[dtype])
    sheet.array("x", dtype, x)
    sheet.line(f"x1 = tl.load(x + tl.arange(0, {N}))")
    sheet.line("x0 = tl.load(x + 3)")
    for to in ALL:
        with np.errstate(all="ignore"):
            sheet.put(f"x1.to(tl.{spelled(to)})", to, cast(x, to), x=x)
            sheet.put(f"tl.cast(x0, tl.{spelled(to)})", to, cast(x[3], to), x=x[3])
    return sheet


def _terms(dtype: str) -> Any:
    """Numbers that are reduced: floats of moderate size, and one NaN."""
    x = random(dtype, 2048, 5)
    if dtype in FLOATS:
        wide = np.asarray(x, np.float64)
        wide[~np.isfinite(wide)] = 0.5
        x = np.clip(wide, -900, 900).astype(DTYPES[dtype])
        x[1500] = np.nan
    return x


def reductions(name: str, dtype: str, to: str = "") -> Sheet:
    """Along each axis, of all elements, with and without `keep_dims`, as a function and as a method."""
    sheet = Sheet()
    x = _terms(dtype)
    sheet.array("x", dtype, x)
    meaning = MEANING[name]
    more: tuple[Any, ...] = (to,) if to else ()
    extra = f", dtype=tl.{to}" if to else ""
    gives = to or dtype
    free = name in FREE_ZERO

    def put(text: str, wanted: Any) -> None:
        sheet.put(text, gives, wanted, free_zero=free, near=another_order(x, wanted, gives) if name == "sum" else 0.0)

    with np.errstate(all="ignore"):
        for size in (1, 2, 16, 64, 128, 512):
            sheet.line(f"r{size} = tl.load(x + tl.arange(0, {size}))")
            put(f"tl.{name}(r{size}, axis=0{extra})", meaning(x[:size], 0, False, *more))
        put(f"tl.{name}(r128{extra})", meaning(x[:128], None, False, *more))
        put(f"r128.{name}(-1{extra})", meaning(x[:128], 0, False, *more))
        put(f"tl.{name}(r16, 0, keep_dims=True{extra})", meaning(x[:16], 0, True, *more))
        for rows, columns in ((4, 128), (8, 8), (128, 2), (1, 16), (16, 1)):
            tile = x[: rows * columns].reshape(rows, columns)
            t = f"t{rows}_{columns}"
            sheet.line(
                f"{t} = tl.load(x + tl.arange(0, {rows})[:, None] * {columns} + tl.arange(0, {columns})[None, :])"
            )
            for axis in (0, 1, -1, None):
                put(f"tl.{name}({t}, {axis}{extra})", meaning(tile, axis, False, *more))
                put(f"tl.{name}({t}, axis={axis}, keep_dims=True{extra})", meaning(tile, axis, True, *more))
        if dtype in FLOATS:  # the sum of -0.0 alone is -0.0, and NaN is the largest of NaNs
            for letter, value in (("zeros", -0.0), ("nans", np.nan), ("big", 60000.0)):
                same = np.full(128, value).astype(DTYPES[dtype])
                sheet.array(letter, dtype, same)
                for size in (1, 16, 128):
                    put(
                        f"tl.{name}(tl.load({letter} + tl.arange(0, {size})){extra})",
                        meaning(same[:size], 0, False, *more),
                    )
        tile = x.reshape(8, 16, 16)
        sheet.line(
            "cube = tl.load(x + tl.arange(0, 8)[:, None, None] * 256 + tl.arange(0, 16)[None, :, None] * 16"
            " + tl.arange(0, 16)[None, None, :])"
        )
        for axis in (0, 1, 2, None):
            put(f"tl.{name}(cube, {axis}{extra})", meaning(tile, axis, False, *more))
    return sheet


def another_order(x: Any, wanted: Any, dtype: str) -> float:
    """The error that a sum of floats may have where a GPU adds up in another order and rounds once more."""
    if dtype not in FLOATS:
        return 0.0
    step = {"f64": 2.0**-53, "f32": 2.0**-24, "f16": 2.0**-11, "bf16": 2.0**-8}[dtype]
    size = float(np.nansum(np.abs(x.astype(np.float64)))) * (2.0**-53 if dtype == "f64" else 2.0**-24) * 64
    return size + float(np.nan_to_num(np.abs(wanted.astype(np.float64))).max()) * 2 * step


def choices(dtype: str) -> Sheet:
    """`where`, and the ternary."""
    sheet = Sheet()
    x, y = inputs(dtype, N, 1), random(dtype, N, 2)
    c = random("bool", N, 3)
    for letter, values, kind in (("x", x, dtype), ("y", y, dtype), ("c", c, "bool")):
        sheet.array(letter, kind, values)
        sheet.line(f"{letter}1 = tl.load({letter} + tl.arange(0, {N}))")
        sheet.line(f"{letter}2 = tl.load({letter} + tl.arange(0, {SIDE}))")
        sheet.line(f"{letter}0 = tl.load({letter} + 2)")
    f, s = MEANING["where"], slice(0, SIDE)
    sheet.put("tl.where(c1, x1, y1)", dtype, f(c, x, y))
    sheet.put("tl.where(c0, x1, y1)", dtype, f(c[2], x, y))
    sheet.put("tl.where(c1, x0, y1)", dtype, f(c, x[2], y))
    sheet.put("tl.where(c0, x0, y0)", dtype, f(c[2], x[2], y[2]))
    sheet.put("tl.where(c2[:, None], x2[None, :], y2[:, None])", dtype, f(c[s, None], x[None, s], y[s, None]))
    sheet.put("tl.where(c2[:, None], x2, y0)", dtype, f(c[s, None], x[s], y[2]))
    sheet.put("x1 if c0 else y1", dtype, f(c[2], x, y))
    if dtype != "bool":
        sheet.put("tl.where(c1, x1, 3)", dtype, f(c, x, literal(3, dtype)))
        sheet.put("tl.where(c1, 3, y1)", dtype, f(c, literal(3, dtype), y))
    if dtype in FLOATS:
        sheet.put("tl.where(c1, x1, 0.1)", dtype, f(c, x, literal(0.1, dtype)))
        sheet.put('tl.where(c1, -float("inf"), y1)', dtype, f(c, literal(-np.inf, dtype), y))
    return sheet


def shapes(dtype: str) -> Sheet:
    """Functions that move lanes."""
    sheet = Sheet()
    x = inputs(dtype, 512, 6)
    sheet.array("x", dtype, x)
    tile, cube, row = x.reshape(16, 32), x.reshape(4, 8, 16), x[:32]
    sheet.line("row = tl.load(x + tl.arange(0, 32))")
    sheet.line("one = tl.load(x + 7)")
    sheet.line("tile = tl.load(x + tl.arange(0, 16)[:, None] * 32 + tl.arange(0, 32)[None, :])")
    sheet.line("cube = tl.reshape(tl.load(x + tl.arange(0, 512)), (4, 8, 16))")
    puts: list[tuple[str, Any]] = [
        ("tl.trans(tile)", tile.T), ("tile.trans()", tile.T), ("tl.trans(tile, (0, 1))", tile),
        ("tile.trans((1, 0))", tile.T),
        ("tl.trans(cube)", cube.swapaxes(1, 2)), ("tl.trans(cube, (2, 0, 1))", cube.transpose(2, 0, 1)),
        ("tl.trans(cube, (1, 2, 0))", cube.transpose(1, 2, 0)), ("tl.trans(cube, (2, 1, 0))", cube.transpose(2, 1, 0)),
        ("tl.reshape(tile, (512,))", x), ("tile.reshape((64, 8))", x.reshape(64, 8)),
        ("tl.reshape(row, (4, 8))", row.reshape(4, 8)),
        ("tl.reshape(tl.trans(tile), (512,))", tile.T.reshape(-1)), ("tl.reshape(one, (1, 1))", x[7].reshape(1, 1)),
        ("tl.trans(tl.reshape(tl.trans(tile), (16, 32)))", tile.T.reshape(16, 32).T),
        ("tl.expand_dims(row, 0)", row[None, :]), ("row.expand_dims(1)", row[:, None]),
        ("tl.expand_dims(row, -1)", row[:, None]),
        ("tl.expand_dims(one, 0)", x[7].reshape(1)), ("tl.expand_dims(tile, 1)", tile[:, None, :]),
        ("row[:, None]", row[:, None]), ("row[None, :]", row[None, :]), ("row[None, :, None]", row[None, :, None]),
        ("tile[:, None, :]", tile[:, None, :]), ("tile[:, :, None]", tile[:, :, None]),
        ("one[None, None]", x[7].reshape(1, 1)),
        ("row[:]", row),
        ("tl.broadcast_to(row, (4, 32))", np.broadcast_to(row, (4, 32))),
        ("tl.broadcast_to(row[:, None], (32, 8))", np.broadcast_to(row[:, None], (32, 8))),
        ("one.broadcast_to((4, 2))", np.broadcast_to(x[7], (4, 2))), ("tl.broadcast_to(tile, (16, 32))", tile),
        ("tl.broadcast_to(tl.expand_dims(row, 0), (2, 4, 32))", np.broadcast_to(row, (2, 4, 32))),
    ]  # fmt: skip
    for text, wanted in puts:
        sheet.put(text, dtype, np.ascontiguousarray(wanted).reshape(wanted.shape))
    return sheet


def constants(dtype: str) -> Sheet:
    """`zeros`, `full`, `lowest`, `highest`, `.dtype`."""
    sheet = Sheet()
    kind = DTYPES[dtype]
    x = inputs(dtype, 32, 2)
    sheet.array("x", dtype, x)
    sheet.line("one = tl.load(x + 5)")
    of = f"tl.{dtype}"
    sheet.put(f"tl.zeros((8,), {of})", dtype, np.zeros(8, kind))
    sheet.put("tl.zeros((), x.dtype)", dtype, np.zeros((), kind))
    sheet.put(f"tl.zeros((4, 2), dtype={of})", dtype, np.zeros((4, 2), kind))
    sheet.put(f"tl.zeros([4, 2], {of})", dtype, np.zeros((4, 2), kind))
    sheet.put(f"tl.full((16,), 5, {of})", dtype, np.full(16, 5).astype(kind))
    sheet.put("tl.full((2, 4), one, one.dtype)", dtype, np.full((2, 4), x[5]))
    sheet.put("tl.full((), 1, x.dtype)", dtype, np.ones((), kind))
    if dtype in FLOATS:
        sheet.put(f"tl.full((4,), 0.1, {of})", dtype, np.full(4, literal(0.1, dtype)))
        sheet.put(f'tl.full((4,), -float("inf"), {of})', dtype, np.full(4, literal(-np.inf, dtype)))
        if dtype != "f16":  # which it does not fit
            sheet.put(f"tl.full((4,), 1e30, {of})", dtype, np.full(4, literal(1e30, dtype)))
        sheet.put(f'tl.full((4,), float("nan"), {of})', dtype, np.full(4, literal(np.nan, dtype)))
    else:
        limits = np.iinfo(kind)
        sheet.put(f"tl.full((4,), {limits.max}, {of})", dtype, np.full(4, limits.max, kind))
        sheet.put(f"tl.full((4,), {limits.min}, {of})", dtype, np.full(4, limits.min, kind))
    for name in ("lowest", "highest"):
        sheet.put(f"tl.{name}({of})", dtype, MEANING[name](dtype))
        sheet.put(f"tl.{name}(x.dtype) + tl.zeros((4,), {of})", dtype, np.full(4, MEANING[name](dtype)))
    return sheet


def memory(dtype: str) -> Sheet:
    """Loads with masks and fills, through pointers of every form."""
    sheet = Sheet()
    x = inputs(dtype, N, 8)
    sheet.array("x", dtype, x)
    sheet.line("at = tl.arange(0, 128)")
    sheet.line("one = tl.load(x + 3)")
    sheet.line("tile = tl.arange(0, 8)[:, None] * 16 + tl.arange(0, 16)[None, :]")
    i, tile = np.arange(128), np.arange(128).reshape(8, 16)

    def filled(mask: Any, values: Any, other: Any) -> Any:
        return np.where(mask, values, np.asarray(other, DTYPES[dtype])).astype(DTYPES[dtype])

    sheet.put("tl.load(x)", dtype, x[0])
    sheet.put("tl.load(x + at)", dtype, x[i])
    sheet.put("tl.load(at + x)", dtype, x[i])
    sheet.put("tl.load(x + 5 + at * 1)", dtype, x[5 + i])
    sheet.put("tl.load((x + 127 + 0 * at) + -1 * at)", dtype, x[127 - i])
    sheet.put("tl.load(x + at // 2)", dtype, x[i // 2])
    sheet.put("tl.load((x + at)[None, :])", dtype, x[i][None])
    sheet.put(
        "tl.load((x + tl.arange(0, 8))[:, None] + tl.arange(0, 16)[None, :] * 8)",
        dtype,
        x[np.arange(8)[:, None] + np.arange(16) * 8],
    )
    sheet.put("tl.load(x + tile)", dtype, x[tile])
    sheet.put("tl.load(x + at, at < 50, one)", dtype, filled(i < 50, x[i], x[3]))
    sheet.put(
        "tl.load(x + at + 1000000 * (at >= 50).to(tl.i32), mask=at < 50, other=one)", dtype, filled(i < 50, x[i], x[3])
    )
    sheet.put("tl.load(x + at, mask=True)", dtype, x[i])
    sheet.put("tl.load(x + at, mask=False, other=one)", dtype, filled(i < 0, x[i], x[3]))
    if dtype in ALL:  # 8-bit floats are not compared
        sheet.put(
            "tl.load(x + at, one == one, other=tl.load(x + 2 * (at // 2)))",
            dtype,
            filled(x[3] == x[3], x[i], x[i // 2 * 2]),
        )
    sheet.put(
        "tl.load(x + tile, (tl.arange(0, 8) < 5)[:, None], one)",
        dtype,
        filled(np.arange(8)[:, None] < 5, x[tile], x[3]),
    )
    sheet.put("tl.load(x + tile, (tl.arange(0, 16) < 9), one)", dtype, filled(np.arange(16) < 9, x[tile], x[3]))
    sheet.put(
        "tl.load(x + tl.arange(0, 16), tl.arange(0, 8)[:, None] > 2, one)",
        dtype,
        filled(np.arange(8)[:, None] > 2, x[np.arange(16)], x[3]),
    )
    if dtype != "bool":
        sheet.put("tl.load(x + at, at % 3 == 0, other=7)", dtype, filled(i % 3 == 0, x[i], 7))
        sheet.put("tl.load(x + at, at > 100, 7)", dtype, filled(i > 100, x[i], 7))
    if dtype in FLOATS:
        sheet.put('tl.load(x + at, at > 100, -float("inf"))', dtype, filled(i > 100, x[i], -np.inf))
        sheet.put("tl.load(x + at, at > 100, 0.1)", dtype, filled(i > 100, x[i], literal(0.1, dtype)))
    return sheet


def offsets(dtype: str) -> Sheet:
    """A pointer moved by integers of every dtype: by value, so unsigned ones never go back."""
    sheet = Sheet()
    base = np.arange(400).astype(np.int32)
    high = min(int(np.iinfo(DTYPES[dtype]).max), 255)
    low = max(int(np.iinfo(DTYPES[dtype]).min), -100)
    index = np.linspace(low, high, 64).astype(np.int64)
    sheet.array("x", "i32", base)
    sheet.array("index", dtype, index.astype(DTYPES[dtype]))
    sheet.line("at = tl.load(index + tl.arange(0, 64))")
    sheet.line("last = tl.load(index + 63)")
    sheet.put("tl.load(x + 100 + at)", "i32", base[100 + index])
    sheet.put("tl.load(at + (x + 100))", "i32", base[100 + index])
    sheet.put("tl.load(x + last)", "i32", base[index[63]])
    return sheet


def offsets_back(dtype: str) -> Sheet:
    """A pointer moved back by integers of every dtype, the smallest among them; by literals, and in a loop."""
    sheet = Sheet()
    base = np.arange(600).astype(np.int32)
    high = min(int(np.iinfo(DTYPES[dtype]).max), 255)
    low = max(int(np.iinfo(DTYPES[dtype]).min), -128)
    index = np.linspace(low, high, 64).astype(np.int64)
    sheet.array("x", "i32", base)
    sheet.array("index", dtype, index.astype(DTYPES[dtype]))
    sheet.line("at = tl.load(index + tl.arange(0, 64))")
    sheet.line("first = tl.load(index)")
    sheet.put("tl.load(x + 300 - at)", "i32", base[300 - index])
    sheet.put("tl.load(x + 300 + tl.arange(0, 64) - first)", "i32", base[300 + np.arange(64) - index[0]])
    sheet.put("tl.load(x + 300 - first)", "i32", base[300 - index[0]])
    sheet.put("tl.load(x + 300 - 7)", "i32", base[293])
    sheet.put("tl.load(x - -7)", "i32", base[7])
    sheet.line("p = x + 300 + tl.arange(0, 64)")
    sheet.line("total = tl.zeros((64,), tl.i32)")
    sheet.line("for step in range(0, 3):")
    sheet.line("    p -= 64")
    sheet.line("    total += tl.load(p)")
    sheet.put("total", "i32", sum(base[300 - 64 * s : 364 - 64 * s] for s in (1, 2, 3)))
    return sheet


def booleans() -> Sheet:
    """`and`, `or`, `not` and chained comparisons of scalars."""
    sheet = Sheet()
    x = np.array([3, -2, 7, 0], np.int32)
    sheet.array("x", "i32", x)
    for at, letter in enumerate("abcd"):
        sheet.line(f"{letter} = tl.load(x + {at})")
    a, b, c, d = (int(v) for v in x)
    for text in (
        "a > 0 and b > 0",
        "a > 0 or b > 0",
        "not a > 0",
        "b < d < a",
        "a < c < b",
        "d <= d < a <= c",
        "not (a > b and c > a) or d > 0",
    ):
        sheet.put(text, "bool", np.asarray(eval(text, {"a": a, "b": b, "c": c, "d": d})))
    return sheet


def round_up() -> Iterator[tuple[str, Callable[[], Sheet]]]:
    for dtype in INTEGERS:

        def made(dtype: str = dtype) -> Sheet:
            sheet = Sheet()
            x = (np.arange(64) % 100).astype(DTYPES[dtype])
            y = (np.arange(64) % 9 + 1).astype(DTYPES[dtype])
            for letter, values in (("x", x), ("y", y)):
                sheet.array(letter, dtype, values)
                sheet.line(f"{letter}1 = tl.load({letter} + tl.arange(0, 64))")
            sheet.put("tl.cdiv(x1, y1)", dtype, MEANING["cdiv"](x, y))
            sheet.put("tl.cdiv(x1, 8)", dtype, ((x.astype(np.int64) + 7) // 8).astype(DTYPES[dtype]))
            sheet.put("x1 * tl.cdiv(17, 8)", dtype, x * DTYPES[dtype].type(3))
            return sheet

        yield f"cdiv-{dtype}", made
