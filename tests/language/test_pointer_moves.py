"""Blocks of pointers that are reshaped, turned and repeated: they lead to the same places."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.language.executors import EXECUTORS, kernel_of, launch

MOVED = """
@tn.kernel
def kernel(x: tl.Ptr[tl.f32], y: tl.Ptr[tl.f32]) -> None:
    at = tl.arange(0, 16)
    pairs = tl.load(tl.reshape(x + at, (8, 2)))
    tl.store(tl.trans(tl.reshape(y + at, 8, 2)), tl.trans(pairs) + 1.0)
    rows = tl.broadcast_to(tl.expand_dims(x + at, 1), (16, 4))
    tl.store(y + 16 + at[:, None] * 4 + tl.arange(0, 4), tl.load(rows))
"""
IN_PLACE = """
@tn.kernel
def kernel(x: tl.Ptr[tl.f32]) -> None:
    at = tl.reshape(x + tl.arange(0, 16), (4, 4))
    tl.store(at, tl.trans(tl.load(at)))
"""


@pytest.mark.parametrize("executor", EXECUTORS)
def test_places_stay_the_same(executor: str, tmp_path: Path) -> None:
    x, y = np.arange(16, dtype=np.float32), np.zeros(80, np.float32)
    launch(kernel_of(MOVED, tmp_path), executor, [x, y])
    np.testing.assert_array_equal(y, np.concatenate((x + 1, np.repeat(x, 4))))


@pytest.mark.parametrize("executor", EXECUTORS)
def test_all_is_read_before_it_is_overwritten(executor: str, tmp_path: Path) -> None:
    x = np.arange(16, dtype=np.float32)
    launch(kernel_of(IN_PLACE, tmp_path), executor, [x])
    np.testing.assert_array_equal(x, np.arange(16).reshape(4, 4).T.reshape(-1))
