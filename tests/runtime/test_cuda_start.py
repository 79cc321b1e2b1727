"""Launches of clusters and with scratch memory, through a driver that writes down what it gets. No device is needed."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from teeny.diag.errors import LaunchError
from teeny.runtime.cuda import CudaDevice, CudaFunction, launcher, load
from teeny.runtime.cuda_driver import driver
from teeny.runtime.cuda_scratch import Scratch, with_scratch

bindings: Any = pytest.importorskip("cuda.bindings.driver", reason="cuda-bindings is not installed")
DEVICE = CudaDevice(0, "Fake", (9, 0), 132, 1 << 30, 232448, True, 7)


class Driver(SimpleNamespace):
    """The structures are those of cuda-bindings, as a real launch fills them; the calls are noted."""

    def __init__(self) -> None:
        super().__init__()
        self.noted: list[tuple[Any, ...]] = []
        self.fail = 0
        for name in vars(bindings):
            if name.startswith(("CUlaunch", "CUcluster", "CUfunction_attribute")):
                setattr(self, name, getattr(bindings, name))

    def cuInit(self, _: int) -> tuple[int]:
        return (0,)

    def CUstream(self, raw: int) -> Any:
        return bindings.CUstream(raw)

    def cuCtxPushCurrent(self, context: int) -> tuple[int]:
        return (0,)

    def cuCtxPopCurrent(self) -> tuple[int, int]:
        return (0, 0)

    def cuLaunchKernelEx(self, config: Any, function: int, parameters: int, extra: int) -> tuple[int]:
        size, spread = config.attrs
        grid = (config.gridDimX, config.gridDimY, config.gridDimZ)
        block = (config.blockDimX, config.blockDimY, config.blockDimZ)
        cluster = size.value.clusterDim
        assert size.id == bindings.CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION
        assert spread.id == bindings.CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE
        policy = bindings.CUclusterSchedulingPolicy.CU_CLUSTER_SCHEDULING_POLICY_SPREAD
        assert spread.value.clusterSchedulingPolicyPreference == policy
        addresses = (ctypes.c_void_p * 2).from_address(parameters)
        values = tuple(ctypes.c_int64.from_address(a).value for a in addresses)
        shape = (cluster.x, cluster.y, cluster.z)
        self.noted.append((grid, block, shape, config.sharedMemBytes, int(config.hStream), config.numAttrs, values))
        assert extra == 0
        return (self.fail,)

    def cuMemAllocAsync(self, size: int, stream: Any) -> tuple[int, int]:
        self.noted.append(("alloc", size, int(stream)))
        return (self.fail, 0x1100)

    def cuMemFreeAsync(self, address: int, stream: Any) -> tuple[int]:
        self.noted.append(("free", address, int(stream)))
        return (0,)

    def cuModuleLoadData(self, image: bytes) -> tuple[int, int]:
        return (0, 1)

    def cuModuleGetFunction(self, module: int, name: bytes) -> tuple[int, int]:
        return (0, 2)

    def cuFuncGetAttribute(self, which: Any, handle: int) -> tuple[int, int]:
        return (0, 1024)

    def cuFuncSetAttribute(self, handle: int, which: Any, value: int) -> tuple[int]:
        self.noted.append((which.name.removeprefix("CU_FUNC_ATTRIBUTE_"), value))
        return (0,)


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> Iterator[Driver]:
    import sys

    made: Any = Driver()
    package = ModuleType("cuda.bindings")
    monkeypatch.setitem(sys.modules, "cuda.bindings", package)
    monkeypatch.setitem(sys.modules, "cuda.bindings.driver", made)
    monkeypatch.delitem(sys.modules, "torch", raising=False)
    driver.cache_clear()
    yield made
    driver.cache_clear()


def function(cluster: int) -> CudaFunction:
    return CudaFunction(DEVICE, "total", 128, 1024, 32, 0, 7, None, cluster)


def test_a_launch_of_clusters(fake: Driver) -> None:
    launch = launcher(function(4), 2)
    launch((3, 5, 1), (1 << 40, -5), stream=99)
    launch((2, 1, 7), (1, 2))
    launch((2, 0, 7), (1, 2))
    assert fake.noted == [
        ((12, 5, 1), (128, 1, 1), (4, 1, 1), 1024, 99, 2, (1 << 40, -5)),
        ((8, 1, 7), (128, 1, 1), (4, 1, 1), 1024, 0, 2, (1, 2)),
    ]


def test_more_blocks_than_a_grid_has(fake: Driver) -> None:
    launch = launcher(function(16), 2)
    launch((2**27 - 1, 1, 1), (1, 2))
    assert fake.noted[0][0] == (2**31 - 16, 1, 1)
    with pytest.raises(LaunchError) as caught:
        launch((2**27, 1, 1), (1, 2))
    (found,) = caught.value.diagnostics
    assert found.code == "L008"
    assert dict(found.facts)["needed"] == f"at most {2**27 - 1}"


def test_a_failing_launch_of_clusters(fake: Driver) -> None:
    fake.fail = 701
    with pytest.raises(LaunchError, match="too few registers"):
        launcher(function(2), 2)((1, 1, 1), (1, 2))


@pytest.mark.parametrize(("cluster", "asked"), [(1, []), (8, []), (16, [("NON_PORTABLE_CLUSTER_SIZE_ALLOWED", 1)])])
def test_large_clusters_are_asked_for(fake: Driver, cluster: int, asked: list[Any]) -> None:
    made = load(DEVICE, b"\x7fELF", "total", architecture="sm_90a", threads=128, cluster=cluster)
    assert made.cluster == cluster
    assert fake.noted == asked


def noting(fake: Driver) -> Any:
    def launch(grid: Any, slots: Any, stream: object = None) -> None:
        fake.noted.append((grid, slots, stream))
        if stream == 13:
            raise LaunchError.of("X003", "the launch failed")

    return launch


def test_scratch_memory_is_taken_and_given_back_in_the_stream(fake: Driver) -> None:
    run = with_scratch(noting(fake), function(1), Scratch(place=1, size=64, align=128))
    run((2, 3, 1), (5, 0, 0), 99)
    assert fake.noted == [("alloc", 6 * 64, 99), ((2, 3, 1), (5, 0x1100, 0), 99), ("free", 0x1100, 99)]
    fake.noted.clear()
    run((2, 0, 1), (5, 0, 0), 99)
    assert fake.noted == []


def test_scratch_memory_is_aligned(fake: Driver) -> None:
    with_scratch(noting(fake), function(1), Scratch(0, 10, 4096))((1, 1, 1), (0, 3), 0)
    assert fake.noted == [("alloc", 10 + 4096 - 256, 0), ((1, 1, 1), (0x2000, 3), 0), ("free", 0x1100, 0)]


def test_scratch_memory_is_given_back_after_a_failing_launch(fake: Driver) -> None:
    with pytest.raises(LaunchError, match="the launch failed"):
        with_scratch(noting(fake), function(1), Scratch(0, 10, 128))((1, 1, 1), (0,), 13)
    assert fake.noted[-1] == ("free", 0x1100, 13)


def test_no_scratch_memory_is_left(fake: Driver) -> None:
    fake.fail = 2
    with pytest.raises(LaunchError, match="allocating 10 bytes of scratch memory failed: the device is out of memory"):
        with_scratch(noting(fake), function(1), Scratch(0, 10, 128))((1, 1, 1), (0,))
    assert len(fake.noted) == 1
