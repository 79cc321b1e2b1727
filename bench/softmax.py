"""Softmax of rows, f32, on the CPU beside torch and numpy, all with outputs made before, in one run.

`python -m bench.softmax THREADS` measures in a process of its own and prints JSON.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec

from bench.table import Row, duration

SHAPES = ((4096, 1000), (65536, 128), (8192, 4096))
_SECONDS = 3.0  # for each shape


def rows() -> list[Row]:
    """One row for each shape and number of threads: one, and all."""
    count = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    found: list[Row] = []
    for threads in sorted({1, count}):
        done = subprocess.run(
            [sys.executable, "-m", "bench.softmax", str(threads)],
            stdout=subprocess.PIPE, text=True, check=True, env={**os.environ, "TEENY_NUM_THREADS": str(threads)},
        )  # fmt: skip
        for rows_, columns, times in json.loads(done.stdout):
            found.append(_row(rows_, columns, threads, times))
    return found


def _row(rows: int, columns: int, threads: int, times: dict[str, float]) -> Row:
    mine = times["teeny"]
    rate = 2 * 4 * rows * columns / mine / 1e9
    beside = [
        f"{name} {duration(times[name])}, {times[name] / mine:.2f}x" for name in ("torch", "numpy") if name in times
    ]
    what = f"softmax {rows} x {columns}, {threads} thread{'s' if threads > 1 else ''}"
    ratio = times["torch"] / mine if "torch" in times else None
    return Row(what, (duration(mine), f"{rate:.1f} GB/s", *beside), ratio, 1.0, at_least=True)


def measure(threads: int) -> list[tuple[int, int, dict[str, float]]]:
    """Median seconds of teeny, numpy and (if installed) torch for each shape. Stops the program where one is wrong."""
    import numpy

    from bench.kernels import softmax
    from teeny.cli.demo_run import BOUND, by_numpy, reference
    from teeny.cli.measure import medians
    from teeny.runtime.helpers import next_power_of_2

    torch = import_module("torch") if find_spec("torch") is not None else None
    if torch is not None:
        torch.set_num_threads(threads)
    found: list[tuple[int, int, dict[str, float]]] = []
    random = numpy.random.default_rng(0)
    for count, columns in SHAPES:
        x = random.standard_normal((count, columns), dtype=numpy.float32)
        y, z = numpy.zeros_like(x), numpy.zeros_like(x)
        block = next_power_of_2(columns)
        launch = softmax()[(count,)]
        jobs: dict[str, Callable[[], object]] = {
            "teeny": lambda x=x, y=y, n=columns, b=block, go=launch: go(x, y, n, b),
            "numpy": by_numpy(x, z),
        }
        if torch is not None:
            there, out = torch.from_numpy(x), torch.zeros(count, columns)
            jobs["torch"] = lambda there=there, out=out, t=torch: t.softmax(there, 1, out=out)
        times = medians(jobs, _SECONDS)
        right = reference(x)
        error = float((numpy.abs(y - right) / right).max())
        if not error <= BOUND:
            sys.exit(f"softmax {count} x {columns} is wrong: relative error {error:.1e}")
        found.append((count, columns, times))
    return found


if __name__ == "__main__":
    from bench.environment import clean

    clean()
    print(json.dumps(measure(int(sys.argv[1]))))
