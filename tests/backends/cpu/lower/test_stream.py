"""Large outputs go past the cache, wherever whole vectors are aligned."""

from __future__ import annotations

import numpy as np
import pytest

from teeny.backends.cpu.lower import stream
from teeny.backends.cpu.lower.entry import lower
from tests.backends.cpu.lower.harness import ALL, Mode, check
from tests.kernels_text import load


@pytest.mark.parametrize("n", [384, 384 - 8, 381, 1, 0])
def test_every_output_counts_as_large(n: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stream, "LARGE", 0)
    x, y = (np.random.default_rng(s).standard_normal(n).astype(np.float32) for s in range(2))
    (_, _, found) = check(load("vector_add"), [x, y, np.zeros_like(x), n], (3, 1, 1), (*ALL, Mode(disjoint=True)))
    np.testing.assert_array_equal(found, x + y)


@pytest.mark.parametrize(("m", "n"), [(32, 64), (48, 80), (17, 33)])
def test_rows_that_are_aligned_or_not(m: int, n: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stream, "LARGE", 0)
    x = np.arange(m * n, dtype=np.int16).reshape(m, n)
    grid = (-(-m // 16), -(-n // 32), 1)
    found = check(load("transpose"), [x, np.zeros((n, m), np.int16), m, n, n, m], grid, ALL)
    np.testing.assert_array_equal(found[1], x.T)


def test_what_is_read_again_stays_in_the_cache() -> None:
    assert "nontemporal" in lower(load("vector_add"), level="x86-64-v4").ir_text
    assert "nontemporal" not in lower(load("shift"), level="x86-64-v4").ir_text
