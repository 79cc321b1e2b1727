"""Float operations of the builder against NumPy, on edge values, at every width and feature level."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from teeny.backends.cpu.builder import Builder
from teeny.backends.cpu.target import Level
from teeny.backends.cpu.text import rounded
from teeny.ir.lanes import Lane
from tests.backends.cpu.harness import FORCED, NUMPY, WIDTHS, Rule, apply, same

FLOATS = ("f16", "bf16", "f32", "f64")
HALVES = ("f16", "bf16")


def pairs(dtype: str) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    kind = NUMPY[dtype]
    info = ml_dtypes.finfo(kind)
    tiny, least, most, eps = (float(v) for v in (info.tiny, info.smallest_subnormal, info.max, info.eps))
    edges = [
        0.0,
        1.0,
        1.5,
        2.5,
        0.5,
        3.0,
        7.0,
        100.0,
        tiny,
        tiny / 2,
        least,
        3 * least,
        most,
        most / 2,
        1 + eps,
        np.inf,
    ]
    edges = [s * e for e in edges for s in (1, -1)] + [np.nan]
    rng = np.random.default_rng(1)
    unsigned = {2: np.uint16, 4: np.uint32, 8: np.uint64}[np.dtype(kind).itemsize]
    drawn = rng.integers(0, np.iinfo(unsigned).max, 4000, dtype=unsigned, endpoint=True).view(kind)
    near = rng.normal(size=2000).astype(kind)
    a = np.concatenate([np.repeat(np.array(edges, kind), len(edges)), drawn, near])
    b = np.concatenate([np.tile(np.array(edges, kind), len(edges)), drawn[::-1], near[::-1]])
    pad = -a.size % 16
    return np.concatenate([a, a[:pad]]), np.concatenate([b, b[:pad]])


def widen(x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Halves as f32: the operation is done there and rounded once; others stay."""
    return x.astype(np.float32) if x.dtype.itemsize == 2 else x


def larger(a: np.ndarray[Any, Any], b: np.ndarray[Any, Any], sign: int, nan_loses: bool) -> np.ndarray[Any, Any]:
    best = np.where(sign * widen(a) > sign * widen(b), a, b)
    chosen = np.isnan(b) if nan_loses else np.isnan(a)
    return np.where(chosen, a, best)


BINARY: dict[str, tuple[Rule, Any]] = {
    "fadd": (lambda b, x, y: b.fadd(x, y), lambda x, y: widen(x) + widen(y)),
    "fsub": (lambda b, x, y: b.fsub(x, y), lambda x, y: widen(x) - widen(y)),
    "fmul": (lambda b, x, y: b.fmul(x, y), lambda x, y: widen(x) * widen(y)),
    "fdiv": (lambda b, x, y: b.fdiv(x, y), lambda x, y: widen(x) / widen(y)),
    "frem": (lambda b, x, y: b.frem(x, y), lambda x, y: np.fmod(widen(x), widen(y))),
    "fmaxnum": (lambda b, x, y: b.fmaxnum(x, y), lambda x, y: larger(x, y, 1, True)),
    "fminnum": (lambda b, x, y: b.fminnum(x, y), lambda x, y: larger(x, y, -1, True)),
    "fmaximum": (lambda b, x, y: b.fmaximum(x, y), lambda x, y: larger(x, y, 1, False)),
    "fminimum": (lambda b, x, y: b.fminimum(x, y), lambda x, y: larger(x, y, -1, False)),
}
UNARY: dict[str, tuple[Rule, Any]] = {
    "fneg": (lambda b, x: b.fneg(x), lambda x: -x),
    "fabs": (lambda b, x: b.fabs(x), lambda x: abs(x)),
    "fsqrt": (lambda b, x: b.fsqrt(x), lambda x: np.sqrt(widen(x))),
    "ffloor": (lambda b, x: b.ffloor(x), lambda x: np.floor(widen(x))),
    "fceil": (lambda b, x: b.fceil(x), lambda x: np.ceil(widen(x))),
}


@pytest.mark.parametrize("level", FORCED)
@pytest.mark.parametrize("dtype", FLOATS)
def test_arithmetic(dtype: str, level: Level) -> None:
    a, c = pairs(dtype)
    with np.errstate(all="ignore"):
        expected = {name: meaning(a, c).astype(a.dtype) for name, (_, meaning) in BINARY.items()}
        expected |= {name: meaning(a).astype(a.dtype) for name, (_, meaning) in UNARY.items()}
    rules: dict[str, tuple[Rule, str]] = {name: (rule, dtype) for name, (rule, _) in BINARY.items()}
    rules |= {name: (lambda b, x, _, rule=rule: rule(b, x), dtype) for name, (rule, _) in UNARY.items()}
    for width in WIDTHS:
        for name, values in apply(rules, [a, c], [dtype] * 2, level, width).items():
            equal = same(values, expected[name])
            if name[1:4] in ("max", "min"):
                equal |= (widen(values) == 0) & (widen(expected[name]) == 0)
            wrong = ~equal
            assert equal.all(), (name, width, a[wrong][:3], c[wrong][:3], values[wrong][:3], expected[name][wrong][:3])


def test_extrema_ignore_or_keep_nan() -> None:
    one, nan = np.full(16, 1, np.float32), np.full(16, np.nan, np.float32)
    rules: dict[str, tuple[Rule, str]] = {
        name: (BINARY[name][0], "f32") for name in BINARY if name[1:4] in ("max", "min")
    }
    for a, c in ((one, nan), (nan, one)):
        for name, values in apply(rules, [a, c], ["f32"] * 2, "native", 16).items():
            assert np.isnan(values).all() == (name in ("fmaximum", "fminimum")), name


PREDICATES: dict[str, Any] = {
    "oeq": lambda x, y: x == y,
    "ogt": lambda x, y: x > y,
    "oge": lambda x, y: x >= y,
    "olt": lambda x, y: x < y,
    "ole": lambda x, y: x <= y,
    "one": lambda x, y: (x < y) | (x > y),
    "ord": lambda x, y: (x == x) & (y == y),
    "ueq": lambda x, y: ~((x < y) | (x > y)),
    "ugt": lambda x, y: ~(x <= y),
    "uge": lambda x, y: ~(x < y),
    "ult": lambda x, y: ~(x >= y),
    "ule": lambda x, y: ~(x > y),
    "une": lambda x, y: x != y,
    "uno": lambda x, y: (x != x) | (y != y),
}


@pytest.mark.parametrize("level", FORCED)
@pytest.mark.parametrize("dtype", FLOATS)
def test_comparisons(dtype: str, level: Level) -> None:
    a, c = pairs(dtype)
    rules: dict[str, tuple[Rule, str]] = {
        pred: (lambda b, x, y, pred=pred: b.fcmp(pred, x, y), "i1") for pred in PREDICATES
    }
    for width in WIDTHS:
        for pred, values in apply(rules, [a, c], [dtype] * 2, level, width).items():
            np.testing.assert_array_equal(values, PREDICATES[pred](widen(a), widen(c)), f"{pred} {width}")


def exact_fma(dtype: str, a: float, b: float, c: float) -> float:
    """a*b + c in rational numbers, rounded once; a zero sum of non-zero terms is +0."""
    total = Fraction(a) * Fraction(b) + Fraction(c)
    if total == 0:
        return a * b + c
    # Python rounds a quotient of integers once, to f64; a sticky bit below lets the narrower rounding be right.
    if dtype == "f64":
        try:
            return total.numerator / total.denominator
        except OverflowError:
            return float("inf") if total > 0 else float("-inf")
    scale = 200 - (abs(total.numerator).bit_length() - total.denominator.bit_length())
    scaled = abs(total) * Fraction(2) ** scale
    whole = scaled.numerator // scaled.denominator
    sticky = (whole >> 152) | (1 if whole & ((1 << 152) - 1) or whole != scaled else 0)
    # 49 bits are an exact f64 unless the exponent is extreme, where narrower formats are long zero or infinite.
    try:
        value = float(Fraction(sticky) * Fraction(2) ** (152 - scale))
    except OverflowError:
        value = float("inf")
    return rounded(dtype, value if total > 0 else -value)


@pytest.mark.parametrize("level", FORCED)
@pytest.mark.parametrize("dtype", FLOATS)
def test_fma_rounds_once(dtype: str, level: Level) -> None:
    rng = np.random.default_rng(3)
    kind = NUMPY[dtype]
    info = ml_dtypes.finfo(kind)
    scales = 2.0 ** rng.integers(-8, 8, 600)
    a = (rng.normal(size=600) * scales).astype(kind)
    c = rng.normal(size=600).astype(kind)
    # c near -a*c: cancellation; c tiny or huge beside the product; subnormal and overflowing results.
    products = a.astype(np.float64) * c.astype(np.float64)
    parts = [-products[:150], products[150:300] * 2.0**-12, products[300:450] * 2.0**11, products[450:]]
    with np.errstate(over="ignore"):
        d = np.concatenate(parts).astype(kind)
    a[500:550] = np.array(float(info.tiny), kind)
    d[500:550] = np.array(float(info.smallest_subnormal), kind)
    a[550:560], c[550:560] = info.max, 1.5
    a[560:570], d[560:570] = np.inf, -np.inf
    a, c, d = (np.resize(v, 608) for v in (a, c, d))
    with np.errstate(all="ignore"):
        expected = np.array(
            [
                exact_fma(dtype, x, y, z) if np.isfinite([x, y, z]).all() else x * y + z
                for x, y, z in zip(*(v.astype(np.float64).tolist() for v in (a, c, d)), strict=True)
            ]
        ).astype(kind)
    for width in WIDTHS:
        found = apply({"fma": (lambda b, x, y, z: b.fma(x, y, z), dtype)}, [a, c, d], [dtype] * 3, level, width)["fma"]
        wrong = ~same(found, expected)
        assert not wrong.any(), (width, a[wrong][:3], c[wrong][:3], d[wrong][:3], found[wrong][:3], expected[wrong][:3])


def test_nothing_is_fused_or_reassociated() -> None:
    x = np.full(16, 1 + 2.0**-12, np.float32)
    rules: dict[str, tuple[Rule, str]] = {
        "mul then sub": (lambda b, x: b.fsub(b.fmul(x, x), b.const("f32", 1.0)), "f32"),
        "add and take away": (lambda b, x: b.fsub(b.fadd(x, b.const("f32", 2.0**30)), b.const("f32", 2.0**30)), "f32"),
    }
    one, big = np.float32(1), np.float32(2.0**30)
    expected = {"mul then sub": x * x - one, "add and take away": (x + big) - big}
    for width in WIDTHS:
        for name, values in apply(rules, [x], ["f32"], "native", width).items():
            np.testing.assert_array_equal(values, expected[name], name)


@pytest.mark.parametrize("dtype", HALVES)
def test_halves_round_after_each_operation(dtype: str) -> None:
    x = pairs(dtype)[0]
    with np.errstate(all="ignore"):
        one = np.array(1, x.dtype)
        expected = ((x + one) * x - x).astype(x.dtype)

    def rule(b: Builder, x: Lane) -> Lane:
        return b.fsub(b.fmul(b.fadd(x, b.const(dtype, 1.0)), x), x)

    for level in FORCED:
        found = apply({"k": (rule, dtype)}, [x], [dtype], level, 16)["k"]
        assert same(found, expected).all(), level


@pytest.mark.parametrize("level", FORCED)
@pytest.mark.parametrize("dtype", ["f32", "f64"])
def test_ldexp_rounds_once(dtype: str, level: Level) -> None:
    kind = NUMPY[dtype]
    reach = 250 if dtype == "f32" else 2000
    rng = np.random.default_rng(5)
    a = rng.uniform(0.5, 4, 4096).astype(kind) * rng.choice([-1, 1], 4096).astype(kind)
    n = rng.integers(-reach, reach, 4096, endpoint=True).astype(kind)
    a[:16] = np.nan
    with np.errstate(all="ignore"):
        if dtype == "f32":
            expected = np.ldexp(a.astype(np.float64), n.astype(np.int32)).astype(np.float32)
        else:
            expected = np.array([_ldexp(x, int(k)) for x, k in zip(a.tolist(), n.tolist(), strict=True)])
    for width in WIDTHS:
        found = apply({"k": (lambda b, x, y: b.ldexp(x, y), dtype)}, [a, n], [dtype] * 2, level, width)["k"]
        assert same(found, expected).all(), width


def _ldexp(x: float, n: int) -> float:
    if x != x:
        return x
    exact = Fraction(x) * Fraction(2) ** n
    try:
        return exact.numerator / exact.denominator or np.copysign(0.0, x)
    except OverflowError:
        return np.copysign(np.inf, x)
