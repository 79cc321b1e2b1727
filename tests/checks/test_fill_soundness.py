"""The fill check against the reference: where it says nothing, no mask may make an undefined lane reach a reduction."""

from __future__ import annotations

from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

from teeny.backends.reference import Event, PoisonError, bind, run
from teeny.checks.fill import check_fills
from teeny.ir.dtype import F32, I32
from tests.strategies import Features, Sample, samples

MANY = settings(max_examples=400, deadline=None, suppress_health_check=list(HealthCheck))
SUSPECTS = ("F001", "F004", "F005", "F006")


def spoiled(sample: Sample, bounds: dict[str, int]) -> list[str]:
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

    arguments = sample.arguments(0, **bounds)
    bound = bind(arguments)
    try:
        run(sample.module, bound, sample.grid, trace=watch)
    except PoisonError as error:
        found.append(error.op.name)
    if any(bound[at].memory.poison.any() for at in sample.outputs):
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
        assert spoiled(sample, bounds) == []
