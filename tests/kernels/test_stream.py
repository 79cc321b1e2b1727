"""Stream-K against NumPy in f64."""

from __future__ import annotations

import numpy as np
import pytest

from tests.kernels import stream
from tests.kernels.test_norms import near
from tests.kernels.test_products import FLOATS, SIZES, pair
from tests.language.rounding import DTYPES


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("size", [*SIZES, (40, 33, 200)])
@pytest.mark.parametrize("programs", [1, 3, 7])
def test_stream_k(dtype: str, size: tuple[int, int, int], programs: int) -> None:
    m, n, k = size
    a, b, wanted = pair(dtype, m, n, k)
    total = np.zeros((m, n), np.float32)
    stream.by_atomics[(programs,)](a, b, total, m, n, k, BM=16, BN=16, BK=32)
    near(total, wanted, "f32", 8)
    c, flags = np.zeros((m, n), DTYPES[dtype]), np.zeros(programs, np.int32)
    stream.by_flags[(programs,)](a, b, c, np.zeros((programs, 16, 16), np.float32), flags, m, n, k, BM=16, BN=16, BK=32)
    near(c, wanted, dtype, 8)
