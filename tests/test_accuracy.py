"""The bounds that operations state hold, on native code and on the reference; docs/accuracy.md shows them."""

from __future__ import annotations

import re
from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest

from bench import accuracy
from bench.exact import TWO, WIDER, errors, exact
from bench.samples import pairs, samples
from bench.special import ONE, apart
from teeny.ir.schema import registry
from teeny.runtime.cuda_driver import problem

WIDE = ["f32", pytest.param("f64", marks=pytest.mark.skipif(not WIDER, reason="no wider type"))]


@pytest.mark.parametrize("name", accuracy.OPERATIONS)
def test_native_code_is_within_the_bound(name: str) -> None:
    for dtype in accuracy.DTYPES:
        if dtype != "f64" or WIDER:
            found = accuracy.worst(name, dtype, 2000)
            assert found.error <= accuracy.bound(name, dtype), (dtype, found)


@pytest.mark.parametrize("dtype", WIDE)
@pytest.mark.parametrize("name", accuracy.OPERATIONS)
def test_the_reference_is_within_the_bound(name: str, dtype: str) -> None:
    numpy: Any = registry()[accuracy.OPERATIONS[name]].numpy
    plain = name.removeprefix("libdevice.")
    given = list(pairs(dtype, 500)) if plain in TWO else [samples(dtype, 500)]
    if plain in ONE:
        given = [apart(plain, given[0][::10])]
    with np.errstate(all="ignore"):
        found = errors(numpy(np, None, *given), exact(plain, *given))
    assert found.max() <= accuracy.bound(name, dtype)


def test_every_operation_that_states_an_error_is_measured() -> None:
    stated = {name for name, schema in registry().items() if schema.ulp.cpu and not schema.generic}
    assert stated <= set(accuracy.OPERATIONS.values())


def test_the_page_shows_the_bounds() -> None:
    page = accuracy.PAGE.read_text("utf-8")
    for name in accuracy.OPERATIONS:
        shown = re.escape(name if "." in name else f"tl.{name}")
        row = re.search(rf"^\| `{shown}` \|(.*)\|$", page, re.MULTILINE)
        assert row is not None, f"no row for {name}: run make accuracy"
        cells = [cell.strip() for cell in row[1].split("|")]
        wanted = [accuracy.bound(name, d, cuda) for cuda in (False, True) for d in ("f32", "f64")]
        for cell, limit in zip([*cells[:2], *cells[4:]], wanted, strict=True):
            said = re.fullmatch(r"(?:[\d.e+]+|not measured) \((?:≤ ([\d.]+)|no bound)\)", cell)
            assert said is not None, cell
            assert float(said[1] or "inf") == limit, f"{name}: run make accuracy"
            assert cell.startswith("not") or float(cell.split()[0]) <= limit + 0.005


@pytest.mark.gpu
@pytest.mark.skipif(find_spec("torch") is None or problem() is not None, reason="needs a CUDA device and torch")
@pytest.mark.parametrize("name", accuracy.OPERATIONS)
def test_gpu_code_is_within_the_bound(name: str) -> None:
    for dtype in accuracy.DTYPES:
        found = accuracy.worst(name, dtype, 5000, cuda=True)
        assert found.error <= accuracy.bound(name, dtype, cuda=True), (dtype, found)
