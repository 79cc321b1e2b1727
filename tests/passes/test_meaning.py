"""Every pass keeps the meaning: random programs before and after, on the reference."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings

from teeny.ir.core import Module, walk_function
from teeny.passes.canonical import canonical
from teeny.passes.widen import widen
from tests.same import assert_same, reference
from tests.strategies import Features, Sample, samples

MANY = settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck))


def size(module: Module) -> int:
    return sum(1 for function in module.functions for _ in walk_function(function))


@MANY
@given(samples())
def test_canonical_keeps_every_bit(sample: Sample) -> None:
    expected, undefined = reference(sample)
    before = size(sample.module)
    canonical(sample.module)
    once = size(sample.module)
    assert once <= before
    found, _ = reference(sample)
    assert_same(found, expected, undefined)
    canonical(sample.module)
    assert size(sample.module) == once


@MANY
@given(samples(Features(exact=True, narrow_sums=False)))
def test_widen_keeps_what_is_rounded_once_anyway(sample: Sample) -> None:
    """Division, remainder, square root, floor of 16-bit floats have the same bits when done in f32 and rounded."""
    expected, undefined = reference(sample)
    widen(sample.module)
    once = size(sample.module)
    found, _ = reference(sample)
    assert_same(found, expected, undefined)
    widen(sample.module)
    assert size(sample.module) == once
