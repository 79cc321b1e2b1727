"""Python's `min`, `max` and `abs` of run-time values, lane by lane, beside literals and Consts; sizes from Consts."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from teeny.diag.errors import KernelError
from tests.language.executors import EXECUTORS, fresh, kernel_of, launch, module_of

TEXT = """
@tn.kernel
def kernel(
    x: tl.Ptr[tl.f32], y: tl.Ptr[tl.f32], n: tl.Scalar[tl.i32], out: tl.Ptr[tl.f32], ends: tl.Ptr[tl.i32],
    BLOCK: tl.Const[int],
) -> None:
    i = tl.arange(0, BLOCK)
    a, b = tl.load(x + i), tl.load(y + i)
    tl.store(out + i, max(min(a, 2, b), -1.5) + abs(b))
    tl.store(ends, min(n, BLOCK))
    tl.store(ends + 1, max(0, n - BLOCK))
    tl.store(ends + 2, max(BLOCK // 2, 3, min(BLOCK, 5)))
    total = 0
    for k in range(max(n - 3, 0), min(n, 100)):
        total += k
    tl.store(ends + 3, total)
"""


@pytest.mark.parametrize("executor", EXECUTORS)
def test_values(executor: str, tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    x, y = (random.standard_normal(16).astype(np.float32) * 3 for _ in range(2))
    out, ends = np.zeros(16, np.float32), np.zeros(4, np.int32)
    arguments = [*fresh([x, y]), 21, out, ends]
    launch(kernel_of(TEXT, tmp_path), executor, arguments, constants={"BLOCK": 16})
    assert (out == np.maximum(np.minimum(np.minimum(x, 2), y), -1.5) + np.abs(y)).all()
    assert ends.tolist() == [16, 5, 8, 18 + 19 + 20]


def test_one_tensor_is_refused(tmp_path: Path) -> None:
    text = "@tn.kernel\ndef kernel(x: tl.Ptr[tl.f32]) -> None:\n    tl.store(x, max(tl.load(x + tl.arange(0, 8))))\n"
    with pytest.raises(KernelError) as caught:
        module_of(text, tmp_path)
    found = caught.value.diagnostics[0]
    assert found.code == "E008"
    assert found.help[0].startswith("use tl.max along an axis")


POWERS = """
@tn.kernel
def kernel(x: tl.Ptr[tl.f32], out: tl.Ptr[tl.f32], N: tl.Const[int]) -> None:
    i = tl.arange(0, tn.next_power_of_2(N))
    total = tl.sum(tl.load(x + i, mask=i < N, other=0.0))
    tl.store(out, total)
    tl.store(out + 1, tn.cdiv(N, 3) + 100 * (N - 1).bit_length() + 10000 * (5).bit_length())
"""


@pytest.mark.parametrize("executor", EXECUTORS)
@pytest.mark.parametrize("size", [1, 2, 5, 32, 33])
def test_powers_of_two_of_compile_time_values(size: int, executor: str, tmp_path: Path) -> None:
    """At the definition, where the size is not known, and at the specialisation."""
    x, out = np.ones(64, np.float32), np.zeros(2, np.float32)
    launch(kernel_of(POWERS, tmp_path), executor, [x, out], constants={"N": size})
    assert out.tolist() == [size, -(-size // 3) + 100 * (size - 1).bit_length() + 30000]
