"""Conversions of the builder against NumPy and ml_dtypes, exhaustively for the 16-bit floats."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from teeny.backends.cpu.target import Level
from teeny.backends.cpu.text import float_bits, rounded
from tests.backends.cpu.harness import FORCED, NUMPY, UNSIGNED, WIDTHS, Rule, apply, same
from tests.language.rounding import from_integers

INTEGERS = ("i8", "i16", "i32", "i64")
BITS = {"i8": 8, "i16": 16, "i32": 32, "i64": 64}
ALL_HALVES = np.arange(1 << 16, dtype=np.uint16)


def floats_around_halves(kind: Any) -> np.ndarray[Any, Any]:
    """f32 values at, just below and just above every 16-bit value and every midpoint between two, and specials."""
    halves = ALL_HALVES.view(kind)
    wide = halves[np.isfinite(halves.astype(np.float32))].astype(np.float64)
    wide = np.sort(wide)
    middles = ((wide[1:] + wide[:-1]) / 2).astype(np.float32)
    values = np.concatenate([wide.astype(np.float32), middles])
    values = np.concatenate(
        [values, np.nextafter(values, np.float32(np.inf)), np.nextafter(values, np.float32(-np.inf))]
    )
    special = np.array(
        [np.inf, -np.inf, np.nan, 65519.99, 65520, 65536, 3.4e38, -3.4e38, 2**-25, 1e-45, -1e-45], np.float32
    )
    return np.resize(np.concatenate([special, values]), (values.size + special.size + 15) // 16 * 16)


@pytest.mark.parametrize("level", FORCED)
@pytest.mark.parametrize("dtype", ["f16", "bf16"])
def test_halves_widen_exactly(dtype: str, level: Level) -> None:
    halves = ALL_HALVES.view(NUMPY[dtype])
    rules: dict[str, tuple[Rule, str]] = {
        "f32": (lambda b, x: b.fpext(x, "f32"), "f32"),
        "f64": (lambda b, x: b.fpext(x, "f64"), "f64"),
    }
    for width in WIDTHS:
        found = apply(rules, [halves], [dtype], level, width)
        assert same(found["f32"], halves.astype(np.float32)).all()
        with np.errstate(invalid="ignore"):
            assert same(found["f64"], halves.astype(np.float64)).all()


@pytest.mark.parametrize("level", FORCED)
@pytest.mark.parametrize("dtype", ["f16", "bf16"])
def test_f32_narrows_to_nearest_even(dtype: str, level: Level) -> None:
    values = floats_around_halves(NUMPY[dtype])
    with np.errstate(over="ignore"):
        expected = values.astype(NUMPY[dtype])
    for width in WIDTHS:
        found = apply({"k": (lambda b, x: b.fptrunc(x, dtype), dtype)}, [values], ["f32"], level, width)["k"]
        wrong = ~same(found, expected)
        assert not wrong.any(), (width, values[wrong][:3], found[wrong][:3], expected[wrong][:3])


@pytest.mark.parametrize("level", FORCED)
@pytest.mark.parametrize("dtype", ["f16", "bf16"])
def test_f64_narrows_with_one_rounding(dtype: str, level: Level) -> None:
    middles = floats_around_halves(NUMPY[dtype])[::7].astype(np.float64)
    # Too close to the midpoint for f32: two roundings would go wrong.
    values = np.concatenate([middles, np.nextafter(middles, np.inf), np.nextafter(middles, -np.inf)])
    values = np.concatenate([values, [1e-320, -1e300, 1e300, 2.0**-134, 2.0**-26]])
    values = np.resize(values, (values.size + 15) // 16 * 16)
    expected = np.array([float_bits(dtype, v) for v in values.tolist()], np.uint16).view(NUMPY[dtype])
    for width in (1, 16):
        found = apply({"k": (lambda b, x: b.fptrunc(x, dtype), dtype)}, [values], ["f64"], level, width)["k"]
        wrong = ~same(found, expected)
        assert not wrong.any(), (width, values[wrong][:3], found[wrong][:3], expected[wrong][:3])


@pytest.mark.parametrize("level", FORCED)
def test_f64_and_f32(level: Level) -> None:
    rng = np.random.default_rng(2)
    values = rng.integers(0, 1 << 64, 4096, dtype=np.uint64).view(np.float64)
    values[:2000] = rng.normal(size=2000) * 2.0 ** rng.integers(-160, 130, 2000)
    with np.errstate(over="ignore", invalid="ignore"):
        narrow = values.astype(np.float32)
    for width in WIDTHS:
        found = apply({"k": (lambda b, x: b.fptrunc(x, "f32"), "f32")}, [values], ["f64"], level, width)["k"]
        assert same(found, narrow).all()
        found = apply({"k": (lambda b, x: b.fpext(x, "f64"), "f64")}, [narrow], ["f32"], level, width)["k"]
        assert same(found, narrow.astype(np.float64)).all()


def saturated(value: float, low: int, high: int) -> int:
    if value != value:
        return 0
    return low if value <= low else high if value >= high else int(value)


@pytest.mark.parametrize("level", FORCED)
@pytest.mark.parametrize("dtype", ["f16", "bf16", "f32", "f64"])
def test_floats_to_integers_saturate(dtype: str, level: Level) -> None:
    powers = [2.0**k for k in (7, 8, 15, 16, 31, 32, 53, 63, 64, 100)]
    edges = np.array(
        [0, -0.0, 0.5, -0.5, 0.999, -0.999, 1, -1, 126.5, -127.5, -128.5, 1e300, np.inf, np.nan, 5e-324, *powers]
    )
    with np.errstate(over="ignore"):
        base = np.concatenate([edges, -edges]).astype(NUMPY[dtype])
        if dtype in ("f32", "f64"):
            base = np.concatenate([base, np.nextafter(base, NUMPY[dtype](0)), np.nextafter(base, NUMPY[dtype](np.inf))])
        noise = (np.random.default_rng(0).normal(size=500) * 300).astype(NUMPY[dtype])
        values = np.concatenate([base, noise])
    values = np.resize(values, (values.size + 15) // 16 * 16)
    rules: dict[str, tuple[Rule, str]] = {}
    expected: dict[str, np.ndarray[Any, Any]] = {}
    for integer in INTEGERS:
        bits = BITS[integer]
        rules[f"s{bits}"] = (lambda b, x, to=integer: b.fptosi(x, to), integer)
        rules[f"u{bits}"] = (lambda b, x, to=integer: b.fptoui(x, to), integer)
        wide = values.astype(np.float64).tolist()
        low, high = -(1 << (bits - 1)), (1 << (bits - 1)) - 1
        expected[f"s{bits}"] = np.array([saturated(v, low, high) for v in wide], NUMPY[integer])
        unsigned = np.array([saturated(v, 0, (1 << bits) - 1) for v in wide], UNSIGNED[integer])
        expected[f"u{bits}"] = unsigned.view(NUMPY[integer])
    for width in WIDTHS:
        for name, found in apply(rules, [values], [dtype], level, width).items():
            wrong = found != expected[name]
            assert not wrong.any(), (name, width, values[wrong][:4], found[wrong][:4], expected[name][wrong][:4])


@pytest.mark.parametrize("level", FORCED)
@pytest.mark.parametrize("integer", INTEGERS)
def test_integers_to_floats(integer: str, level: Level) -> None:
    bits = BITS[integer]
    low, high = -(1 << (bits - 1)), (1 << (bits - 1)) - 1
    edges = {0, 1, -1, low, high, low + 1, high - 1}
    for k in range(2, bits - 1):
        edges |= {s * ((1 << k) + d) for s in (1, -1) for d in (-1, 0, 1)}
    drawn = np.random.default_rng(1).integers(low, high, 500, dtype=NUMPY[integer], endpoint=True)
    values = np.concatenate([np.array(sorted(edges), NUMPY[integer]), drawn])
    values = np.resize(values, (values.size + 15) // 16 * 16)
    rules: dict[str, tuple[Rule, str]] = {}
    expected: dict[str, np.ndarray[Any, Any]] = {}
    for dtype in ("f16", "bf16", "f32", "f64"):
        for sign, source in (("s", values), ("u", values.view(UNSIGNED[integer]))):
            name = f"{sign} {dtype}"
            if sign == "s":
                rules[name] = (lambda b, x, to=dtype: b.sitofp(x, to), dtype)
            else:
                rules[name] = (lambda b, x, to=dtype: b.uitofp(x, to), dtype)
            with np.errstate(over="ignore"):
                expected[name] = from_integers(source, dtype)
    for width in WIDTHS:
        for name, found in apply(rules, [values], [integer], level, width).items():
            wrong = ~same(found, expected[name])
            assert not wrong.any(), (name, width, values[wrong][:4], found[wrong][:4], expected[name][wrong][:4])


@pytest.mark.parametrize("level", FORCED)
@pytest.mark.parametrize("integer", INTEGERS)
def test_integers_change_width(integer: str, level: Level) -> None:
    values = np.random.default_rng(4).integers(
        np.iinfo(NUMPY[integer]).min, np.iinfo(NUMPY[integer]).max, 256, NUMPY[integer], endpoint=True
    )
    rules: dict[str, tuple[Rule, str]] = {}
    expected: dict[str, np.ndarray[Any, Any]] = {}
    for other in INTEGERS:
        if BITS[other] > BITS[integer]:
            rules[f"sext {other}"] = (lambda b, x, to=other: b.sext(x, to), other)
            rules[f"zext {other}"] = (lambda b, x, to=other: b.zext(x, to), other)
            expected[f"sext {other}"] = values.astype(NUMPY[other])
            expected[f"zext {other}"] = values.view(UNSIGNED[integer]).astype(NUMPY[other])
        elif BITS[other] < BITS[integer]:
            rules[f"trunc {other}"] = (lambda b, x, to=other: b.trunc(x, to), other)
            expected[f"trunc {other}"] = values.astype(NUMPY[other])
    for width in WIDTHS:
        for name, found in apply(rules, [values], [integer], level, width).items():
            np.testing.assert_array_equal(found, expected[name], name)


def test_masks_to_integers() -> None:
    values = np.array([True, False, False, True] * 4)
    rules: dict[str, tuple[Rule, str]] = {
        "zext": (lambda b, x: b.zext(x, "i32"), "i32"),
        "sext": (lambda b, x: b.sext(x, "i32"), "i32"),
        "float": (lambda b, x: b.uitofp(x, "f32"), "f32"),
        "back": (lambda b, x: b.trunc(b.zext(x, "i32"), "i1"), "i1"),
    }
    for width in WIDTHS:
        found = apply(rules, [values], ["i1"], "native", width)
        np.testing.assert_array_equal(found["zext"], values.astype(np.int32))
        np.testing.assert_array_equal(found["sext"], -values.astype(np.int32))
        np.testing.assert_array_equal(found["float"], values.astype(np.float32))
        np.testing.assert_array_equal(found["back"], values)


def test_bitcasts_keep_the_bits() -> None:
    for a, b in (("f32", "i32"), ("f64", "i64"), ("f16", "i16"), ("bf16", "i16"), ("f16", "bf16")):
        values = np.random.default_rng(0).integers(0, 256, 16 * np.dtype(NUMPY[a]).itemsize, np.uint8).view(NUMPY[a])
        for x, y in ((a, b), (b, a)):
            source = values.view(NUMPY[x])
            for width in WIDTHS:
                found = apply({"k": (lambda b, v, y=y: b.bitcast(v, y), y)}, [source], [x], "native", width)["k"]
                assert found.tobytes() == source.tobytes()


@pytest.mark.parametrize("dtype", ["f16", "bf16", "f32"])
def test_constants_round_as_arrays_do(dtype: str) -> None:
    kind = NUMPY[dtype]
    rng = np.random.default_rng(8)
    values = [
        0.0,
        -0.0,
        0.1,
        65504.0,
        65519.0,
        65520.0,
        1e-8,
        3e-45,
        1e-46,
        3.4e38,
        3.5e38,
        float("inf"),
        2.0**-24,
        2.0**-25,
    ]
    values += (rng.normal(size=200) * 2.0 ** rng.integers(-40, 20, 200)).tolist()
    for value in values:
        with np.errstate(over="ignore"):
            # Through f32 only for bf16, whose conversion NumPy does in two steps.
            expected = np.array(value, np.float64).astype(kind)
            inexact = float(np.float32(value)) != value
        if dtype == "bf16" and inexact:
            continue
        assert float_bits(dtype, value) == int(expected.view({2: np.uint16, 4: np.uint32}[expected.itemsize])), value
        assert rounded(dtype, value) == float(expected) or value != value
    assert ml_dtypes.finfo(kind).dtype == np.dtype(kind)
