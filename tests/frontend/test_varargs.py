"""Sizes and axes as one tuple, as a list, and as separate arguments."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import teeny as tn
import teeny.language as tl


@tn.kernel
def moves(x_ptr: tl.Ptr[tl.f32], A: tl.Const[int], B: tl.Const[int]) -> None:
    x = tl.load(x_ptr + tl.arange(0, A * B))
    a = x.reshape(A, B) + tl.reshape(x, (A, B)) + tl.reshape(x, [A, B])
    b = a.trans(1, 0) + a.trans() + tl.trans(a, (1, 0))
    c = tl.reshape(b, A * B)
    d = tl.broadcast_to(c.reshape(1, A * B), 1, A * B).reshape((A * B,))
    tl.store(x_ptr + tl.arange(0, A * B), d)


def test_sizes_and_axes() -> None:
    x = np.arange(8, dtype=np.float32)
    moves[1](x, 2, 4)
    assert list(x) == [9 * v for v in np.arange(8).reshape(2, 4).T.ravel()]


@tn.kernel
def by_tuple(x_ptr: tl.Ptr[tl.f32], SHAPE: tl.Const[tuple[int, ...]]) -> None:
    x = tl.load(x_ptr + tl.arange(0, 8)).reshape(SHAPE)
    tl.store(x_ptr, tl.sum(x))


def test_a_const_tuple() -> None:
    x = np.arange(8, dtype=np.float32)
    by_tuple[1](x, (2, 4))
    assert x[0] == 28


def run_time(x_ptr: tl.Ptr[tl.f32], n: tl.Scalar[tl.i32]) -> None:
    size: Any = n
    tl.store(x_ptr + tl.arange(0, 8), tl.load(x_ptr + tl.arange(0, 8)).reshape(size, 8))


def test_a_run_time_size() -> None:
    with pytest.raises(tn.KernelError) as caught:
        tn.kernel(run_time)
    assert caught.value.diagnostics[0].code == "E008"
    assert "`size` holds Scalar[i32]" in caught.value.diagnostics[0].message
