"""The reference's matrix product: each step rounds once, in rising k; integers wrap; undefined lanes spread."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from teeny.backends.reference import bind, run
from teeny.ir.core import Module
from teeny.ir.dtype import F32, I32, LEAVES
from teeny.ops.dot import dot_
from tests.drafts import Draft
from tests.language.rounding import fused

M, N, K = 4, 8, 16
DTYPES: dict[str, Any] = {"f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32, "i8": np.int8}


def kernel(name: str, masked: bool = False) -> Module:
    """c += a @ b on contiguous tiles; `masked`: of a the rows, of b the columns from n on are not loaded."""
    total = I32 if name == "i8" else F32
    d = Draft()
    for parameter, dtype in (("a", LEAVES[name]), ("b", LEAVES[name]), ("c", total)):
        d.pointer(parameter, dtype)
    d.scalar("n")
    a, b, c, n = d.begin()
    tiles: list[Any] = []
    for pointer, (rows, columns), axis in ((a, (M, K), 0), (b, (K, N), 1), (c, (M, N), None)):
        row = d.expand(d.range(rows), 1, (rows, columns))
        column = d.expand(d.range(columns), 0, (rows, columns))
        width = d.fill(d.const(columns, I32), (rows, columns))
        at = d.at(pointer, d.add(d.mul(row, width), column))
        mask = None
        if masked and axis is not None:
            mask = d.compare("lt", column if axis else row, d.fill(n, (rows, columns)))
        tiles.append(d.load(at, mask))
    product = d.apply(dot_, *tiles)
    d.store(at, product)
    return d.end()


def operands(name: str, seed: int) -> list[Any]:
    random = np.random.default_rng(seed)
    if name == "i8":
        a, b = (random.integers(-128, 128, shape).astype(np.int8) for shape in ((M, K), (K, N)))
        return [a, b, random.integers(-(2**31), 2**31, (M, N)).astype(np.int32)]
    # Exponents far apart, so that the order and the number of roundings show.
    return [
        (random.standard_normal(shape) * 2.0 ** random.integers(-9, 10, shape)).astype(dtype)
        for shape, dtype in (((M, K), DTYPES[name]), ((K, N), DTYPES[name]), ((M, N), np.float32))
    ]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", ["f16", "bf16", "f32"])
def test_a_chain_of_fused_steps(name: str, seed: int) -> None:
    a, b, c = operands(name, seed)
    right = c.copy()
    for k in range(K):
        right = fused(a[:, k, None].astype(np.float32), b[None, k].astype(np.float32), right)
    run(kernel(name), [a, b, c, 0], (1, 1, 1))
    np.testing.assert_array_equal(c, right)


def test_integers_wrap() -> None:
    a, b, c = operands("i8", 0)
    right = (a.astype(np.int64) @ b.astype(np.int64) + c).astype(np.int32)
    run(kernel("i8"), [a, b, c, 0], (1, 1, 1))
    np.testing.assert_array_equal(c, right)


def test_undefined_rows_and_columns() -> None:
    a, b, c = operands("f32", 0)
    bound = bind([a, b, c, 3])
    run(kernel("f32", masked=True), bound, (1, 1, 1))
    undefined = np.ones((M, N), bool)
    undefined[:3, :3] = False
    np.testing.assert_array_equal(bound[2].undefined(c).reshape(M, N), undefined)
