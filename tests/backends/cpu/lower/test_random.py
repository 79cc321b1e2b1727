"""Random kernels: native code in many modes equals the reference bit for bit, wherever that is defined."""

from __future__ import annotations

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from teeny.ir.verify import verify
from tests.backends.cpu.lower.harness import ALL, Mode, compile_in, native
from tests.same import assert_same, reference
from tests.strategies import Features, Sample, samples

MODES = ALL
UNHURRIED = settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))


def agree(sample: Sample, modes: tuple[Mode, ...]) -> None:
    verify(sample.module, concrete=True)
    expected, undefined = reference(sample)
    for mode in modes:
        arguments = sample.arguments()
        found = iter(native(*compile_in(sample.module, mode), arguments, sample.grid))
        after = [next(found) if isinstance(a, np.ndarray) else a for a in arguments]
        try:
            assert_same(after, expected, undefined)
        except AssertionError as error:
            raise AssertionError(f"{mode}: {error}") from None


@given(samples(Features(exact=True)), st.integers(0, len(MODES) - 1))
@UNHURRIED
def test_random_kernels(sample: Sample, mode: int) -> None:
    agree(sample, (MODES[0], MODES[mode]))
