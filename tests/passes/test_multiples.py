"""What scalars are multiples of: claims against runs on the reference, and what must be seen in kernels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import teeny as tn
import teeny.language as tl
from teeny.backends.reference import run
from teeny.ir.core import Value, walk_function
from teeny.ir.dtype import I32, I64
from teeny.ops.arith import addi, maxsi, minsi, minui, muli, subi
from teeny.ops.bits import andi, ori, shli, shrsi, shrui, xori
from teeny.ops.cast import extsi, extui, trunci
from teeny.ops.compare import select
from teeny.ops.division import divsi, divui, remsi, remui
from teeny.passes.multiples import Multiples
from tests.drafts import Draft

DIVISORS = [1 << n for n in range(31)]
BINARY = (
    addi, subi, muli, andi, ori, xori, shli, shrsi, shrui, divsi, divui, remsi, remui, maxsi, minsi, minui,
)  # fmt: skip
CONSTANTS = (0, 1, -1, 2, 3, 4, 5, 8, 12, 16, 24, 31, 32, 48, -16, 1 << 20, -(1 << 31), 40)


@settings(max_examples=120, deadline=None)
@given(st.data())
def test_claims_hold(data: st.DataObject) -> None:
    """Of random sums, products, shifts and the like of two arguments, one of which is a multiple of 16."""
    d = Draft()
    y, m, n = d.pointer("y", I32), d.scalar("m"), d.scalar("n")
    args = d.begin()
    values: list[Value] = [args[m], args[n]]
    for _ in range(data.draw(st.integers(1, 8))):
        x, z = (_operand(d, data, values) for _ in range(2))
        op = data.draw(st.sampled_from((*BINARY, select, extsi, extui)))
        if op is select:
            values.append(d.apply(select, d.compare("lt", args[n], x), x, z))
        elif op in (extsi, extui):
            wide = [d.b.create(op, v, type=I64) for v in (x, z)]
            values.append(d.b.create(trunci, d.apply(muli, *wide), type=I32))
        else:
            values.append(d.apply(op, x, z))
    for at, value in enumerate(values):
        d.store(d.at(args[y], d.const(at, I32)), value)
    module = d.end()
    known = Multiples(module.kernel, {m: 16})
    for _ in range(3):
        found = np.zeros(len(values), np.int32)
        numbers = [
            16 * data.draw(st.integers(-(1 << 27), (1 << 27) - 1)),
            data.draw(st.integers(-(1 << 31), (1 << 31) - 1)),
        ]
        run(module, [found, *numbers], (1, 1, 1))
        for value, number in zip(values, found.tolist(), strict=True):
            for divisor in DIVISORS:
                assert number % divisor == 0 or not known.divides(divisor, value), (value.op, number, divisor)


def _operand(d: Draft, data: st.DataObject, values: list[Value]) -> Value:
    constant = data.draw(st.booleans())
    return d.const(data.draw(st.sampled_from(CONSTANTS)), I32) if constant else data.draw(st.sampled_from(values))


@tn.kernel
def loops(y: tl.Ptr[tl.i32], n: tl.Scalar[tl.i32], m: tl.Scalar[tl.i32], A: tl.Const[int], B: tl.Const[int]) -> None:
    """Each number that is stored, and the Const that must divide it."""
    at = tl.program_id(0) * A
    odd, shrinking, early = 0, A * B, A
    for i in tl.range(0, n, A):
        tl.store(y, i)
        tl.store(y, at)
        for j in tl.range(at, at + m * B, 2 * B):
            tl.store(y, j)
            tl.store(y, odd)
            odd += B
        at += A
        if n > 3:
            shrinking = shrinking // 2
        tl.store(y, shrinking)
    while early < n:
        early += 3 * B
        if early > 40 * B:
            early = m
        tl.store(y, early)


def stored(kernel: Any, divisor: int, known: dict[int, int] | None = None) -> list[bool]:
    """Whether the divisor is seen to divide each scalar that is stored, in order."""
    function = kernel.module.kernel
    found = Multiples(function, known or {})
    return [found.divides(divisor, op.operands[1]) for op in walk_function(function) if op.name == "tt.store"]


def test_loops() -> None:
    made = loops.specialize(A=64, B=16)
    assert stored(made, 64) == [True, True, False, False, False, False]
    assert stored(made, 16) == [True, True, True, True, False, False]
    assert stored(made, 16, {2: 16}) == [True, True, True, True, False, True]
    assert stored(made, 1) == [True] * 6


@tn.kernel
def said(y: tl.Ptr[tl.i32], n: tl.Scalar[tl.i32], m: tl.Scalar[tl.i32]) -> None:
    tl.assume(n % 16 == 0)
    tl.store(y, n * 3)
    x = tl.multiple_of(tl.load(y + n), 8)
    tl.store(y, x + 24)
    if n > 3:
        tl.store(y, tl.multiple_of(m, 32))
        z = tl.multiple_of(m + 1, 32)
        tl.store(y, z)
    tl.store(y, m)


def test_what_is_said_counts_where_it_always_holds() -> None:
    assert stored(said.specialize(), 8) == [True, True, False, True, False]
    assert stored(said.specialize(), 16) == [True, False, False, True, False]


@pytest.mark.parametrize("name", ["program", "load"])
def test_nothing_is_known_of_what_may_be_anything(name: str) -> None:
    d = Draft()
    y = d.pointer("y", I32)
    (place,) = d.begin()
    make: dict[str, Callable[[], Value]] = {"program": d.program, "load": lambda: d.load(place)}
    value = make[name]()
    d.store(place, value)
    known = Multiples(d.end().kernel, {y: 16})
    assert known.divides(1, value)
    assert not known.divides(2, value)
