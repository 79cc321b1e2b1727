"""How numbers become 8-bit floats in Python: constants of kernels and scalars, against the list of numbers."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from teeny.ir.dtype import LEAVES, holds, largest
from teeny.ops.float8 import FORMATS, bits_of
from teeny.runtime.scalars import NotAScalarError, convert, slot
from tests.language.float8 import edges, every, to_float8

NUMBERS = st.floats(allow_nan=True) | st.floats(-1e5, 1e5) | st.floats(-1, 1)
FORMAT = st.sampled_from(sorted(FORMATS))


def code(value: float, name: str) -> int:
    """The bits by the list; an infinity of f8e5m2 stays one, where conversions saturate."""
    rounding = "rtz" if math.isinf(value) else "rtne"
    return int(to_float8(np.array([value]), name, rounding).view(np.uint8)[0])


@given(NUMBERS, FORMAT)
def test_constants_are_rounded_once(value: float, name: str) -> None:
    assert bits_of(value, name) == code(value, name)


@pytest.mark.parametrize("name", sorted(FORMATS))
def test_edges(name: str) -> None:
    for value in edges(name):
        assert bits_of(float(value), name) == code(float(value), name), value


@given(NUMBERS, NUMBERS, FORMAT)
def test_rounding_keeps_the_order(x: float, y: float, name: str) -> None:
    if math.isnan(x) or math.isnan(y):
        return
    a, b = (float(every(name)[bits_of(min(max(v, -1e30), 1e30), name)]) for v in (min(x, y), max(x, y)))
    assert a <= b


@given(NUMBERS, FORMAT)
def test_scalars_in_range_alone(value: float, name: str) -> None:
    fits = holds(LEAVES[name], value)
    assert fits == (
        math.isnan(value) or abs(value) <= largest(LEAVES[name]) or (math.isinf(value) and "e5m2" == name[2:])
    )
    if fits:
        assert slot(convert(value, name), name) == bits_of(value, name)
        return
    with pytest.raises(NotAScalarError):
        convert(value, name)
