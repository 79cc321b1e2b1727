"""Memory as flat bytes with a shadow: which bytes hold an undefined value. Pointers, loads and stores on it."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from teeny.backends.reference.addresses import NOWHERE, resolved
from teeny.backends.reference.errors import AccessError, Index, PoisonError
from teeny.backends.reference.lanes import Lanes, array_dtype, united
from teeny.diag.errors import InternalError
from teeny.ir.dtype import BOOL, DType
from teeny.ir.schema import pointee_of
from teeny.ir.types import Type

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from teeny.ir.core import Op


@dataclass(frozen=True, slots=True, eq=False)
class Memory:
    """Bytes, and for each whether it is undefined. `owner` keeps them alive; `address` is that of the first."""

    bytes: NDArray[np.uint8]
    poison: NDArray[np.bool_]
    address: int
    owner: object = None

    @classmethod
    def of(cls, array: NDArray[np.uint8]) -> Memory:
        """The memory of a dense array of bytes."""
        return cls(array, np.zeros(array.size, np.bool_), array.ctypes.data, array)


@dataclass(frozen=True, slots=True, eq=False)
class Buffer:
    """A pointer argument: byte `offset` of `memory`. Accesses must lie in bytes [low, high); all of it by default."""

    memory: Memory
    offset: int = 0
    low: int = 0
    high: int | None = None
    writable: bool = True

    @property
    def end(self) -> int:
        return self.memory.bytes.size if self.high is None else self.high

    def undefined(self, array: NDArray[Any]) -> NDArray[np.bool_]:
        """Which elements of an array that lies in this memory are undefined; the array's shape."""
        steps = [np.arange(n, dtype=np.int64) * s for n, s in zip(array.shape, array.strides, strict=True)]
        first = np.asarray(array.ctypes.data - self.memory.address, np.int64)
        for axis, step in enumerate(steps):
            first = first + step.reshape([-1 if at == axis else 1 for at in range(array.ndim)])
        return np.asarray(self.memory.poison[first[..., None] + np.arange(array.itemsize)].any(axis=-1))


def bind(arguments: Sequence[Any]) -> list[Any]:
    """Arrays as buffers, other arguments unchanged. Arrays that overlap share one memory and so one shadow.

    Of an array the bytes from its lowest to its highest element may be accessed, whatever its strides.
    """
    arrays: list[NDArray[Any]] = [a for a in arguments if isinstance(a, np.ndarray)]
    spans = sorted({_bounds(a) for a in arrays})
    merged: list[tuple[int, int]] = []
    for low, high in spans:
        if merged and low < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(high, merged[-1][1]))
        else:
            merged.append((low, high))
    memories = {span: _at(span, arrays) for span in merged}
    buffers = iter([_buffer(a, memories) for a in arrays])
    return [next(buffers) if isinstance(a, np.ndarray) else a for a in arguments]


def _bounds(array: NDArray[Any]) -> tuple[int, int]:
    low = high = array.ctypes.data
    if array.size == 0:
        return low, low
    for count, stride in zip(array.shape, array.strides, strict=True):
        low, high = low + min(0, (count - 1) * stride), high + max(0, (count - 1) * stride)
    return low, high + array.itemsize


def _at(span: tuple[int, int], owner: object) -> Memory:
    size = span[1] - span[0]
    if not size:
        return Memory(np.empty(0, np.uint8), np.empty(0, np.bool_), span[0], owner)
    content = np.frombuffer(memoryview((ctypes.c_ubyte * size).from_address(span[0])), np.uint8)
    return Memory(content, np.zeros(size, np.bool_), span[0], owner)


def _buffer(array: NDArray[Any], memories: dict[tuple[int, int], Memory]) -> Buffer:
    low, high = _bounds(array)
    memory = next(m for (first, end), m in memories.items() if first <= low and high <= end)
    start = memory.address
    return Buffer(memory, array.ctypes.data - start, low - start, high - start, array.flags.writeable)


@dataclass(frozen=True, slots=True)
class Access:
    """One load or store: the lanes that take part, flat, with their places.

    `strict` raises `PoisonError` where an undefined mask or address decides what is accessed.
    """

    op: Op
    program: Index
    buffers: Sequence[Buffer | None]
    strict: bool

    def active(self, pointers: Lanes, mask: Lanes | None) -> NDArray[np.bool_]:
        """The lanes that are accessed, in the pointers' shape."""
        shape = pointers.value.shape
        if mask is None:
            lanes = np.ones(shape, np.bool_)
        else:
            if self.strict and mask.poison is not None:
                self._complain(mask.poison, "the mask is undefined")
            lanes = np.broadcast_to(mask.value, shape)
        if self.strict and pointers.poison is not None:
            self._complain(pointers.poison & lanes, "the address is undefined")
        return lanes

    def _complain(self, lanes: NDArray[np.bool_], message: str) -> None:
        if lanes.any():
            raise PoisonError(message, self.op, self.program, _first(lanes))

    def places(
        self, pointers: NDArray[Any], active: NDArray[np.bool_], size: int, write: bool
    ) -> list[tuple[Memory, NDArray[np.intp], NDArray[np.int64]]]:
        """For each buffer accessed: its memory, the flat numbers of the lanes, the bytes of each (lanes, size)."""
        flat = resolved(self.buffers, pointers.ravel(), size, write)
        chosen = np.flatnonzero(active)
        found: list[tuple[Memory, NDArray[np.intp], NDArray[np.int64]]] = []
        for argument in map(int, np.unique(flat["argument"][chosen])):
            lanes = chosen[flat["argument"][chosen] == argument]
            if argument == NOWHERE:
                self._lost(flat, int(lanes[0]), active.shape, size, write)
            buffer = self.buffers[argument]
            if buffer is None:
                raise InternalError(f"{self.op.name} of a pointer that was made from a scalar argument")
            first = flat["offset"][lanes] + buffer.offset
            wrong = (first < buffer.low) | (first > buffer.end - size)
            if wrong.any() or (write and not buffer.writable):
                lane = int(lanes[np.argmax(wrong)])
                index = tuple(int(i) for i in np.unravel_index(lane, active.shape))
                offset = int(flat["offset"][lane])
                verb = "writes" if write else "reads"
                message = (
                    f"{verb} {size} bytes at byte {offset} of argument {argument}, which has the bytes "
                    f"{buffer.low - buffer.offset} to {buffer.end - buffer.offset}"
                    if wrong.any()
                    else f"writes to argument {argument}, which is read-only"
                )
                raise AccessError(message, self.op, self.program, index, argument, offset, size)
            found.append((buffer.memory, lanes, first[:, None] + np.arange(size)))
        return found

    def _lost(self, flat: NDArray[Any], lane: int, shape: tuple[int, ...], size: int, write: bool) -> None:
        address = int(flat["offset"][lane])
        index = tuple(int(i) for i in np.unravel_index(lane, shape))
        verb = "writes" if write else "reads"
        message = f"{verb} {size} bytes at the address {address:#x}, which lies in no array that this run knows"
        raise AccessError(message, self.op, self.program, index, NOWHERE, address, size)


def _first(lanes: NDArray[np.bool_]) -> Index:
    return tuple(int(i) for i in np.unravel_index(int(np.argmax(lanes)), lanes.shape))


def stored_dtype(pointers: Type) -> np.dtype[Any]:
    """How an element lies in memory: a bool takes a byte."""
    pointee = pointee_of(pointers)
    if not isinstance(pointee, DType):
        raise InternalError("the reference keeps no pointers in memory")
    return np.dtype(np.uint8) if pointee is BOOL else array_dtype(pointee)


def load(access: Access, pointers: Lanes, mask: Lanes | None = None, other: Lanes | None = None) -> Lanes:
    """The elements at the active lanes; elsewhere `other`, and without it 0, undefined."""
    op = access.op
    stored = stored_dtype(op.operands[0].type)
    active = access.active(pointers, mask)
    # In rows, so that the flat views below are views: what was broadcast keeps the order of its axes when copied.
    value = np.zeros(active.shape, stored)
    if other is not None:
        value[...] = other.value
    poison = np.zeros(active.shape, np.bool_)
    poison[...] = np.logical_not(active) if other is None else np.logical_not(active) & other.mask
    flat, flat_poison = value.reshape(-1), poison.reshape(-1)
    for memory, lanes, places in access.places(pointers.value, active, stored.itemsize, write=False):
        flat[lanes] = memory.bytes[places].view(stored)[:, 0]
        flat_poison[lanes] = memory.poison[places].any(axis=1)
    if pointee_of(op.operands[0].type) is BOOL:
        value = flat.reshape(active.shape) != 0
    found = united(poison, pointers.poison, mask.poison if mask is not None else None)
    return Lanes(value, found if found is not None and found.any() else None)


def store(access: Access, pointers: Lanes, value: Lanes, mask: Lanes | None = None) -> None:
    """Write the active lanes, in rising order: of several lanes at one place the last wins."""
    stored = stored_dtype(access.op.operands[0].type)
    active = access.active(pointers, mask)
    content = np.ascontiguousarray(np.broadcast_to(value.value, active.shape)).astype(stored, copy=False).reshape(-1)
    poison = np.broadcast_to(value.mask, active.shape).reshape(-1)
    for memory, lanes, places in access.places(pointers.value, active, stored.itemsize, write=True):
        memory.bytes[places] = content[lanes].view(np.uint8).reshape(len(lanes), stored.itemsize)
        memory.poison[places] = poison[lanes][:, None]


def advance(pointers: Lanes, offsets: Lanes, type_: Type) -> Lanes:
    """Pointers moved by whole elements."""
    size = stored_dtype(type_).itemsize
    moved = pointers.value.copy()
    moved["offset"] += offsets.value.astype(np.int64) * size
    return Lanes(moved, united(pointers.poison, offsets.poison))
