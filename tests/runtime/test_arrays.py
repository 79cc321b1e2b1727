"""What kernels see of numpy arrays, own buffers, and things that are no arrays."""

from __future__ import annotations

import subprocess
import sys
import timeit
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from teeny.runtime.arrays import ArrayInfo, NotAnArrayError, describe, is_dense, reach, row_major
from teeny.runtime.numpy_array import dtype_name, numpy_dtype

DTYPES = {
    "bool": np.bool_, "i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64,
    "u8": np.uint8, "u16": np.uint16, "u32": np.uint32, "u64": np.uint64,
    "f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32, "f64": np.float64,
    "f8e4m3": ml_dtypes.float8_e4m3fn, "f8e5m2": ml_dtypes.float8_e5m2,
}  # fmt: skip


def found(x: object) -> str:
    with pytest.raises(NotAnArrayError) as caught:
        describe(x)
    assert caught.value.needed
    return caught.value.found


def test_a_fresh_array() -> None:
    x = np.zeros((3, 5), np.float32)
    info = describe(x)
    assert info == ArrayInfo(x.ctypes.data, "f32", (3, 5), (5, 1), "cpu", False, 15, 0, info.keepalive)
    assert info.keepalive is x
    assert info.dense
    assert info.size == 15


@pytest.mark.parametrize("name", DTYPES)
def test_dtypes_both_ways(name: str) -> None:
    x = np.zeros(4, DTYPES[name])
    assert describe(x).dtype == name
    assert dtype_name(x.dtype) == name
    assert numpy_dtype(name) == x.dtype


def test_all_spellings_of_a_dtype() -> None:
    assert [describe(np.zeros(1, code)).dtype for code in "qlLQ?"] == ["i64", "i64", "u64", "u64", "bool"]


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("shape", [(), (7,), (3, 5), (2, 3, 4), (2, 0, 4)])
def test_layouts(shape: tuple[int, ...], order: Any) -> None:
    x = np.zeros(shape, np.int16, order=order)
    info = describe(x)
    assert info.shape == shape
    assert info.strides == tuple(step // 2 for step in x.strides)
    assert info.dense
    assert (info.storage_offset_elements, info.storage_elements_after_pointer) == (0, x.size)


def test_a_slice_reaches_to_the_end_of_its_base() -> None:
    base = np.arange(20, dtype=np.float64).reshape(4, 5)
    info = describe(base[1:3, 1::2])
    assert info.pointer == base.ctypes.data + 6 * 8
    assert info.strides == (5, 2)
    assert info.storage_offset_elements == 6
    assert info.storage_elements_after_pointer == 14
    assert not info.dense


def test_a_reversed_view_lies_before_its_pointer() -> None:
    base = np.arange(10, dtype=np.int32)
    info = describe(base[::-1])
    assert info.pointer == base.ctypes.data + 9 * 4
    assert info.strides == (-1,)
    assert (info.storage_offset_elements, info.storage_elements_after_pointer) == (9, 1)
    assert not info.dense


def test_views_of_other_dtypes_and_shapes() -> None:
    base = np.zeros(8, np.int64)
    assert describe(base.view(np.float32)).storage_elements_after_pointer == 16
    info = describe(base.reshape(2, 4)[1:].view(np.int16))
    assert (info.storage_offset_elements, info.storage_elements_after_pointer) == (16, 16)


def test_a_window_is_bounded_by_the_array_below_it() -> None:
    base = np.arange(10, dtype=np.float32)
    windows = np.lib.stride_tricks.sliding_window_view(base, 4)[2:]
    info = describe(windows)
    assert info.strides == (1, 1)
    assert (info.storage_offset_elements, info.storage_elements_after_pointer) == (2, 8)
    assert info.readonly
    assert not info.dense


def test_memory_of_others_is_bounded_by_what_numpy_was_told() -> None:
    x = np.frombuffer(bytearray(64), np.float32, count=10, offset=8)
    assert describe(x).storage_elements_after_pointer == 10
    info = describe(x[3:])
    assert (info.storage_offset_elements, info.storage_elements_after_pointer) == (3, 7)


def test_a_base_that_does_not_hold_the_view_is_not_believed() -> None:
    class Lying(np.ndarray[Any, Any]):
        @property
        def base(self) -> Any:
            return np.zeros(1, np.float32)

    x = np.zeros(12, np.float32)[4:].view(Lying)
    info = describe(x)
    assert (info.storage_offset_elements, info.storage_elements_after_pointer) == (0, 8)


def test_read_only_arrays() -> None:
    x = np.zeros(4)
    x.flags.writeable = False
    assert describe(x).readonly
    assert describe(np.frombuffer(b"12345678", np.int8)).readonly
    assert describe(np.broadcast_to(np.zeros(1), (4,))).readonly


def test_subclasses_of_numpy_arrays(tmp_path: Any) -> None:
    mapped = np.memmap(tmp_path / "x", np.float32, "w+", shape=(4, 4))
    info = describe(mapped[1:])
    assert (info.storage_offset_elements, info.storage_elements_after_pointer) == (4, 12)
    assert "masked array" in found(np.ma.masked_array([1.0], [True]))


def test_numpy_arrays_that_no_kernel_takes() -> None:
    assert found(np.zeros(3, ">f4")) == "a numpy array of float32 in foreign byte order"
    assert found(np.zeros(3, np.complex64)) == "a numpy array of complex64"
    assert found(np.zeros(3, object)) == "a numpy array of object"
    assert found(np.zeros(3, "datetime64[s]")) == "a numpy array of datetime64[s]"
    assert found(np.zeros(3, [("a", "i4")])).startswith("a numpy array of void")
    unaligned = np.zeros(17, np.uint8)[1:].view(np.float64)
    assert found(unaligned) == "a numpy array of f64 whose elements do not start at multiples of 8 bytes"
    packed = np.zeros(3, [("a", "u1"), ("b", "f4")])
    assert "multiples of 4 bytes" in found(packed["b"])


def test_things_that_are_no_arrays() -> None:
    assert found(None) == "None"
    assert found([1.0]) == "a list"
    assert found(3) == "an int"
    assert found(np.float32(1)) == "a numpy.float32"
    assert found(memoryview(b"")) == "a memoryview"


def test_own_buffers_describe_themselves() -> None:
    class Buffer:
        @property
        def __teeny_array__(self) -> ArrayInfo:
            return ArrayInfo(64, "f32", (2,), (1,), "cuda:1", True, 2, 0, self)

    info = describe(Buffer())
    assert (info.pointer, info.device, info.readonly) == (64, "cuda:1", True)


def test_no_array_library_is_imported() -> None:
    code = "import sys, teeny.runtime.arrays; print({'numpy', 'torch', 'ml_dtypes'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


AXES = st.lists(st.integers(0, 5), min_size=0, max_size=4)


@st.composite
def views(draw: st.DrawFn) -> tuple[Any, Any]:
    """An array, and a view of it by random slices, steps of either sign, transposition and dropped axes."""
    base: Any = np.zeros(draw(AXES), draw(st.sampled_from([np.int8, np.float32, np.float64])))
    view = base
    for _ in range(draw(st.integers(0, 2))):
        index: list[Any] = []
        for extent in view.shape:
            if extent and draw(st.integers(0, 5)) == 0:
                index.append(draw(st.integers(0, extent - 1)))
            else:
                ends = st.none() | st.integers(-extent - 1, extent + 1)
                index.append(slice(draw(ends), draw(ends), draw(st.sampled_from([None, 1, 2, 3, -1, -2]))))
        view = view[(*index, ...)]
        view = view.transpose(draw(st.permutations(range(view.ndim))))
    return base, view


@given(views())
def test_bounds_are_those_of_the_base(pair: tuple[Any, Any]) -> None:
    base, view = pair
    info = describe(view)
    assert info.pointer == view.ctypes.data
    assert info.shape == view.shape
    assert info.strides == tuple(step // view.itemsize for step in view.strides)
    assert info.pointer - info.storage_offset_elements * view.itemsize == base.ctypes.data
    assert info.pointer + info.storage_elements_after_pointer * view.itemsize == base.ctypes.data + base.nbytes


@given(views())
def test_reach_is_what_numpy_says(pair: tuple[Any, Any]) -> None:
    _, view = pair
    before, after = reach(view.shape, tuple(step // view.itemsize for step in view.strides))
    if view.size:
        low, high = np.lib.array_utils.byte_bounds(view)
        assert (view.ctypes.data - before * view.itemsize, view.ctypes.data + after * view.itemsize) == (low, high)
    else:
        assert (before, after) == (0, 0)


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(-8, 8)), max_size=3))
def test_dense_means_every_place_once(axes: list[tuple[int, int]]) -> None:
    shape, strides = tuple(n for n, _ in axes), tuple(s for _, s in axes)
    places = sorted(sum(i * s for i, s in zip(at, strides, strict=True)) for at in np.ndindex(*shape))
    assert is_dense(shape, strides) == (places == list(range(len(places))))


@given(AXES)
def test_row_major_strides(axes: list[int]) -> None:
    x = np.zeros(axes, np.int8)
    assert row_major(x.shape) == describe(x).strides or 0 in axes
    assert is_dense(x.shape, row_major(x.shape))


def test_a_description_is_quick() -> None:
    x = np.zeros((16, 1000), np.float32)
    describe(x)
    seconds = min(timeit.repeat(lambda: describe(x), number=2000, repeat=9)) / 2000
    assert seconds < 8e-6  # the budget is 2 us; wide, for a busy machine
