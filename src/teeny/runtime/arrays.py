"""What a kernel sees of an array argument: pointer, dtype, shape, strides, device, and how far its storage goes.

No array library is imported here. Each is asked in its own way, chosen by the class of the argument and remembered
for the class: numpy (`numpy_array`), torch (`torch_tensor`), buffers of our own (`__teeny_array__`), CUDA arrays by
`__cuda_array_interface__`, all others by DLPack.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache, partial
from typing import Any, NamedTuple, cast

SUPPORTED = "a numpy array, a torch tensor, or an object with DLPack or __cuda_array_interface__"

Adapter = Callable[[Any], "ArrayInfo"]


class ArrayInfo(NamedTuple):
    """One array argument (a tuple and no dataclass, because one is made for every argument of every launch).

    `pointer` is the address of element (0, ..., 0) and `strides` count elements. The storage is the allocation behind
    the view, where it is known, else the part that the view itself reaches: `storage_offset_elements` elements of it
    lie before the pointer and `storage_elements_after_pointer` from the pointer on, so that `[0, n)` from the pointer
    may be touched if n is at most that. `keepalive` owns the memory.
    """

    pointer: int
    dtype: str
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    device: str
    readonly: bool
    storage_elements_after_pointer: int
    storage_offset_elements: int
    keepalive: object

    @property
    def dense(self) -> bool:
        """Whether the elements fill `[0, size)` from the pointer, in some order of the axes; see `is_dense`."""
        return is_dense(self.shape, self.strides)

    @property
    def size(self) -> int:
        """Number of elements."""
        total = 1
        for extent in self.shape:
            total *= extent
        return total


# what `ArrayInfo(...)` does, in half the time: the adapters of numpy and torch use it
make_info: Callable[[tuple[object, ...]], ArrayInfo] = partial(cast("Any", tuple).__new__, ArrayInfo)


class NotAnArrayError(Exception):
    """An argument that no kernel can take as a pointer; the launch turns it into a `LaunchError`.

    `found` and `needed` complete the sentences "found ..." and "needed ...".
    """

    def __init__(self, found: str, needed: str = SUPPORTED) -> None:
        super().__init__(found, needed)
        self.found = found
        self.needed = needed


def is_dense(shape: tuple[int, ...], strides: tuple[int, ...]) -> bool:
    """Whether the elements lie without gap or overlap in `[0, size)` from the pointer.

    The axes may be in any order, so a transposed matrix is dense; axes of length 1 do not count; an array without
    elements is dense. Strides count elements; a reversed axis is not dense, its elements lie before the pointer.
    """
    expected = 1
    for extent, stride in zip(reversed(shape), reversed(strides), strict=True):
        if extent != 1:
            if stride != expected:
                return 0 in shape or _dense_in_any_order(shape, strides)
            expected *= extent
    return True


def _dense_in_any_order(shape: tuple[int, ...], strides: tuple[int, ...]) -> bool:
    expected = 1
    for stride, extent in sorted((s, n) for n, s in zip(shape, strides, strict=True) if n != 1):
        if stride != expected:
            return False
        expected *= extent
    return True


def reach(shape: tuple[int, ...], strides: tuple[int, ...]) -> tuple[int, int]:
    """How far a view goes: (elements before the pointer, elements from the pointer on); (0, 0) without elements."""
    before, after = 0, 1
    for extent, stride in zip(shape, strides, strict=True):
        if extent == 0:
            return 0, 0
        if stride < 0:
            before -= (extent - 1) * stride
        else:
            after += (extent - 1) * stride
    return before, after


def row_major(shape: tuple[int, ...]) -> tuple[int, ...]:
    """The strides, in elements, of a dense array with the last axis fastest."""
    strides: list[int] = []
    step = 1
    for extent in reversed(shape):
        strides.append(step)
        step *= max(extent, 1)
    return tuple(reversed(strides))


@cache
def is_row_major(shape: tuple[int, ...], strides: tuple[int, ...]) -> bool:
    """Whether the elements lie row by row without gaps; axes of length 1 do not count."""
    plain = row_major(shape)
    return 0 in shape or all(a == b or n == 1 for a, b, n in zip(plain, strides, shape, strict=True))


def describe(x: object) -> ArrayInfo:
    """What a kernel sees of `x`. Raises `NotAnArrayError` when it cannot be passed as a pointer."""
    adapter = _adapters.get(type(x))
    if adapter is None:
        adapter = _adapters[type(x)] = _choose(type(x))
    return adapter(x)


_adapters: dict[type, Adapter] = {}


def _choose(kind: type) -> Adapter:
    for base in kind.__mro__:
        root = base.__module__.partition(".")[0]
        if root == "numpy" and base.__name__ == "MaskedArray":
            return _refuse("a masked array of numpy, whose mask a kernel does not see", "its .filled(...) or .data")
        if root == "numpy" and base.__name__ == "ndarray":
            from teeny.runtime.numpy_array import adapter

            return adapter(sys.modules["numpy"])
        if root == "torch" and base.__name__ == "Tensor":
            from teeny.runtime.torch_tensor import adapter

            return adapter(sys.modules["torch"])
    if hasattr(kind, "__teeny_array__"):
        return _own
    if hasattr(kind, "__cuda_array_interface__"):
        from teeny.runtime.cuda_array import describe_cuda_array

        return describe_cuda_array
    if hasattr(kind, "__dlpack__") and hasattr(kind, "__dlpack_device__"):
        from teeny.runtime.dlpack import describe_dlpack

        return describe_dlpack
    return _refuse_unknown


def _own(x: Any) -> ArrayInfo:
    info: ArrayInfo = x.__teeny_array__
    return info


def _refuse(found: str, needed: str = SUPPORTED) -> Adapter:
    def refuse(x: object) -> ArrayInfo:
        raise NotAnArrayError(found, needed)

    return refuse


def _refuse_unknown(x: object) -> ArrayInfo:
    raise NotAnArrayError(name_of(x))


def name_of(x: object) -> str:
    """How messages call a value, by its class: `None`, `a list`, `a numpy.float32`."""
    if x is None:
        return "None"
    kind = type(x)
    if kind.__module__ == "builtins":
        return f"{'an' if kind.__name__[0] in 'aeiou' else 'a'} {kind.__name__}"
    return f"a {kind.__module__.partition('.')[0]}.{kind.__name__}"
