"""Random expressions over all types give the same bits at every vector width and feature level, and trap nowhere."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from teeny.backends.cpu.builder import Builder
from teeny.backends.cpu.text import BITS
from teeny.ir.lanes import Lane
from tests.backends.cpu.harness import FORCED, NUMPY, WIDTHS, apply, same

INTEGERS = ("i8", "i16", "i32", "i64")
FLOATS = ("f16", "bf16", "f32", "f64")
INTEGER_BINARY = (
    "add", "sub", "mul", "mulhi_u", "sdiv", "udiv", "srem", "urem", "and_", "or_", "xor", "shl", "lshr", "ashr",
    "smax", "smin", "umax", "umin",
)  # fmt: skip
FLOAT_BINARY = ("fadd", "fsub", "fmul", "fdiv", "fmaxnum", "fminnum", "fmaximum", "fminimum")
FLOAT_UNARY = ("fneg", "fabs", "fsqrt", "ffloor", "fceil")

Step = tuple[int, int, int, int]


def value_of(pool: dict[str, list[Lane]], dtype: str, choice: int) -> Lane:
    return pool[dtype][choice % len(pool[dtype])]


def plain(b: Builder, x: Lane) -> Lane:
    """A float with NaN replaced: which of two NaNs an operation passes on is not specified."""
    return b.select(b.fcmp("uno", x, x), b.const(x.dtype, 0.5), x)


def build(b: Builder, inputs: list[Lane], steps: list[Step]) -> Lane:
    """Grow a pool of values, one operation a step; all of the last values are mixed into one i64."""
    pool: dict[str, list[Lane]] = {dtype: [] for dtype in INTEGERS + FLOATS}
    for lane in inputs:
        pool[lane.dtype].append(lane)
    for kind, x, y, z in steps:
        integer, float_ = INTEGERS[x % 4], FLOATS[x % 4]
        a, c = value_of(pool, integer, y), value_of(pool, integer, z)
        f, g = value_of(pool, float_, y), value_of(pool, float_, z)
        match kind:
            case 0:
                pool[integer].append(getattr(b, INTEGER_BINARY[(x // 4) % len(INTEGER_BINARY)])(a, c))
            case 1:
                pool[float_].append(plain(b, getattr(b, FLOAT_BINARY[(x // 4) % len(FLOAT_BINARY)])(f, g)))
            case 2:
                pool[float_].append(plain(b, getattr(b, FLOAT_UNARY[(x // 4) % len(FLOAT_UNARY)])(f)))
            case 3:
                pool[float_].append(plain(b, b.fma(f, g, value_of(pool, float_, y + z))))
            case 4:
                pool[integer].append((b.fptosi if x & 4 else b.fptoui)(value_of(pool, FLOATS[z % 4], y), integer))
            case 5:
                source = value_of(pool, INTEGERS[z % 4], y)
                pool[float_].append((b.sitofp if x & 4 else b.uitofp)(source, float_))
            case 6:
                source = value_of(pool, FLOATS[z % 4], y)
                narrower = BITS[float_] < BITS[source.dtype] or (BITS[float_] == BITS[source.dtype] != 16)
                if BITS[float_] > BITS[source.dtype]:
                    pool[float_].append(b.fpext(source, float_))
                elif narrower:
                    pool[float_].append(b.fptrunc(source, float_))
            case 7:
                pool[integer].append(b.select(b.icmp("slt" if x & 4 else "ule", a, c), c, a))
            case 8:
                pool[float_].append(b.select(b.fcmp("ole" if x & 4 else "une", f, g), g, f))
            case _:
                pool[integer].append(b.const(integer, y * 37 - z))
    result = b.const("i64", 0)
    for dtype in INTEGERS + FLOATS:
        for lane in pool[dtype][-2:]:
            bits = lane if dtype in INTEGERS else b.integer_of(lane)
            result = b.add(b.mul(result, b.const("i64", 1000003)), bits if bits.dtype == "i64" else b.zext(bits, "i64"))
    return result


def data() -> list[np.ndarray[Any, Any]]:
    rng = np.random.default_rng(7)
    arrays: list[np.ndarray[Any, Any]] = []
    for dtype in INTEGERS + FLOATS:
        size = np.dtype(NUMPY[dtype]).itemsize
        raw = rng.integers(0, 256, 128 * size, np.uint8).view(NUMPY[dtype])
        if dtype in FLOATS:
            wide = raw.astype(np.float32 if dtype != "f64" else np.float64)
            raw = np.where(np.isnan(wide), np.float32(1.25), wide).astype(NUMPY[dtype])
        else:
            raw[::3] = rng.integers(-4, 5, raw[::3].size)
        arrays.append(raw)
    return arrays


steps = st.lists(
    st.tuples(st.integers(0, 9), st.integers(0, 71), st.integers(0, 9), st.integers(0, 9)), min_size=3, max_size=25
)


@settings(max_examples=25, deadline=None)
@given(steps)
def test_every_width_and_level_agrees(drawn: list[Step]) -> None:
    inputs = data()
    dtypes = INTEGERS + FLOATS

    def rule(b: Builder, *lanes: Lane) -> Lane:
        return build(b, list(lanes), drawn)

    with np.errstate(all="ignore"):
        expected = apply({"k": (rule, "i64")}, inputs, dtypes, FORCED[0], 1)["k"]
        for level in FORCED:
            for width in WIDTHS:
                found = apply({"k": (rule, "i64")}, inputs, dtypes, level, width)["k"]
                assert same(found, expected).all(), (level, width)
