"""Kernels compiled for a lower feature level give the same bits."""

from __future__ import annotations

from typing import TypeVar

import numpy as np
import pytest

import teeny as tn
import teeny.language as tl
from teeny.backends.cpu.target import supported_levels

D = TypeVar("D", bound=tl.Float)


def kernel() -> tn.Kernel[...]:
    """A new kernel object, which has compiled nothing yet."""

    @tn.kernel
    def total(x_ptr: tl.Ptr[D], y_ptr: tl.Ptr[D], n: tl.Scalar[tl.i32], BLOCK: tl.Const[int]) -> None:
        at = tl.arange(0, BLOCK)
        x = tl.load(x_ptr + at, mask=at < n, other=-float("inf"))
        tl.store(y_ptr, tl.sum(tl.exp(x * 0.25), axis=0))

    return total


@pytest.mark.parametrize("level", [one for one in supported_levels() if one not in ("native", "x86-64")])
def test_a_forced_level_gives_the_same_bits(level: str, monkeypatch: pytest.MonkeyPatch) -> None:
    x = np.linspace(-3, 3, 200, dtype=np.float32)
    here, there = np.zeros(1, np.float32), np.zeros(1, np.float32)
    kernel()[1](x, here, 200, BLOCK=256)
    monkeypatch.setenv("TEENY_CPU_LEVEL", level)
    kernel()[1](x, there, 200, BLOCK=256)
    assert here[0] > 200
    assert here.tobytes() == there.tobytes()


@pytest.mark.parametrize("level", ["x86-64-v9", "avx"])
def test_a_level_that_is_none_is_refused(level: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEENY_CPU_LEVEL", level)
    x = np.ones(4, np.float32)
    with pytest.raises(tn.LaunchError) as caught:
        kernel()[1](x, x, 4, BLOCK=4)
    assert caught.value.diagnostics[0].code == "L014"
