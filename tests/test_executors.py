"""Native code against the reference: operations x dtypes x shapes x strides x masks x grids, bit for bit."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings

from teeny.ir.dtype import F32, F64, I32, I64
from tests.oracle import assert_agree
from tests.strategies import Features, Sample, samples

pytest.importorskip("llvmlite")

MANY = settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))


@MANY
@given(samples(Features(exact=True)))
def test_all_dtypes(sample: Sample) -> None:
    assert_agree(sample)


@MANY
@given(samples(Features(dtypes=(F32, F64), exact=True, steps=5)))
def test_floats_and_their_sums(sample: Sample) -> None:
    assert_agree(sample)


@MANY
@given(samples(Features(dtypes=(I32, I64), exact=True)))
def test_integers(sample: Sample) -> None:
    assert_agree(sample)


@MANY
@given(samples(Features(exact=True, undefined=False, control=False, steps=4)))
def test_straight_lines(sample: Sample) -> None:
    assert_agree(sample)
