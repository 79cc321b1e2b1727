"""Elementary functions: error in ulp against a wider type, exact specials, equal bits at every width and level."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from bench.exact import WIDER, errors, exact
from bench.samples import padded, pairs, samples
from teeny.backends.cpu.target import Level
from teeny.ops import vecmath
from tests.backends.cpu.harness import FORCED, NUMPY, WIDTHS, apply, same

NAMES = ("exp", "exp2", "expm1", "log", "log2", "log1p", "rsqrt", "sin", "cos", "tanh", "erf")
FUNCTIONS: dict[str, Any] = {name: getattr(vecmath, name) for name in NAMES}
BOTH = ["f32", pytest.param("f64", marks=pytest.mark.skipif(not WIDER, reason="no wider type"))]


def one(name: str, x: np.ndarray[Any, Any], dtype: str, level: Level = "native") -> np.ndarray[Any, Any]:
    return apply({name: (FUNCTIONS[name], dtype)}, [x], [dtype], level, 16)[name]


@pytest.mark.parametrize("dtype", BOTH)
@pytest.mark.parametrize("name", NAMES)
def test_error_is_below_two_ulp_and_specials_are_exact(name: str, dtype: str) -> None:
    slow = name == "erf" and dtype == "f64"
    x = padded(samples(dtype, 1000 if slow else 100000))
    found = errors(one(name, x, dtype), exact(name, x))
    worst = int(np.argmax(found))
    assert found[worst] < 2, (name, x[worst], found[worst])


@pytest.mark.parametrize("dtype", BOTH)
def test_powers(dtype: str) -> None:
    x, y = (padded(v) for v in pairs(dtype, 50000))
    z = apply({"pow": (vecmath.pow, dtype)}, [x, y], [dtype, dtype], "native", 16)["pow"]
    found = errors(z, exact("pow", x, y))
    worst = int(np.argmax(found))
    assert found[worst] < 1.1, (x[worst], y[worst], z[worst], found[worst])


@pytest.mark.parametrize("dtype", ["f32", "f64"])
def test_signs_of_zero_and_numbers_near_it(dtype: str) -> None:
    info = np.finfo(NUMPY[dtype])
    sizes = [0.0, float(info.smallest_subnormal), float(info.tiny), float(info.tiny) * 1.5]
    x = np.array([s * v for v in sizes for s in (1, -1)] * 2, NUMPY[dtype])
    for name in ("sin", "tanh", "expm1", "log1p"):
        assert same(one(name, x, dtype), x).all(), name
    ones = one("cos", x, dtype)
    np.testing.assert_array_equal(ones, np.ones_like(x))


def test_arguments_of_every_exponent() -> None:
    """The reduction of angles picks other words of 2/pi for each."""
    rng = np.random.default_rng(4)
    for dtype, kind, low, high in (("f32", np.float32, -149, 128), ("f64", np.float64, -1074, 1024)):
        exponent = np.repeat(np.arange(low, high), 16)
        x = np.ldexp(rng.uniform(0.5, 1, exponent.size), exponent).astype(kind)
        for name in ("sin", "cos"):
            if dtype == "f64" and not WIDER:
                continue
            found = errors(one(name, padded(x), dtype), exact(name, padded(x)))
            assert found.max() < 1.6, (name, padded(x)[np.argmax(found)])


def test_exact_points() -> None:
    n = np.arange(-149, 128).astype(np.float32)
    n = padded(n)
    found = one("exp2", n, "f32")
    np.testing.assert_array_equal(found, np.ldexp(np.float32(1), n.astype(np.int32)))
    np.testing.assert_array_equal(one("log2", found, "f32"), n)
    x = np.array([-np.inf, np.inf, 0.0, -0.0] * 4)
    wanted = {
        "exp": [0, np.inf, 1, 1],
        "exp2": [0, np.inf, 1, 1],
        "expm1": [-1, np.inf, 0, -0.0],
        "log": [np.nan, np.inf, -np.inf, -np.inf],
        "log2": [np.nan, np.inf, -np.inf, -np.inf],
        "log1p": [np.nan, np.inf, 0, -0.0],
        "rsqrt": [np.nan, 0, np.inf, -np.inf],
        "sin": [np.nan, np.nan, 0, -0.0],
        "cos": [np.nan, np.nan, 1, 1],
        "tanh": [-1, 1, 0, -0.0],
        "erf": [-1, 1, 0, -0.0],
    }
    for dtype in ("f32", "f64"):
        for name, values in wanted.items():
            kind = NUMPY[dtype]
            assert same(one(name, x.astype(kind), dtype)[:4], np.array(values, kind)).all(), name


def test_subnormal_results_and_operands() -> None:
    x = np.linspace(-103.9, -87.4, 16 * 512).astype(np.float32)
    found = one("exp", x, "f32")
    wide = np.exp(x.astype(np.float64))
    assert (found > 0).all()
    assert (np.abs(found - wide) <= 1.01 * 2.0**-149).mean() > 0.99
    assert errors(found, wide).max() < 2
    tiny = np.arange(1, 16 * 512 + 1).astype(np.uint32).view(np.float32)
    for name in ("log", "log2", "erf"):
        assert errors(one(name, tiny, "f32"), exact(name, tiny)).max() < 2, name


@pytest.mark.parametrize("dtype", ["f32", "f64"])
def test_bits_do_not_depend_on_width_or_level(dtype: str) -> None:
    x = padded(samples(dtype, 2000))
    y = np.roll(x, 7)
    rules = {name: (f, dtype) for name, f in FUNCTIONS.items()}
    power = {"pow": (vecmath.pow, dtype)}
    expected = apply(rules, [x], [dtype], "native", 16) | apply(power, [x, y], [dtype, dtype], "native", 16)
    for level in FORCED:
        for width in WIDTHS if level == "native" else (4, 16):
            found = apply(rules, [x], [dtype], level, width) | apply(power, [x, y], [dtype, dtype], level, width)
            for name, values in found.items():
                wrong = ~same(values, expected[name])
                assert not wrong.any(), (name, level, width, x[wrong][:3])


@pytest.mark.parametrize("level", FORCED)
@pytest.mark.parametrize("dtype", ["f16", "bf16"])
def test_halves_round_the_f32_result_once(dtype: str, level: Level) -> None:
    x = np.arange(1 << 16, dtype=np.uint16).view(NUMPY[dtype])
    wide = x.astype(np.float32)
    through = apply({name: (f, "f32") for name, f in FUNCTIONS.items()}, [wide], ["f32"], level, 16)
    found = apply({name: (f, dtype) for name, f in FUNCTIONS.items()}, [x], [dtype], level, 16)
    for name in NAMES:
        with np.errstate(over="ignore", invalid="ignore"):
            assert same(found[name], through[name].astype(NUMPY[dtype])).all(), name
    assert ml_dtypes.finfo(NUMPY[dtype]).bits == 16
