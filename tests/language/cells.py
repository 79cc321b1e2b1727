"""The matrix: for each function of the language, the cells that say what it gives for each dtype. A cell is a sheet."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tests.language import (
    cells_atomic,
    cells_combine,
    cells_descriptor,
    cells_dot,
    cells_dot_scaled,
    cells_float8,
    cells_gather,
    cells_memory,
    cells_more,
    cells_pointer,
    cells_random,
    cells_reduce,
    cells_shape,
    cells_sort,
)
from tests.language.forms import FORMS, MIXED, SIDE, SWAPPED, N, elementwise, has_literals, literals, store
from tests.language.meaning import MEANING
from tests.language.sheet import Sheet
from tests.language.tiles import (
    booleans,
    casts,
    choices,
    constants,
    memory,
    offsets,
    offsets_back,
    reductions,
    round_up,
    shapes,
)  # fmt: skip
from tests.language.values import ALL, CLASSES, FLOATS, INTEGERS, inputs, specials

SUM_TO: dict[str, tuple[str, ...]] = {
    "bool": ("i32", "i64", "u8", "f32", "bf16"), "i8": ("i32", "i64", "i8", "f16"), "u8": ("i32", "u32", "u8", "f32"),
    "i16": ("i32", "i16"), "u16": ("u64", "f64"), "i32": ("i64", "i16"), "f16": ("f32", "f16"), "bf16": ("f32", "f64"),
    "f32": ("f64", "f32", "f16"), "u64": ("u32",), "f64": ("f32",),
}  # fmt: skip


def extremes(name: str, dtype: str) -> Sheet:
    """`propagate_nan`."""
    sheet = Sheet()
    x, y = specials(dtype), np.roll(specials(dtype), 3)
    for letter, values in (("x", x), ("y", y)):
        sheet.array(letter, dtype, values)
        sheet.line(f"{letter}1 = tl.load({letter} + tl.arange(0, {SIDE}))")
    wanted = MEANING[name](x[:, None], y[None, :], True)
    for spelling in ("True", "tl.PropagateNan.ALL"):
        sheet.put(f"tl.{name}(x1[:, None], y1[None, :], propagate_nan={spelling})", dtype, wanted, free_zero=True)
    sheet.put(
        f"tl.{name}(x1[:, None], y1[None, :], False)", dtype, MEANING[name](x[:, None], y[None, :]), free_zero=True
    )
    return sheet


def clamped(dtype: str) -> Sheet:
    """`clamp` with `propagate_nan`, and between bounds that are scalars."""
    sheet = Sheet()
    x = inputs(dtype, N, 3)
    sheet.array("x", dtype, x)
    sheet.line(f"x1 = tl.load(x + tl.arange(0, {N}))")
    sheet.line("low = tl.load(x + 7)")
    sheet.line("high = tl.load(x + 12)")
    for propagate in (False, True):
        wanted = MEANING["minimum"](MEANING["maximum"](x, x[7], propagate), x[12], propagate)
        sheet.put(f"tl.clamp(x1, low, max=high, propagate_nan={propagate})", dtype, wanted, free_zero=True)
    return sheet


def sigmoids(dtype: str) -> Sheet:
    """A composite function of the library."""
    sheet = Sheet()
    x = inputs(dtype, N, 7)
    sheet.array("x", dtype, x)
    sheet.line(f"x1 = tl.load(x + tl.arange(0, {N}))")
    store(sheet, "sigmoid", "tl.sigmoid(x1)", dtype, x)
    store(sheet, "sigmoid", "tl.sigmoid(tl.load(x + 40))", dtype, x[40])
    return sheet


def cells() -> dict[str, tuple[str, Callable[[], Sheet]]]:
    """All cells: by a name for the test, the function of the language and the sheet."""
    found: dict[str, tuple[str, Callable[[], Sheet]]] = {}

    def add(function: str, label: str, made: Callable[..., Sheet], *args: Any) -> None:
        found[label] = (function, lambda: made(*args))

    from teeny.ops.function import functions

    for name, form in FORMS.items():
        if name not in functions():
            continue
        for dtype in CLASSES[form.of]:
            add(name, f"{name}-{dtype}", elementwise, name, dtype)
            if has_literals(name, dtype):
                add(SWAPPED.get(name, name), f"{name}-{dtype}-literals", literals, name, dtype)
    for name in MIXED:
        add(name, f"{name}-i32-i64", elementwise, name, "i32", "i64")
        add(name, f"{name}-i64-i32", elementwise, name, "i64", "i32")
    for name in ("maximum", "minimum"):
        for dtype in CLASSES["N"]:
            add(name, f"{name}-{dtype}-nan", extremes, name, dtype)
    for dtype in ALL:
        add("cast", f"cast-{dtype}", casts, dtype)
        add("where", f"where-{dtype}", choices, dtype)
        add("reshape", f"shapes-{dtype}", shapes, dtype)
        add("load", f"load-{dtype}", memory, dtype)
        for to in SUM_TO.get(dtype, ()):
            add("sum", f"sum-{dtype}-{to}", reductions, "sum", dtype, to)
    for dtype in CLASSES["N"]:
        add("full", f"constants-{dtype}", constants, dtype)
        if dtype not in ("i8", "i16", "u8", "u16"):
            add("sum", f"sum-{dtype}", reductions, "sum", dtype)
        add("max", f"max-{dtype}", reductions, "max", dtype)
        add("min", f"min-{dtype}", reductions, "min", dtype)
        add("clamp", f"clamp-{dtype}-nan", clamped, dtype)
    for dtype in FLOATS:
        add("sigmoid", f"sigmoid-{dtype}", sigmoids, dtype)
    for dtype in INTEGERS:
        add("addptr", f"addptr-{dtype}", offsets, dtype)
        add("subptr", f"subptr-{dtype}", offsets_back, dtype)
    add("and_", "scalar-conditions", booleans)
    for function, label, made in cells_random.cells():
        found[label] = (function, made)
    for label, made in cells_float8.cells():
        found[label] = ("where" if label.startswith("moves") else "cast", made)
    for function, label, made in (
        *cells_atomic.cells(),
        *cells_gather.cells(),
        *cells_memory.cells(),
        *cells_pointer.cells(),
        *cells_reduce.cells(),
        *cells_shape.cells(),
        *cells_sort.cells(),
    ):
        found[label] = (function, made)
    for function, label, made in (*cells_combine.cells(), *cells_descriptor.cells(), *cells_more.cells()):
        found[label] = (function, made)
    for label, made in cells_dot.cells():
        found[label] = ("dot", made)
    for label, made in cells_dot_scaled.cells():
        found[label] = ("dot_scaled", made)
    for label, made in round_up():
        found[label] = ("cdiv", made)
    return found
