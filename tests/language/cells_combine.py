"""Cells of functions that take functions: `reduce`, `associative_scan` and `map_elementwise` with every dtype."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tests.language.float8 import FLOATS8
from tests.language.rounding import DTYPES
from tests.language.sheet import Sheet, spelled
from tests.language.values import ALL, FLOATS, inputs

Cell = tuple[str, str, Callable[[], Sheet]]


def _larger(dtype: str) -> str:
    """The body of a function that takes the larger of a and b; of 8-bit floats that of the larger bits."""
    if dtype == "bool":
        return "a | b"
    if dtype in FLOATS8:
        bits = "tl.maximum(a.to(tl.u8, bitcast=True), b.to(tl.u8, bitcast=True))"
        return f"{bits}.to(tl.{dtype}, bitcast=True)"
    return "tl.maximum(a, b)"


def _head(dtype: str) -> str:
    one = f"tl.Tensor[tl.{spelled(dtype)}]"
    count = "tl.Tensor[tl.i32]"
    return (
        f"def larger(a: {one}, b: {one}) -> {one}:\n    return {_larger(dtype)}\n\n\n"
        f"def counted(a: {one}, m: {count}, b: {one}, n: {count}) -> tuple[{one}, {count}]:\n"
        "    return larger(a, b), m + n\n\n\n"
        f"def either(a: {one}, b: {one}, c: tl.Tensor[tl.bool_]) -> {one}:\n"
        "    if c:\n        return larger(a, b)\n    return b\n\n\n"
        f"def turned(a: {one}, b: {one}) -> tuple[{one}, {one}]:\n    return b, a\n\n\n"
    )


def _numbers(dtype: str) -> Any:
    """512 values without NaN, whose zeros have one sign."""
    x = np.resize(inputs(dtype, 256, 6), 512)
    if dtype in FLOATS or dtype in FLOATS8:
        wide = x.astype(np.float64)
        x = np.where(np.isnan(wide) | (wide == 0), DTYPES[dtype].type(2), x).astype(DTYPES[dtype])
    return x


def _largest(dtype: str, x: Any, axis: int) -> tuple[Any, Any]:
    """The largest along an axis and the largest so far, by bits where the format has no order."""
    plain = x.view(np.uint8) if dtype in FLOATS8 else x.astype(np.float64) if dtype in FLOATS else x
    alone, so_far = np.max(plain, axis), np.maximum.accumulate(plain, axis)
    if dtype in FLOATS8:
        return alone.view(DTYPES[dtype]), so_far.view(DTYPES[dtype])
    return alone.astype(DTYPES[dtype]), so_far.astype(DTYPES[dtype])


def combined(dtype: str) -> Sheet:
    """Along both axes of 16 x 32, alone and with a count beside."""
    sheet = Sheet(head=_head(dtype))
    x = _numbers(dtype).reshape(16, 32)
    sheet.array("x", dtype, x.ravel())
    sheet.line("t = tl.load(x + tl.arange(0, 16)[:, None] * 32 + tl.arange(0, 32)[None, :])")
    sheet.line("ones = tl.full((16, 32), 1, tl.i32)")
    for axis in (0, 1):
        alone, so_far = _largest(dtype, x, axis)
        back = np.flip(_largest(dtype, np.ascontiguousarray(np.flip(x, axis)), axis)[1], axis)
        sheet.put(f"tl.reduce(t, {axis}, larger)", dtype, alone)
        kept = np.expand_dims(alone, axis)
        sheet.put(f"tl.reduce(t, axis={axis}, combine_fn=larger, keep_dims=True)", dtype, kept)
        sheet.put(f"tl.associative_scan(t, {axis}, larger)", dtype, so_far)
        sheet.put(f"tl.associative_scan(t, {axis}, larger, reverse=True)", dtype, np.ascontiguousarray(back))
        size = x.shape[axis]
        sheet.line(f"top{axis}, all{axis} = tl.reduce((t, ones), {axis}, counted)")
        sheet.put(f"top{axis}", dtype, alone)
        sheet.put(f"all{axis}", "i32", np.full(alone.shape, size, np.int32))
        sheet.line(f"tops{axis}, some{axis} = tl.associative_scan((t, ones), {axis}, counted)")
        sheet.put(f"tops{axis}", dtype, so_far)
        steps = np.cumsum(np.ones(x.shape, np.int32), axis, dtype=np.int32)
        sheet.put(f"some{axis}", "i32", steps)
    whole, _ = _largest(dtype, x.ravel(), 0)
    sheet.put("tl.reduce(t, None, larger)", dtype, whole)
    return sheet


def mapped(dtype: str) -> Sheet:
    """Element by element, with a branch, and with two results."""
    sheet = Sheet(head=_head(dtype))
    x = _numbers(dtype)[:256]
    y, c = np.roll(x, 7), np.arange(256) % 3 == 0
    for letter, kind, values in (("x", dtype, x), ("y", dtype, y), ("c", "bool", c)):
        sheet.array(letter, kind, values)
        sheet.line(f"{letter}1 = tl.load({letter} + tl.arange(0, 256))")
    top: Any = _largest(dtype, np.stack([x, y]), 0)[0]
    sheet.put("tl.map_elementwise(larger, x1, y1)", dtype, top)
    sheet.put("tl.map_elementwise(either, x1, y1, c1)", dtype, np.asarray(np.where(c, top, y), DTYPES[dtype]))
    sheet.line("u, v = tl.map_elementwise(turned, x1, y1)")
    sheet.put("u", dtype, y)
    sheet.put("v", dtype, x)
    return sheet


def cells() -> Iterator[Cell]:
    """By the function and a name for the test."""
    for dtype in (*ALL, *FLOATS8):
        yield "reduce", f"combine-{dtype}", lambda dtype=dtype: combined(dtype)
        yield "map_elementwise", f"mapped-{dtype}", lambda dtype=dtype: mapped(dtype)
