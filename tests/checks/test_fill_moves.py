"""The fill check against the reference on rows that are scanned, sorted, joined, split and turned round."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

import teeny.language
from teeny.backends.reference import Buffer, Event, PoisonError, bind, run
from teeny.checks.fill import check_fills
from teeny.ir.core import Module, Value
from teeny.ir.dtype import F32, I32
from teeny.ir.schema import registry
from teeny.ir.types import typed
from teeny.ops.arith import addf, maxnumf
from teeny.ops.compare import select
from tests.drafts import Draft

assert teeny.language
N = 16
MANY = settings(max_examples=400, deadline=None, suppress_health_check=(HealthCheck.too_slow,))
STEPS = ("sum so far", "max so far", "flip", "sort", "sort down", "join", "twist", "fold", "choose", "double", "cat")
SUSPECTS = {"F001", "F004", "F005", "F006"}
Plan = tuple[tuple[str, bool, int, float], ...]


@st.composite
def plans(draw: st.DrawFn) -> Plan:
    """Steps, each with a flag, the number of a mask, and a fill."""
    step = st.tuples(st.sampled_from(STEPS), st.booleans(), st.integers(0, 3), st.sampled_from([0.0, -np.inf, np.inf]))
    return tuple(draw(st.lists(step, min_size=1, max_size=5)))


class Written:
    """A kernel of one row after the other, from a plan."""

    def __init__(self, plan: Plan, first: tuple[int, float | None], last: tuple[bool, int]) -> None:
        d = self.d = Draft()
        d.pointer("x", F32)
        d.pointer("y", F32)
        for name in ("m", "n"):
            d.scalar(name)
        x, y, m, n = d.begin()
        self.x = x
        lanes = self.lanes = d.range(N)
        low, high = (d.fill(v, (N,)) for v in (m, n))
        back = d.apply(registry()["arith.subi"], d.const(N - 1, typed((N,), I32)), lanes)
        tile = typed((N,), I32)
        odd = d.apply(registry()["arith.andi"], lanes, d.const(1, tile))
        self.masks = (
            d.compare("lt", lanes, high), d.compare("ge", lanes, low), d.compare("lt", back, high),
            d.compare("eq", odd, d.const(0, tile)),
        )  # fmt: skip
        value = self.load(*first)
        for step, flag, mask, fill in plan:
            value = self.stepped(value, step, flag, mask, fill)
        masked, number = last
        if masked:
            d.store(d.at(y, lanes), value, self.masks[number])
        else:
            d.store(y, d.reduce(value, 0, addf))
        self.module: Module = d.end()

    def load(self, mask: int, fill: float | None) -> Value:
        return self.d.load(self.d.at(self.x, self.lanes), self.masks[mask], fill)

    def stepped(self, value: Value, step: str, flag: bool, mask: int, fill: float) -> Value:
        d = self.d
        match step:
            case "sum so far" | "max so far":
                return d.scan(value, 0, addf if step.startswith("sum") else maxnumf, reverse=flag)
            case "flip":
                return d.apply(registry()["teeny.flip"], value, axis=0)
            case "sort" | "sort down":
                attrs = {"count": N, "descending": step == "sort down", "merge": False, "unsigned": False}
                return d.apply(registry()["teeny.sort"], value, **attrs)
            case "join":
                other = self.load(mask, fill) if flag else d.const(fill, typed((N,), F32))
                parts = d.b.op(registry()["tt.split"], (d.apply(registry()["tt.join"], value, other),)).results
                return parts[flag]
            case "twist":
                parts = d.b.op(registry()["tt.split"], (d.reshape(value, (N // 2, 2)),)).results
                return d.reshape(d.apply(registry()["tt.join"], parts[1], parts[0]), (N,))
            case "fold":
                both = d.reshape(d.apply(registry()["tt.join"], value, self.load(mask, fill)), (2, N))
                return d.reduce(both, 0, addf)
            case "choose":
                return d.apply(select, self.masks[mask], value, d.const(fill, typed((N,), F32)))
            case "cat":
                whole = d.b.create(registry()["tt.cat"], value, self.load(mask, fill), type=typed((2 * N,), F32))
                return d.reduce(d.reshape(whole, (N, 2)), 1, addf)
            case _:
                return d.apply(addf, value, value)


def spoiled(module: Module, arguments: list[Any]) -> list[str]:
    """Where undefined lanes take part in what defined lanes are in, or reach memory."""
    found: list[str] = []

    def watch(seen: Event) -> None:
        poison = seen.operands[0].mask if seen.operands else np.zeros(1, np.bool_)
        if seen.op.name in ("tt.reduce", "teeny.sort") and poison.ndim:
            axis = int(str(seen.op.attrs.get("axis", poison.ndim - 1)))
            if (poison.any(axis=axis) & ~poison.all(axis=axis)).any():
                found.append(seen.op.name)
        if seen.op.name == "tt.scan":
            order = poison[::-1] if seen.op.attrs["reverse"] else poison
            if (np.logical_or.accumulate(order) & ~order).any():
                found.append(seen.op.name)

    bound = bind(arguments)
    try:
        run(module, bound, (1, 1, 1), trace=watch)
    except PoisonError as error:
        found.append(error.op.name)
    if any(b.memory.poison.any() for b in bound if isinstance(b, Buffer)):
        found.append("tt.store")
    return found


@MANY
@given(
    plans(), st.integers(0, 3), st.sampled_from([None, None, 0.0, -np.inf]), st.booleans(), st.integers(0, 3),
    st.lists(st.tuples(st.integers(-1, N + 1), st.integers(-1, N + 1)), min_size=1, max_size=4),
)  # fmt: skip
def test_what_is_clean_stays_defined(
    plan: Plan, mask: int, fill: float | None, masked: bool, last: int, bounds: list[tuple[int, int]]
) -> None:
    module = Written(plan, (mask, fill), (masked, last)).module
    codes = {d.code for d in check_fills(module.kernel)}
    if codes & SUSPECTS:
        event("suspected")
        return
    event("clean")
    for m, n in bounds:
        arguments: list[Any] = [np.ones(N, np.float32), np.zeros(N, np.float32), m, n]
        assert not spoiled(module, arguments), (plan, m, n)
