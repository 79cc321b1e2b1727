"""Programs on a CUDA device by the explicit path: clusters, scratch memory, portable PTX, hints, options."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any, TypeVar

import numpy as np
import pytest

import teeny as tn
import teeny.language as tl
from teeny.backends.triton import compile_text
from teeny.runtime.cuda import CudaDevice, cuda_device, launcher, load, synchronize
from teeny.runtime.cuda_buffer import empty, from_numpy
from teeny.runtime.cuda_driver import problem
from teeny.runtime.cuda_scratch import Scratch, with_scratch
from tests.backends.triton.descriptors import COLS, DOUBLE, ROWS

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(problem() is not None, reason=f"no CUDA device ({problem()})"),
    pytest.mark.skipif(find_spec("triton") is None, reason="triton is not installed"),
]
D = TypeVar("D", bound=tl.Float)


@tn.kernel
def total(x_ptr: tl.Ptr[D], y_ptr: tl.Ptr[D], ROWS: tl.Const[int], COLS: tl.Const[int]) -> None:
    """The sum of each row of a tile of ROWS x COLS, one tile a program."""
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    at = rows[:, None] * COLS + tl.arange(0, COLS)[None, :]
    tl.store(y_ptr + rows, tl.sum(tl.load(x_ptr + at), axis=1))


@tn.kernel
def product(
    a_ptr: tl.Ptr[tl.f16], b_ptr: tl.Ptr[tl.f16], c_ptr: tl.Ptr[tl.f32], k: tl.Scalar[tl.i32], B: tl.Const[int]
) -> None:
    """A tile of B x B of c = a @ b for rows of length k and B, both contiguous."""
    span, inner = tl.arange(0, B), tl.arange(0, 32)
    acc = tl.zeros((B, B), tl.f32)
    for start in tl.range(0, k, 32):
        a = tl.load(a_ptr + (span[:, None] * k + start + inner[None, :]))
        b = tl.load(b_ptr + ((start + inner)[:, None] * B + span[None, :]))
        acc = tl.dot(a, b, acc)
    tl.store(c_ptr + (span[:, None] * B + span[None, :]), acc)


def needs(major: int) -> CudaDevice:
    device = cuda_device(0)
    if device.capability[0] < major:
        pytest.skip(f"{device.model} has no such thing")
    return device


def run_total(program: tn.Program, programs: int) -> None:
    device = tn.device("cuda")
    x = np.random.default_rng(0).standard_normal((programs * 64, 64), dtype=np.float32)
    there, out = device.buffer(x), device.buffer((len(x),), tl.f32)
    cluster = int(program.metadata["num_ctas"])
    for grid in (programs, tn.LaunchConfig(programs), tn.LaunchConfig((programs, 1), cluster)):
        out.copy_from(np.zeros(len(x), np.float32))
        device.launch(program, grid, x_ptr=there, y_ptr=out)
        np.testing.assert_allclose(out.numpy(), x.sum(1), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("count", [1, 2, 4, 8])
@pytest.mark.parametrize("portable", [False, True])
def test_clusters(count: int, portable: bool) -> None:
    target = tn.Target(needs(9).architecture, portable=portable)
    kernel = total.specialize(D=tl.f32, ROWS=64, COLS=64)
    run_total(tn.compile(kernel, target, num_ctas=count), 5)


def test_the_largest_cluster() -> None:
    target = needs(9).architecture
    kernel = total.specialize(D=tl.f32, ROWS=64, COLS=64)
    run_total(tn.compile(kernel, target, num_ctas=16), 2)


def test_clusters_by_keyword() -> None:
    device = needs(9)
    x = np.ones((256, 64), np.float32)
    out = empty(device, (256,), "f32")
    total[4](from_numpy(device, x), out, ROWS=64, COLS=64, num_ctas=2)
    assert (out.numpy() == 64).all()


@pytest.mark.parametrize("architecture", ["sm_75", "sm_80", "sm_90"])
def test_portable_ptx(architecture: str) -> None:
    if cuda_device(0).capability < (int(architecture[3]), int(architecture[4])):
        pytest.skip("the device is older")
    target = tn.Target(architecture, portable=True)
    run_total(tn.compile(total.specialize(D=tl.f32, ROWS=64, COLS=64), target), 3)
    if architecture != "sm_75":
        run_product(tn.compile(product.specialize(B=64), target))


@pytest.mark.parametrize(
    "options",
    [{}, {"num_warps": 8}, {"num_stages": 1}, {"num_stages": 4}, {"maxnreg": 128}, {"fp_fusion": False}],
    ids=str,
)
@pytest.mark.parametrize("hints", [{}, {"a_ptr": 16, "b_ptr": 16, "c_ptr": 16, "k": 16}], ids=["plain", "hints"])
def test_options_do_not_change_a_product(options: dict[str, Any], hints: dict[str, int]) -> None:
    kernel = product.specialize(B=64)
    run_product(tn.compile(kernel, cuda_device(0).architecture, hints=hints, **options))


def run_product(program: tn.Program) -> None:
    device = tn.device("cuda")
    random = np.random.default_rng(1)
    a, b = (random.integers(-4, 5, shape).astype(np.float16) for shape in ((64, 256), (256, 64)))
    out = device.buffer((64, 64), tl.f32)
    device.launch(program, 1, a_ptr=device.buffer(a), b_ptr=device.buffer(b), c_ptr=out, k=256)
    assert (out.numpy() == a.astype(np.float32) @ b.astype(np.float32)).all()


@pytest.mark.parametrize("shape", [(64, 128), (40, 80), (512, 1024)], ids=str)
def test_scratch_memory(shape: tuple[int, int]) -> None:
    device = needs(9)
    made = compile_text(DOUBLE, device.architecture)
    facts = made.metadata
    assert facts["global_scratch_size"] > 0
    function = load(
        device,
        made.cubin,
        facts["name"],
        architecture=facts["arch"],
        threads=facts["threads"],
        shared=facts["shared"],
    )
    scratch = Scratch(4, facts["global_scratch_size"], facts["global_scratch_align"])
    launch = with_scratch(launcher(function, 4 + facts["hidden"]), function, scratch)
    x = np.random.default_rng(2).standard_normal(shape).astype(np.float16)
    there, out = from_numpy(device, x), from_numpy(device, np.zeros_like(x))
    grid = (-(-shape[0] // ROWS), -(-shape[1] // COLS), 1)
    for _ in range(3):
        launch(grid, (there.pointer, out.pointer, *shape, *[0] * facts["hidden"]))
    synchronize(device)
    assert (out.numpy() == x * 2).all()
