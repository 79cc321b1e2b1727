"""Integer operations of the builder against Python's integers, on edge values, at every width and feature level."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from teeny.backends.cpu.target import Level
from tests.backends.cpu.harness import FORCED, NUMPY, UNSIGNED, WIDTHS, Rule, apply

BITS = {"i8": 8, "i16": 16, "i32": 32, "i64": 64}


def pairs(dtype: str) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    bits = BITS[dtype]
    low, high = -(1 << (bits - 1)), (1 << (bits - 1)) - 1
    edges = [0, 1, -1, 2, -2, 3, -3, 7, 100, -100, bits - 1, bits, bits + 1, high, high - 1, low, low + 1, high // 3]
    edges = [e for e in dict.fromkeys(edges) if low <= e <= high]
    rng = np.random.default_rng(bits)
    drawn = rng.integers(low, high, 400, dtype=NUMPY[dtype], endpoint=True)
    shrunk = rng.integers(-50, 50, 400).astype(NUMPY[dtype])
    a = np.concatenate([np.repeat(edges, len(edges)), drawn, drawn]).astype(NUMPY[dtype])
    b = np.concatenate([np.tile(edges, len(edges)), drawn[::-1], shrunk]).astype(NUMPY[dtype])
    pad = -a.size % 16
    return np.concatenate([a, a[:pad]]), np.concatenate([b, b[:pad]])


def quotient(a: int, b: int) -> int:
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1) if b else a


Meaning = Callable[[int, int, int], int]
"""Of signed operands and the number of bits; the result is taken modulo 2**bits."""


def u(x: int, bits: int) -> int:
    return x & ((1 << bits) - 1)


OPERATIONS: dict[str, tuple[Rule, Meaning]] = {
    "add": (lambda b, x, y: b.add(x, y), lambda x, y, n: x + y),
    "sub": (lambda b, x, y: b.sub(x, y), lambda x, y, n: x - y),
    "mul": (lambda b, x, y: b.mul(x, y), lambda x, y, n: x * y),
    "mulhi_u": (lambda b, x, y: b.mulhi_u(x, y), lambda x, y, n: (u(x, n) * u(y, n)) >> n),
    "sdiv": (lambda b, x, y: b.sdiv(x, y), lambda x, y, n: quotient(x, y)),
    "udiv": (lambda b, x, y: b.udiv(x, y), lambda x, y, n: u(x, n) // u(y, n) if y else x),
    "srem": (lambda b, x, y: b.srem(x, y), lambda x, y, n: x - quotient(x, y) * y if y else 0),
    "urem": (lambda b, x, y: b.urem(x, y), lambda x, y, n: u(x, n) % u(y, n) if y else 0),
    "and": (lambda b, x, y: b.and_(x, y), lambda x, y, n: x & y),
    "or": (lambda b, x, y: b.or_(x, y), lambda x, y, n: x | y),
    "xor": (lambda b, x, y: b.xor(x, y), lambda x, y, n: x ^ y),
    "shl": (lambda b, x, y: b.shl(x, y), lambda x, y, n: x << u(y, n) if u(y, n) < n else 0),
    "lshr": (lambda b, x, y: b.lshr(x, y), lambda x, y, n: u(x, n) >> u(y, n) if u(y, n) < n else 0),
    "ashr": (lambda b, x, y: b.ashr(x, y), lambda x, y, n: x >> min(u(y, n), n - 1)),
    "smax": (lambda b, x, y: b.smax(x, y), lambda x, y, n: max(x, y)),
    "smin": (lambda b, x, y: b.smin(x, y), lambda x, y, n: min(x, y)),
    "umax": (lambda b, x, y: b.umax(x, y), lambda x, y, n: max(u(x, n), u(y, n))),
    "umin": (lambda b, x, y: b.umin(x, y), lambda x, y, n: min(u(x, n), u(y, n))),
    "select": (lambda b, x, y: b.select(b.icmp("slt", x, y), y, x), lambda x, y, n: max(x, y)),
}


@pytest.mark.parametrize("level", FORCED)
@pytest.mark.parametrize("dtype", BITS)
def test_binary(dtype: str, level: Level) -> None:
    a, b = pairs(dtype)
    expected = {
        name: np.array(
            [u(meaning(x, y, BITS[dtype]), BITS[dtype]) for x, y in zip(a.tolist(), b.tolist(), strict=True)],
            UNSIGNED[dtype],
        )
        for name, (_, meaning) in OPERATIONS.items()
    }
    for width in WIDTHS:
        found = apply(
            {name: (rule, dtype) for name, (rule, _) in OPERATIONS.items()}, [a, b], [dtype] * 2, level, width
        )
        for name, values in found.items():
            wrong = values.view(UNSIGNED[dtype]) != expected[name]
            assert not wrong.any(), (name, width, a[wrong][:3], b[wrong][:3], values[wrong][:3])


PREDICATES: dict[str, Callable[[int, int], bool]] = {
    "eq": operator.eq,
    "ne": operator.ne,
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
}


@pytest.mark.parametrize("level", FORCED)
@pytest.mark.parametrize("dtype", BITS)
def test_comparisons(dtype: str, level: Level) -> None:
    a, b = pairs(dtype)
    rules: dict[str, tuple[Rule, str]] = {}
    expected: dict[str, np.ndarray[Any, Any]] = {}
    for name, meaning in PREDICATES.items():
        for sign in ("",) if name in ("eq", "ne") else ("s", "u"):
            x, y = (a, b) if sign != "u" else (a.view(UNSIGNED[dtype]), b.view(UNSIGNED[dtype]))
            expected[sign + name] = np.asarray(meaning(x, y))
            rules[sign + name] = (lambda b, x, y, pred=sign + name: b.icmp(pred, x, y), "i1")
    for width in WIDTHS:
        for name, values in apply(rules, [a, b], [dtype] * 2, level, width).items():
            np.testing.assert_array_equal(values, expected[name], f"{name} {width}")


CONSTANTS = (0, 1, -1, 2, 3, 7, -5, 31, 64)


@pytest.mark.parametrize("dtype", BITS)
def test_constant_operands_on_the_right(dtype: str) -> None:
    a, _ = pairs(dtype)
    bits = BITS[dtype]
    rules: dict[str, tuple[Rule, str]] = {}
    expected: dict[str, np.ndarray[Any, Any]] = {}
    for name, (rule, meaning) in OPERATIONS.items():
        for c in CONSTANTS:
            key = f"{name} {c}"
            rules[key] = (lambda b, x, c=c, rule=rule: rule(b, x, b.const(dtype, c)), dtype)
            expected[key] = np.array([u(meaning(x, c, bits), bits) for x in a.tolist()], UNSIGNED[dtype])
    for width in (1, 16):
        for key, values in apply(rules, [a], [dtype], "native", width).items():
            np.testing.assert_array_equal(values.view(UNSIGNED[dtype]), expected[key], f"{key} {width}")


@pytest.mark.parametrize("dtype", BITS)
def test_constants_fold_to_the_same(dtype: str) -> None:
    bits = BITS[dtype]
    inputs = np.zeros(16, NUMPY[dtype])
    for x in (5, -7, 0, -(1 << (bits - 1))):
        rules: dict[str, tuple[Rule, str]] = {
            f"{name} {c}": (lambda b, _, x=x, c=c, rule=rule: rule(b, b.const(dtype, x), b.const(dtype, c)), dtype)
            for name, (rule, _) in OPERATIONS.items()
            for c in (0, 1, -1, 3, bits)
        }
        for key, values in apply(rules, [inputs], [dtype], "native", 16).items():
            name, c = key.split()
            expected = u(OPERATIONS[name][1](x, int(c), bits), bits)
            assert (values.view(UNSIGNED[dtype]) == expected).all(), (key, x, values[0], expected)


def test_bits_of_masks() -> None:
    x = np.array([False, True] * 8)
    y = np.array([False, False, True, True] * 4)
    rules: dict[str, tuple[Rule, str]] = {
        "and": (lambda b, x, y: b.and_(x, y), "i1"),
        "or": (lambda b, x, y: b.or_(x, y), "i1"),
        "xor": (lambda b, x, y: b.xor(x, y), "i1"),
        "not": (lambda b, x, y: b.xor(x, b.const("i1", 1)), "i1"),
        "and true": (lambda b, x, y: b.and_(x, b.const("i1", 1)), "i1"),
        "or false": (lambda b, x, y: b.or_(x, b.const("i1", 0)), "i1"),
        "eq": (lambda b, x, y: b.icmp("eq", x, y), "i1"),
        "ult": (lambda b, x, y: b.icmp("ult", x, y), "i1"),
    }
    expected = {
        "and": x & y, "or": x | y, "xor": x ^ y, "not": ~x, "and true": x, "or false": x, "eq": x == y, "ult": ~x & y,
    }  # fmt: skip
    for width in WIDTHS:
        for name, values in apply(rules, [x, y], ["i1", "i1"], "native", width).items():
            np.testing.assert_array_equal(values, expected[name], name)
