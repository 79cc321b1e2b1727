"""Elementary functions: error in ulp against a wider type, exact specials, equal bits at every width and level."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from teeny.backends.cpu.target import Level
from teeny.ops import vecmath
from tests.backends.cpu.harness import FORCED, NUMPY, WIDTHS, apply, same

FUNCTIONS: dict[str, Any] = {name: getattr(vecmath, name) for name in ("exp", "exp2", "log", "log2", "rsqrt")}
EXACT: dict[str, Any] = {
    "exp": np.exp, "exp2": np.exp2, "log": np.log, "log2": np.log2, "rsqrt": lambda x: 1 / np.sqrt(x),
}  # fmt: skip
LONG_DOUBLE = np.finfo(np.longdouble).nmant >= 63


def samples(dtype: str, thin: int = 1) -> np.ndarray[Any, Any]:
    """Bit patterns from the whole range, dense where the functions are interesting, and the special values."""
    rng = np.random.default_rng(0)
    kind = NUMPY[dtype]
    info = np.finfo(kind)
    if dtype == "f32":
        patterns = np.arange(0, 1 << 32, 9973 * thin, dtype=np.uint64).astype(np.uint32).view(kind)
        low, high = -110.0, 95.0
    else:
        patterns = rng.integers(0, 1 << 64, 400000 // thin, dtype=np.uint64).view(kind)
        low, high = -750.0, 715.0
    count = 200000 // thin
    special = [0.0, -0.0, np.inf, -np.inf, np.nan, 1, -1, info.tiny, info.smallest_subnormal, info.max, info.min]
    special += [s * float(n) for n in range(1, 1100) for s in (1, -1)]
    parts = [
        patterns,
        rng.uniform(low, high, count),
        rng.uniform(-0.4, 0.4, count),
        rng.uniform(0.3, 2.5, count),
        1 + rng.normal(size=count) * 2.0 ** -rng.integers(1, 50, count),
        2.0 ** rng.integers(-20, 20, count) * (1 + rng.normal(size=count) * info.eps * 3),
        np.array(special),
    ]
    values = np.concatenate([part.astype(kind) for part in parts])
    return np.resize(values, (values.size + 15) // 16 * 16)


def ulps(found: np.ndarray[Any, Any], exact: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Distance from the exact value in units of the last place of `found`'s type at that value."""
    info = np.finfo(found.dtype)
    exponent = np.maximum(np.frexp(np.abs(exact))[1] - 1, info.minexp)
    return np.abs(found.astype(exact.dtype) - exact) / np.ldexp(np.ones_like(exact), exponent - info.nmant)


@pytest.mark.parametrize(
    "dtype", ["f32", pytest.param("f64", marks=pytest.mark.skipif(not LONG_DOUBLE, reason="no wider type"))]
)
def test_error_is_below_two_ulp_and_specials_are_exact(dtype: str) -> None:
    x = samples(dtype)
    found = apply({name: (f, dtype) for name, f in FUNCTIONS.items()}, [x], [dtype], "native", 16)
    for name, values in found.items():
        with np.errstate(all="ignore"):
            exact = EXACT[name](x.astype(np.float64 if dtype == "f32" else np.longdouble))
            rounded = exact.astype(x.dtype)
        special = ~np.isfinite(rounded) | (rounded == 0)
        wrong = special & ~same(values, rounded)
        # Where the exact result lies within an ulp of the edge of the range, either side is right.
        with np.errstate(all="ignore"):
            edge = (
                np.isfinite(exact)
                & (exact != 0)
                & (ulps(np.where(np.isinf(values), np.finfo(x.dtype).max, values), exact) < 2)
            )
        assert not (wrong & ~edge).any(), (name, x[wrong & ~edge][:5], values[wrong & ~edge][:5])
        error = ulps(values[~special], exact[~special])
        worst = int(np.argmax(error))
        assert error[worst] < 2, (name, x[~special][worst], error[worst])


def test_exact_points() -> None:
    n = np.arange(-149, 128).astype(np.float32)
    n = np.resize(n, (n.size + 15) // 16 * 16)
    found = apply({"exp2": (vecmath.exp2, "f32")}, [n], ["f32"], "native", 16)["exp2"]
    np.testing.assert_array_equal(found, np.ldexp(np.float32(1), n.astype(np.int32)))
    back = apply({"log2": (vecmath.log2, "f32")}, [found], ["f32"], "native", 16)["log2"]
    np.testing.assert_array_equal(back, n)
    x = np.array([-np.inf, np.inf, 0.0, -0.0] * 4)
    for dtype in ("f32", "f64"):
        rules = {name: (f, dtype) for name, f in FUNCTIONS.items()}
        results = apply(rules, [x.astype(NUMPY[dtype])], [dtype], "native", 16)
        np.testing.assert_array_equal(results["exp"][:4], [0, np.inf, 1, 1])
        np.testing.assert_array_equal(results["exp2"][:4], [0, np.inf, 1, 1])
        np.testing.assert_array_equal(results["log"][:4], [np.nan, np.inf, -np.inf, -np.inf])
        np.testing.assert_array_equal(results["log2"][:4], [np.nan, np.inf, -np.inf, -np.inf])
        np.testing.assert_array_equal(results["rsqrt"][:4], [np.nan, 0, np.inf, -np.inf])
        assert not np.signbit(results["exp"][0])


def test_subnormal_results_and_operands() -> None:
    x = np.linspace(-103.9, -87.4, 16 * 512).astype(np.float32)
    found = apply({"exp": (vecmath.exp, "f32")}, [x], ["f32"], "native", 16)["exp"]
    exact = np.exp(x.astype(np.float64))
    assert (found > 0).all()
    assert (np.abs(found - exact) <= 1.01 * 2.0**-149).mean() > 0.99
    assert ulps(found, exact).max() < 2
    tiny = np.arange(1, 16 * 512 + 1).astype(np.uint32).view(np.float32)
    for name in ("log", "log2"):
        found = apply({name: (FUNCTIONS[name], "f32")}, [tiny], ["f32"], "native", 16)[name]
        assert ulps(found, EXACT[name](tiny.astype(np.float64))).max() < 2


@pytest.mark.parametrize("dtype", ["f32", "f64"])
def test_bits_do_not_depend_on_width_or_level(dtype: str) -> None:
    x = samples(dtype, 20)
    rules = {name: (f, dtype) for name, f in FUNCTIONS.items()}
    expected = apply(rules, [x], [dtype], "native", 16)
    for level in FORCED:
        for width in WIDTHS:
            for name, values in apply(rules, [x], [dtype], level, width).items():
                wrong = ~same(values, expected[name])
                assert not wrong.any(), (name, level, width, x[wrong][:3])


@pytest.mark.parametrize("level", FORCED)
@pytest.mark.parametrize("dtype", ["f16", "bf16"])
def test_halves_round_the_f32_result_once(dtype: str, level: Level) -> None:
    x = np.arange(1 << 16, dtype=np.uint16).view(NUMPY[dtype])
    wide = x.astype(np.float32)
    for name, function in FUNCTIONS.items():
        through = apply({"k": (function, "f32")}, [wide], ["f32"], level, 16)["k"]
        found = apply({"k": (function, dtype)}, [x], [dtype], level, 16)["k"]
        with np.errstate(over="ignore"):
            assert same(found, through.astype(NUMPY[dtype])).all(), name
    assert ml_dtypes.finfo(NUMPY[dtype]).bits == 16
