"""A misspelt keyword is named itself, not only the parameter that then has no value."""

from __future__ import annotations

import numpy as np
import pytest

import teeny as tn
import teeny.language as tl


@tn.kernel
def double(x_ptr: tl.Ptr[tl.f32], BLOCK: tl.Const[int]) -> None:
    at = x_ptr + tl.arange(0, BLOCK)
    tl.store(at, tl.load(at) * 2.0)


X = np.ones(8, np.float32)


def test_at_a_launch() -> None:
    with pytest.raises(tn.LaunchError) as caught:
        double[1](x_ptr=X, Bb=8)
    assert "`double` has no parameter `Bb`" in str(caught.value)
    assert "`BLOCK` is given nothing" in str(caught.value)
    with pytest.raises(tn.LaunchError) as caught:
        double[1](x_ptr=X, BLOK=8)
    assert "did you mean `BLOCK`?" in str(caught.value)
    with pytest.raises(tn.LaunchError, match="`double` lacks `BLOCK`"):
        double[1](x_ptr=X)


def test_at_a_specialisation() -> None:
    with pytest.raises(tn.LaunchError, match="`double` has nothing called `Bb` to specialise"):
        double.specialize(Bb=8)
    with pytest.raises(tn.LaunchError, match="`double` lacks `BLOCK`"):
        double.specialize()


def test_on_a_device() -> None:
    program = tn.compile(double.specialize(BLOCK=8), "cpu")
    with pytest.raises(tn.LaunchError, match="`double` has no argument `x`"):
        tn.device("cpu").launch(program, grid=1, x=X)
    with pytest.raises(tn.LaunchError, match="`double` lacks `x_ptr`"):
        tn.device("cpu").launch(program, grid=1)
