"""Arrays by DLPack and by __cuda_array_interface__, from producers made here."""

from __future__ import annotations

import ctypes
import gc
import sys
import weakref
from typing import Any

import numpy as np
import pytest

from teeny.runtime.arrays import NotAnArrayError, describe


def found(x: object) -> str:
    with pytest.raises(NotAnArrayError) as caught:
        describe(x)
    assert caught.value.needed
    return caught.value.found


class Exporter:
    """Hands on the DLPack of a numpy array; `versions` False is a producer from before the versioned form."""

    def __init__(self, array: Any, versions: bool = True) -> None:
        self.array, self.versions = array, versions

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.array.__dlpack_device__()

    def __dlpack__(self, **options: Any) -> Any:
        if not self.versions and "max_version" in options:
            raise TypeError("unexpected keyword argument 'max_version'")
        return self.array.__dlpack__(**options)


@pytest.mark.parametrize("versions", [True, False])
def test_numpy_through_dlpack(versions: bool) -> None:
    base = np.arange(40, dtype=np.float64).reshape(5, 8)
    info = describe(Exporter(base[1:4, ::2], versions))
    assert info[:-1] == (base.ctypes.data + 64, "f64", (3, 4), (8, 2), "cpu", False, 2 * 8 + 3 * 2 + 1, 0)


@pytest.mark.parametrize(("dtype", "name"), [("i1", "i8"), ("u8", "u64"), ("f2", "f16"), ("?", "bool")])
def test_dtypes(dtype: str, name: str) -> None:
    assert describe(Exporter(np.zeros(3, dtype))).dtype == name


def test_read_only_is_known_from_the_versioned_form() -> None:
    x = np.zeros(4)
    x.flags.writeable = False
    assert describe(Exporter(x)).readonly
    assert not describe(Exporter(np.zeros(4))).readonly
    assert "that DLPack cannot export" in found(Exporter(x, versions=False))


@pytest.mark.parametrize("versions", [True, False])
def test_memory_is_released_once_and_not_before(versions: bool) -> None:
    x = np.zeros(4)
    before = sys.getrefcount(x)
    info = describe(Exporter(x, versions))
    assert sys.getrefcount(x) == before + 1
    del info
    gc.collect()
    assert sys.getrefcount(x) == before


def test_the_description_keeps_the_array_alive() -> None:
    class Array(np.ndarray[Any, Any]):
        pass

    x = np.full(4, 7.0).view(Array)
    alive = weakref.ref(x)
    info = describe(Exporter(x))
    del x
    gc.collect()
    assert alive() is not None
    assert ctypes.c_double.from_address(info.pointer).value == 7.0
    del info
    gc.collect()
    assert alive() is None


class Tensor(ctypes.Structure):
    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device", ctypes.c_int32 * 2),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.c_void_p),
        ("strides", ctypes.c_void_p),
        ("byte_offset", ctypes.c_uint64),
    )


class Versioned(ctypes.Structure):
    _fields_ = (
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("context", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("tensor", Tensor),
    )


class Producer:
    """A library of its own, which fills in the structure by hand."""

    def __init__(self, shape: tuple[int, ...], strides: tuple[int, ...] | None = None, **fields: Any) -> None:
        self.shape = (ctypes.c_int64 * max(len(shape), 1))(*shape)
        self.strides = None if strides is None else (ctypes.c_int64 * max(len(strides), 1))(*strides)
        self.memory = (ctypes.c_double * 64)()
        self.device = fields.pop("device", (1, 0))
        self.name = fields.pop("name", b"dltensor_versioned")
        self.asked: dict[str, Any] = {}
        major, flags = fields.pop("major", 1), fields.pop("flags", 0)
        given = {"data": ctypes.addressof(self.memory), "code": 2, "bits": 64, "lanes": 1, "byte_offset": 0} | fields
        self.made = Versioned(major, 0, None, None, flags)
        self.made.tensor.ndim = len(shape)
        self.made.tensor.shape = ctypes.addressof(self.shape)
        self.made.tensor.strides = None if self.strides is None else ctypes.addressof(self.strides)
        for field, value in given.items():
            setattr(self.made.tensor, field, value)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.device

    def __dlpack__(self, **options: Any) -> Any:
        self.asked = options
        new = ctypes.pythonapi.PyCapsule_New
        new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        return new(ctypes.addressof(self.made), self.name, None)


def test_no_strides_means_row_major_and_the_offset_counts() -> None:
    made = Producer((2, 3, 4), byte_offset=16)
    info = describe(made)
    assert info[:-1] == (ctypes.addressof(made.memory) + 16, "f64", (2, 3, 4), (12, 4, 1), "cpu", False, 24, 0)
    assert made.asked == {"max_version": (1, 1)}
    assert describe(Producer((), None)).strides == ()


def test_negative_strides_lie_before_the_pointer() -> None:
    info = describe(Producer((4, 2), (-2, 1), byte_offset=48))
    assert (info.storage_offset_elements, info.storage_elements_after_pointer) == (6, 2)


def test_flags_and_dtypes() -> None:
    assert describe(Producer((4,), flags=1)).readonly
    assert describe(Producer((4,), code=4, bits=16)).dtype == "bf16"
    assert describe(Producer((4,), code=6, bits=8)).dtype == "bool"
    assert describe(Producer((4,), code=10, bits=8)).dtype == "f8e4m3"


def test_arrays_on_devices(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "torch", raising=False)  # else its current stream is asked for
    made = Producer((4,), device=(2, 1))
    assert describe(made).device == "cuda:1"
    assert made.asked["stream"] == 1
    assert describe(Producer((4,), device=(13, 0))).device == "cuda:0"
    assert describe(Producer((4,), device=(3, 0))).device == "cpu"
    assert found(Producer((4,), device=(8, 0))).endswith("Producer on a device of DLPack type 8")


def test_what_cannot_be_read() -> None:
    assert "in DLPack version 2.0" in found(Producer((4,), major=2))
    assert "DLPack type 5, 64 bits, 1 lanes" in found(Producer((4,), code=5))
    assert "DLPack type 2, 32 bits, 4 lanes" in found(Producer((4,), bits=32, lanes=4))
    assert "multiples of 8 bytes" in found(Producer((4,), byte_offset=4))
    assert "gives no DLPack capsule" in found(Producer((4,), name=b"used_dltensor"))


class CudaArray:
    """Anything with the interface; `data` and `device` look like cupy's where given."""

    def __init__(self, **interface: Any) -> None:
        for name in ("dtype", "data_of", "device"):
            if name in interface:
                setattr(self, "data" if name == "data_of" else name, interface.pop(name))
        self.__dict__["interface"] = {"shape": (4,), "typestr": "<f4", "data": (4096, False), "version": 3} | interface

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return self.__dict__["interface"]


class Bag:
    def __init__(self, **items: Any) -> None:
        self.__dict__.update(items)


def test_cuda_array_interface() -> None:
    info = describe(CudaArray(shape=(2, 3), strides=None))
    assert info[:-1] == (4096, "f32", (2, 3), (3, 1), "cuda:0", False, 6, 0)
    info = describe(CudaArray(shape=(2, 3), strides=(-32, 8), data=(4128, True), typestr="<f8"))
    assert info[:-1] == (4128, "f64", (2, 3), (-4, 1), "cuda:0", True, 3, 4)
    assert describe(CudaArray(typestr="|b1")).dtype == "bool"
    assert describe(CudaArray(typestr="<V2", dtype="bfloat16")).dtype == "bf16"


def test_cupy_says_where_an_allocation_ends() -> None:
    memory = Bag(mem=Bag(ptr=4096 - 64, size=512))
    info = describe(CudaArray(data_of=memory, device=Bag(id=3)))
    assert info.device == "cuda:3"
    assert (info.storage_offset_elements, info.storage_elements_after_pointer) == (16, 112)


def test_cuda_arrays_that_no_kernel_takes() -> None:
    assert "elements of type >f4" in found(CudaArray(typestr=">f4"))
    assert "elements of type <c8" in found(CudaArray(typestr="<c8"))
    assert "multiples of 4 bytes" in found(CudaArray(data=(4098, False)))
    assert "multiples of 4 bytes" in found(CudaArray(strides=(6,)))
    assert "with a mask" in found(CudaArray(mask=object()))
