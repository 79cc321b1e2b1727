"""The driver of the backend `cpu` for Triton: what `import triton` loads of teeny, so next to nothing is imported."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from typing import Any

from triton.backends.driver import DriverBase

__all__ = ["CpuDriver"]

_VARIABLE = "TRITON_DEFAULT_BACKEND"
_NAME = "cpu"
_CACHE_BYTES = 1 << 20
"""Written between the runs of a benchmark: less than a CPU's caches hold, whose clearing would be most of the time."""


class CpuDriver(DriverBase):
    """Runs on the CPU. Active where it is asked for, or where no other driver is."""

    _asking = False
    """Whether the others are being asked: one of them may ask the same of this one."""

    def __init__(self) -> None:
        super().__init__()
        from teeny.backends.triton.wheel import version
        from teeny.triton.launcher import Utilities, launcher

        version()  # raises for a Triton of which too little is known
        self.launcher_cls = launcher
        self.utils = Utilities()

    @classmethod
    def is_active(cls) -> bool:
        """`TRITON_DEFAULT_BACKEND=cpu`, or no GPU."""
        asked = os.environ.get(_VARIABLE)
        if asked:
            return asked == _NAME
        if cls._asking:
            return False
        from triton.backends import backends

        cls._asking = True
        try:
            return not any(b.driver.is_active() for b in backends.values() if b.driver is not cls)
        finally:
            cls._asking = False

    def get_current_target(self) -> Any:
        from triton.backends.compiler import GPUTarget

        return GPUTarget(_NAME, "", 1)

    def get_current_device(self) -> str:
        """The key under which Triton keeps compiled kernels: no number of a GPU."""
        return _NAME

    def set_current_device(self, device: object) -> None:
        """There is one."""

    def get_current_stream(self, device: object = None) -> int:
        return 0

    def get_active_torch_device(self) -> Any:
        import torch

        return torch.device(_NAME)

    def get_device_interface(self) -> type[HostInterface]:
        return HostInterface

    def map_python_to_cpp_type(self, ty: str) -> str:
        """The slot that an argument takes in a launch."""
        return "void*" if ty.startswith("*") else "int64_t"

    def get_benchmarker(self) -> Callable[..., Any]:
        from triton.testing import do_bench

        def benchmark(kernel_call: Callable[[], Any], *, quantiles: Sequence[float], **options: Any) -> Any:
            return do_bench(kernel_call, quantiles=quantiles, **options)

        return benchmark

    def get_empty_cache_for_benchmark(self) -> Any:
        import torch

        return torch.empty(_CACHE_BYTES, dtype=torch.int8)

    def clear_cache(self, cache: Any) -> None:
        cache.zero_()


# Triton looks for a class that is not abstract: what later versions ask for must not make `import triton` fail.
type.__setattr__(CpuDriver, "__abstractmethods__", frozenset())


class HostInterface:
    """What benchmarks ask of a device: launches are done when they return."""

    class Event:
        """A moment."""

        def __init__(self, enable_timing: bool = True) -> None:
            self.moment = 0.0

        def record(self, stream: object = None) -> None:
            self.moment = time.perf_counter()

        def synchronize(self) -> None:
            """Nothing is pending."""

        def elapsed_time(self, end: HostInterface.Event) -> float:
            """Milliseconds from here to `end`."""
            return (end.moment - self.moment) * 1e3

    @staticmethod
    def synchronize() -> None:
        """Nothing is pending."""

    @staticmethod
    def current_device() -> str:
        return _NAME
