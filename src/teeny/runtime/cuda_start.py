"""The driver's call that starts a kernel: the plain one, and the one with attributes that a cluster of blocks needs."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from teeny.diag.errors import LaunchError
from teeny.runtime.grid import LIMITS

if TYPE_CHECKING:
    from teeny.runtime.cuda import CudaFunction
    from teeny.runtime.grid import Grid

Start = Callable[["Grid", Any], int]
"""`(grid of programs, stream) -> code of the driver`. Not safe in several threads at a time."""


def starter(api: Any, function: CudaFunction, parameters: int) -> Start:
    """Starts a function over a grid. `parameters` is the address of the array of its parameters' addresses."""
    return _plain(api, function, parameters) if function.cluster == 1 else _clusters(api, function, parameters)


def _plain(api: Any, function: CudaFunction, parameters: int) -> Start:
    call, handle, threads, shared = api.cuLaunchKernel, function.handle, function.threads, function.shared

    def start(grid: Grid, stream: Any) -> int:
        x, y, z = grid
        return call(handle, x, y, z, threads, 1, 1, shared, stream, parameters, 0)[0]

    return start


def _clusters(api: Any, function: CudaFunction, parameters: int) -> Start:
    """A program is a cluster along x, so the driver's grid, which counts blocks, is so many times as long there."""
    call, handle, blocks = api.cuLaunchKernelEx, function.handle, function.cluster
    config = api.CUlaunchConfig()
    config.blockDimX, config.blockDimY, config.blockDimZ = function.threads, 1, 1
    config.sharedMemBytes = function.shared
    config.attrs = _attributes(api, blocks)
    config.numAttrs = len(config.attrs)

    def start(grid: Grid, stream: Any) -> int:
        x, config.gridDimY, config.gridDimZ = grid
        if x * blocks > LIMITS[0]:
            raise _too_many(function, x)
        config.gridDimX = x * blocks
        config.hStream = stream
        return call(config, handle, parameters, 0)[0]

    return start


def _too_many(function: CudaFunction, programs: int) -> LaunchError:
    return LaunchError.of(
        "L008",
        f"axis x of the grid is too large for programs of {function.cluster} blocks",
        kernel=function.name,
        argument="grid",
        found=str(programs),
        needed=f"at most {LIMITS[0] // function.cluster}",
    )


def _attributes(api: Any, blocks: int) -> list[Any]:
    """The size of clusters, and that each is spread over many multiprocessors."""
    size, spread = api.CUlaunchAttribute(), api.CUlaunchAttribute()
    size.id = api.CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION
    value = api.CUlaunchAttributeValue()
    value.clusterDim.x, value.clusterDim.y, value.clusterDim.z = blocks, 1, 1
    size.value = value
    spread.id = api.CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE
    value = api.CUlaunchAttributeValue()
    value.clusterSchedulingPolicyPreference = api.CUclusterSchedulingPolicy.CU_CLUSTER_SCHEDULING_POLICY_SPREAD
    spread.value = value
    return [size, spread]
