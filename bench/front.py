"""Import, definition and specialisation."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable

from bench.kernels import softmax, softmax_function
from bench.table import Row, duration, noted, within

_IMPORT = "import time; t = time.perf_counter(); import teeny; print(time.perf_counter() - t)"
_DEFINE = """
import sys, time, teeny as tn, teeny.language as tl
make = tn.kernel
def timed(fn):
    start = time.perf_counter()
    made = make(fn)
    print(time.perf_counter() - start)
    return made
tn.kernel = timed
sys.path.insert(0, sys.argv[1])
import softmax
"""


def rows() -> list[Row]:
    """All of them, with their budgets."""
    from teeny.frontend.remember import flush, forget
    from teeny.runtime.definition import collecting
    from teeny.runtime.kernel import Kernel
    from teeny.ir.dtype import F32
    from teeny.runtime.specialization import specialize

    fn = softmax_function()
    folder = os.path.dirname(fn.__code__.co_filename)

    def define() -> None:
        with collecting():
            Kernel(fn)

    def remember() -> None:
        forget()
        Kernel(fn)

    definition = softmax().definition
    dtypes = dict.fromkeys(definition.variables, F32)

    def specialise() -> None:
        made = specialize(definition, dtypes, {"BLOCK_SIZE": 1024})
        assert made.mlir

    with tempfile.TemporaryDirectory() as cache:
        environment = {**os.environ, "TEENY_CACHE_DIR": os.path.join(cache, "teeny")}
        _process(_DEFINE, folder, environment)
        remembered = min(_process(_DEFINE, folder, environment) for _ in range(9))
    first: list[float] = []
    for _ in range(5):
        with tempfile.TemporaryDirectory() as cache:
            first.append(_process(_DEFINE, folder, {**os.environ, "TEENY_CACHE_DIR": os.path.join(cache, "teeny")}))
    Kernel(fn)
    flush()
    return [
        within("import teeny", min(_process(_IMPORT) for _ in range(11)), 60e-3),
        noted("define softmax, cold, first of a process", duration(min(first))),
        within("define softmax, cold, later", repeated(define, 30), 5e-3),
        noted("define softmax, remembered, first of a process", duration(remembered)),
        within("define softmax, remembered, later", repeated(remember, 30), 0.2e-3),
        within("specialise softmax to text, warm", repeated(specialise, 50), 1e-3),
    ]


def repeated(job: Callable[[], None], times: int) -> float:
    """Seconds of the best run of a job that ran twice before."""
    job()
    job()
    found: list[float] = []
    for _ in range(times):
        start = time.perf_counter()
        job()
        found.append(time.perf_counter() - start)
    return min(found)


def _process(program: str, argument: str = "", environment: dict[str, str] | None = None) -> float:
    """The number that a program prints in a process of its own."""
    command = [sys.executable, "-c", program, argument]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    return float(done.stdout.split()[0])
