"""All that needs a GPU in one go: the matrix of the language, the same kernels in Triton and here, the GPU tests,
softmax beside torch and Triton, the cost of a launch; one table.

`python -m bench.gpu`, or `python bench/gpu.py` from anywhere, with or without the package installed. Needs torch with
CUDA, Triton and cuda-bindings; where there is no device it says so and ends with status 0. Exit status 1 where a test
fails or a number is wrong.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
import traceback
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bench.table import Row

ROOT = Path(__file__).resolve().parent.parent

SHAPES = ((4096, 1000), (65536, 128), (8192, 4096), (3, 7))
DTYPES = {"f32": 1e-5, "f16": 1e-2, "bf16": 8e-2}
"""Largest relative error accepted. `x - max` is rounded to the dtype, and its exponential is off by that."""

_REPLAYS, _IN_GRAPH = 30, 20
_LAUNCHES, _TURNS = 500, 9


def main() -> int:
    """Test, measure, print the table."""
    from bench.table import table
    from teeny.runtime.cuda_driver import problem

    why = problem()
    if why is not None:
        print(f"gpu: SKIPPED, nothing was run: {why}")
        return 0
    from teeny.runtime.cuda import cuda_device

    device = cuda_device(0)
    torch = import_module("torch")
    versions = ", ".join(f"{name} {import_module(name).__version__}" for name in ("torch", "triton"))
    print(f"gpu: {device.model}, {device.architecture}; Python {sys.version.split()[0]}, {versions}", flush=True)
    rows = _tried("the language", _language)
    rows.append(_tests())
    for name, bound in DTYPES.items():
        for shape in SHAPES:
            what = f"softmax {name} {shape[0]} x {shape[1]}"
            rows += _tried(what, lambda n=name, b=bound, s=shape: [_softmax(torch, n, b, *s)])
    rows += _tried("launches", lambda: _launches(torch, device))
    print(f"\n{table(rows)}")
    missed = sum(not row.holds for row in rows)
    print(
        f"\n{missed or 'no'} budget{'s' if missed != 1 else ''} missed of {sum(row.ratio is not None for row in rows)}"
    )
    return 1 if any("WRONG" in cell or "FAILED" in cell for row in rows for cell in row.cells) else 0


def _language() -> list[Row]:
    """The matrix of functions and dtypes, and the same kernels in Triton; both keep what came out."""
    from tests.agreement import sides
    from tests.language import matrix
    from tests.language.cells import cells

    labels = list(cells())
    return [
        _kept("language matrix", "gpu", len(labels), lambda: matrix.refresh("gpu", labels, every=True)),
        _kept("agreement with Triton", "agreement", len(sides.PAIRS), sides.refresh),
    ]


def _kept(what: str, part: str, count: int, refresh: Callable[[], list[str]]) -> Row:
    """One row of many small kernels. The file of what came out has to be brought back from the device."""
    from bench.table import duration, noted
    from tests.language.records import Part

    start = time.perf_counter()
    failed = refresh()
    spent = time.perf_counter() - start
    print("\n".join(failed))
    print(f"gpu: {what} is kept in {Part(part).path}", flush=True)
    said = f"FAILED: {len(failed)}" if failed else "passed"
    return noted(what, said, f"{count - len(failed)} of {count} are right", duration(spent))


def _tests() -> Row:
    """The tests that need a device; the files that have none are not even collected."""
    from bench.table import noted

    print("gpu: tests", flush=True)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join((str(ROOT / "src"), os.environ.get("PYTHONPATH", "")))}
    files = [str(path) for path in sorted((ROOT / "tests").rglob("test_*.py")) if _needs_device(path)]
    several = ["-n", str(min(os.cpu_count() or 1, 8))] if find_spec("xdist") is not None else []
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", "gpu", *several, *files]
    done = subprocess.run(command, cwd=ROOT, env=environment, text=True, stdout=subprocess.PIPE, check=False)
    lines = done.stdout.strip().splitlines() or ["no output"]
    if done.returncode:
        print("\n".join(lines[-60:]), flush=True)
    return noted("tests marked gpu", "passed" if done.returncode == 0 else "FAILED", lines[-1].strip("= "))


def _needs_device(path: Path) -> bool:
    """Whether tests of a file are marked, by themselves or by the `conftest.py` beside them."""
    beside = path.with_name("conftest.py")
    return any("mark.gpu" in file.read_text("utf-8") for file in (path, beside) if file.is_file())


def _tried(what: str, measure: Callable[[], list[Row]]) -> list[Row]:
    """The rows of a measurement, or one that says that it failed, so that the others are still made."""
    from bench.table import noted

    print(f"gpu: {what}", flush=True)
    try:
        return measure()
    except Exception as error:
        traceback.print_exc(file=sys.stdout)
        return [noted(what, "FAILED", type(error).__name__)]


def _softmax(torch: Any, name: str, bound: float, rows: int, columns: int) -> Row:
    """Device time beside torch and Triton, and the error against float64."""
    from bench.kernels import softmax
    from bench.table import Row, duration
    from teeny.runtime.helpers import next_power_of_2

    in_triton: Any = import_module("bench.triton_softmax").softmax
    dtype = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16}[name]
    torch.manual_seed(0)
    x = torch.randn(rows, columns, device="cuda", dtype=dtype)
    outputs = {which: torch.empty_like(x) for which in ("teeny", "triton", "torch")}
    block = next_power_of_2(columns)
    warps = 8 if block >= 2048 else 4
    jobs: dict[str, Callable[[], object]] = {
        "teeny": lambda: softmax()[(rows,)](x, outputs["teeny"], columns, block, num_warps=warps),
        "torch": lambda: torch.softmax(x, 1, out=outputs["torch"]),
    }
    if name == "f32":  # Triton's exp takes no 16-bit floats
        jobs["triton"] = lambda: in_triton[(rows,)](x, outputs["triton"], columns, block, num_warps=warps)
    right = torch.softmax(x.double(), 1)
    errors: dict[str, float] = {}
    for which, job in jobs.items():
        job()
        errors[which] = float(
            ((outputs[which].double() - right).abs() / right.clamp_min(torch.finfo(dtype).tiny)).max()
        )
    times = _device_times(torch, jobs)
    mine = times["teeny"]
    rate = 2 * x.numel() * x.element_size() / mine / 1e9
    wrong = f"WRONG: error {errors['teeny']:.1e}" if not errors["teeny"] <= bound else f"error {errors['teeny']:.1e}"
    beside = [
        f"{which} {duration(times[which])}, {times[which] / mine:.2f}x"
        for which in ("torch", "triton")
        if which in times
    ]
    ratio = times["triton"] / mine if "triton" in times and rows > 1000 else None
    return Row(
        f"softmax {name} {rows} x {columns}", (duration(mine), f"{rate:.0f} GB/s", wrong, *beside), ratio, 0.99, True
    )


def _device_times(torch: Any, jobs: dict[str, Callable[[], object]]) -> dict[str, float]:
    """Median seconds of device time for each job, from graphs of many launches, so that the host does not count."""
    graphs: dict[str, Any] = {}
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        for job in jobs.values():
            job()
    side.synchronize()
    for which, job in jobs.items():
        graph = graphs[which] = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            for _ in range(_IN_GRAPH):
                job()
    times: dict[str, list[float]] = {which: [] for which in jobs}
    for graph in graphs.values():
        graph.replay()
    for _ in range(_REPLAYS):
        for which, graph in graphs.items():
            start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            start.record()
            graph.replay()
            end.record()
            end.synchronize()
            times[which].append(start.elapsed_time(end) / 1e3 / _IN_GRAPH)
    return {which: median(found) for which, found in times.items()}


def _launches(torch: Any, device: Any) -> list[Row]:
    """Host time of one launch: `kernel[grid]` here and in Triton, a bound launch, and the bare driver call."""
    from bench.kernels import softmax
    from bench.table import Row, duration
    from teeny.runtime.cuda import load
    from teeny.runtime.cuda_driver import driver
    from teeny.runtime.executable import load_cuda
    from teeny.runtime.program import compile

    in_triton: Any = import_module("bench.triton_softmax").softmax
    x, y = torch.zeros(1, 8, device="cuda"), torch.zeros(1, 8, device="cuda")
    kernel = softmax()
    program = compile(kernel.specialize(D="f32", BLOCK_SIZE=8), device.architecture)
    meta, threads = program.metadata, program.threads_per_block
    function = load(
        device, program.cubin, meta["name"], architecture=meta["arch"], threads=threads, shared=meta["shared"]
    )
    slots, grid = (x.data_ptr(), y.data_ptr(), 8), (1, 1, 1)
    bound = load_cuda(program, device)
    times = _host_times(
        torch,
        {
            "kernel[grid] of teeny": lambda: kernel[(1,)](x, y, 8, 8),
            "kernel[grid] of Triton": lambda: in_triton[(1,)](x, y, 8, 8),
            "a bound launch": lambda: bound((*slots, *grid), grid, None),
            "the bare driver call": _bare(driver(), function, [*slots, *[0] * meta["hidden"]]),
        },
    )
    ours, theirs, fixed, bare = times.values()
    return [
        Row(
            "launch: kernel[grid]",
            (duration(ours), f"Triton {duration(theirs)}", f"{ours / theirs:.2f} of it"),
            ours / theirs,
            0.5,
        ),
        Row(
            "launch: bound",
            (duration(fixed), f"driver {duration(bare)}", f"{fixed / bare:.2f} of it"),
            fixed / bare,
            1.1,
        ),
    ]


def _bare(api: Any, function: Any, slots: list[int]) -> Callable[[], object]:
    """cuLaunchKernel with everything made before."""
    import ctypes

    count = len(slots)
    block = (ctypes.c_int64 * (2 * count))(*slots)
    start = ctypes.addressof(block)
    block[count:] = [start + 8 * at for at in range(count)]
    parameters, stream, handle = start + 8 * count, api.CUstream(0), function.handle
    threads, shared = function.threads, function.shared
    call = api.cuLaunchKernel

    def launch(keep: object = block) -> object:
        return call(handle, 1, 1, 1, threads, 1, 1, shared, stream, parameters, 0)

    return launch


def _host_times(torch: Any, jobs: dict[str, Callable[[], object]]) -> dict[str, float]:
    """Median host seconds of one call, from rounds in which all take turns."""
    times: dict[str, list[float]] = {which: [] for which in jobs}
    for turn in range(_TURNS + 1):
        for which, job in jobs.items():
            torch.cuda.synchronize()
            start = time.perf_counter()
            for _ in range(_LAUNCHES):
                job()
            spent = time.perf_counter() - start
            if turn:
                times[which].append(spent / _LAUNCHES)
    torch.cuda.synchronize()
    return {which: median(found) for which, found in times.items()}


if __name__ == "__main__":
    sys.path[:0] = [str(ROOT), str(ROOT / "src")]
    sys.exit(main())
