"""What kernels see of torch tensors. Skipped where torch is not installed."""

from __future__ import annotations

import timeit
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from teeny.runtime.arrays import NotAnArrayError, describe

torch: Any = pytest.importorskip("torch")

DTYPES = {
    "bool": "bool", "int8": "i8", "int16": "i16", "int32": "i32", "int64": "i64",
    "uint8": "u8", "uint16": "u16", "uint32": "u32", "uint64": "u64",
    "float16": "f16", "bfloat16": "bf16", "float32": "f32", "float64": "f64",
    "float8_e4m3fn": "f8e4m3", "float8_e5m2": "f8e5m2",
}  # fmt: skip


def found(x: object) -> str:
    with pytest.raises(NotAnArrayError) as caught:
        describe(x)
    assert caught.value.needed
    return caught.value.found


@pytest.mark.parametrize(("theirs", "ours"), DTYPES.items())
def test_dtypes(theirs: str, ours: str) -> None:
    x = torch.zeros(3, 5, dtype=getattr(torch, theirs))
    info = describe(x)
    assert info[:-1] == (x.data_ptr(), ours, (3, 5), (5, 1), "cpu", False, 15, 0)
    assert info.keepalive is x
    assert type(info.shape) is tuple


def test_a_slice_reaches_to_the_end_of_its_storage() -> None:
    base = torch.zeros(4, 5)
    info = describe(base[1:3, 1::2])
    assert info.pointer == base.data_ptr() + 6 * 4
    assert info.strides == (5, 2)
    assert (info.storage_offset_elements, info.storage_elements_after_pointer) == (6, 14)
    assert not info.dense
    assert describe(base.t()).dense
    assert not describe(base[0].expand(3, 5)).dense


def test_a_storage_shared_with_numpy() -> None:
    base = np.zeros(10, np.float32)
    x = torch.from_numpy(base[2:])
    info = describe(x)
    assert info.pointer == base.ctypes.data + 8
    assert (info.storage_offset_elements, info.storage_elements_after_pointer) == (0, 8)
    back = describe(torch.zeros(4, 4).numpy()[1:])
    assert (back.storage_offset_elements, back.storage_elements_after_pointer) == (4, 12)


def test_a_tensor_without_elements_has_the_pointer_of_its_place() -> None:
    base = torch.zeros(10)
    info = describe(base[3:3])
    assert info.pointer == base.data_ptr() + 12
    assert info.storage_elements_after_pointer == 7
    empty = describe(torch.zeros(0, 4))
    assert (empty.shape, empty.storage_elements_after_pointer) == ((0, 4), 0)
    assert empty.dense


def test_parameters_and_tensors_with_gradients() -> None:
    assert describe(torch.zeros(3, requires_grad=True)).size == 3
    assert describe(torch.nn.Parameter(torch.zeros(4))).size == 4


def test_tensors_that_no_kernel_takes() -> None:
    assert found(torch.zeros(3, device="meta")) == "a torch tensor on the meta device"
    assert found(torch.zeros(3, dtype=torch.complex64)) == "a torch tensor of torch.complex64"
    assert found(torch.zeros(3, dtype=torch.complex64).conj()) == "a torch tensor of torch.complex64"
    assert found(torch.zeros(3, dtype=torch.complex64).conj().imag) == "a torch tensor with a pending negation"
    assert found(torch.eye(3).to_sparse()) == "a torch tensor of layout torch.sparse_coo"
    unaligned = torch.frombuffer(bytearray(33), dtype=torch.float32, offset=1, count=8)
    assert found(unaligned) == "a torch tensor of f32 whose elements do not start at multiples of 4 bytes"


@pytest.mark.filterwarnings("ignore:Accessing the data pointer of FakeTensor")
def test_tensors_without_memory() -> None:
    from torch._subclasses.fake_tensor import FakeTensorMode

    with FakeTensorMode():
        fake = torch.zeros(3)
    assert "without memory of its own" in found(fake)


@given(
    shape=st.lists(st.integers(0, 4), min_size=1, max_size=3),
    steps=st.lists(st.integers(1, 3), min_size=3, max_size=3),
    starts=st.lists(st.integers(0, 3), min_size=3, max_size=3),
    dtype=st.sampled_from([torch.int8, torch.bfloat16, torch.float64]),
)
def test_bounds_are_those_of_the_storage(shape: list[int], steps: list[int], starts: list[int], dtype: Any) -> None:
    base = torch.zeros(shape, dtype=dtype)
    index = tuple(slice(start, None, step) for _, step, start in zip(shape, steps, starts, strict=False))
    view = base[index]
    info = describe(view)
    assert info.shape == tuple(view.shape)
    assert info.strides == view.stride()
    assert info.pointer - info.storage_offset_elements * info_size(view) == base.untyped_storage().data_ptr()
    end = info.pointer + info.storage_elements_after_pointer * info_size(view)
    assert end == base.untyped_storage().data_ptr() + base.untyped_storage().nbytes()


def info_size(x: Any) -> int:
    return x.element_size() if x.untyped_storage().nbytes() else 0


def test_a_description_is_quick() -> None:
    x = torch.zeros(16, 1000)
    describe(x)
    seconds = min(timeit.repeat(lambda: describe(x), number=2000, repeat=9)) / 2000
    assert seconds < 10e-6  # the budget is 3 us; wide, for a busy machine
