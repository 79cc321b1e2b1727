"""Making CPU code, finding it in the cache, and what a launch costs."""

from __future__ import annotations

import os
import tempfile
import time
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from bench.front import repeated
from bench.kernels import softmax
from bench.table import Row, duration, noted, within

_LAUNCHES = 2000


def rows() -> list[Row]:
    """CPU code cold and from the cache; overhead of `kernel[grid]` on arrays so small that nothing else counts."""
    return [*_code(), *_launches()]


def _code() -> list[Row]:
    from teeny.runtime.executable import on_cpu

    kernel = softmax().specialize(D="f32", BLOCK_SIZE=1024)
    before = os.environ.get("TEENY_CACHE_DIR")
    cold: list[float] = []
    with tempfile.TemporaryDirectory() as folder:
        for turn in range(8):
            os.environ["TEENY_CACHE_DIR"] = os.path.join(folder, str(turn))
            start = time.perf_counter()
            on_cpu(kernel)
            cold.append(time.perf_counter() - start)
        cached = repeated(lambda: _discard(on_cpu(kernel)), 30)
    if before is None:
        del os.environ["TEENY_CACHE_DIR"]
    else:
        os.environ["TEENY_CACHE_DIR"] = before
    return [
        within("CPU code of softmax, cold", min(cold[1:]), 25e-3),
        within("CPU code of softmax, from the cache", cached, 0.5e-3),
    ]


def _discard(value: object) -> None:
    del value


def _launches() -> list[Row]:
    import numpy

    x = numpy.zeros((1, 8), numpy.float32)
    found = [noted("launch on numpy arrays, by position", _overhead(x, numpy.empty_like(x)))]
    if find_spec("torch") is not None:
        torch = import_module("torch")
        found.append(noted("launch on torch tensors, by position", _overhead(torch.zeros(1, 8), torch.zeros(1, 8))))
    return found


def _overhead(x: Any, y: Any) -> str:
    kernel = softmax()

    def launches() -> None:
        for _ in range(_LAUNCHES):
            kernel[(1,)](x, y, 8, 8)

    return duration(repeated(launches, 5) / _LAUNCHES)
