"""Undefined lanes: where they come from, how far they go, what they may not decide."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from teeny.backends.reference import Event, PoisonError, bind, run
from teeny.ir.core import Value
from teeny.ir.dtype import F32, I32
from teeny.ops.arith import addf, maxnumf
from teeny.ops.bits import andi, ori
from teeny.ops.compare import cmpf, select
from tests.drafts import Draft

N = 8


class Kernel:
    """x is loaded under i < n without `other`; `body` says what is stored to y, and under which mask."""

    def __init__(self, dtype: Any = F32) -> None:
        self.d = Draft()
        self.d.pointer("x", dtype)
        self.d.pointer("y", dtype)
        self.d.scalar("n")
        self.x, self.y, self.n = self.d.begin()
        self.i = self.d.range(N)
        self.mask = self.d.compare("lt", self.i, self.d.fill(self.n, (N,)))
        self.v = self.d.load(self.d.at(self.x, self.i), self.mask)

    def store(self, value: Value, mask: Value | None = None) -> None:
        self.d.store(self.d.at(self.y, self.i), value, mask)

    def undefined(self, n: int = 5, strict: bool = True) -> list[int]:
        """The elements of y that are undefined after a run."""
        dtype = np.float32 if self.v.type is not self.i.type else np.int32
        y = np.ones(N, dtype)
        bound = bind([np.arange(N, dtype=dtype), y, n])
        run(self.d.end(), bound, (1, 1, 1), strict=strict)
        return np.flatnonzero(bound[1].undefined(y)).tolist()


def test_a_masked_load_without_other_leaves_its_lanes_undefined() -> None:
    k = Kernel()
    k.store(k.v)
    assert k.undefined() == [5, 6, 7]


def test_they_hold_zero() -> None:
    k = Kernel()
    k.store(k.d.apply(addf, k.v, k.d.const(2.0, k.v.type)))
    y = np.ones(N, np.float32)
    run(k.d.end(), [np.ones(N, np.float32), y, 5], (1, 1, 1))
    assert y.tolist() == [3, 3, 3, 3, 3, 2, 2, 2]


def test_a_store_under_the_same_mask_is_defined() -> None:
    k = Kernel()
    k.store(k.d.apply(addf, k.v, k.v), k.mask)
    assert k.undefined() == []


def test_other_defines_them_unless_it_is_undefined_itself() -> None:
    k = Kernel()
    k.store(k.d.load(k.d.at(k.x, k.i), k.mask, 0.0))
    assert k.undefined() == []
    k = Kernel()
    shorter = k.d.compare("lt", k.i, k.d.const(2, k.i.type))
    k.store(k.d.load(k.d.at(k.x, k.i), shorter, k.v))
    assert k.undefined() == [5, 6, 7]


def test_where_drops_the_side_that_is_not_chosen() -> None:
    k = Kernel()
    k.store(k.d.apply(select, k.mask, k.v, k.d.const(0.0, k.v.type)))
    assert k.undefined() == []
    k = Kernel()
    k.store(k.d.apply(select, k.mask, k.d.const(0.0, k.v.type), k.v))
    assert k.undefined() == [5, 6, 7]


def test_an_undefined_condition_of_where_makes_its_lane_undefined() -> None:
    k = Kernel()
    zero = k.d.const(0.0, k.v.type)
    k.store(k.d.apply(select, k.d.apply(cmpf, k.v, zero, predicate="ogt"), zero, zero))
    assert k.undefined() == [5, 6, 7]


def test_a_defined_zero_decides_an_and() -> None:
    k = Kernel(I32)
    minus = k.d.apply(select, k.mask, k.d.const(-1, k.i.type), k.d.const(0, k.i.type))
    k.store(k.d.apply(andi, k.v, minus))
    assert k.undefined() == []
    k = Kernel(I32)
    minus = k.d.apply(select, k.mask, k.d.const(0, k.i.type), k.d.const(-1, k.i.type))
    k.store(k.d.apply(ori, minus, k.v))
    assert k.undefined() == []
    k = Kernel(I32)
    k.store(k.d.apply(andi, k.v, k.d.const(1, k.i.type)))
    assert k.undefined() == [5, 6, 7]


def test_one_undefined_lane_spoils_a_reduction_along_its_axis_only() -> None:
    k = Kernel()
    k.store(k.d.fill(k.d.reduce(k.v, 0, maxnumf), (N,)))
    assert k.undefined() == list(range(N))
    assert rows(0).undefined(7) == [1]
    assert rows(1).undefined(7) == [3]


def rows(axis: int) -> Kernel:
    """v as four rows of two, reduced along an axis."""
    k = Kernel()
    found = k.d.reduce(k.d.reshape(k.v, (4, 2)), axis, addf)
    at = k.d.range(2 if axis == 0 else 4)
    k.d.store(k.d.at(k.y, at), found)
    return k


def test_memory_remembers_and_forgets() -> None:
    k = Kernel()
    k.store(k.v)
    again = k.d.load(k.d.at(k.y, k.i))
    k.store(k.d.apply(addf, again, again))
    assert k.undefined() == [5, 6, 7]
    k = Kernel()
    k.store(k.v)
    k.store(k.d.const(0.0, k.v.type))
    assert k.undefined() == []


def test_shapes_move_undefined_lanes() -> None:
    k = Kernel()
    turned = k.d.trans(k.d.reshape(k.v, (2, 4)), (1, 0))
    k.store(k.d.reshape(turned, (N,)))
    assert k.undefined() == [3, 5, 7]


def test_a_loop_carries_them() -> None:
    k = Kernel()
    zero, one = k.d.const(0, I32), k.d.const(1, I32)

    def body(index: Value, held: Value) -> tuple[Value, ...]:
        return (k.d.apply(addf, held, k.v),)

    (total,) = k.d.loop(zero, k.n, one, (k.d.const(0.0, k.v.type),), body)
    k.store(total)
    assert k.undefined() == [5, 6, 7]


@pytest.mark.parametrize("what", ["mask", "address", "branch", "bound"])
def test_they_may_not_decide_what_is_done(what: str) -> None:
    k = Kernel(I32)
    d = k.d
    flag = d.compare("gt", k.v, d.const(0, k.v.type))
    first = d.load(k.x, d.compare("gt", k.n, d.const(9, I32)))
    if what == "mask":
        k.store(k.v, flag)
    elif what == "address":
        d.store(d.at(k.y, k.v), k.i)
    elif what == "branch":
        d.branch(d.compare("gt", first, d.const(0, I32)), lambda: (k.v,), lambda: (k.v,))
    else:
        d.loop(d.const(0, I32), first, d.const(1, I32), (k.v,), lambda index, held: (held,))
    expected = {"mask": "the mask", "address": "the address", "branch": "the condition", "bound": "a bound of the loop"}
    module = d.end()
    arguments = [np.arange(N, dtype=np.int32), np.zeros(N, np.int32), 5]
    with pytest.raises(PoisonError, match=f"{expected[what]} is undefined"):
        run(module, arguments, (1, 1, 1))
    run(module, arguments, (1, 1, 1), strict=False)


def test_an_undefined_address_that_is_masked_off_is_harmless() -> None:
    k = Kernel(I32)
    k.d.store(k.d.at(k.y, k.v), k.i, k.mask)
    assert k.undefined() == []


def test_the_trace_shows_undefined_operands() -> None:
    k = Kernel()
    k.store(k.d.fill(k.d.reduce(k.v, 0, addf), (N,)))
    seen: list[Event] = []
    run(k.d.end(), [np.ones(N, np.float32), np.ones(N, np.float32), 5], (1, 1, 1), trace=seen.append)
    (event,) = (e for e in seen if e.op.name == "tt.reduce")
    assert event.operands[0].mask.tolist() == [False] * 5 + [True] * 3
    assert not event.results[0].defined
