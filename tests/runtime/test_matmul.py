"""The matrix product of the examples: dtypes, ragged sizes, views with any strides, contracts."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from teeny.diag.errors import LaunchError

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "matmul.py"
TILE = (32, 64, 16, 2)
CLOSE = {np.dtype(np.float32): 1e-6, np.dtype(np.float16): 1e-3, np.dtype(ml_dtypes.bfloat16): 8e-3}


@pytest.fixture(scope="module")
def matmul() -> Any:
    spec = importlib.util.spec_from_file_location("matmul_example", EXAMPLE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.matmul


def launch(kernel: Any, a: Any, b: Any, c: Any) -> None:
    (m, k), n = a.shape, b.shape[1]
    strides = [step // x.itemsize for x in (a, b, c) for step in x.strides]
    grid = (-(-m // TILE[0]) * -(-n // TILE[1]),)
    kernel[grid](a, b, c, m, n, k, *strides, *TILE)


def operands(m: int, n: int, k: int, dtype: Any) -> tuple[Any, Any]:
    random = np.random.default_rng(0)
    return random.standard_normal((m, k)).astype(dtype), random.standard_normal((k, n)).astype(dtype)


def assert_right(c: Any, a: Any, b: Any) -> None:
    x, y = a.astype(np.float64), b.astype(np.float64)
    assert np.all(np.abs(c.astype(np.float64) - x @ y) <= CLOSE[c.dtype] * (1 + np.abs(x) @ np.abs(y)))


@pytest.mark.parametrize("dtype", CLOSE, ids=str)
@pytest.mark.parametrize("sizes", [(64, 64, 64), (100, 90, 70), (1, 1, 1), (33, 129, 17), (0, 5, 3)])
def test_sizes(matmul: Any, dtype: Any, sizes: tuple[int, int, int]) -> None:
    m, n, k = sizes
    a, b = operands(m, n, k, dtype)
    c = np.full((m, n), 7, dtype)
    launch(matmul, a, b, c)
    assert_right(c, a, b)


@pytest.mark.parametrize("dtype", CLOSE, ids=str)
def test_views(matmul: Any, dtype: Any) -> None:
    """Transposed and sliced operands and results, without a copy."""
    a, b = operands(70, 60, 50, dtype)
    wide = np.zeros((60, 140), dtype)
    for x, y, out in (
        (a.T.copy().T, b, np.zeros((70, 60), dtype)),
        (a, b.T.copy().T, np.zeros((70, 60), dtype)),
        (a.T.copy().T, b.T.copy().T, np.zeros((60, 70), dtype).T),
        (np.repeat(a, 2, axis=1)[:, ::2], np.repeat(b, 3, axis=0)[::3], wide.T[::2]),
    ):
        launch(matmul, x, y, out)
        assert_right(out, a, b)


def test_no_inner_axis(matmul: Any) -> None:
    c = np.full((40, 40), 7, np.float32)
    launch(matmul, np.zeros((40, 0), np.float32), np.zeros((0, 40), np.float32), c)
    assert not c.any()


def test_a_matrix_that_is_too_small(matmul: Any) -> None:
    a, b = operands(32, 64, 16, np.float32)
    with pytest.raises(LaunchError) as caught:
        matmul[(1,)](a, b, np.zeros((32, 32), np.float32), 32, 64, 16, 16, 1, 64, 1, 64, 1, *TILE)
    assert [d.code for d in caught.value.diagnostics] == ["L007"]


def test_it_runs_as_a_script() -> None:
    done = subprocess.run([sys.executable, str(EXAMPLE)], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("1024 x 1024 f32: ")
