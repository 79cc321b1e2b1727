"""Cells of pointers: through integers and back, read as another dtype, chosen, compared, their distance."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from tests.language.cells_atomic import chosen
from tests.language.rounding import DTYPES
from tests.language.sheet import Sheet, spelled
from tests.language.values import ALL, inputs

Cell = tuple[str, str, Callable[[], Sheet]]
N = 64
SAME = {1: "u8", 2: "i16", 4: "i32", 8: "u64"}
"""By bytes, an integer dtype."""


def pointers(dtype: str) -> Sheet:
    """Of one dtype."""
    sheet = Sheet()
    kind = DTYPES[dtype]
    x, y = inputs(dtype, 2 * N, 21), inputs(dtype, N, 22)
    sheet.array("x", dtype, x)
    sheet.array("y", dtype, y)
    of = f"tl.pointer_type(tl.{spelled(dtype)})"
    sheet.line(f"at = tl.arange(0, {N})")
    i = np.arange(N)
    # through integers: a scalar, a block, moved as integers
    sheet.put(f"tl.load((x + 3).to(tl.int64).to({of}) + at)", dtype, x[3 + i])
    sheet.put(f"tl.load((x + 2 * at).to(tl.i64).to(tl.Ptr[tl.{spelled(dtype)}]))", dtype, x[2 * i])
    step = kind.itemsize
    sheet.put(f"tl.load((x.to(tl.u64) + (at * {step}).to(tl.u64)).to({of}))", dtype, x[i])
    sheet.put(
        f"tl.load(tl.cast(x.to(tl.i64) + {step}, {of}) + at, at < 40, tl.load(y))",
        dtype,
        chosen(i < 40, x[1 + i], y[0]),
    )
    sheet.put("(x + 1).to(tl.i64) - x.to(tl.i64)", "i64", np.int64(step))
    sheet.put("(x + at).to(tl.u64) - x.to(tl.u64)", "u64", (i * step).astype(np.uint64))
    sheet.put("x.to(tl.int1)", "bool", np.bool_(True))
    # read as integers of the same size
    other = SAME[step]
    if dtype not in ("bool", other):
        sheet.put(f"tl.load(x.to(tl.pointer_type(tl.{other}), bitcast=True) + at)", other, x[i].view(DTYPES[other]))
        sheet.put(f"tl.load((x + at).to(tl.Ptr[tl.{other}]))", other, x[i].view(DTYPES[other]))
    if step > 1:
        sheet.put("tl.load(x.to(tl.pointer_type(tl.u8)) + at)", "u8", x.view(np.uint8)[:N])
    # chosen
    sheet.put("tl.load(tl.where(at < 20, x + at, y + at))", dtype, chosen(i < 20, x[i], y[i]))
    sheet.put("tl.load(tl.where(at % 2 == 0, x + at, y))", dtype, chosen(i % 2 == 0, x[i], y[0]))
    sheet.line("near = y + 5")
    sheet.line("if tl.program_id(0) == 0:")
    sheet.line("    near = x + 7")
    sheet.put("tl.load(near + at)", dtype, x[7 + i])
    sheet.line("walk, block = x, y + at")
    sheet.line("for step in tl.range(0, 3):")
    sheet.line("    walk, block = walk + 2, tl.where(at < 8, block, x + at)")
    sheet.put("tl.load(walk + at)", dtype, x[6 + i])
    sheet.put("tl.load(block)", dtype, chosen(i < 8, y[i], x[i]))
    # compared, and their distance
    sheet.put("x + at == x + 9", "bool", i == 9)
    sheet.put("x + at != x + (63 - at)", "bool", i != 63 - i)
    sheet.put("x + at < x + 30", "bool", i < 30)
    sheet.put("x + at >= x + 30", "bool", i >= 30)
    sheet.put("(x + at <= x + 30) & (x + 30 > x)", "bool", i <= 30)
    sheet.put("x == y", "bool", np.bool_(False))
    sheet.put("(x + 3 * at) - (x + 5)", "i64", 3 * i.astype(np.int64) - 5)
    sheet.put("x - (x + 9)", "i64", np.int64(-9))
    return sheet


def cells() -> Iterator[Cell]:
    for dtype in ALL:
        yield "cast", f"pointers-{dtype}", lambda dtype=dtype: pointers(dtype)
