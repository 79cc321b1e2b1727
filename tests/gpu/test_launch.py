"""Kernels on a CUDA device, through buffers of our own and through torch; skipped visibly where there is no device."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest

from teeny import LaunchError
from teeny.cli.demo_run import reference
from teeny.cli.examples import example
from teeny.cli.files import SourcePath, load
from teeny.runtime.cuda import cuda_device
from teeny.runtime.cuda_buffer import empty, from_numpy
from teeny.runtime.cuda_driver import problem

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(problem() is not None, reason=f"no CUDA device ({problem()})"),
    pytest.mark.skipif(find_spec("triton") is None, reason="triton is not installed"),
]


@pytest.fixture(scope="module")
def softmax() -> Any:
    return load(SourcePath.of(example("softmax.py"))).softmax


def torch_with_cuda() -> Any:
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("torch has no CUDA")
    return torch


@pytest.mark.parametrize("shape", [(4096, 1000), (3, 7), (1, 1), (129, 128), (5, 4096)], ids=str)
def test_buffers(softmax: Any, shape: tuple[int, int]) -> None:
    device = cuda_device(0)
    x = np.random.default_rng(1).standard_normal(shape, dtype=np.float32)
    there, out = from_numpy(device, x), empty(device, shape, "f32")
    block = 1 << (shape[1] - 1).bit_length()
    softmax[(shape[0],)](there, out, shape[1], BLOCK_SIZE=block)
    np.testing.assert_allclose(out.numpy(), reference(x), rtol=1e-5)


@pytest.mark.parametrize("warps", [1, 2, 4, 8])
def test_warps_do_not_change_the_result(softmax: Any, warps: int) -> None:
    device = cuda_device(0)
    x = np.random.default_rng(2).standard_normal((64, 500), dtype=np.float32)
    there, out = from_numpy(device, x), empty(device, x.shape, "f32")
    softmax[64](there, out, n_cols=500, BLOCK_SIZE=512, num_warps=warps)
    np.testing.assert_allclose(out.numpy(), reference(x), rtol=1e-5)


@pytest.mark.parametrize("offset", [0, 1, 3, 4])
def test_addresses_that_are_no_multiple_of_16(softmax: Any, offset: int) -> None:
    torch = torch_with_cuda()
    store = torch.randn(64 * 500 + offset, device="cuda")
    x = store[offset:].view(64, 500)
    y = torch.empty_like(x)
    softmax[64](x, y, 500, BLOCK_SIZE=512)
    torch.testing.assert_close(y, torch.softmax(x, 1), rtol=1e-5, atol=1e-7)
    for columns in (496, 499):
        softmax[64](x, y, columns, BLOCK_SIZE=512)
        right = torch.softmax(x.flatten()[: 64 * columns].view(64, columns), 1)
        torch.testing.assert_close(y.flatten()[: 64 * columns].view(64, columns), right, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize(("name", "bound"), [("float16", 1e-2), ("bfloat16", 8e-2), ("float64", 1e-12)])
def test_torch_in_every_float_dtype(softmax: Any, name: str, bound: float) -> None:
    torch = torch_with_cuda()
    x = torch.randn(257, 300, device="cuda", dtype=getattr(torch, name))
    y = torch.empty_like(x)
    softmax[257](x, y, 300, BLOCK_SIZE=512)
    torch.testing.assert_close(y.double(), torch.softmax(x.double(), 1), rtol=bound, atol=1e-6)


def test_the_current_stream_of_torch_is_taken(softmax: Any) -> None:
    torch = torch_with_cuda()
    x = torch.randn(64, 500, device="cuda")
    y = torch.empty_like(x)
    softmax[64](x, y, 500, BLOCK_SIZE=512)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        softmax[64](x, y, 500, BLOCK_SIZE=512)
    x.copy_(torch.randn(64, 500, device="cuda"))
    graph.replay()
    torch.testing.assert_close(y, torch.softmax(x, 1), rtol=1e-5, atol=1e-7)


def test_arrays_on_two_devices_are_refused(softmax: Any) -> None:
    x = np.zeros((2, 8), np.float32)
    with pytest.raises(LaunchError, match="different devices"):
        softmax[2](x, empty(cuda_device(0), x.shape, "f32"), 8, BLOCK_SIZE=8)


def test_contracts_hold_on_a_device_too(softmax: Any) -> None:
    buffer = empty(cuda_device(0), (2, 8), "f32")
    with pytest.raises(LaunchError, match="too small"):
        softmax[3](buffer, buffer, 8, BLOCK_SIZE=8)
