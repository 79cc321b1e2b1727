"""What ported kernels say: constexpr, Triton's names for operators, Consts of a module."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
import pytest

import teeny as tn
import teeny.language as tl
from tests.language.executors import EXECUTORS, launch

D = TypeVar("D", bound=tl.Num)
both = pytest.mark.parametrize("executor", EXECUTORS)
WIDTH = tl.constexpr(8)
LOG2E: tl.constexpr = 1.5
SIZES: tl.Const[tuple[int, ...]] = (4, 2)
FREE = 3


def scaled(x: tl.Tensor[tl.f32], factor: tl.constexpr) -> tl.Tensor[tl.f32]:
    return x * factor


@tn.kernel
def ported(x_ptr: tl.Ptr[tl.f32], BLOCK: tl.constexpr, SCALE: tl.constexpr = 2) -> None:
    half: tl.constexpr = BLOCK // 2
    two = tl.constexpr(2)
    offs = tl.arange(0, BLOCK)
    x = scaled(tl.load(x_ptr + offs), SCALE)
    if BLOCK > 4:
        x = x + half * two
    for i in tl.static_range(SIZES[1]):
        x = tl.add(x, i)
    tl.store(x_ptr + offs, tl.sub(tl.mul(x, LOG2E), WIDTH))


@both
@pytest.mark.parametrize("block", [4, 8])
def test_constexpr(executor: str, block: int) -> None:
    x = np.arange(8, dtype=np.float32)
    launch(ported, executor, [x], constants={"BLOCK": block, "SCALE": 2})
    wanted = np.arange(8, dtype=np.float32)
    wanted[:block] = (wanted[:block] * 2 + (8 if block > 4 else 0) + 1) * 1.5 - 8
    assert np.array_equal(x, wanted)


def no_size(x_ptr: tl.Ptr[tl.f32], BLOCK: tl.constexpr) -> None:
    tl.store(x_ptr + tl.arange(0, BLOCK), 1.0)


def test_what_a_constexpr_is_shows_at_the_specialisation() -> None:
    kernel = tn.kernel(no_size)
    with pytest.raises(tn.KernelError, match="S002"):
        kernel.specialize(BLOCK=5)
    with pytest.raises(tn.KernelError, match="T010"):
        kernel.specialize(BLOCK="five")


@tn.kernel
def scalars(x_ptr: tl.Ptr[tl.f32], i_ptr: tl.Ptr[tl.i32], f_ptr: tl.Ptr[tl.bool_], K: tl.Const[int]) -> None:
    x = tl.to_tensor(tl.load(x_ptr))
    s = tl.to_tensor(0.5)
    for _ in tl.range(K):
        s += x
    tl.store(x_ptr, s)
    tl.store(i_ptr, tl.to_tensor(K) + tl.to_tensor(2))
    tl.store(f_ptr, tl.to_tensor(K > 2) | tl.to_tensor(False))


@both
def test_to_tensor(executor: str) -> None:
    x, i, f = np.full(1, 2, np.float32), np.zeros(1, np.int32), np.zeros(1, np.bool_)
    launch(scalars, executor, [x, i, f], constants={"K": 3})
    assert (x[0], i[0], f[0]) == (6.5, 5, True)


def beyond(i_ptr: tl.Ptr[tl.i32]) -> None:
    tl.store(i_ptr, tl.to_tensor(1 << 40))


def free(i_ptr: tl.Ptr[tl.i32]) -> None:
    tl.store(i_ptr, FREE)


def run_time(i_ptr: tl.Ptr[tl.i32]) -> None:
    k: Any = tl.constexpr(tl.load(i_ptr))
    tl.store(i_ptr, k)


def declared(i_ptr: tl.Ptr[tl.i32]) -> None:
    k: tl.constexpr = tl.load(i_ptr)
    tl.store(i_ptr, k)


@pytest.mark.parametrize(
    ("fn", "code", "text"),
    [
        (beyond, "T006", "the literal 1099511627776 does not fit i32"),
        (free, "E012", "declare it in its module as `FREE: tl.Const[int] = ...`"),
        (run_time, "E008", "`tl.constexpr(tl.load(i_ptr))` needs a compile-time value; found Scalar[i32]"),
        (declared, "E009", "`k` is declared Const, and `tl.load(i_ptr)` is Scalar[i32]"),
    ],
)
def test_faults(fn: Any, code: str, text: str) -> None:
    with pytest.raises(tn.KernelError) as caught:
        tn.kernel(fn)
    assert [one.code for one in caught.value.diagnostics] == [code]
    assert text in str(caught.value)
