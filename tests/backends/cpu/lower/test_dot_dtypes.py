"""Products of the other dtypes in all modes: f64, sums of f16, 8-bit floats, bytes without a sign."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
import pytest

import teeny as tn
import teeny.language as tl
from tests.backends.cpu.lower.harness import ALL, Mode, compile_in, expected, native, same_bits
from tests.language.rounding import DTYPES

P = TypeVar("P", bound=tl.Float8)


def _body(dtype: str, total: str) -> str:
    """A product of ragged tiles with one operand turned, added up in a loop."""
    return f"""
@tn.kernel
def kernel(
    a: tl.Ptr[tl.{dtype}], b: tl.Ptr[tl.{dtype}], c: tl.Ptr[tl.{total}], m: tl.Scalar[tl.i32], k: tl.Scalar[tl.i32],
    TURNED: tl.Const[bool],
) -> None:
    rm, rn, zero = tl.arange(0, 16), tl.arange(0, 32), {0 if dtype == "u8" else 0.0}
    place = rm[:, None] * 32 + rn[None, :]
    acc = tl.load(c + place, mask=(rm < m)[:, None], other={0 if total == "i32" else 0.0})
    for start in tl.range(0, k, 16):
        rk = start + tl.arange(0, 16)
        x = tl.load(a + rm[:, None] * k + rk[None, :], mask=(rm < m)[:, None] & (rk < k)[None, :], other=zero)
        if TURNED:
            y = tl.trans(tl.load(b + rn[:, None] * k + rk[None, :], mask=(rk < k)[None, :], other=zero))
        else:
            y = tl.load(b + rk[:, None] * 32 + rn[None, :], mask=(rk < k)[:, None], other=zero)
        acc = tl.dot(x, y, acc)
    tl.store(c + place, acc, mask=(rm < m)[:, None])
"""


KINDS = [("f64", "f64"), ("f16", "f16"), ("f8e4m3", "f32"), ("f8e5m2", "f16"), ("u8", "i32")]
"""Dtypes of operands and of sums."""
BY_PAIRS = {mode for mode in ALL if mode.level == "native" and mode.width in (None, 16)}
"""Modes in which 8-bit floats may be multiplied as pairs of bf16."""


def drawn(dtype: str, shape: tuple[int, ...], seed: int) -> Any:
    random = np.random.default_rng(seed)
    if dtype in ("u8", "i32"):
        return random.integers(0, 256, shape).astype(DTYPES[dtype])
    return random.standard_normal(shape).astype(DTYPES[dtype])


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize(("dtype", "total"), KINDS)
def test_in_all_modes(dtype: str, total: str, turned: bool, tmp_path: Any) -> None:
    from tests.language.executors import kernel_of

    module = kernel_of(_body(dtype, total), tmp_path).specialize(TURNED=turned).module
    compiled = {mode: compile_in(module, mode) for mode in ALL}
    for m, k in ((16, 32), (5, 41), (1, 3)):
        a, b = drawn(dtype, (m, k), 0), drawn(dtype, (k, 32), 1)
        c = drawn(total, (m, 32), 2)
        args = [a, np.ascontiguousarray(b.T) if turned else b, c, m, k]
        want = expected(module, args, (1, 1, 1))[2]
        wide = [v.astype(np.float64) for v in (a, b, c)]
        right = wide[0] @ wide[1] + wide[2]
        unit = {"f64": 2.0**-52, "f16": 2.0**-9, "f32": 2.0**-23, "i32": 0.0}[total]
        bound = (k + 1) * unit * (np.abs(wide[0]) @ np.abs(wide[1]) + np.abs(wide[2]))
        assert np.all(np.abs(want.astype(np.float64) - right) <= bound)
        for mode, code in compiled.items():
            found = native(*code, args, (1, 1, 1))[2]
            assert np.all(np.abs(found.astype(np.float64) - right) <= bound), mode
            loose = (mode in BY_PAIRS and dtype.startswith("f8")) or (mode.level == "x86-64-v2" and dtype[0] == "f")
            assert loose or same_bits(found, want), mode


def test_8_bit_floats_are_converted_once() -> None:
    """Into a buffer of each operand, not in the loops over the result."""

    @tn.kernel
    def product(a: tl.Ptr[P], c: tl.Ptr[tl.f32]) -> None:
        at = tl.arange(0, 64)[:, None] * 64 + tl.arange(0, 64)[None, :]
        tl.store(c + at, tl.dot(tl.load(a + at), tl.load(a + at)))

    lowered, _ = compile_in(product.specialize(P="f8e4m3").module, Mode(level="x86-64-v3"))
    assert "gather" not in lowered.ir_text
    assert lowered.scratch_bytes <= 3 * 64 * 64 * 4
