"""Bounds of scalars: claims against runs on the reference."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from teeny.backends.reference import run
from teeny.ir.core import Value
from teeny.ir.dtype import I32, I64
from teeny.ops.arith import addi, maxsi, minsi, muli, subi
from teeny.ops.bits import andi, shrsi
from teeny.ops.cast import extsi
from teeny.ops.compare import select
from teeny.ops.division import divsi, remsi
from teeny.ops.hints import assume_
from teeny.passes.signs import Signs, nonnegative
from tests.drafts import Draft

BINARY = (addi, subi, muli, andi, shrsi, divsi, remsi, maxsi, minsi)
CONSTANTS = (0, 1, -1, 2, 3, 8, 16, 31, -16, 1 << 20, (1 << 31) - 1, -(1 << 31))
PREDICATES = ("ge", "gt", "le", "lt")


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_claims_hold(data: st.DataObject) -> None:
    """Of random integers of 32 bits, which may wrap, and of 64 bits, which do not, of two arguments.

    Something is assumed of the first, by one of the comparisons and from either side, and holds.
    """
    d = Draft()
    y, z, m, n = d.pointer("y", I32), d.pointer("z", I64), d.scalar("m"), d.scalar("n")
    args = d.begin()
    bound, predicate, mirrored = (
        data.draw(st.integers(-20, 20)), data.draw(st.sampled_from(PREDICATES)), data.draw(st.booleans())
    )  # fmt: skip
    sides = [args[m], d.const(bound, I32)]
    a, b = reversed(sides) if mirrored else sides
    d.b.op(assume_, (d.compare(predicate, a, b),))
    values: list[Value] = [args[m], args[n]]
    for _ in range(data.draw(st.integers(1, 8))):
        a, b = (_operand(d, data, values) for _ in range(2))
        op = data.draw(st.sampled_from((*BINARY, select)))
        values.append(d.apply(select, d.compare("lt", args[n], a), a, b) if op is select else d.apply(op, a, b))
    wide = [d.b.create(extsi, v, type=I64) for v in values]
    wide += [d.apply(addi, a, b) for a, b in pairwise(wide)]
    for at, value in enumerate(values):
        d.store(d.at(args[y], d.const(at, I32)), value)
    for at, value in enumerate(wide):
        d.store(d.at(args[z], d.const(at, I32)), value)
    module = d.end()
    trusting = Signs(module.kernel)
    for _ in range(3):
        at_least = bound + (predicate in ("gt", "lt"))
        top, low = (1 << 31) - 1, -(1 << 31)
        upward = (predicate in ("ge", "gt")) != mirrored
        first = data.draw(
            st.integers(at_least, top) if upward else st.integers(low, bound - (predicate in ("gt", "lt")))
        )
        numbers = [first, data.draw(st.integers(-40, 40) | st.integers(low, top))]
        found, found_wide = np.zeros(len(values), np.int32), np.zeros(len(wide), np.int64)
        run(module, [found, found_wide, *numbers], (1, 1, 1))
        exact = [_exact(value, dict(zip((args[m], args[n]), numbers, strict=True))) for value in values]
        for value, number in zip((*values, *wide), (*found.tolist(), *found_wide.tolist()), strict=True):
            assert number >= 0 or not nonnegative(value), (value.op, number)
        for value, number, unwrapped in zip(values, found.tolist(), exact, strict=True):
            if unwrapped:
                assert number >= 0 or not trusting.nonnegative(value), (value.op, number)


@pytest.mark.parametrize("exact", [False, True])
def test_values_that_are_used_twice_are_looked_at_once(exact: bool) -> None:
    """Two paths lead from each number to the one before; all of them would take for ever."""
    d = Draft()
    y, m = d.pointer("y", I32), d.scalar("m")
    args = d.begin()
    value = args[m]
    for _ in range(60):
        value = d.apply(maxsi, value, value)
    positive = d.apply(maxsi, value, d.const(0, I32))
    d.store(d.at(args[y], d.const(0, I32)), positive)
    function = d.end().kernel
    signs = Signs() if exact else Signs(function)
    assert not signs.nonnegative(value)
    assert signs.nonnegative(positive)


def _exact(value: Value, numbers: dict[Value, int]) -> bool:
    """Whether nothing on the way to a value wraps."""
    return _number(value, numbers) is not None


def _number(value: Value, numbers: dict[Value, int]) -> int | None:
    """The value in unbounded integers; None where something has left 32 bits."""
    if value in numbers:
        return numbers[value]
    op = value.op
    assert op is not None
    if op.schema.group == "constant":
        number: Any = op.attrs["value"]
        return int(number)
    of = [_number(v, numbers) for v in op.operands]
    if any(x is None for x in of):
        return None
    return _apply(op.name, op.attrs.get("predicate"), [x for x in of if x is not None])


def _apply(name: str, predicate: object, of: list[int]) -> int | None:
    match name:
        case "arith.cmpi":
            assert predicate == "slt"
            return int(of[0] < of[1])
        case "arith.select":
            found = of[1] if of[0] else of[2]
        case "arith.addi":
            found = of[0] + of[1]
        case "arith.subi":
            found = of[0] - of[1]
        case "arith.muli":
            found = of[0] * of[1]
        case "arith.maxsi":
            found = max(of)
        case "arith.minsi":
            found = min(of)
        case "arith.andi":
            found = of[0] & of[1]
        case "arith.shrsi":
            if not 0 <= of[1] < 32:
                return None
            found = of[0] >> of[1]
        case "arith.divsi" | "arith.remsi":
            if of[1] == 0:
                return None
            quotient = abs(of[0]) // abs(of[1]) * (1 if (of[0] < 0) == (of[1] < 0) else -1)
            found = quotient if name == "arith.divsi" else of[0] - quotient * of[1]
        case _:
            raise AssertionError(name)
    return found if -(1 << 31) <= found < 1 << 31 else None


def _operand(d: Draft, data: st.DataObject, values: list[Value]) -> Value:
    constant = data.draw(st.booleans())
    return d.const(data.draw(st.sampled_from(CONSTANTS)), I32) if constant else data.draw(st.sampled_from(values))
