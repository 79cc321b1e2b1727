"""The fill check against the reference: where it says nothing, no mask may make an undefined lane reach a reduction."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

from teeny.backends.reference import Buffer, Event, PoisonError, bind, run
from teeny.checks.fill import check_fills
from teeny.frontend.lower import lower_concrete, lower_generic
from teeny.ir.core import Module
from teeny.ir.dtype import F32, I32
from tests.sources import Written, defined, written
from tests.strategies import Features, Sample, samples

MANY = settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("written")


SUSPECTS = ("F001", "F004", "F005", "F006")


def spoiled(module: Module, arguments: list[Any], grid: tuple[int, int, int]) -> list[str]:
    """What undefined lanes reach in a run: reductions that also take defined ones, and memory.

    Where all lanes along the axis are undefined (a scalar mask, a row that is left out) so is the result; it is
    watched further on.
    """
    found: list[str] = []

    def watch(seen: Event) -> None:
        if seen.op.name == "tt.reduce":
            axis = seen.op.attrs["axis"]
            poisons = [lanes.mask for lanes in seen.operands]
            if any((p.any(axis=axis) & ~p.all(axis=axis)).any() for p in poisons):
                found.append("tt.reduce")

    bound = bind(arguments)
    try:
        run(module, bound, grid, trace=watch)
    except PoisonError as error:
        found.append(error.op.name)
    if any(b.memory.poison.any() for b in bound if isinstance(b, Buffer)):
        found.append("tt.store")
    return found


@MANY
@given(samples(Features(dtypes=(F32, I32))), st.data())
def test_what_is_clean_stays_defined_whatever_the_masks(sample: Sample, data: st.DataObject) -> None:
    codes = {d.code for d in check_fills(sample.module.kernel)}
    if codes.intersection(SUSPECTS):
        event("reported")
        return
    event("clean")
    for _ in range(4):
        bounds = {name: data.draw(st.integers(-1, 40)) for name in sample.bounds}
        assert spoiled(sample.module, sample.arguments(0, **bounds), sample.grid) == []


@MANY
@given(written(undefined=True), st.lists(st.integers(-2, 300), min_size=4, max_size=4))
def test_what_is_clean_in_general_stays_defined_when_specialised(
    folder: Path, kernel: Written, bounds: list[int]
) -> None:
    """The check sees generic IR with both sides of each compile-time branch; each side is run."""
    definition = defined(kernel.source, folder).definition
    generic = lower_generic(definition)
    codes = {d.code for d in check_fills(generic.module.kernel, generic.facts, generic.table.possible)}
    event("reported" if codes.intersection(SUSPECTS) else "clean")
    if codes.intersection(SUSPECTS):
        return
    for flag in (True, False):
        module = lower_concrete(definition, {}, {"FLAG": flag})
        for n in bounds:
            arrays = [a.copy() for a in kernel.arrays.values()]
            assert spoiled(module, [*arrays, n], (kernel.programs, 1, 1)) == []
