"""Triton's kernels on the CPU, compiled by teeny, against Triton's own interpreter: `python -m bench.interpreter`.

Each case of `bench.triton_kernels` is launched in both on the same tensors. The interpreter needs its own process,
since `TRITON_INTERPRET` is read when a kernel is decorated.
"""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
import time
from statistics import median

from bench.triton_kernels import GROUPS

_REPEATS = 30
_LONGEST = 1.0
"""Seconds for the repeats of one case."""


def measure() -> dict[str, float]:
    """Seconds a run by case in this process; the least of several where runs are short. Wrong results are left out."""
    from bench.triton_kernels.case import CASES

    for group in GROUPS:
        importlib.import_module(f"bench.triton_kernels.{group}")
    found: dict[str, float] = {}
    for name, one in CASES.items():
        trial = one.make(1)
        try:
            trial.check()
        except Exception as error:  # an interpreter that cannot or does not
            print(f"{name}: {type(error).__name__}: {str(error).strip().splitlines()[0][:100]}", file=sys.stderr)
            continue
        best, spent = float("inf"), 0.0
        for _ in range(_REPEATS):
            started = time.perf_counter()
            trial.run()
            seconds = time.perf_counter() - started
            best, spent = min(best, seconds), spent + seconds
            if spent > _LONGEST:
                break
        found[name] = best
    return found


def _elsewhere(**variables: str) -> dict[str, float]:
    """The same in a process with these variables."""
    command = [sys.executable, "-m", "bench.interpreter", "--measure"]
    environment = {**os.environ, **variables}
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def main() -> None:
    """Print the table; the median and the least are the budgets (1,000 and 20)."""
    ours = _elsewhere(TRITON_DEFAULT_BACKEND="cpu")
    theirs = _elsewhere(TRITON_INTERPRET="1")
    ratios: list[float] = []
    print(f"{'kernel':32} {'teeny':>12} {'interpreter':>12} {'ratio':>9}")
    for name, seconds in ours.items():
        if name in theirs:
            ratios.append(theirs[name] / seconds)
            print(f"{name:32} {seconds * 1e6:9.1f} us {theirs[name] * 1e3:9.1f} ms {ratios[-1]:8.0f}x")
        else:
            print(f"{name:32} {seconds * 1e6:9.1f} us {'wrong or none':>12}")
    print(f"median {median(ratios):.0f}x, least {min(ratios):.0f}x, {len(ratios)} kernels")


if __name__ == "__main__":
    if "--measure" in sys.argv:
        print(json.dumps(measure()))
    else:
        main()
