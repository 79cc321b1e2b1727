"""Const tuples of any length: indexed, measured and searched before their values are known."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
import pytest

import teeny as tn
import teeny.language as tl

A = TypeVar("A", bound=tl.Float)


@tn.kernel
def spread(x_ptr: tl.Ptr[tl.f32], e: tl.Const[tuple[int, ...]]) -> None:
    for j in tl.static_range(len(e)):
        tl.store(x_ptr + j, 1.0 * e[j])
    if 7 in e:
        tl.store(x_ptr + len(e), 100.0 + max(e))
    if 7 not in e and len(e) > 1:
        tl.store(x_ptr + len(e), 1.0 * e[-1] * len(e[1:]))


@pytest.mark.parametrize(
    ("e", "wanted"),
    [((3, 7), [3, 7, 107, 0]), ((5,), [5, 0, 0, 0]), ((2, 4, 6), [2, 4, 6, 12]), ((), [0, 0, 0, 0])],
)
def test_ints(e: tuple[int, ...], wanted: list[float]) -> None:
    x = np.zeros(4, np.float32)
    spread[1](x, e)
    assert list(x) == wanted


@tn.kernel
def polynomial(x_ptr: tl.Ptr[A], y_ptr: tl.Ptr[A], c: tl.Const[tuple[float, ...]]) -> None:
    x = tl.load(x_ptr)
    y = x * 0.0
    for j in tl.static_range(len(c)):
        y = y * x + c[j]
    tl.store(y_ptr, y)


def test_floats() -> None:
    y = np.zeros(1, np.float32)
    polynomial[1](np.full(1, 2, np.float32), y, (1.0, -3, 0.5))
    assert y[0] == 2.0**2 - 3 * 2.0 + 0.5


@tn.kernel
def nested(x_ptr: tl.Ptr[tl.f32], e: tl.Const[tuple[tuple[int, ...], ...]], flags: tl.Const[tuple[bool, ...]]) -> None:
    if flags[0]:
        tl.store(x_ptr, 1.0 * e[1][0])
    else:
        tl.store(x_ptr, 1.0 * len(e[0]))


def test_nested_tuples_and_bools() -> None:
    x = np.zeros(1, np.float32)
    nested[1](x, ((1, 2, 3), (9,)), (True,))
    assert x[0] == 9
    nested[1](x, ((1, 2, 3), (9,)), (False,))
    assert x[0] == 3


def test_an_index_outside_is_told_where_the_tuple_is_known() -> None:
    with pytest.raises(tn.KernelError) as caught:
        nested[1](np.zeros(1, np.float32), ((1,),), (True,))
    assert [d.code for d in caught.value.diagnostics] == ["S003"]


@tn.kernel
def by_the_program(x_ptr: tl.Ptr[tl.f32], e: tl.Const[tuple[int, ...]]) -> None:
    tl.store(x_ptr, 1.0 * e[0])


@pytest.mark.parametrize("e", [(1.5,), ("a",), (1, True), [1], 1])
def test_elements_of_another_kind_are_refused(e: Any) -> None:
    with pytest.raises(tn.LaunchError) as caught:
        by_the_program[1](np.zeros(1, np.float32), e)
    assert [d.code for d in caught.value.diagnostics] == ["L009"]


def test_the_index_is_no_runtime_value() -> None:
    with pytest.raises(tn.KernelError) as caught:

        @tn.kernel
        def wrong(x_ptr: tl.Ptr[tl.f32], e: tl.Const[tuple[int, ...]]) -> None:
            tl.store(x_ptr, 1.0 * e[tl.program_id(0)])

    assert [d.code for d in caught.value.diagnostics] == ["E008"]


@tn.kernel
def one_dtype(x_ptr: tl.Ptr[tl.f32], d: tl.Const[type[tl.f32]]) -> None:
    tl.store(x_ptr, tl.zeros((), d) + 1.0)


@tn.kernel
def any_float(x_ptr: tl.Ptr[tl.f32], d: tl.Const[type[tl.Float]]) -> None:
    tl.store(x_ptr, tl.load(x_ptr).to(d).to(tl.f32) + 1.0)


def test_a_const_dtype_is_of_its_annotation() -> None:
    x = np.zeros(1, np.float32)
    one_dtype[1](x, tl.f32)
    any_float[1](x, tl.f16)
    assert x[0] == 2.0
    wrong: Any = tl.f16
    with pytest.raises(tn.LaunchError, match="L009"):
        one_dtype[1](x, wrong)
    with pytest.raises(tn.LaunchError, match="L009"):
        one_dtype.specialize(d=wrong)
    wrong = tl.i32
    with pytest.raises(tn.LaunchError, match="L009"):
        any_float[1](x, wrong)
