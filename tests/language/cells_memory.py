"""Cells of loads and stores with words about caches, which change nothing, and of volatile loads."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from tests.language.cells_atomic import chosen
from tests.language.rounding import DTYPES
from tests.language.sheet import GAP, Sheet
from tests.language.values import ALL, inputs

Cell = tuple[str, str, Callable[[], Sheet]]
N = 64
LOADS = (
    'cache_modifier=""', 'cache_modifier=".ca"', 'cache_modifier=".cg"', 'cache_modifier=".cs"', 'cache_modifier=".cv"',
    'eviction_policy=""', 'eviction_policy="evict_first"', 'eviction_policy="evict_last"', "volatile=True",
    "volatile=False",
)  # fmt: skip
STORES = (
    'cache_modifier=""', 'cache_modifier=".wb"', 'cache_modifier=".cg"', 'cache_modifier=".cs"', 'cache_modifier=".wt"',
    'eviction_policy=""', 'eviction_policy="evict_first"', 'eviction_policy="evict_last"',
)  # fmt: skip


def cached(dtype: str) -> Sheet:
    """Blocks, some lanes, scalars; the same bits as without the words."""
    sheet = Sheet()
    x = inputs(dtype, N, 11)
    sheet.array("x", dtype, x)
    sheet.line(f"at = tl.arange(0, {N})")
    sheet.line("one = tl.load(x + 3)")
    some = np.arange(N) < 37
    for words in LOADS:
        sheet.put(f"tl.load(x + at, {words})", dtype, x)
        sheet.put(f"tl.load(x + 5, {words})", dtype, x[5])
        wanted = chosen(some, x, x[3]).astype(DTYPES[dtype])
        sheet.put(f"tl.load(x + at, mask=at < 37, other=one, {words})", dtype, wanted)
    for words in STORES:
        start = sheet.sizes.get(dtype, GAP)
        sheet.put("tl.load(x + at)", dtype, x[::-1])
        sheet.line("tl.debug_barrier()")
        sheet.line(f"tl.store(out_{dtype} + {start + N - 1} - at, tl.load(x + at), {words})")
        start = sheet.sizes[dtype]
        sheet.put("tl.load(x + at)", dtype, chosen(some, x[3], x).astype(DTYPES[dtype]))
        sheet.line("tl.debug_barrier()")
        sheet.line(f"tl.store(out_{dtype} + {start} + at, one, at < 37, {words})")
        sheet.line("tl.debug_barrier()")
        sheet.line(f"tl.store(out_{dtype} + {start} + 1, one, {words})")
    return sheet


def cells() -> Iterator[Cell]:
    for dtype in ALL:
        yield "load", f"caches-{dtype}", lambda dtype=dtype: cached(dtype)
