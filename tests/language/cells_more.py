"""Cells of what other files leave out: 8-bit floats in moves, bools in constants, pointers to every dtype."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from tests.language import cells_shape
from tests.language.float8 import FLOATS8, every
from tests.language.meaning import cast
from tests.language.sheet import Sheet, spelled
from tests.language.tiles import memory, shapes
from tests.language.values import ALL, INTEGERS, inputs

Cell = tuple[str, str, Callable[[], Sheet]]


def flags() -> Sheet:
    """Constants of bool."""
    sheet = Sheet()
    sheet.put("tl.zeros((8,), tl.int1)", "bool", np.zeros(8, np.bool_))
    sheet.put("tl.full((4, 2), True, tl.bool_)", "bool", np.ones((4, 2), np.bool_))
    sheet.put("tl.full((4,), False, dtype=tl.int1)", "bool", np.zeros(4, np.bool_))
    return sheet


def pointers(dtype: str) -> Sheet:
    """Pointers that move forth and back, in tiles and in a loop, and are chosen."""
    sheet = Sheet()
    x = every(dtype) if dtype in FLOATS8 else inputs(dtype, 256, 13)
    sheet.array("x", dtype, x)
    sheet.line("i = tl.arange(0, 64)")
    sheet.line("p = x + 150")
    at = np.arange(64)
    sheet.put("tl.load(p - i)", dtype, x[150 - at])
    sheet.put("tl.load((p + i) - 2 * i[:, None] // 2)", dtype, x[150 + at - at[:, None]])
    sheet.put("tl.load(p - 9)", dtype, x[141])
    sheet.line("q = x + i")
    sheet.line("for k in range(3):")
    sheet.line("    q += 32")
    sheet.put("tl.load(q)", dtype, x[96 + at])
    sheet.put("tl.to_tensor(tl.load(q))", dtype, x[96 + at])
    sheet.line(f"a = (x + 8).to(tl.i64).to(tl.pointer_type(tl.{spelled(dtype)}))")
    sheet.put("tl.load(a + i)", dtype, x[8 + at])
    return sheet


def ordered(dtype: str) -> Sheet:
    """`atomic_load` and `atomic_store` of 8-bit floats."""
    sheet = Sheet()
    x = every(dtype)
    sheet.array("x", dtype, x)
    sheet.line("i = tl.arange(0, 64)")
    sheet.put("tl.atomic_load(x + i)", dtype, x[:64])
    sheet.put("tl.atomic_load(x + 200)", dtype, x[200])
    sheet.put("tl.load(x + i)", dtype, x[64:128])
    sheet.line("tl.debug_barrier()")
    sheet.line(f"tl.atomic_store(out_{dtype} + {sheet.segments[dtype][-1].start} + i, tl.load(x + 64 + i))")
    return sheet


def keys(dtype: str) -> Sheet:
    """The 64 bits of a seed."""
    sheet = Sheet()
    x = inputs(dtype, 64, 3)
    sheet.array("x", dtype, x)
    sheet.put("tl.philox_key(tl.load(x + tl.arange(0, 64)))", "u64", cast(cast(x, "i64"), "u64"))
    return sheet


def cells() -> Iterator[Cell]:
    """By the function and a name for the test."""
    yield "full", "constants-bool", flags
    for dtype in (*ALL, *FLOATS8):
        yield "subptr", f"pointers-{dtype}", lambda dtype=dtype: pointers(dtype)
    for dtype in FLOATS8:
        yield "reshape", f"shapes-{dtype}", lambda dtype=dtype: shapes(dtype)
        yield "load", f"load-{dtype}", lambda dtype=dtype: memory(dtype)
        yield "atomic_load", f"atomic_access-{dtype}", lambda dtype=dtype: ordered(dtype)
        for made in (cells_shape.views, cells_shape.broadcasts, cells_shape.joins, cells_shape.flips):
            yield "view", f"{made.__name__}-{dtype}", lambda made=made, dtype=dtype: made(dtype)
    for dtype in INTEGERS:
        yield "philox_key", f"philox_key-{dtype}", lambda dtype=dtype: keys(dtype)
