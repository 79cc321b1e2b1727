"""Literals on either side of a function's operands, two literals of `where`, and i32 beside i64 in `maximum`."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import teeny as tn
from tests.language.executors import EXECUTORS, kernel_of, launch

AT = "    at = tl.arange(0, 16)\n    x = tl.load(p + at)\n"
FLOATS: dict[str, Callable[[Any], Any]] = {
    "tl.maximum(0.5, x)": lambda x: np.maximum(0.5, x),
    "tl.maximum(1, x)": lambda x: np.maximum(1, x),
    "tl.minimum(-1.0, x)": lambda x: np.minimum(-1, x),
    "tl.minimum(2, tl.maximum(0, x))": lambda x: np.clip(x, 0, 2),
    "tl.fdiv(1.0, x)": lambda x: 1 / x,
    "tl.fdiv(1, x, True)": lambda x: 1 / x,
    "tl.div_rn(2.0, x)": lambda x: 2 / x,
    "tl.fma(2.0, x, 1.0)": lambda x: 2 * x + 1,
    "tl.fma(2, x, x)": lambda x: 3 * x,
    "tl.fma(2, 3.0, x)": lambda x: 6 + x,
    "tl.pow(2.0, x)": lambda x: 2.0**x,
}
INTEGERS: dict[str, Callable[[Any], Any]] = {
    "tl.maximum(3, x)": lambda x: np.maximum(3, x),
    "tl.minimum(K, x)": lambda x: np.minimum(5, x),
    "tl.maximum(x, K)": lambda x: np.maximum(5, x),
}


def ran(kernel: Any, arguments: list[Any], **constants: Any) -> list[Any]:
    """The arguments after a run on each executor."""
    found: list[Any] = []
    for executor in EXECUTORS:
        copies: list[Any] = [copy(a) for a in arguments]
        launch(kernel, executor, copies, constants=constants)
        found.append(copies)
    return found


@pytest.mark.parametrize("dtype", ["f16", "f32", "f64"])
@pytest.mark.parametrize("line", FLOATS)
def test_a_literal_first_of_floats(line: str, dtype: str, tmp_path: Path) -> None:
    text = f"@tn.kernel\ndef kernel(p: tl.Ptr[tl.{dtype}]) -> None:\n{AT}    tl.store(p + at, {line})\n"
    x = np.array([1, 2, 4, -1, -2, -4, 12, 8] * 2, dtype.replace("f", "float"))
    for (found,) in ran(kernel_of(text, tmp_path), [x]):
        np.testing.assert_array_equal(found, FLOATS[line](x))


@pytest.mark.parametrize("dtype", ["i8", "u8", "i32", "u32", "i64"])
@pytest.mark.parametrize("line", INTEGERS)
def test_a_literal_first_of_integers(line: str, dtype: str, tmp_path: Path) -> None:
    head = f"@tn.kernel\ndef kernel(p: tl.Ptr[tl.{dtype}], K: tl.Const[int]) -> None:\n"
    kernel = kernel_of(f"{head}{AT}    tl.store(p + at, {line})\n", tmp_path)
    x = np.arange(-4 * (dtype[0] == "i"), 16)[:16].astype(dtype.replace("i", "int").replace("u", "uint"))
    for (found,) in ran(kernel, [x], K=5):
        np.testing.assert_array_equal(found, INTEGERS[line](x))


MIXED = """@tn.kernel
def kernel(p: tl.Ptr[tl.i64], n: tl.Scalar[tl.i32], m: tl.Scalar[tl.i64]) -> None:
    at = tl.arange(0, 16)
    x = tl.load(p + at)
    tl.store(p + at, tl.maximum(x, at * n) + tl.minimum(at, m) + tl.minimum(m, n))
"""


def test_i32_beside_i64(tmp_path: Path) -> None:
    at = np.arange(16)
    x = at - 2**40
    for found, *_ in ran(kernel_of(MIXED, tmp_path), [x, -7, 2**33]):
        np.testing.assert_array_equal(found, np.maximum(x, at * -7) + at - 7)


CHOSEN = """@tn.kernel
def kernel(i: tl.Ptr[tl.i32], f: tl.Ptr[tl.f32], b: tl.Ptr[tl.bool_], n: tl.Scalar[tl.i32], K: tl.Const[int]) -> None:
    at = tl.arange(0, 16)
    tl.store(i + at, tl.where(at < n, 1, 0) + tl.where(at > 3, K, -K))
    tl.store(f + at, tl.where(at < n, 0, -1.0e6) + tl.where(at < n, 0.5, 2))
    tl.store(b + at, tl.where(at < n, True, False))
    tl.store(i + 16, tl.where(n > 3, 7, 8))
"""


def test_two_literals_of_where(tmp_path: Path) -> None:
    at = np.arange(16)
    arguments = [np.zeros(17, np.int32), np.zeros(16, np.float32), np.zeros(16, np.bool_), 6]
    for i, f, b, _ in ran(kernel_of(CHOSEN, tmp_path), arguments, K=9):
        np.testing.assert_array_equal(i, [*((at < 6) + np.where(at > 3, 9, -9)), 7])
        np.testing.assert_array_equal(f, np.where(at < 6, 0.5, 2 - 1e6))
        np.testing.assert_array_equal(b, at < 6)


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("tl.store(p, tl.where(tl.load(p) > 0, 2**40, 0).to(tl.f32))", "T006"),
        ("tl.store(p, tl.where(tl.load(p) > 0, 1, 0))", "T003"),
        ("tl.store(p, tl.maximum(1, 2))", "T010"),
        ("tl.store(p, tl.maximum(0.5, tl.load(p).to(tl.i32)).to(tl.f32))", "T006"),
        ("tl.store(p, tl.exp(2.0))", "T010"),
    ],
)
def test_what_is_refused(line: str, code: str, tmp_path: Path) -> None:
    with pytest.raises(tn.KernelError) as caught:
        kernel_of(f"@tn.kernel\ndef kernel(p: tl.Ptr[tl.f32]) -> None:\n    {line}\n", tmp_path)
    assert [d.code for d in caught.value.diagnostics] == [code]
