"""Every test of this folder runs on the CPU; on a CUDA device too where there is one; and what it specialises is
compiled for a GPU: each third specialisation for one target, all for every target with `TEENY_FULL=1`."""

from __future__ import annotations

import os
import zlib
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from teeny.runtime import kernel as kernels
from teeny.runtime.cuda_driver import problem
from teeny.runtime.kernel import Kernel
from tests.kernels import attention, indexed, norms, pointwise, products, scaled, sequences, stream, test_norms
from tests.language import outcomes

FULL = bool(os.environ.get("TEENY_FULL"))
MODULES = (attention, indexed, norms, pointwise, products, scaled, sequences, stream)
NO_GPU = problem() is not None or find_spec("triton") is None


class OnCuda:
    """A kernel whose launches take copies of NumPy arrays to the device and back."""

    def __init__(self, kernel: Any) -> None:
        self.kernel = kernel

    def __getitem__(self, grid: Any) -> Callable[..., None]:
        def launch(*args: Any, **keywords: Any) -> None:
            from teeny.runtime.cuda import cuda_device
            from teeny.runtime.cuda_buffer import from_numpy

            device = cuda_device(0)
            there = [from_numpy(device, a) if isinstance(a, np.ndarray) else a for a in args]
            self.kernel[grid](*there, **keywords)
            for array, buffer in zip(args, there, strict=True):
                if isinstance(array, np.ndarray):
                    array[...] = buffer.numpy()

        return launch


class Placed:
    """Arrays where a kernel that is given their addresses finds them."""

    def __init__(self, arrays: list[Any], cuda: bool) -> None:
        self.arrays: list[Any] = arrays
        if cuda:
            from teeny.runtime.cuda import cuda_device
            from teeny.runtime.cuda_buffer import from_numpy

            self.arrays = [from_numpy(cuda_device(0), array) for array in arrays]

    def addresses(self) -> Any:
        return np.array([a.ctypes.data if isinstance(a, np.ndarray) else a.pointer for a in self.arrays], np.int64)

    def numpy(self) -> list[Any]:
        return [a if isinstance(a, np.ndarray) else a.numpy() for a in self.arrays]


@pytest.fixture
def placed() -> Callable[[list[Any]], Placed]:
    return lambda arrays: Placed(arrays, isinstance(products.grouped, OnCuda))


def of(module: ModuleType) -> list[tuple[str, Any]]:
    """The kernels of a module."""
    return [(name, thing) for name, thing in vars(module).items() if isinstance(thing, Kernel)]


@pytest.fixture(autouse=True, params=["cpu", pytest.param("cuda", marks=[pytest.mark.gpu])])
def _device(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "cuda":
        if NO_GPU:
            pytest.skip("no CUDA device, or no Triton")
        for module in MODULES:
            for name, thing in of(module):
                monkeypatch.setattr(module, name, OnCuda(thing))
        rough = any(name in request.node.nodeid for name in ("products", "attention", "stream"))
        monkeypatch.setattr(test_norms, "LOOSE", 200.0 if rough else 20.0)  # f32 goes through tf32 in products
    elif find_spec("triton") is not None:
        made = kernels.specialize

        def specialize(*args: Any) -> Any:
            found = made(*args)
            compile_too(found)
            return found

        monkeypatch.setattr(kernels, "specialize", specialize)


def compile_too(found: Any) -> None:
    """Compile a specialisation for a GPU."""
    number = zlib.crc32(found.mlir.encode())
    if not FULL and number % 3:
        return
    for target in outcomes.TARGETS if FULL else (outcomes.TARGETS[number // 3 % len(outcomes.TARGETS)],):
        said = outcomes.compiled(found, target)
        assert not said.startswith("failed"), f"{found.name} for {target}: {said}"


@pytest.fixture(scope="session", autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TEENY_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        yield
