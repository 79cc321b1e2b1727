"""Further elementary functions, bits counted, 8-bit floats: special values, equal bits at every width and level."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from bench.accuracy import bound
from bench.exact import WIDER, errors, exact
from bench.samples import padded, pairs, samples
from teeny.backends.cpu.target import Level
from teeny.ops import vecmath
from teeny.ops.float8 import FORMATS, decode, encode
from tests.backends.cpu.harness import FORCED, NUMPY, apply, same
from tests.language.float8 import edges, every, to_float8

NAMES = (
    "tan", "sinh", "cosh", "asin", "acos", "atan", "asinh", "acosh", "atanh", "log10", "exp10", "cbrt", "rcbrt", "erfc",
    "sinpi", "cospi",
)  # fmt: skip
ROUNDINGS = ("trunc", "rint", "round")
BOTH = ["f32", pytest.param("f64", marks=pytest.mark.skipif(not WIDER, reason="no wider type"))]
INF, NAN = np.inf, np.nan
PI = np.pi


def one(name: str, x: Any, dtype: str, level: Level = "native", width: int = 16) -> Any:
    return apply({name: (getattr(vecmath, name), dtype)}, [x], [dtype], level, width)[name]


@pytest.mark.parametrize("dtype", BOTH)
@pytest.mark.parametrize("name", NAMES)
def test_errors_are_within_the_bounds(name: str, dtype: str) -> None:
    x = padded(samples(dtype, 300 if name == "erfc" and dtype == "f64" else 10000))
    found = errors(one(name, x, dtype), exact(name, x))
    worst = int(np.argmax(found))
    limit = 0.51 if dtype == "f32" else bound(f"libdevice.{name}", dtype)
    assert found[worst] <= limit, (name, x[worst], found[worst])


@pytest.mark.parametrize("dtype", BOTH)
@pytest.mark.parametrize("name", ["atan2", "hypot"])
def test_functions_of_two(name: str, dtype: str) -> None:
    x, y = (padded(v) for v in pairs(dtype, 5000))
    found = apply({name: (getattr(vecmath, name), dtype)}, [x, y], [dtype, dtype], "native", 16)[name]
    assert errors(found, exact(name, x, y)).max() <= bound(f"libdevice.{name}", dtype)


@pytest.mark.parametrize("dtype", ["f32", "f64"])
def test_special_points(dtype: str) -> None:
    x = np.array([-INF, INF, 0.0, -0.0, 1.0, -1.0, NAN, 2.0] * 2, NUMPY[dtype])
    wanted: dict[str, list[float]] = {
        "tan": [NAN, NAN, 0, -0.0], "sinh": [-INF, INF, 0, -0.0], "cosh": [INF, INF, 1, 1],
        "asin": [NAN, NAN, 0, -0.0, PI / 2, -PI / 2, NAN, NAN], "acos": [NAN, NAN, PI / 2, PI / 2, 0, PI, NAN, NAN],
        "atan": [-PI / 2, PI / 2, 0, -0.0, PI / 4, -PI / 4, NAN], "asinh": [-INF, INF, 0, -0.0],
        "acosh": [NAN, INF, NAN, NAN, 0, NAN, NAN], "atanh": [NAN, NAN, 0, -0.0, INF, -INF, NAN, NAN],
        "log10": [NAN, INF, -INF, -INF, 0, NAN, NAN], "exp10": [0, INF, 1, 1, 10, 0.1, NAN, 100],
        "cbrt": [-INF, INF, 0, -0.0, 1, -1, NAN], "rcbrt": [-0.0, 0, INF, -INF, 1, -1, NAN],
        "erfc": [2, 0, 1, 1], "sinpi": [NAN, NAN, 0, -0.0, 0, -0.0, NAN, 0], "cospi": [NAN, NAN, 1, 1, -1, -1, NAN, 1],
        "trunc": [-INF, INF, 0, -0.0, 1, -1, NAN, 2], "rint": [-INF, INF, 0, -0.0, 1, -1, NAN, 2],
        "round": [-INF, INF, 0, -0.0, 1, -1, NAN, 2],
    }  # fmt: skip
    for name, values in wanted.items():
        found = one(name, x, dtype)[: len(values)]
        assert same(found, np.array(values, NUMPY[dtype])).all(), (name, found)


@pytest.mark.parametrize("dtype", ["f32", "f64"])
def test_quadrants(dtype: str) -> None:
    special = [0.0, -0.0, 1.0, -1.0, INF, -INF, NAN, 3e38, 1e-40]
    y, x = (padded(v.ravel().astype(NUMPY[dtype])) for v in np.meshgrid(special, special))
    found = apply({"atan2": (vecmath.atan2, dtype)}, [y, x], [dtype, dtype], "native", 16)["atan2"]
    wanted = np.arctan2(y.astype(np.float64), x.astype(np.float64)).astype(NUMPY[dtype])
    same_sign = np.signbit(found) == np.signbit(wanted)
    close = np.isclose(found.astype(np.float64), wanted.astype(np.float64), rtol=1e-6, atol=1e-44, equal_nan=True)
    assert (close & (same_sign | np.isnan(wanted))).all()


def test_halves_are_rounded_away_or_to_even() -> None:
    x = np.array([0.5, 1.5, 2.5, -0.5, -1.5, -2.5, 0.49999997, 8388607.5, 8388609.0, 1e30, -0.3, 0.7] + [0.0] * 4)
    x = x.astype(np.float32)
    assert same(one("rint", x, "f32"), np.rint(x)).all()
    away = np.copysign(np.floor(np.abs(x.astype(np.float64)) + 0.5), x).astype(np.float32)
    assert same(one("round", x, "f32"), away).all()


@pytest.mark.parametrize("dtype", ["f32", "f64"])
def test_bits_do_not_depend_on_width_or_level(dtype: str) -> None:
    x = padded(samples(dtype, 300))
    rules = {name: (getattr(vecmath, name), dtype) for name in (*NAMES, *ROUNDINGS)}
    expected = apply(rules, [x], [dtype], "native", 16)
    for level in FORCED:
        found = apply(rules, [x], [dtype], level, 1 if level == "native" else 4)
        for name, values in found.items():
            assert same(values, expected[name]).all(), (name, level)


@pytest.mark.parametrize("dtype", ["i32", "i64"])
def test_counts_of_bits(dtype: str) -> None:
    width = int(dtype[1:])
    rng = np.random.default_rng(width)
    some = [
        0,
        1,
        -1,
        2,
        3,
        1 << (width - 2),
        -(1 << (width - 1)),
        (1 << (width - 1)) - 1,
        6,
        255,
        256,
        -2,
        48,
        7,
        9,
        10,
    ]
    x = np.concatenate([np.array(some), rng.integers(-(1 << (width - 1)), (1 << (width - 1)) - 1, 112)])
    x = x.astype(NUMPY[dtype])
    texts = [f"{int(v) % (1 << width):0{width}b}" for v in x]
    wanted = {
        "popc": [t.count("1") for t in texts],
        "clz": [width - len(t.lstrip("0")) for t in texts],
        "ffs": [len(t) - t.rindex("1") if "1" in t else 0 for t in texts],
    }
    for name, values in wanted.items():
        found = apply({name: (getattr(vecmath, name), "i32")}, [x], [dtype], "native", 16)[name]
        assert found.tolist() == values, name
    turned = one("brev", x, dtype)
    assert [f"{int(v) % (1 << width):0{width}b}" for v in turned] == [t[::-1] for t in texts]


@pytest.mark.parametrize("level", FORCED)
@pytest.mark.parametrize("name", FORMATS)
def test_8_bit_floats(name: str, level: Level) -> None:
    """Every number read, every 16-bit float written, and what rounding turns on."""
    codes = every(name)
    read = apply({"d": (lambda b, x: decode(b, x, name), "f32")}, [codes.view(np.int8)], ["i8"], level, 16)["d"]
    assert same(read, codes.astype(np.float32)).all()
    for dtype in ("f16", "bf16", "f32", "f64"):
        if dtype in ("f16", "bf16"):
            x = np.arange(1 << 16, dtype=np.uint16).view(NUMPY[dtype])
        else:
            with np.errstate(over="ignore"):
                x = padded(edges(name).astype(NUMPY[dtype]))
        rules = {how: (lambda b, x, how=how: encode(b, x, name, how), "i8") for how in ("rtne", "rtz")}
        for how, found in apply(rules, [x], [dtype], level, 16).items():
            wanted = to_float8(x, name, how)
            assert same(found.view(wanted.dtype).astype(np.float32), wanted.astype(np.float32)).all(), (dtype, how)
