"""Row softmax in f32 on the CPU beside torch (`out=`) and NumPy, one thread each: `python -m bench.cpu_softmax`.

Ratios above 1 mean that teeny is faster. The best of interleaved rounds, as other work on a machine only adds.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from typing import Any

SHAPES = ((4096, 1000), (65536, 128), (8192, 4096))
ROUNDS = 15

KERNEL = """
module {{
  tt.func public @softmax(%x_ptr: !tt.ptr<f32>, %y_ptr: !tt.ptr<f32>, %n_cols: i32) {{
    %fill = arith.constant dense<0xFF800000> : tensor<{block}xf32>
    %pid = tt.get_program_id x : i32
    %row = arith.extsi %pid : i32 to i64
    %n = arith.extsi %n_cols : i32 to i64
    %start = arith.muli %row, %n : i64
    %cols = tt.make_range {{end = {block} : i32, start = 0 : i32}} : tensor<{block}xi32>
    %bound = tt.splat %n_cols : i32 -> tensor<{block}xi32>
    %mask = arith.cmpi slt, %cols, %bound : tensor<{block}xi32>
    %x_row = tt.addptr %x_ptr, %start : !tt.ptr<f32>, i64
    %x_base = tt.splat %x_row : !tt.ptr<f32> -> tensor<{block}x!tt.ptr<f32>>
    %x_at = tt.addptr %x_base, %cols : tensor<{block}x!tt.ptr<f32>>, tensor<{block}xi32>
    %x = tt.load %x_at, %mask, %fill : tensor<{block}x!tt.ptr<f32>>
    %top = "tt.reduce"(%x) <{{axis = 0 : i32}}> ({{
    ^bb0(%a: f32, %b: f32):
      %larger = arith.maxnumf %a, %b : f32
      tt.reduce.return %larger : f32
    }}) : (tensor<{block}xf32>) -> f32
    %tops = tt.splat %top : f32 -> tensor<{block}xf32>
    %shifted = arith.subf %x, %tops : tensor<{block}xf32>
    %numerator = math.exp %shifted : tensor<{block}xf32>
    %total = "tt.reduce"(%numerator) <{{axis = 0 : i32}}> ({{
    ^bb0(%a: f32, %b: f32):
      %both = arith.addf %a, %b : f32
      tt.reduce.return %both : f32
    }}) : (tensor<{block}xf32>) -> f32
    %totals = tt.splat %total : f32 -> tensor<{block}xf32>
    %y = arith.divf %numerator, %totals : tensor<{block}xf32>
    %y_row = tt.addptr %y_ptr, %start : !tt.ptr<f32>, i64
    %y_base = tt.splat %y_row : !tt.ptr<f32> -> tensor<{block}x!tt.ptr<f32>>
    %y_at = tt.addptr %y_base, %cols : tensor<{block}x!tt.ptr<f32>>, tensor<{block}xi32>
    tt.store %y_at, %y, %mask : tensor<{block}x!tt.ptr<f32>>
    tt.return
  }}
}}
"""


def best_times(jobs: dict[str, Callable[[], Any]]) -> dict[str, float]:
    """Least seconds of each job, in rounds that take turns."""
    times: dict[str, list[float]] = {name: [] for name in jobs}
    for job in jobs.values():
        job()
    for _ in range(ROUNDS):
        for name, job in jobs.items():
            start = time.perf_counter()
            job()
            times[name].append(time.perf_counter() - start)
    return {name: min(found) for name, found in times.items()}


def main() -> None:
    for name in ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE"):  # a machine's settings for other work; they slow NumPy down
        os.environ.pop(name, None)
    os.environ["TEENY_NUM_THREADS"] = "1"
    import numpy as np

    import teeny.language
    from teeny.backends.cpu.kernel import compile_module
    from teeny.ir.text import parse_module

    assert teeny.language
    try:
        import torch
    except ImportError:
        torch = None
    if torch is not None:
        torch.set_num_threads(1)
    random = np.random.default_rng(0)
    for rows, columns in SHAPES:
        block = 1 << (columns - 1).bit_length()
        module = parse_module(KERNEL.format(block=block))
        start = time.perf_counter()
        kernel = compile_module(module)
        cold = time.perf_counter() - start
        x = random.standard_normal((rows, columns)).astype(np.float32)
        y = np.zeros_like(x)
        args = [x.ctypes.data, y.ctypes.data, columns]
        z = np.zeros_like(x)

        def by_numpy(x: Any = x, z: Any = z) -> None:
            np.subtract(x, x.max(axis=1, keepdims=True), out=z)
            np.exp(z, out=z)
            np.divide(z, z.sum(axis=1, keepdims=True), out=z)

        jobs: dict[str, Callable[[], Any]] = {
            "teeny": lambda kernel=kernel, args=args, rows=rows: kernel.launch(args, (rows, 1, 1)),
            "numpy": by_numpy,
        }
        if torch is not None:
            xt, zt = torch.from_numpy(x), torch.zeros(rows, columns)
            jobs["torch"] = lambda xt=xt, zt=zt: torch.softmax(xt, 1, out=zt)
        times = best_times(jobs)
        error = float(np.abs(y - z).max())
        mine = times["teeny"]
        ratios = "  ".join(f"{times[n] / mine:5.2f}x {n} ({times[n] * 1e3:.2f} ms)" for n in jobs if n != "teeny")
        rate = 2 * x.nbytes / mine / 1e9
        print(
            f"{rows:6} x {columns:<5} {mine * 1e3:7.2f} ms {rate:5.1f} GB/s  {ratios}  "
            f"max error {error:.1e}  compile {cold * 1e3:.0f} ms"
        )
        if error > 1e-5:
            sys.exit("the results differ")


if __name__ == "__main__":
    main()
