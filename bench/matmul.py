"""The matrix product of the examples, 1024 cubed on one thread, beside `torch.mm` with an output made before.

`python -m bench.matmul` measures in a process of its own and prints JSON.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from bench.table import Row, duration

SIZE, BM, BN, BK, GROUP = 1024, 128, 128, 64, 4
DTYPES = ("f32", "bf16")
_SECONDS = 3.0  # for each dtype


def rows() -> list[Row]:
    """One row for each dtype; the budget is that of f32."""
    if find_spec("torch") is None:
        return []
    done = subprocess.run(
        [sys.executable, "-m", "bench.matmul"],
        stdout=subprocess.PIPE, text=True, check=True, env={**os.environ, "TEENY_NUM_THREADS": "1"},
    )  # fmt: skip
    return [_row(dtype, times) for dtype, times in json.loads(done.stdout).items()]


def _row(dtype: str, times: dict[str, float]) -> Row:
    mine, other = times["teeny"], times["torch"]
    rate = 2 * SIZE**3 / mine / 1e9
    cells = (duration(mine), f"{rate:.0f} GFLOP/s", f"torch {duration(other)}, {other / mine:.2f}x")
    what = f"matmul {SIZE} cubed, {dtype}, 1 thread"
    return Row(what, cells, other / mine if dtype == "f32" else None, 0.9, at_least=True)


def measure() -> dict[str, dict[str, float]]:
    """Median seconds of teeny and torch by dtype. Stops the program where a product is wrong."""
    from teeny.cli.examples import example
    from teeny.cli.files import SourcePath, load
    from teeny.cli.measure import medians

    torch: Any = import_module("torch")
    torch.set_num_threads(1)
    kernel = load(SourcePath.of(example("matmul.py"))).matmul
    launch = kernel[(SIZE // BM * (SIZE // BN),)]
    found: dict[str, dict[str, float]] = {}
    for dtype, kind in zip(DTYPES, (torch.float32, torch.bfloat16), strict=True):
        torch.manual_seed(0)
        a, b = (torch.randn(SIZE, SIZE).to(kind) for _ in range(2))
        c, there = torch.zeros(SIZE, SIZE, dtype=kind), torch.zeros(SIZE, SIZE, dtype=kind)

        def mine(a: Any = a, b: Any = b, c: Any = c) -> None:
            launch(a, b, c, SIZE, SIZE, SIZE, SIZE, 1, SIZE, 1, SIZE, 1, BM, BN, BK, GROUP)

        def by_torch(a: Any = a, b: Any = b, out: Any = there) -> None:
            torch.mm(a, b, out=out)

        found[dtype] = medians({"teeny": mine, "torch": by_torch}, _SECONDS)
        right = a.double() @ b.double()
        error = float((c.double() - right).abs().max() / right.abs().max())
        if not error <= {"f32": 1e-5, "bf16": 5e-3}[dtype]:
            sys.exit(f"the product in {dtype} is wrong: relative error {error:.1e}")
    return found


if __name__ == "__main__":
    from bench.environment import clean

    clean()
    print(json.dumps(measure()))
