"""numpy arrays as kernel arguments, in one to two microseconds."""

from __future__ import annotations

import ctypes
from typing import Any

from teeny.runtime.arrays import Adapter, ArrayInfo, NotAnArrayError, make_info, reach

NATIVE = (
    "an array of bool, i8 to i64, u8 to u64, f16, bf16, f32, f64 or an 8-bit float in the byte order of this machine"
)

_BY_KIND = {
    "b1": "bool", "i1": "i8", "i2": "i16", "i4": "i32", "i8": "i64", "u1": "u8", "u2": "u16", "u4": "u32", "u8": "u64",
    "f2": "f16", "f4": "f32", "f8": "f64",
}  # fmt: skip
_EXTENSIONS = {
    "bfloat16": "bf16", "float8_e4m3fn": "f8e4m3", "float8_e5m2": "f8e5m2",
    "float8_e4m3fnuz": "f8e4m3fnuz", "float8_e5m2fnuz": "f8e5m2fnuz",
}  # fmt: skip


# `__array_struct__` gives a capsule of a structure that numpy documents, half as costly as `__array_interface__`
_DATA = 40  # offset of its field `data`: two ints, a char, two ints, two pointers
_word_at = ctypes.c_size_t.from_address
_pointer_in = ctypes.PYFUNCTYPE(ctypes.c_size_t, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi)
)


def dtype_name(dtype: Any) -> str | None:
    """The name of a numpy dtype here (`float32` is `f32`), those of ml_dtypes included; None if there is none."""
    if not dtype.isnative:
        return None
    return _EXTENSIONS.get(dtype.name) or _BY_KIND.get(f"{dtype.kind}{dtype.itemsize}")


def numpy_dtype(name: str) -> Any:
    """The numpy dtype for a name here. Raises KeyError when there is none."""
    import numpy

    if name in _EXTENSIONS.values():
        import ml_dtypes

        return numpy.dtype(getattr(ml_dtypes, next(theirs for theirs, ours in _EXTENSIONS.items() if ours == name)))
    return numpy.dtype({ours: theirs for theirs, ours in _BY_KIND.items()}[name])


def adapter(numpy: Any) -> Adapter:
    """The function that describes arrays of this numpy."""
    ndarray: type = numpy.ndarray
    known: dict[Any, tuple[str, int]] = {}

    def learn(x: Any) -> tuple[str, int]:
        name = dtype_name(x.dtype)
        if name is None:
            order = "" if x.dtype.isnative else " in foreign byte order"
            raise NotAnArrayError(f"a numpy array of {x.dtype.name}{order}", NATIVE)
        entry = known[x.dtype] = (name, x.dtype.itemsize)
        return entry

    def describe(x: Any) -> ArrayInfo:
        dtype, size = known.get(x.dtype) or learn(x)
        flags = x.flags
        if not flags.aligned and x.size:
            raise NotAnArrayError(
                f"a numpy array of {dtype} whose elements do not start at multiples of {size} bytes",
                "an aligned array (numpy.require(x, requirements='A') copies it into one)",
            )
        capsule = x.__array_struct__  # owns what the address below points to
        pointer = _word_at(_pointer_in(capsule, None) + _DATA).value
        steps = x.strides
        if len(steps) == 1:
            strides = (steps[0] // size,)
        elif len(steps) == 2:
            strides = (steps[0] // size, steps[1] // size)
        else:
            strides = tuple([step // size for step in steps])
        base = x.base
        if flags.c_contiguous and (base is None or (isinstance(base, ndarray) and base.nbytes == x.nbytes)):
            before, after = 0, x.size  # a view as large as its base starts where the base starts
        else:
            before, after = _storage(x, pointer, strides, size)
        return make_info((pointer, dtype, x.shape, strides, "cpu", not flags.writeable, after, before, x))

    def _storage(x: Any, pointer: int, strides: tuple[int, ...], size: int) -> tuple[int, int]:
        """Elements of the owner's memory before the pointer, and from it on."""
        owner = link = x
        while (link := getattr(link, "base", None)) is not None:
            if isinstance(link, ndarray):
                owner = link
        own_before, own_after = reach(x.shape, strides)
        if owner is x:
            return own_before, own_after
        start, end = _bytes_of(owner)
        before, after = (pointer - start) // size, (end - pointer) // size
        # the parts of a `base` made by hand need not hold the view; then only the view itself is known
        return (before, after) if before >= 0 and after >= 0 else (own_before, own_after)

    return describe


def _bytes_of(x: Any) -> tuple[int, int]:
    """The addresses [start, end) that an array reaches."""
    pointer: int = x.__array_interface__["data"][0]
    start, end = pointer, pointer + x.itemsize
    for extent, step in zip(x.shape, x.strides, strict=True):
        if extent == 0:
            return pointer, pointer
        if step < 0:
            start += (extent - 1) * step
        else:
            end += (extent - 1) * step
    return start, end
