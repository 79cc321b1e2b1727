"""CUDA devices. What needs no device runs everywhere; what needs one is marked `gpu` and skipped visibly elsewhere."""

from __future__ import annotations

import ctypes
import struct
import subprocess
import sys
import threading
from collections.abc import Iterator
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

from teeny.diag.errors import LaunchError
from teeny.runtime import cuda_buffer
from teeny.runtime.arrays import describe
from teeny.runtime.cuda import CudaDevice, CudaFunction, cuda_device, launcher, load, runs_on, synchronize
from teeny.runtime.cuda_driver import check, driver, problem
from teeny.runtime.scalars import pack
from teeny.runtime.streams import current_stream, stream_handle

HAS_DEVICE = problem() is None
gpu = [pytest.mark.gpu, pytest.mark.skipif(not HAS_DEVICE, reason=f"no CUDA device ({problem()})")]


@pytest.fixture
def _no_driver_yet() -> Iterator[None]:
    """A process that has not touched the driver; and again afterwards."""
    for cached in (driver, cuda_device):
        cached.cache_clear()
    yield
    for cached in (driver, cuda_device):
        cached.cache_clear()


def install(monkeypatch: pytest.MonkeyPatch, module: object) -> None:
    monkeypatch.setitem(sys.modules, "cuda", ModuleType("cuda"))
    monkeypatch.setitem(sys.modules, "cuda.bindings", ModuleType("cuda.bindings"))
    monkeypatch.setitem(sys.modules, "cuda.bindings.driver", module)


def failing(function: Any, *args: Any, **named: Any) -> tuple[str, str]:
    with pytest.raises(LaunchError) as caught:
        function(*args, **named)
    (diagnostic,) = caught.value.diagnostics
    return diagnostic.code, " | ".join(
        (diagnostic.message, *(f"{k}={v}" for k, v in diagnostic.facts), *diagnostic.help)
    )


@pytest.mark.usefixtures("_no_driver_yet")
def test_without_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, None)
    code, text = failing(cuda_device, 0)
    assert code == "X003"
    assert "CUDA cannot be used: the package cuda-bindings is not installed" in text
    assert 'pip install ".[triton]"' in text
    assert problem() == "CUDA cannot be used: the package cuda-bindings is not installed"


@pytest.mark.usefixtures("_no_driver_yet")
def test_without_a_driver(monkeypatch: pytest.MonkeyPatch) -> None:
    def not_found(_: int) -> None:
        raise RuntimeError("Failure finding libcuda.so")

    install(monkeypatch, SimpleNamespace(cuInit=not_found))
    code, text = failing(cuda_device, 0)
    assert code == "X003"
    assert "NVIDIA's driver (libcuda) is not installed" in text
    assert problem() == "CUDA cannot be used: NVIDIA's driver (libcuda) is not installed"


@pytest.mark.usefixtures("_no_driver_yet")
@pytest.mark.parametrize(("number", "sentence"), [(100, "there is no CUDA device"), (803, "differ in version")])
def test_a_driver_that_does_not_start(monkeypatch: pytest.MonkeyPatch, number: int, sentence: str) -> None:
    install(monkeypatch, SimpleNamespace(cuInit=lambda _: (number,)))
    code, text = failing(cuda_device, 0)
    assert code == "X003"
    assert sentence in text
    assert f"(CUDA error {number})" in text


@pytest.mark.skipif(HAS_DEVICE, reason="there is a CUDA device here")
@pytest.mark.usefixtures("_no_driver_yet")
def test_this_machine_without_a_device() -> None:
    code, text = failing(cuda_device, 0)
    assert code == "X003"
    assert text.startswith("CUDA cannot be used: ")


class FakeDriver(SimpleNamespace):
    """As much of the driver as a launch needs; a launch reads its parameters as the real one does."""

    def __init__(self, devices: int = 1, current: int = 0) -> None:
        super().__init__()
        self.devices, self.stack = devices, [current]
        self.launches: list[tuple[Any, ...]] = []
        self.count = 3
        self.fail = 0

    def cuInit(self, _: int) -> tuple[int]:
        return (0,)

    def cuDeviceGetCount(self) -> tuple[int, int]:
        return (0, self.devices)

    def CUstream(self, raw: int) -> int:
        return raw

    def cuCtxPushCurrent(self, context: int) -> tuple[int]:
        self.stack.append(context)
        return (0,)

    def cuCtxPopCurrent(self) -> tuple[int, int]:
        return (0, self.stack.pop())

    def cuLaunchKernel(self, f: Any, *rest: Any) -> tuple[int]:
        *sizes, shared, stream, parameters, extra = rest
        if self.fail:
            return (self.fail,)
        if self.stack[-1] != f:
            return (201,)
        addresses = (ctypes.c_void_p * self.count).from_address(parameters)
        values = tuple(ctypes.c_int64.from_address(address).value for address in addresses)
        self.launches.append((tuple(sizes), shared, stream, values, extra))
        return (0,)


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch, _no_driver_yet: None) -> FakeDriver:
    made = FakeDriver()
    install(monkeypatch, made)
    monkeypatch.delitem(sys.modules, "torch", raising=False)
    return made


def fake_function(alone: bool = True, context: int = 7) -> CudaFunction:
    device = CudaDevice(0, "Fake", (9, 0), 132, 1 << 30, 232448, alone, context)
    return CudaFunction(device, "softmax", 128, 1024, 32, 0, context, None)


def test_a_launch_hands_over_its_slots(fake: FakeDriver) -> None:
    fake.stack = [7]
    launch = launcher(fake_function(), 3)
    launch((4, 2, 1), (1 << 40, -5, 0x3F800000), stream=99)
    launch((1, 1, 1), (1, 2, 3))
    assert fake.launches == [
        ((4, 2, 1, 128, 1, 1), 1024, 99, (1 << 40, -5, 0x3F800000), 0),
        ((1, 1, 1, 128, 1, 1), 1024, 0, (1, 2, 3), 0),
    ]


def test_a_grid_with_a_zero_launches_nothing(fake: FakeDriver) -> None:
    launcher(fake_function(), 3)((4, 0, 1), (1, 2, 3))
    assert fake.launches == []


@pytest.mark.parametrize("alone", [True, False])
def test_the_right_context_is_current_and_put_back(fake: FakeDriver, alone: bool) -> None:
    fake.stack = [3]
    launcher(fake_function(alone), 3)((1, 1, 1), (1, 2, 3))
    assert len(fake.launches) == 1
    assert fake.stack == [3]


def test_a_failing_launch(fake: FakeDriver) -> None:
    fake.fail = 701
    code, text = failing(launcher(fake_function(), 3), (1, 1, 1), (1, 2, 3))
    assert code == "X003"
    assert "the launch failed: the device has too few registers" in text
    assert "num_warps" in text
    assert len(fake.stack) == 1


def test_launches_from_threads_do_not_mix(fake: FakeDriver) -> None:
    fake.stack = [7]
    launch = launcher(fake_function(), 3)
    threads = [
        threading.Thread(target=lambda n=n: [launch((1, 1, 1), (n, n, n)) for _ in range(200)]) for n in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(fake.launches) == 800
    assert all(len(set(values)) == 1 for _, _, _, values, _ in fake.launches)


def test_an_unknown_device(fake: FakeDriver) -> None:
    fake.devices = 2
    code, text = failing(cuda_device, 2)
    assert code == "X003"
    assert "found=cuda:2" in text
    assert "needed=cuda:0 or cuda:1" in text


@pytest.mark.parametrize(
    ("number", "code", "part"),
    [
        (2, "X003", "out of memory"),
        (209, "L013", "built for another architecture"),
        (222, "X003", "newer version than the driver understands"),
        (700, "X003", "touched memory that is not its own"),
        (716, "X003", "not a multiple of the element's size"),
        (31337, "X003", "the driver reported an error (CUDA error 31337)"),
    ],
)
def test_error_codes_are_sentences(number: int, code: str, part: str) -> None:
    got, text = failing(check, (number,), "waiting", "softmax")
    assert got == code
    assert text.startswith("waiting failed: ")
    assert part in text
    assert f"(CUDA error {number})" in text


def test_results_of_calls() -> None:
    assert check((0,), "x") is None
    assert check((0, 5), "x") == 5
    assert check((0, 5, 6), "x") == (5, 6)


@pytest.mark.parametrize(
    ("architecture", "capability", "cubin", "ptx"),
    [
        ("sm_90", (9, 0), True, True),
        ("sm_80", (8, 9), True, True),
        ("sm_89", (8, 0), False, False),
        ("sm_80", (9, 0), False, True),
        ("sm_90", (8, 9), False, False),
        ("sm_90a", (9, 0), True, True),
        ("sm_90a", (9, 1), False, False),
        ("sm_90a", (10, 0), False, False),
        ("sm_100f", (10, 3), True, True),
        ("sm_100f", (12, 0), False, False),
        ("sm_120", (12, 1), True, True),
    ],
)
def test_where_programs_run(architecture: str, capability: tuple[int, int], cubin: bool, ptx: bool) -> None:
    assert runs_on(architecture, capability) is cubin
    assert runs_on(architecture, capability, ptx=True) is ptx


def test_loading_what_does_not_fit() -> None:
    device = fake_function().device
    code, text = failing(load, device, b"\x7fELF", "softmax", architecture="sm_80", threads=128)
    assert code == "L013"
    assert "found=sm_80" in text
    assert "needed=a program for sm_90 (Fake, cuda:0)" in text
    code, text = failing(load, device, b"\x7fELF", "softmax", architecture="sm_90a", threads=128, shared=300_000)
    assert code == "X003"
    assert "found=300000 bytes" in text
    assert "needed=at most 232448 bytes on Fake" in text


def test_streams(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "torch", raising=False)
    assert current_stream(0) == 0
    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(_C=SimpleNamespace()))
    assert current_stream(0) == 0
    torch = SimpleNamespace(_C=SimpleNamespace(_cuda_getCurrentRawStream=lambda ordinal: 1000 + ordinal))
    monkeypatch.setitem(sys.modules, "torch", torch)
    assert current_stream(1) == 1001
    assert stream_handle(None, 2) == 1002
    assert stream_handle(5, 0) == 5
    assert stream_handle(SimpleNamespace(cuda_stream=6), 0) == 6
    assert stream_handle(SimpleNamespace(ptr=7), 0) == 7
    assert stream_handle(SimpleNamespace(__cuda_stream__=lambda: (0, 8)), 0) == 8
    for wrong in (True, "0", 1.5, SimpleNamespace(ptr="x")):
        code, text = failing(stream_handle, wrong, 0, "softmax")
        assert code == "L014"
        assert "argument=stream" in text


PTX = """
.version 7.0
.target sm_75
.address_size 64
.extern .shared .align 16 .b8 scratch[];
.visible .entry show(.param .u64 out, .param .s32 i, .param .f32 f, .param .b16 h, .param .s64 l, .param .u8 b)
{
    .reg .b64 %rd<6>; .reg .b32 %r<6>; .reg .b16 %rs<3>; .reg .pred %p;
    mov.u32 %r1, %tid.x; setp.ne.u32 %p, %r1, 0; @%p ret;
    ld.param.u64 %rd1, [out]; cvta.to.global.u64 %rd1, %rd1;
    ld.param.s32 %r2, [i]; cvt.s64.s32 %rd2, %r2; st.global.u64 [%rd1], %rd2;
    ld.param.b32 %r3, [f]; cvt.u64.u32 %rd2, %r3; st.global.u64 [%rd1+8], %rd2;
    ld.param.b16 %rs1, [h]; cvt.u64.u16 %rd2, %rs1; st.global.u64 [%rd1+16], %rd2;
    ld.param.s64 %rd2, [l]; st.global.u64 [%rd1+24], %rd2;
    ld.param.u8 %rs2, [b]; cvt.u64.u16 %rd2, %rs2; st.global.u64 [%rd1+32], %rd2;
    mov.u64 %rd3, 1; atom.global.add.u64 %rd4, [%rd1+40], %rd3;
    ret;
}
.visible .entry last(.param .u64 out, .param .s32 at)
{
    .reg .b64 %rd<4>; .reg .b32 %r<6>;
    ld.param.u64 %rd1, [out]; cvta.to.global.u64 %rd1, %rd1; ld.param.s32 %r1, [at];
    mov.u32 %r2, scratch; add.s32 %r2, %r2, %r1; st.shared.s32 [%r2], %r1; ld.shared.s32 %r3, [%r2];
    cvt.s64.s32 %rd2, %r3; st.global.u64 [%rd1], %rd2; ret;
}
"""


def loaded(entry: str, **options: Any) -> CudaFunction:
    return load(cuda_device(0), PTX.encode(), entry, architecture="sm_75", threads=32, **options)


class TestOnADevice:
    pytestmark = gpu

    def test_properties(self) -> None:
        device = cuda_device(0)
        assert device is cuda_device(0)
        assert device.name == "cuda:0"
        assert device.model
        assert device.capability >= (7, 5)
        assert device.architecture == f"sm_{device.capability[0]}{device.capability[1]}"
        assert device.multiprocessors > 0
        assert device.shared_memory >= 64 * 1024

    @pytest.mark.parametrize("dtype", [np.float32, np.int8, np.bool_, np.float64])
    def test_copies(self, dtype: Any) -> None:
        array = np.arange(60).reshape(3, 20).astype(dtype)
        buffer = cuda_buffer.from_numpy(cuda_device(0), array[:, ::2])
        assert buffer.shape == (3, 10)
        assert np.array_equal(buffer.numpy(), array[:, ::2])
        info = describe(buffer)
        assert (info.pointer, info.device, info.strides) == (buffer.pointer, "cuda:0", (10, 1))
        empty = cuda_buffer.from_numpy(cuda_device(0), np.zeros((0, 4), dtype))
        assert empty.numpy().shape == (0, 4)
        assert failing(buffer.copy_from, np.zeros(3))[0] == "L015"

    def test_parameters_arrive(self) -> None:
        out = cuda_buffer.from_numpy(cuda_device(0), np.zeros(6, np.int64))
        slots = (out.pointer, pack(-7, "i32"), pack(1.5, "f32"), pack(-2.0, "bf16"), pack(-(2**40), "i64"), 1)
        launch = launcher(loaded("show"), 6)
        launch((5, 3, 2), slots)
        synchronize(cuda_device(0))
        assert out.numpy().tolist() == [-7, 0x3FC00000, 0xC000, -(2**40), 1, 30]
        launch((0, 1, 1), slots)
        assert out.numpy()[5] == 30

    def test_launch_from_a_thread_that_never_used_cuda(self) -> None:
        out = cuda_buffer.from_numpy(cuda_device(0), np.zeros(6, np.int64))
        launch = launcher(loaded("show"), 6)
        errors: list[BaseException] = []

        def go() -> None:
            try:
                launch((4, 1, 1), (out.pointer, 0, 0, 0, 0, 0))
            except BaseException as error:
                errors.append(error)

        thread = threading.Thread(target=go)
        thread.start()
        thread.join()
        assert errors == []
        assert out.numpy()[5] == 4

    def test_much_shared_memory(self) -> None:
        out = cuda_buffer.empty(cuda_device(0), (1,), "i64")
        size = cuda_device(0).shared_memory
        launcher(loaded("last", shared=size), 2)((1, 1, 1), (out.pointer, size - 4))
        assert out.numpy()[0] == size - 4

    @pytest.mark.skipif(not HAS_DEVICE or driver().cuDeviceGetCount()[1] < 2, reason="fewer than two CUDA devices")
    def test_two_devices(self) -> None:
        for ordinal in (1, 0, 1):
            device = cuda_device(ordinal)
            function = load(device, PTX.encode(), "show", architecture="sm_75", threads=32)
            out = cuda_buffer.from_numpy(device, np.zeros(6, np.int64))
            assert describe(out).device == f"cuda:{ordinal}"
            launcher(function, 6)((2, 1, 1), (out.pointer, 1, 2, 3, 4, 5))
            assert out.numpy().tolist() == [1, 2, 3, 4, 5, 2]

    def test_events(self) -> None:
        device = cuda_device(0)
        start = cuda_buffer.record(device)
        end = cuda_buffer.record(device)
        assert 0 <= cuda_buffer.elapsed_ms(start, end) < 1000

    def test_refused_programs(self) -> None:
        newer = PTX.replace(".version 7.0", ".version 99.0").encode()
        code, text = failing(load, cuda_device(0), newer, "show", architecture="sm_75", threads=32)
        assert code == "X003"
        assert "(CUDA error 222)" in text or "(CUDA error 218)" in text
        code, text = failing(load, cuda_device(0), PTX.encode(), "none", architecture="sm_75", threads=32)
        assert "finding the kernel none failed: the program has no kernel of this name" in text

    def test_touching_memory_of_others(self) -> None:
        program = (
            "from tests.runtime.test_cuda import *\n"
            "launcher(loaded('show'), 6)((1, 1, 1), (1 << 44, 0, 0, 0, 0, 0))\n"
            "print(failing(synchronize, cuda_device(0)))\n"
        )
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=False)
        assert "waiting for the device failed: a kernel touched memory that is not its own" in done.stdout, done.stderr
        assert "restart it" in done.stdout

    def test_torch_tensors_and_streams(self) -> None:
        torch: Any = pytest.importorskip("torch")
        if not torch.cuda.is_available():
            pytest.skip("this torch has no CUDA")
        out = torch.zeros(8, dtype=torch.int64, device="cuda")
        info = describe(out[2:])
        assert (info.device, info.pointer) == ("cuda:0", out.data_ptr() + 16)
        assert (info.storage_offset_elements, info.storage_elements_after_pointer) == (2, 6)
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        launch = launcher(loaded("show"), 6)
        with torch.cuda.stream(side):
            assert current_stream(0) == side.cuda_stream
            launch((3, 1, 1), (info.pointer, 1, 2, 3, 4, 5))
        launch((3, 1, 1), (info.pointer, 1, 2, 3, 4, 5), side)
        torch.cuda.synchronize()
        assert out.tolist() == [0, 0, 1, 2, 3, 4, 5, 6]
        shared = torch.as_tensor(cuda_buffer.from_numpy(cuda_device(0), np.arange(4.0)), device="cuda")
        assert shared.tolist() == [0, 1, 2, 3]


def test_slots_are_little_endian() -> None:
    assert struct.pack("<q", pack(-2.0, "bf16"))[:2] == struct.pack("<H", 0xC000)
