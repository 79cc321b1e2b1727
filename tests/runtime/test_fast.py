"""The short way of launches: the same answers and refusals as the long way, also with options and strides."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
import pytest

import teeny as tn
import teeny.language as tl
from teeny.runtime.fast import hinter
from teeny.runtime.launch import Launcher

D = TypeVar("D", bound=tl.Num)


@tn.kernel
def rows(
    x_ptr: tl.Ptr[D], y_ptr: tl.Ptr[D], m: tl.Scalar[tl.i32], n: tl.Scalar[tl.i32], step: tl.Scalar[tl.i64],
    scale: tl.Scalar[D], BLOCK: tl.Const[int],
) -> None:  # fmt: skip
    """y[i, :] = x[i, :] * scale, rows of x `step` apart."""
    tl.require(n <= BLOCK, "a row fits in a block")
    tl.extent(x_ptr, (m, n), strides=(step, 1))
    tl.extent(y_ptr, m * n)
    row, at = tl.program_id(0).to(tl.i64), tl.arange(0, BLOCK)
    mask = at < n
    tl.store(y_ptr + row * n + at, tl.load(x_ptr + row * step + at, mask=mask) * scale, mask=mask)


@pytest.fixture
def ways(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Which way each launch went."""
    seen: list[str] = []
    slow = Launcher._slow

    def spy(self: Launcher, *args: Any) -> None:
        seen.append("long")
        slow(self, *args)

    monkeypatch.setattr(Launcher, "_slow", spy)
    return seen


def launch(x: Any, y: Any, m: int, n: int, step: int, scale: float = 2, grid: Any = None, **more: Any) -> None:
    rows[(m,) if grid is None else grid](x, y, m, n, step, scale, BLOCK=8, **more)


def test_the_second_launch_takes_the_short_way(ways: list[str]) -> None:
    x = np.arange(40, dtype=np.float32).reshape(4, 10)
    for round_ in range(3):
        y = np.zeros((4, 6), np.float32)
        launch(x, y, 4, 6, 10, round_ + 0.5)
        assert np.array_equal(y, x[:, :6] * np.float32(round_ + 0.5))
    assert ways.count("long") <= 1


def test_options_have_ways_of_their_own(ways: list[str]) -> None:
    x = np.arange(12, dtype=np.int16).reshape(2, 6)
    for _ in range(3):
        y = np.zeros((2, 6), np.int16)
        launch(x, y, 2, 6, 6, 3, num_warps=2, num_stages=1)
        assert np.array_equal(y, x * 3)
    assert ways.count("long") == 1


REFUSED: dict[str, tuple[str, dict[str, Any]]] = {
    "strided extent": ("L007", {"m": 5}),
    "rows too far apart": ("L007", {"step": 12}),
    "negative steps": ("L007", {"step": -10}),
    "extent": ("L007", {"y": np.zeros(23, np.float32)}),
    "require": ("L006", {"n": 9}),
    "range": ("L010", {"m": 2**31, "grid": 1}),
    "kind": ("L002", {"m": 4.0, "grid": 1}),
    "read-only": ("L005", {"y": np.frombuffer(bytes(96), np.float32)}),
    "grid": ("L008", {"grid": (-1,)}),
    "array": ("L015", {"x": [1.0]}),
}


@pytest.mark.parametrize("name", REFUSED)
def test_the_short_way_refuses_what_the_long_way_does(name: str) -> None:
    code, change = REFUSED[name]
    good: dict[str, Any] = {
        "x": np.zeros((4, 10), np.float32),
        "y": np.zeros((4, 6), np.float32),
        "m": 4,
        "n": 6,
        "step": 10,
    }
    launch(**good)
    launch(**good)
    with pytest.raises(tn.LaunchError) as caught:
        launch(**(good | change))
    assert caught.value.diagnostics[0].code == code


def test_hints_of_slots() -> None:
    assert hinter([False, True, True, True, False])((32, 1, 48, 7, 1)) == (16, 1, 16, 0, 0)
