"""Cells of extremes and their places, of products, of bitwise reductions, and of scans.

Floats are small integers or powers of two, so that every order of adding or multiplying gives the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tests.language.rounding import DTYPES
from tests.language.sheet import Sheet, spelled
from tests.language.values import CLASSES, FLOATS, inputs, random

Cell = tuple[str, str, Callable[[], Sheet]]
"""The function, a name for the test, and the sheet."""
N = 256
TILE = "tl.arange(0, 16)[:, None] * 16 + tl.arange(0, 16)[None, :]"
NARROW = ("i8", "i16", "u8", "u16")


def tiles(sheet: Sheet, dtype: str, values: Any) -> tuple[Any, Any, Any]:
    """`row`, `tile` and `cube`, of the same 256 elements."""
    sheet.array("x", dtype, values)
    sheet.line(f"row = tl.load(x + tl.arange(0, {N}))")
    sheet.line(f"tile = tl.load(x + {TILE})")
    sheet.line("cube = tl.reshape(row, (4, 8, 8))")
    return values, values.reshape(16, 16), values.reshape(4, 8, 8)


def few(dtype: str, seed: int) -> Any:
    """Values with many equal ones, and NaNs, whole rows of them too."""
    rng = np.random.default_rng(seed)
    if dtype in FLOATS:
        values = rng.integers(-3, 4, N).astype(np.float32)
        values[rng.random(N) < 0.2] = np.nan
        values[16:32] = np.nan
        values[[40, 41, 42]] = [np.inf, -np.inf, -0.0]
        return values.astype(DTYPES[dtype])
    limits = np.iinfo(DTYPES[dtype])
    values = rng.integers(max(-3, limits.min), 4, N).astype(DTYPES[dtype])
    values[[7, 70, 130]], values[[9, 90, 131]] = limits.max, limits.min
    return values


def place(values: Any, axis: int | None, largest: bool) -> Any:
    """Where the first best element is: a NaN loses, even against an infinity; of NaNs alone the first is it."""
    if values.dtype.kind not in "fV":
        return (np.argmax if largest else np.argmin)(values, axis=axis).astype(np.int32)
    wide = values.astype(np.float64)
    ordered = {v: at for at, v in enumerate(sorted(set(wide[~np.isnan(wide)].tolist()), reverse=largest))}
    ranks = [ordered.get(v, len(ordered)) for v in wide.reshape(-1).tolist()]
    return np.argmin(np.array(ranks).reshape(values.shape), axis=axis).astype(np.int32)


def taken(values: Any, at: Any, axis: int | None) -> Any:
    if axis is None:
        return values.reshape(-1)[at]
    return np.take_along_axis(values, np.expand_dims(at, axis), axis).squeeze(axis)


def located(name: str, dtype: str) -> Sheet:
    """`max` or `min` with its index, and `argmax` or `argmin`."""
    sheet = Sheet()
    row, tile, cube = tiles(sheet, dtype, few(dtype, 3))
    largest = name == "max"
    for number, (text, values, axis) in enumerate(
        (
            ("row, 0", row, 0), ("row, None", row, None), ("tile, 0", tile, 0), ("tile, 1", tile, 1),
            ("tile, None", tile, None), ("cube, 1", cube, 1), ("cube, -1", cube, 2), ("cube, 0", cube, 0),
        )
    ):  # fmt: skip
        at = place(values, axis, largest)
        sheet.line(f"v{number}, i{number} = tl.{name}({text}, return_indices=True)")
        sheet.put(f"v{number}", dtype, taken(values, at, axis), free_zero=True)
        sheet.put(f"i{number}", "i32", at)
        sheet.put(f"tl.arg{name}({text})", "i32", at)
    at = place(tile, 1, largest)[:, None]
    sheet.line(f"v, i = tile.{name}(1, True, True, True)")
    sheet.put("v", dtype, np.take_along_axis(tile, at, 1), free_zero=True)
    sheet.put(f"tile.arg{name}(1, keep_dims=True)", "i32", at)
    sheet.put(f"tl.arg{name}(tile, None, keep_dims=True)", "i32", place(tile, None, largest).reshape(1, 1))
    return sheet


def located_fast(name: str, dtype: str) -> Sheet:
    """Without equal elements it does not matter which of equal ones is taken."""
    sheet = Sheet()
    values = np.random.default_rng(5).permutation(N).astype(np.int64)
    values = (values - (128 if not dtype.startswith("u") else 0)).astype(np.float32).astype(DTYPES[dtype])
    row, tile, _ = tiles(sheet, dtype, values)
    largest = name == "max"
    sheet.put(f"tl.arg{name}(row, 0, tie_break_left=False)", "i32", place(row, 0, largest))
    sheet.put(f"tl.arg{name}(tile, 0, False)", "i32", place(tile, 0, largest))
    sheet.line(f"v, i = tl.{name}(tile, 1, True, return_indices_tie_break_left=False)")
    sheet.put("v", dtype, getattr(tile, name)(1))
    sheet.put("i", "i32", place(tile, 1, largest))
    return sheet


def bitwise(dtype: str) -> Sheet:
    """`xor_sum` and `reduce_or`."""
    sheet = Sheet()
    row, tile, cube = tiles(sheet, dtype, inputs(dtype, N, 6))
    for name, f in (("xor_sum", np.bitwise_xor), ("reduce_or", np.bitwise_or)):
        if dtype == "bool":
            f = np.logical_xor if name == "xor_sum" else np.logical_or
        sheet.put(f"tl.{name}(row, 0)", dtype, f.reduce(row))
        sheet.put(f"tl.{name}(tile, 0)", dtype, f.reduce(tile, 0))
        sheet.put(f"tile.{name}(-1, keep_dims=True)", dtype, f.reduce(tile, 1, keepdims=True))
        sheet.put(f"tl.{name}(cube, None)", dtype, f.reduce(cube.reshape(-1)))
    sheet.put("tl.xor_sum(cube)", dtype, (np.logical_xor if dtype == "bool" else np.bitwise_xor).reduce(row))
    return sheet


def factors(dtype: str, count: int) -> Any:
    rng = np.random.default_rng(8)
    if dtype in FLOATS:
        return rng.choice(np.array([1, -1, 2, 0.5], np.float32), count).astype(DTYPES[dtype])
    return random(dtype, count, 8)


def wide_of(dtype: str) -> Any:
    return DTYPES["f32"] if dtype in ("f16", "bf16") else DTYPES[dtype]


def products(dtype: str, to: str) -> Sheet:
    """`prod`, with `dtype` where `to` is another one."""
    sheet = Sheet()
    values = factors(dtype, N)
    row, tile, cube = tiles(sheet, dtype, values)
    extra = "" if to == dtype and to not in NARROW else f", dtype=tl.{spelled(to)}"

    def product(x: Any, axis: int) -> Any:
        return np.multiply.reduce(x.astype(DTYPES[to]).astype(wide_of(to)), axis).astype(DTYPES[to])

    with np.errstate(all="ignore"):
        sheet.put(f"tl.prod(tile, 0{extra})", to, product(tile, 0))
        sheet.put(f"tl.prod(tile, 1{extra})", to, product(tile, 1))
        sheet.put(f"cube.prod(2{extra})", to, product(cube, 2))
        sheet.put(f"tl.prod(tile, keep_dims=True{extra})", to, product(row, 0).reshape(1, 1))
    return sheet


def scans(name: str, dtype: str, to: str) -> Sheet:
    """`cumsum` or `cumprod` along each axis, both ways."""
    sheet = Sheet()
    if name == "cumprod":
        values = factors(dtype, N)
    elif dtype in FLOATS:
        values = np.random.default_rng(9).integers(-3, 4, N).astype(np.float32).astype(DTYPES[dtype])
    else:
        values = random(dtype, N, 9)
    row, tile, cube = tiles(sheet, dtype, values)
    f = np.add if name == "cumsum" else np.multiply
    extra = "" if to == dtype and to not in NARROW else f", dtype=tl.{spelled(to)}"

    def scanned(x: Any, axis: int, reverse: bool = False) -> Any:
        inside = np.flip(x, axis) if reverse else x
        inside = inside.astype(DTYPES[to]).astype(wide_of(to))
        found = f.accumulate(inside, axis, dtype=inside.dtype).astype(DTYPES[to])
        return np.ascontiguousarray(np.flip(found, axis) if reverse else found)

    with np.errstate(all="ignore"):
        if name == "cumsum":
            sheet.put(f"tl.cumsum(row, 0{extra})", to, scanned(row, 0))
            sheet.put(f"tl.cumsum(row, reverse=True{extra})", to, scanned(row, 0, True))
        sheet.put(f"tl.{name}(tile{extra})", to, scanned(tile, 0))
        sheet.put(f"tl.{name}(tile, 1{extra})", to, scanned(tile, 1))
        sheet.put(f"tile.{name}(-1, True{extra})", to, scanned(tile, 1, True))
        sheet.put(f"tl.{name}(tl.trans(tile), 0, True{extra})", to, scanned(tile.T, 0, True))
        sheet.put(f"cube.{name}(axis=1{extra})", to, scanned(cube, 1))
        twice = scanned(scanned(cube, 2), 0)
        sheet.put(f"tl.{name}(tl.{name}(cube, 2{extra}), 0, dtype=tl.{spelled(to)})", to, twice)
    return sheet


SCANNED = {"bool": ("i32", "f32"), "i8": ("i32", "i8", "f16"), "u8": ("u32", "u8"), "i16": ("i64",), "f16": ("f32",),
           "bf16": ("f32",), "i32": ("i64",), "f32": ("f16",)}  # fmt: skip


def cells() -> Iterator[Cell]:
    for dtype in CLASSES["N"]:
        for name in ("max", "min"):
            yield f"arg{name}", f"arg{name}-{dtype}", lambda n=name, d=dtype: located(n, d)
            if dtype != "bf16":
                yield f"arg{name}", f"arg{name}-{dtype}-fast", lambda n=name, d=dtype: located_fast(n, d)
        if dtype not in NARROW:
            yield "prod", f"prod-{dtype}", lambda d=dtype: products(d, d)
            for name in ("cumsum", "cumprod"):
                yield name, f"{name}-{dtype}", lambda n=name, d=dtype: scans(n, d, d)
    for dtype in CLASSES["B"]:
        yield "xor_sum", f"xor_sum-{dtype}", lambda d=dtype: bitwise(d)
        yield "reduce_or", f"reduce_or-{dtype}", lambda d=dtype: bitwise(d)
    for dtype, targets in SCANNED.items():
        for to in targets:
            yield "prod", f"prod-{dtype}-{to}", lambda d=dtype, t=to: products(d, t)
            for name in ("cumsum", "cumprod"):
                yield name, f"{name}-{dtype}-{to}", lambda n=name, d=dtype, t=to: scans(n, d, t)
