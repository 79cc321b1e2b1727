"""The second half of the demo: the kernel runs on the CPU and on a CUDA device, is checked and timed."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from teeny.cli.measure import medians
from teeny.runtime.helpers import next_power_of_2

if TYPE_CHECKING:
    from teeny.cli.demo import Story
    from teeny.runtime.kernel import Kernel

SHAPES = ((4096, 1000), (3, 7))
BOUND = 1e-5
"""Largest relative error accepted of f32 against f64: the exponent's argument is rounded once, and so is each step."""

_SECONDS = 0.6  # of measuring, for each shape


def reference(x: Any) -> Any:
    """The softmax of the rows of `x`, in float64."""
    import numpy

    wide = x.astype(numpy.float64)
    num = numpy.exp(wide - wide.max(axis=1, keepdims=True))
    return num / num.sum(axis=1, keepdims=True)


def by_numpy(x: Any, y: Any) -> Callable[[], None]:
    """The softmax in numpy's own f32 arithmetic, without allocating what is as large as `x`."""
    import numpy

    def job() -> None:
        numpy.subtract(x, x.max(axis=1, keepdims=True), out=y)
        numpy.exp(y, out=y)
        numpy.divide(y, y.sum(axis=1, keepdims=True), out=y)

    return job


def show_cpu(story: Story, kernel: Kernel[Any]) -> None:
    """Run natively on both shapes, check against float64, and time beside numpy and torch."""
    import numpy

    from teeny.backends.cpu.pool import thread_count

    story.title(f"Native code on the CPU, float32, {thread_count()} threads, checked against numpy in float64")
    random = numpy.random.default_rng(0)
    for rows, columns in SHAPES:
        x = random.standard_normal((rows, columns), dtype=numpy.float32)
        y = numpy.full_like(x, numpy.nan)
        block = next_power_of_2(columns)
        launch = kernel[(rows,)]
        launch(x, y, columns, BLOCK_SIZE=block)
        _check(story, f"{rows} x {columns} on the CPU", x, y)
        _compare(x, lambda x=x, y=y, n=columns, b=block, go=launch: go(x, y, n, BLOCK_SIZE=b))
    if find_spec("torch") is None:
        print("torch is not installed, so it is not in the comparison")


def _check(story: Story, what: str, x: Any, y: Any) -> None:
    import numpy

    right = reference(x)
    errors = numpy.abs(y - right)
    relative = float((errors / right).max())
    if not relative <= BOUND:
        story.wrong(f"{what}: relative error {relative:.1e}, allowed is {BOUND:.0e}")
    print(f"{what}: max error {float(errors.max()):.1e} (relative {relative:.1e})")


def _compare(x: Any, teeny: Callable[[], object]) -> None:
    import numpy

    jobs: dict[str, Callable[[], object]] = {"teeny": teeny, "numpy": by_numpy(x, numpy.empty_like(x))}
    if find_spec("torch") is not None:
        torch = import_module("torch")
        there, out = torch.from_numpy(x), torch.from_numpy(numpy.empty_like(x))
        jobs["torch"] = lambda: torch.softmax(there, 1, out=out)
    times = medians(jobs, _SECONDS)
    for name, seconds in times.items():
        versus = "" if name == "teeny" else f"   {seconds / times['teeny']:.2f} times as long as teeny"
        print(f"    {name:6} {_speed(x, seconds)}{versus}")


def _speed(x: Any, seconds: float) -> str:
    """Time, and the bytes of `x` read and as many written in that time."""
    shown = f"{seconds * 1e3:8.2f} ms" if seconds >= 1e-3 else f"{seconds * 1e6:8.1f} us"
    return f"{shown} {2 * x.nbytes / seconds / 1e9:8.3f} GB/s"


def show_cuda(story: Story, kernel: Kernel[Any]) -> None:
    """The same on the first CUDA device, where there is one."""
    from teeny.runtime.cuda_driver import problem

    why = problem()
    if why is not None:
        story.title("On a GPU")
        print(f"left out: {why}")
        return
    import numpy

    from teeny.runtime.cuda import cuda_device
    from teeny.runtime.cuda_buffer import elapsed_ms, empty, from_numpy, record

    device = cuda_device(0)
    story.title(f"On {device.name}, {device.model}")
    random = numpy.random.default_rng(0)
    for rows, columns in SHAPES:
        x = random.standard_normal((rows, columns), dtype=numpy.float32)
        there, out = from_numpy(device, x), empty(device, x.shape, "f32")
        block = next_power_of_2(columns)
        kernel[(rows,)](there, out, columns, BLOCK_SIZE=block)
        _check(story, f"{rows} x {columns} on {device.name}", x, out.numpy())
        repetitions = 200
        start = record(device)
        for _ in range(repetitions):
            kernel[(rows,)](there, out, columns, BLOCK_SIZE=block)
        seconds = elapsed_ms(start, record(device)) / 1e3 / repetitions
        print(f"    teeny  {_speed(x, seconds)}")
