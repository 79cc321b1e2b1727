"""Products of tiles on a CUDA device; skipped visibly where there is none."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import pytest

from teeny.runtime.cuda_driver import problem
from tests.gpu import products

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(problem() is not None, reason=f"no CUDA device ({problem()})"),
    pytest.mark.skipif(find_spec("triton") is None, reason="triton is not installed"),
]


@pytest.fixture(scope="module")
def torch() -> Any:
    found = pytest.importorskip("torch")
    if not found.cuda.is_available():
        pytest.skip("torch has no CUDA")
    return found


@pytest.mark.parametrize("dtype", products.DTYPES)
@pytest.mark.parametrize("sizes", products.SIZES, ids=str)
@pytest.mark.parametrize("turned", [False, True])
def test_matmul(torch: Any, dtype: str, sizes: tuple[int, int, int], turned: bool) -> None:
    products.matmul(torch, dtype, sizes, turned)


def test_precision(torch: Any) -> None:
    products.precise(torch)


def test_integers(torch: Any) -> None:
    products.integers(torch)


@pytest.mark.parametrize("dtype", products.DTYPES)
@pytest.mark.parametrize("causal", [False, True])
def test_attention(torch: Any, dtype: str, causal: bool) -> None:
    products.attention(torch, dtype, causal)
