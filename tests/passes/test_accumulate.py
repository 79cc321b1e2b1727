"""`x + dot(a, b)` as one product, and where it must stay two operations."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import teeny as tn
import teeny.language as tl
from teeny.backends.reference import run
from teeny.ir.core import Module, walk_function
from teeny.ir.verify import verify
from teeny.passes.accumulate import accumulate

S = 16


@tn.kernel
def sums(x_ptr: tl.Ptr[tl.f32], y_ptr: tl.Ptr[tl.f32], n: tl.Scalar[tl.i32], form: tl.Const[str]) -> None:
    at = tl.arange(0, 16)[:, None] * 16 + tl.arange(0, 16)[None, :]
    a = tl.load(x_ptr + at)
    b = tl.load(x_ptr + at + 1)
    y = tl.load(y_ptr + at)
    if form == "right":
        y = y + tl.dot(a, b)
    if form == "left":
        y = tl.dot(a, b) + y
    if form == "two":
        y = y + tl.dot(a, b) + tl.dot(b, a)
    if form == "products":
        y = tl.dot(a, b) + tl.dot(b, a)
    if form == "difference":
        y = y - tl.dot(a, b)
    if form == "used":
        product = tl.dot(a, b)
        y = (y + product) * product
    if form == "doubled":
        product = tl.dot(a, b)
        y = product + product
    if form == "started":
        y = y + tl.dot(a, b, a)
    if form == "inside":
        product = tl.dot(a, b)
        for _ in tl.range(0, n):
            y += product
    if form == "after":
        y = y + tl.dot(a, b)
        for _ in tl.range(0, n):
            y = y * 0.5
    tl.store(y_ptr + at, y)


def counts(module: Module) -> tuple[int, int]:
    """Products, and sums of floats."""
    names = [op.name for op in walk_function(module.kernel)]
    return names.count("tt.dot"), names.count("arith.addf")


EXPECTED = {
    "right": (1, 0),
    "left": (1, 0),
    "two": (2, 0),
    "products": (2, 0),
    "difference": (1, 0),
    "used": (1, 1),
    "doubled": (1, 1),
    "started": (1, 1),
    "inside": (1, 1),
    "after": (1, 0),
}


def meaning(form: str, a: Any, b: Any, y: Any, n: int) -> Any:
    product = a @ b
    return {
        "right": y + product,
        "left": y + product,
        "two": y + product + b @ a,
        "products": product + b @ a,
        "difference": y - product,
        "used": (y + product) * product,
        "doubled": product * 2,
        "started": y + product + a,
        "inside": y + n * product,
        "after": (y + product) * 0.5**n,
    }[form]


@pytest.mark.parametrize("form", EXPECTED)
def test_forms(form: str) -> None:
    module = sums.specialize(form=form).module
    assert counts(module) == EXPECTED[form]
    accumulate(module)
    verify(module, concrete=True)
    assert counts(module) == EXPECTED[form], "a second run changes nothing"
    random = np.random.default_rng(0)
    x, y = random.standard_normal(S * S + 1).astype(np.float32), random.standard_normal(S * S).astype(np.float32)
    right = meaning(form, *(v.astype(np.float64).reshape(S, S) for v in (x[:-1], x[1:], y)), 3)
    run(module, [x, y, 3], (1, 1, 1))
    np.testing.assert_allclose(y.reshape(S, S), right, rtol=1e-4, atol=1e-4)
