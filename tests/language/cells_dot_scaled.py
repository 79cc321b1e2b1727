"""Cells of scaled products: small elements and scales near 1, so that each sum is exact on every executor."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np

from tests.language.rounding import DTYPES
from tests.language.sheet import Sheet, places

Made = Callable[[], Sheet]
FORMATS: dict[str, str] = {"e4m3": "f8e4m3", "e5m2": "f8e5m2", "e2m1": "u8", "bf16": "bf16", "fp16": "f16"}
"""Formats and the dtypes that tensors of them have."""
BLOCK = 32
M, N, K = 32, 16, 64


def drawn(format: str, shape: tuple[int, ...], seed: int) -> Any:
    """Elements of a format, in f32; each has all halves up to 2."""
    return np.random.default_rng([seed, *shape]).integers(-4, 5, shape).astype(np.float32) / 2


def stored(values: Any, format: str, along: int) -> Any:
    """Elements as they lie in memory: two of e2m1 in a byte, the first in its lower half."""
    if format != "e2m1":
        return values.astype(DTYPES[FORMATS[format]])
    bits = values.astype(ml_dtypes.float4_e2m1fn).view(np.uint8) & 15
    lines = np.moveaxis(bits, along, 0)
    return np.moveaxis(lines[::2] | lines[1::2] << 4, 0, along).astype(np.uint8)


def scales(shape: tuple[int, ...], seed: int) -> Any:
    return np.random.default_rng([seed, *shape]).integers(125, 130, shape).astype(np.uint8)


def scaled(values: Any, scale: Any, axis: int) -> Any:
    """Elements times their scales, in f64."""
    if scale is None:
        return values.astype(np.float64)
    powers = 2.0 ** (scale.astype(np.float64) - 127)
    along = np.repeat(powers if axis == -1 else np.swapaxes(powers, -1, -2), BLOCK, axis=axis)
    return values.astype(np.float64) * along


class Operand:
    """One operand: its values, and how a kernel loads them."""

    def __init__(
        self, sheet: Sheet, name: str, format: str, shape: tuple[int, ...], along: int, *, given: bool
    ) -> None:
        inner = -1 if name == "x" else -2
        seed = "xy".index(name)
        values = drawn(format, shape, seed)
        rows = shape[-2] if name == "x" else shape[-1]
        lies = (*shape[:-2], rows, shape[inner] // BLOCK)
        scale = scales(lies, seed + 2) if given else None
        self.exact = scaled(values, scale, inner)
        memory = stored(values, format, along)
        sheet.array(name, FORMATS[format], memory)
        sheet.line(f"{name}1 = tl.load({name} + {places(memory.shape)})")
        self.scale = "None"
        if scale is not None:
            sheet.array(f"{name}s", "u8", scale)
            sheet.line(f"{name}s1 = tl.load({name}s + {places(lies)})")
            self.scale = f"{name}s1"


def products(first: str, second: str, *, whole: bool) -> Sheet:
    """A pair of formats; `whole`: without scales where a format may have some."""
    sheet = Sheet()
    given = [not whole and f not in ("bf16", "fp16") for f in (first, second)]
    x = Operand(sheet, "x", first, (M, K), -1, given=given[0])
    y = Operand(sheet, "y", second, (K, N), -2, given=given[1])
    c = np.arange(M * N).reshape(M, N).astype(np.float32)
    sheet.array("c", "f32", c)
    sheet.line(f"c1 = tl.load(c + {places(c.shape)})")
    call = f"tl.dot_scaled(x1, {x.scale}, {first!r}, y1, {y.scale}, {second!r}"
    wanted = (x.exact @ y.exact).astype(np.float32)
    sheet.put(f"{call})", "f32", wanted)
    sheet.put(f"{call}, c1, True, True, True, tl.float32)", "f32", wanted + c)
    sheet.put(f"c1 + {call})", "f32", wanted + c)
    return sheet


def packed(first: str, second: str) -> Sheet:
    """Two elements in a byte along M and N."""
    sheet = Sheet()
    along = (-2 if first == "e2m1" else -1, -1 if second == "e2m1" else -2)
    x = Operand(sheet, "x", first, (M, K), along[0], given=first == "e2m1")
    y = Operand(sheet, "y", second, (K, N), along[1], given=second == "e2m1")
    call = f"tl.dot_scaled(x1, {x.scale}, {first!r}, y1, {y.scale}, {second!r}"
    flags = f"lhs_k_pack={first != 'e2m1'}, rhs_k_pack={second != 'e2m1'}"
    sheet.put(f"{call}, {flags})", "f32", (x.exact @ y.exact).astype(np.float32))
    return sheet


def batches(first: str, second: str) -> Sheet:
    sheet = Sheet()
    x = Operand(sheet, "x", first, (2, M, K), -1, given=True)
    y = Operand(sheet, "y", second, (2, K, N), -2, given=True)
    call = f"tl.dot_scaled(x1, {x.scale}, {first!r}, y1, {y.scale}, {second!r}"
    sheet.put(f"{call})", "f32", (x.exact @ y.exact).astype(np.float32))
    return sheet


def cells() -> list[tuple[str, Made]]:
    """By a name for the test."""
    found: list[tuple[str, Made]] = [
        (f"dot_scaled-{a}*{b}", lambda a=a, b=b: products(a, b, whole=False)) for a in FORMATS for b in FORMATS
    ]
    for a, b in (("e4m3", "e2m1"), ("e2m1", "e5m2"), ("e5m2", "e4m3"), ("e2m1", "bf16")):
        found.append((f"dot_scaled-{a}*{b}-whole", lambda a=a, b=b: products(a, b, whole=True)))
    for a, b in (("e2m1", "e2m1"), ("e2m1", "bf16"), ("fp16", "e2m1")):
        found.append((f"dot_scaled-{a}*{b}-packed", lambda a=a, b=b: packed(a, b)))
    for a, b in (("e4m3", "e5m2"), ("e2m1", "e2m1")):
        found.append((f"dot_scaled-{a}*{b}-batches", lambda a=a, b=b: batches(a, b)))
    return found
