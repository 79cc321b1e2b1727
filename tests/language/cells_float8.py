"""Cells of 8-bit floats: conversions with each rounding, casts that keep the bits, choices, moves, loads and stores."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tests.language.float8 import FLOATS8, edges, every, to_float8
from tests.language.meaning import cast
from tests.language.rounding import DTYPES
from tests.language.sheet import Sheet, spelled
from tests.language.values import ALL, FLOATS, INTEGERS, inputs

Cell = tuple[str, Callable[[], Sheet]]
N = 256


def from_float8(name: str) -> Sheet:
    """Every number of a format to every dtype, and its bits to those of its size."""
    sheet = Sheet()
    x = every(name)
    sheet.array("x", name, x)
    sheet.line("x1 = tl.load(x + tl.arange(0, 256))")
    sheet.line("x0 = tl.load(x + 77)")
    with np.errstate(all="ignore"):
        for to in ALL:
            wanted = cast(x.astype(np.float32), to)
            sheet.put(f"x1.to(tl.{spelled(to)})", to, wanted, x=x)
            sheet.put(f"tl.cast(x0, tl.{spelled(to)})", to, wanted[77])
        for to in FLOATS8:
            wanted = x if to == name else to_float8(x.astype(np.float32), to)
            sheet.put(f"x1.to(tl.{to})", to, wanted, x=x)
    for to in ("i8", "u8", *FLOATS8):
        kind = DTYPES[to]
        sheet.put(f"x1.to(tl.{to}, bitcast=True)", to, x.view(kind))
        sheet.put(f"tl.cast(x0, tl.{to}, bitcast=True)", to, x.view(kind)[77])
    return sheet


def into_float8(dtype: str, to: str) -> Sheet:
    """Numbers of a dtype to a format, with both roundings where there are two."""
    sheet = Sheet()
    x = _given(dtype, to)
    sheet.array("x", dtype, x)
    sheet.line(f"x1 = tl.load(x + tl.arange(0, {len(x)}))")
    sheet.line("x0 = tl.load(x + 3)")
    wanted = to_float8(x, to)
    sheet.put(f"x1.to(tl.{to})", to, wanted, x=x)
    sheet.put(f"tl.cast(x0, tl.{to})", to, wanted[3])
    if dtype in FLOATS:
        sheet.put(f'x1.to(tl.{to}, fp_downcast_rounding="rtne")', to, wanted, x=x)
        sheet.put(f'tl.cast(x1, tl.{to}, "rtz")', to, to_float8(x, to, "rtz"), x=x)
    return sheet


def _given(dtype: str, to: str) -> Any:
    if dtype not in FLOATS:
        return inputs(dtype, N, 8)
    found = edges(to)
    with np.errstate(all="ignore"):
        return np.concatenate([found, inputs("f64", 2048 - len(found), 3)]).astype(DTYPES[dtype])


def cut(dtype: str, to: str) -> Sheet:
    """A float to a narrower one, toward zero: the nearest number, or the one before it."""
    sheet = Sheet()
    rng = np.random.default_rng(4)
    with np.errstate(all="ignore"):
        wide = np.concatenate([inputs("f64", N, 2), np.ldexp(rng.standard_normal(N), rng.integers(-160, 130, N))])
        x = np.concatenate([wide, [65504.0, 65519.0, 65535.0, 3.4e38, 1e39, 2.0**-24, 2.0**-25] * 8, [1.0] * 456])
        x = x.astype(DTYPES[dtype])[:1024]
        near = x.astype(DTYPES[to])
        far = np.abs(near.astype(np.float64)) > np.abs(x.astype(np.float64))
        back = near.view(np.dtype(f"u{near.dtype.itemsize}")) - far.astype(np.dtype(f"u{near.dtype.itemsize}"))
    sheet.array("x", dtype, x)
    sheet.line("x1 = tl.load(x + tl.arange(0, 1024))")
    sheet.put(f'x1.to(tl.{to}, fp_downcast_rounding="rtz")', to, back.view(DTYPES[to]), x=x)
    sheet.put(f'tl.cast(tl.load(x + 9), tl.{to}, "rtz")', to, back.view(DTYPES[to])[9])
    return sheet


def same_bits(dtype: str) -> Sheet:
    """Casts that keep the bits, to every dtype of the size."""
    sheet = Sheet()
    x = inputs(dtype, N, 5)
    sheet.array("x", dtype, x)
    sheet.line(f"x1 = tl.load(x + tl.arange(0, {N}))")
    sizes = {name: kind.itemsize for name, kind in DTYPES.items() if name != "bool"}
    for to in (name for name, size in sizes.items() if size == x.dtype.itemsize):
        wanted = x.view(DTYPES[to])
        sheet.put(f"x1.to(tl.{to}, bitcast=True)", to, wanted)
        sheet.put(f"tl.cast(tl.load(x + 3), tl.{to}, bitcast=True)", to, wanted[3])
    return sheet


def moves(name: str) -> Sheet:
    """Lanes that are loaded, chosen, moved, filled and stored."""
    sheet = Sheet()
    x = every(name)
    c = np.arange(256) % 3 == 1
    sheet.array("x", name, x)
    sheet.array("c", "bool", c)
    sheet.line("x1 = tl.load(x + tl.arange(0, 256))")
    sheet.line("c1 = tl.load(c + tl.arange(0, 256))")
    sheet.line("tile = tl.reshape(x1, (16, 16))")
    half, kind = to_float8(np.float64(0.5), name), DTYPES[name]
    tile = x.reshape(16, 16)
    puts: list[tuple[str, Any]] = [
        ("x1", x),
        ("tl.load(x + 200)", x[200]),
        ("tl.load(x + tl.arange(0, 256), c1, other=0.5)", np.where(c, x, half)),
        ("tl.load(x + tl.arange(0, 256), c1, other=x1)", x),
        ("tl.where(c1, x1, 0.5)", np.where(c, x, half)),
        ("tl.where(c1, 0.5, x1)", np.where(c, half, x)),
        ("tl.where(c1, x1, tl.load(x + 9))", np.where(c, x, x[9])),
        ("tl.trans(tile)", tile.T),
        ("tile[:, None, :]", tile[:, None, :]),
        ("tl.broadcast_to(tl.load(x + tl.arange(0, 8))[:, None], (8, 4))", np.broadcast_to(x[:8, None], (8, 4))),
        ("tl.zeros((8,), x.dtype)", np.zeros(8, kind)),
        ("tl.full((8,), 0.5, x.dtype)", np.full(8, half)),
        (f"tl.full((4,), -3, tl.{name})", to_float8(np.full(4, -3.0), name)),
        ("tl.full((4,), tl.load(x + 9), x.dtype)", np.full(4, x[9])),
        ("x1 if tl.load(c + 1) else tl.zeros((256,), x.dtype)", x),
    ]
    for text, wanted in puts:
        sheet.put(text, name, np.ascontiguousarray(wanted).reshape(np.shape(wanted)).astype(kind))
    return sheet


def cells() -> list[Cell]:
    """By a name for the test."""
    found: list[Cell] = [(f"cast-{name}", lambda name=name: from_float8(name)) for name in FLOATS8]
    for dtype in ("bool", *INTEGERS, *FLOATS):
        found += [(f"cast-{dtype}-{to}", lambda dtype=dtype, to=to: into_float8(dtype, to)) for to in FLOATS8]
    narrower = (("f32", "f16"), ("f32", "bf16"), ("f64", "f32"), ("f64", "f16"))
    found += [(f"cut-{a}-{z}", lambda a=a, z=z: cut(a, z)) for a, z in narrower]
    found += [(f"bitcast-{dtype}", lambda dtype=dtype: same_bits(dtype)) for dtype in (*INTEGERS, *FLOATS)]
    found += [(f"moves-{name}", lambda name=name: moves(name)) for name in FLOATS8]
    return found
