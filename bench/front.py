"""Import, definition and specialisation."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Any

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
    from bench.attention import backward_of_keys, backward_of_queries, row_sums
    from teeny.frontend.lower import lower_concrete
    from teeny.frontend.remember import flush, forget
    from teeny.ir.dtype import F16, F32
    from teeny.ir.verify import verify
    from teeny.runtime.definition import collecting
    from teeny.runtime.kernel import Kernel
    from teeny.runtime.specialization import specialize

    fn = softmax_function()
    folder = os.path.dirname(fn.__code__.co_filename)

    def define() -> None:
        with collecting():
            Kernel(fn)

    def remember() -> None:
        forget()
        Kernel(fn)

    attention_kernels = [backward_of_keys, backward_of_queries, row_sums]
    chosen = {
        "SHARED": 4, "BLOCK_M": 64, "BLOCK_N": 64, "HEAD": 64, "CAUSAL": True, "WINDOW": 256, "CAP": 30.0, "RATE": 0.1,
    }  # fmt: skip

    def attention(finish: Callable[..., object]) -> None:
        for kernel in attention_kernels:
            asked = {p.name: chosen[p.name] for p in kernel.definition.parameters if p.kind == "const"}
            finish(kernel.definition, dict.fromkeys(kernel.definition.variables, F16), asked)

    def lower_and_verify(*choices: Any) -> None:
        verify(lower_concrete(*choices), concrete=True)

    def define_attention() -> None:
        with collecting():
            for kernel in attention_kernels:
                Kernel(kernel.definition.fn)

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
        within("lower and verify attention backward", repeated(lambda: attention(lower_and_verify), 20), 60e-3),
        noted("the same with fills checked, 16 bits widened", duration(repeated(lambda: attention(specialize), 20))),
        noted("define attention backward, cold, later", duration(repeated(define_attention, 20))),
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
