"""Consts beside tensors: flags in masks and conditions, numbers, fills that a specialisation knows."""

from __future__ import annotations

import warnings
from typing import TypeVar

import numpy as np
import pytest

import teeny as tn
import teeny.language as tl
from tests.language.executors import EXECUTORS, launch

D = TypeVar("D", bound=tl.Float)
both = pytest.mark.parametrize("executor", EXECUTORS)
flags = pytest.mark.parametrize("flag", [False, True])


@tn.kernel
def masks(x_ptr: tl.Ptr[tl.i32], n: tl.Scalar[tl.i32], FLAG: tl.Const[bool], K: tl.Const[int]) -> None:
    offs = tl.arange(0, 8)
    inside = offs < n
    tl.store(x_ptr + offs, 1, mask=inside & FLAG)
    tl.store(x_ptr + 8 + offs, 1, mask=FLAG | inside)
    tl.store(x_ptr + 16 + offs, 1, mask=inside ^ (not FLAG))
    tl.store(x_ptr + 24 + offs, 1, mask=inside & (K > 4))
    tl.store(x_ptr + 32 + offs, 1, mask=K > 4)
    tl.store(x_ptr + 40 + offs, tl.where(FLAG, offs, -1))
    tl.store(x_ptr + 48 + offs, tl.where(inside == FLAG, 1, offs))


@both
@flags
@pytest.mark.parametrize("k", [4, 5])
def test_masks(executor: str, flag: bool, k: int) -> None:
    x = np.zeros((7, 8), np.int32)
    launch(masks, executor, [x, 3], constants={"FLAG": flag, "K": k})
    inside = np.arange(8) < 3
    assert np.array_equal(x[0], inside & flag)
    assert np.array_equal(x[1], inside | flag)
    assert np.array_equal(x[2], inside ^ (not flag))
    assert np.array_equal(x[3], inside & (k > 4))
    assert np.array_equal(x[4], np.full(8, k > 4))
    assert np.array_equal(x[5], np.arange(8) if flag else np.full(8, -1))
    assert np.array_equal(x[6], np.where(inside == flag, 1, np.arange(8)))


@tn.kernel
def conditions(x_ptr: tl.Ptr[tl.i32], n: tl.Scalar[tl.i32], FLAG: tl.Const[bool]) -> None:
    if n > 0 and FLAG:
        tl.store(x_ptr, 1)
    if FLAG or n > 3:
        tl.store(x_ptr + 1, 1)
    if not FLAG and n == 2:
        tl.store(x_ptr + 2, 1)
    if (n > 0) & FLAG:
        tl.store(x_ptr + 3, 1)


@both
@flags
@pytest.mark.parametrize("n", [0, 2, 4])
def test_conditions(executor: str, flag: bool, n: int) -> None:
    x = np.zeros(4, np.int32)
    launch(conditions, executor, [x, n], constants={"FLAG": flag})
    assert list(x) == [n > 0 and flag, flag or n > 3, not flag and n == 2, n > 0 and flag]


@tn.kernel
def numbers(x_ptr: tl.Ptr[D], S: tl.Const[float], K: tl.Const[int]) -> None:
    offs = tl.arange(0, 4)
    x = tl.load(x_ptr + offs)
    x = S * x + K - S
    x = tl.where(x > S, S, x) * (1.0 / K) + x / K + K / x
    x = tl.maximum(x, S) + tl.full((4,), S, x.dtype) + tl.full([4], K, x.dtype)
    tl.store(x_ptr + offs, -S + x)


@both
def test_numbers(executor: str) -> None:
    x = np.array([1, 2, 4, 8], np.float32)
    found = x.copy()
    launch(numbers, executor, [found], constants={"S": 0.5, "K": 2}, dtypes={"D": "f32"})
    y = x * 0.5 + 2 - 0.5
    y = np.where(y > 0.5, 0.5, y) * 0.5 + y / 2 + 2 / y
    assert np.allclose(found, np.maximum(y, 0.5) + 2, rtol=1e-6)


def summed(x_ptr: tl.Ptr[D], n: tl.Scalar[tl.i32], FILL: tl.Const[float]) -> None:
    offs = tl.arange(0, 8)
    x = tl.load(x_ptr + offs, mask=offs < n, other=FILL)
    tl.store(x_ptr, tl.sum(x, axis=0))


def test_the_specialisation_decides_about_a_const_fill() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kernel = tn.kernel(summed)
    x = np.ones(8, np.float32)
    kernel[1](x, 4, 0.0)
    assert x[0] == 4
    with pytest.raises(tn.KernelError, match="F002"):
        kernel.specialize(D=tl.f32, FILL=1.0)
