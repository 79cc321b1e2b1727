"""Integer arithmetic and conversions on a CUDA device against the reference; skipped where there is none."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest

from teeny.runtime.cuda_driver import problem
from tests.backends.triton import test_exact as written
from tests.backends.triton import test_tiles as tiles
from tests.language.described import aligned
from tests.language.executors import launch

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(problem() is not None, reason=f"no CUDA device ({problem()})"),
    pytest.mark.skipif(find_spec("triton") is None, reason="triton is not installed"),
]
N = written.N
Arrays = list[Any]


def both(kernel: Any, arguments: Arrays, constants: dict[str, Any], dtypes: dict[str, str]) -> tuple[Arrays, Arrays]:
    """The arguments as the reference and as the device leave them."""
    found: list[Arrays] = []
    for executor in ("reference", "cuda"):
        made = [_copied(a) for a in arguments]
        with np.errstate(all="ignore"):
            launch(kernel, executor, made, constants=constants, dtypes=dtypes)
        found.append(made)
    return found[0], found[1]


def _copied(argument: Any) -> Any:
    if not hasattr(argument, "shape"):
        return argument
    made = aligned(argument.shape, argument.dtype)
    made[...] = argument
    return made


@pytest.mark.parametrize("source", written.FLOATS)
@pytest.mark.parametrize("dtype", written.INTS)
def test_floats_to_integers(dtype: str, source: str) -> None:
    arguments = [written.floats(source, 1), np.zeros(N + 1, written.kind(dtype))]
    wanted, found = both(written.integers, arguments, {"BLOCK": N}, {"F": source, "I": dtype})
    np.testing.assert_array_equal(found[1], wanted[1])


@pytest.mark.parametrize("dtype", written.INTS)
def test_constants(dtype: str) -> None:
    wanted, found = both(written.constants, [np.ones(16, written.kind(dtype))], {"BLOCK": 4}, {"I": dtype})
    np.testing.assert_array_equal(found[0], wanted[0])


@pytest.mark.parametrize("dtype", written.INTS)
def test_quotients(dtype: str) -> None:
    x, y = written.numbers(dtype, 1), written.numbers(dtype, 2)
    y[::5] = 0
    arguments = [x, y, np.zeros_like(x), np.zeros_like(x)]
    wanted, found = both(written.quotients, arguments, {"BLOCK": N}, {"I": dtype})
    for at in (2, 3):
        np.testing.assert_array_equal(found[at][y != 0], wanted[at][y != 0])


@pytest.mark.parametrize("dtype", written.INTS)
def test_shifts(dtype: str) -> None:
    x, y = written.numbers(dtype, 1), written.numbers(dtype, 2)
    y[::2] = (y[::2] & 127) % np.array(16 * y.itemsize).astype(y.dtype)
    arguments = [x, y, np.zeros_like(x), np.zeros_like(x)]
    wanted, found = both(written.shifts, arguments, {"BLOCK": N}, {"I": dtype})
    np.testing.assert_array_equal(found[2], wanted[2])
    np.testing.assert_array_equal(found[3], wanted[3])


@pytest.mark.parametrize("same", [False, True])
@pytest.mark.parametrize("at", [0, 4, 8, 9, -5, -4, 24])
@pytest.mark.parametrize("dtype", ["i32", "f16", "u8", "f64"])
def test_some_tiles_by_hardware(dtype: str, at: int, same: bool) -> None:
    kind = written.kind(dtype)
    x, y = np.arange(40 * 32).reshape(40, 32).astype(kind), np.zeros((40, 32), kind)
    wanted, found = both(tiles.copied, [x, y, 40, 32], {"AT": at, "SAME": same}, {"F": dtype})
    np.testing.assert_array_equal(found[1], wanted[1])
