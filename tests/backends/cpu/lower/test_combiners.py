"""Reductions and scans by random combiners: branches, comparisons, several operands; the CPU equals the reference."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from teeny.ir.core import Module, Value
from teeny.ir.dtype import F32, I32
from teeny.ir.types import shape_of
from teeny.ops.arith import addf, addi, mulf, muli, subf, subi
from teeny.ops.bits import xori
from teeny.ops.cast import sitofp
from teeny.ops.compare import select
from tests.backends.cpu.lower.harness import Mode, check
from tests.backends.cpu.lower.test_scan import Shape, places
from tests.drafts import Draft

SHAPES: tuple[Shape, ...] = ((1,), (8,), (128,), (4, 32), (32, 4), (2, 8, 16))
MODES = (Mode(), Mode(width=4), Mode(exact=True))
Tree = tuple[Any, ...]


def trees(floating: bool) -> st.SearchStrategy[Tree]:
    """Expressions of floats or of integers over the arguments of a combiner."""
    leaf = st.one_of(
        st.tuples(st.just("argument"), st.integers(0, 5)), st.tuples(st.just("number"), st.integers(-2, 3))
    )
    names = ("add", "sub", "mul") if floating else ("add", "sub", "mul", "xor")

    def grown(inner: st.SearchStrategy[Tree]) -> st.SearchStrategy[Tree]:
        return st.one_of(
            st.tuples(st.sampled_from(names), inner, inner),
            st.tuples(st.sampled_from(("select", "branch")), st.sampled_from(("lt", "ge", "eq")), inner, inner, inner),
            st.tuples(st.just("loop"), st.integers(0, 3), inner),
        )

    return st.recursive(leaf, grown, max_leaves=6)


@dataclass(frozen=True)
class Sample:
    """A combiner of as many expressions as `kinds` has operands: true for floats."""

    name: str
    shape: Shape
    axis: int
    reverse: bool
    kinds: tuple[bool, ...]
    bodies: tuple[Tree, ...]
    seed: int


@st.composite
def samples(draw: st.DrawFn) -> Sample:
    shape = draw(st.sampled_from(SHAPES))
    kinds = tuple(draw(st.lists(st.booleans(), min_size=1, max_size=3)))
    return Sample(
        draw(st.sampled_from(("tt.reduce", "tt.scan"))), shape, draw(st.integers(0, len(shape) - 1)),
        draw(st.booleans()), kinds, tuple(draw(trees(kind)) for kind in kinds), draw(st.integers(0, 99)),
    )  # fmt: skip


def made(d: Draft, tree: Tree, arguments: tuple[Value, ...], kinds: tuple[bool, ...], floating: bool) -> Value:
    """The value of an expression."""

    def inner(one: Tree) -> Value:
        return made(d, one, arguments, kinds, floating)

    dtype = F32 if floating else I32
    match tree[0]:
        case "argument":
            at = int(tree[1]) % len(arguments)
            value = arguments[at]
            if kinds[at % len(kinds)] == floating:
                return value
            return d.b.create(sitofp, value, type=F32) if floating else d.const(at, I32)
        case "number":
            return d.const(float(tree[1]) if floating else tree[1], dtype)
        case "select":
            return d.apply(select, d.compare(tree[1], inner(tree[2]), inner(tree[3])), inner(tree[3]), inner(tree[4]))
        case "branch":
            condition = d.compare(tree[1], inner(tree[2]), inner(tree[3]))
            return d.branch(condition, lambda: (inner(tree[3]),), lambda: (inner(tree[4]),))[0]
        case "loop":
            bounds = (d.const(0, I32), d.const(tree[1], I32), d.const(1, I32))
            step = inner(tree[2])

            def body(i: Value, total: Value) -> tuple[Value, ...]:
                return (d.apply(addf if floating else addi, total, step),)

            return d.loop(*bounds, (step,), body)[0]
        case name:
            table = {"add": (addf, addi), "sub": (subf, subi), "mul": (mulf, muli), "xor": (xori, xori)}
            return d.apply(table[name][0 if floating else 1], inner(tree[1]), inner(tree[2]))


def program(sample: Sample) -> Module:
    d = Draft()
    count = len(sample.kinds)
    for letter in "xy":
        for number, floating in enumerate(sample.kinds):
            d.pointer(f"{letter}{number}", F32 if floating else I32)
    pointers = d.begin()
    tiles = tuple(d.load(places(d, p, sample.shape)) for p in pointers[:count])

    def join(*arguments: Value) -> tuple[Value, ...]:
        bodies = zip(sample.bodies, sample.kinds, strict=True)
        return tuple(made(d, body, arguments, sample.kinds, kind) for body, kind in bodies)

    attrs: dict[str, Any] = {"axis": sample.axis}
    if sample.name == "tt.scan":
        attrs["reverse"] = sample.reverse
    for pointer, value in zip(pointers[count:], d.combine(sample.name, tiles, attrs, join), strict=True):
        left = tuple(int(str(n)) for n in shape_of(value.type))
        d.store(places(d, pointer, left) if left else pointer, value)
    return d.end()


@settings(max_examples=40, deadline=None, suppress_health_check=(HealthCheck.too_slow, HealthCheck.data_too_large))
@given(samples())
def test_random_combiners(sample: Sample) -> None:
    rng = np.random.default_rng(sample.seed)
    kinds = [np.float32 if floating else np.int32 for floating in sample.kinds]
    data = [rng.integers(-3, 4, sample.shape).astype(kind) for kind in kinds]
    check(program(sample), [*data, *(np.zeros_like(x) for x in data)], (1, 1, 1), MODES)
