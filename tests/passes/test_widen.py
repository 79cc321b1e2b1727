"""16-bit floats: what is computed in f32, and what stays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from teeny.backends.reference import run
from teeny.ir.core import Module, Value, walk_function
from teeny.ir.dtype import BF16, F16, F32, DType
from teeny.ops.arith import addf, fma_, maxnumf, mulf
from teeny.ops.division import divf, remf
from teeny.ops.math import exp2_, exp_, log_, rsqrt_, sqrt_, sqrt_rn_, tanh_
from teeny.passes.widen import widen
from tests.drafts import Draft

N = 128
HALVES = [(F16, np.dtype(np.float16)), (BF16, np.dtype(ml_dtypes.bfloat16))]


def kernel(dtype: DType, body: Callable[[Draft, Value, Value], Value]) -> Module:
    """y = body(x0, x1) on one tile, or one scalar where the body reduces."""
    d = Draft()
    for name in ("x0", "x1", "y"):
        d.pointer(name, dtype)
    x0, x1, y = d.begin()
    offsets = d.range(N)
    found = body(d, d.load(d.at(x0, offsets)), d.load(d.at(x1, offsets)))
    d.store(d.at(y, offsets), d.fill(found, (N,)))
    return d.end()


def names(module: Module) -> list[str]:
    return [op.name for op in walk_function(module.kernel)]


def result(module: Module, x0: Any, x1: Any) -> Any:
    y = np.zeros_like(x0)
    run(module, [x0, x1, y], (1, 1, 1))
    return y


def inputs(dtype: np.dtype[Any]) -> tuple[Any, Any]:
    rng = np.random.default_rng(5)
    return rng.uniform(0.1, 9, N).astype(dtype), rng.uniform(0.1, 9, N).astype(dtype)


@pytest.mark.parametrize(("dtype", "array"), HALVES)
@pytest.mark.parametrize(
    ("schema", "oracle"),
    [
        (exp_, np.exp),
        (exp2_, np.exp2),
        (tanh_, np.tanh),
        (sqrt_rn_, np.sqrt),
        (log_, np.log),
        (sqrt_, np.sqrt),
        (rsqrt_, lambda x: 1 / np.sqrt(x)),
    ],
)
def test_functions_compute_in_f32_and_round_once(dtype: DType, array: Any, schema: Any, oracle: Any) -> None:
    module = kernel(dtype, lambda d, x, _: d.apply(schema, x))
    widen(module)
    at = names(module).index("arith.extf")
    assert names(module)[at : at + 3] == ["arith.extf", schema.name, "arith.truncf"]
    x0, x1 = inputs(array)
    expected = oracle(x0.astype(np.float64)).astype(np.float32).astype(array)
    assert np.array_equal(result(module, x0, x1), expected)


@pytest.mark.parametrize(("dtype", "array"), HALVES)
@pytest.mark.parametrize(("schema", "oracle"), [(divf, np.divide), (remf, np.fmod)])
def test_division_and_remainder(dtype: DType, array: Any, schema: Any, oracle: Any) -> None:
    module = kernel(dtype, lambda d, x, y: d.apply(schema, x, y))
    widen(module)
    assert names(module).count("arith.extf") == 2
    x0, x1 = inputs(array)
    expected = oracle(x0.astype(np.float32), x1.astype(np.float32)).astype(array)
    assert np.array_equal(result(module, x0, x1), expected)


@pytest.mark.parametrize("schema", [addf, mulf, maxnumf])
def test_arithmetic_stays_in_the_dtype(schema: Any) -> None:
    module = kernel(F16, lambda d, x, y: d.apply(fma_, d.apply(schema, x, y), x, y))
    before = names(module)
    widen(module)
    assert names(module) == before


@pytest.mark.parametrize("schema", [addf, maxnumf])
def test_a_reduction_stays_in_the_dtype(schema: Any) -> None:
    module = kernel(BF16, lambda d, x, _: d.reduce(x, 0, schema))
    before = names(module)
    widen(module)
    assert names(module) == before


def test_f32_is_left_alone() -> None:
    module = kernel(F32, lambda d, x, y: d.apply(exp_, d.apply(divf, x, d.fill(d.reduce(y, 0, addf), (N,)))))
    before = names(module)
    widen(module)
    assert names(module) == before


def test_names_and_later_uses_follow() -> None:
    d = Draft()
    d.pointer("x", F16)
    (ptr,) = d.begin()
    value = d.apply(exp_, d.load(d.at(ptr, d.range(4))))
    value.name = "e"
    d.store(d.at(ptr, d.range(4)), d.apply(addf, value, value))
    module = d.end()
    widen(module)
    rounded = next(op for op in walk_function(module.kernel) if op.name == "arith.truncf").result
    total = next(op for op in walk_function(module.kernel) if op.name == "arith.addf")
    assert rounded.name == "e"
    assert total.operands == (rounded, rounded)
