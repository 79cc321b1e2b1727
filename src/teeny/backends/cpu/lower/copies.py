"""Tiles of memory with strides that are known at run time alone, copied into buffers.

One of the last two strides is mostly 1: memory is then read by vectors along that axis, and turned in registers where
the buffer is contiguous along the other one. All else is left to a nest, which gathers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from teeny.backends.cpu.lower.nest import Carried, counted
from teeny.backends.cpu.lower.store import full_width, materialise
from teeny.backends.cpu.lower.transpose import transposed
from teeny.backends.cpu.lower.values import BYTES, dtype_name

if TYPE_CHECKING:
    from teeny.backends.cpu.builder import Builder
    from teeny.backends.cpu.lower.state import Buffer, State
    from teeny.backends.cpu.lower.strided import Strided
    from teeny.ir.core import Value
    from teeny.ir.lanes import Lane

__all__ = ["copy"]

Indices = dict[int, "Lane"]


Widen = Callable[["Lane"], "Lane"]


def copy(state: State, found: Strided, value: Value, wide: Value, buffer: Buffer, axis: int, widen: Widen) -> None:
    """Fill a buffer that is contiguous along `axis` with `wide`: `value`, how that lies in memory, widened."""
    b = state.b
    last = len(buffer.shape) - 1
    other = 2 * last - 1 - axis
    name = dtype_name(value.type)
    one = b.const("i64", 1)

    def unit(at: int) -> Lane:
        return b.and_(found.holds, b.icmp("eq", found.strides[at], one))

    with b.if_(unit(axis)) as straight:
        _rows(state, found, name, buffer, axis, other, widen)
        straight.otherwise()
        with b.if_(unit(other)) as across:
            _blocks(state, found, name, buffer, axis, other, widen)
            across.otherwise()
            materialise(state, [(wide, buffer)])


def _at(b: Builder, base: Lane, strides: tuple[Lane, ...], name: str, indices: Indices) -> Lane:
    for axis, index in indices.items():
        base = b.offset(base, b.mul(index, strides[axis]), name)
    return base


def _loops(b: Builder, buffer: Buffer, steps: dict[int, int], body: Callable[[Indices], None]) -> None:
    """Run over the axes of the buffer, the first of `steps` outermost."""
    order = [axis for axis in range(len(buffer.shape)) if axis not in steps] + list(steps)

    def level(number: int, indices: Indices) -> None:
        if number == len(order):
            body(indices)
            return
        axis = order[number]

        def inside(index: Lane, carried: Carried) -> Carried:
            level(number + 1, indices | {axis: index})
            return carried

        counted(b, b.const("i64", 0), b.const("i64", buffer.shape[axis]), steps.get(axis, 1), (), inside)

    b.epoch += 1
    level(0, {})
    b.epoch += 1


def _rows(state: State, found: Strided, name: str, buffer: Buffer, axis: int, other: int, widen: Widen) -> None:
    b = state.b
    width = min(full_width(state), buffer.shape[axis])
    to = tuple([b.const("i64", s) for s in buffer.strides])
    one = b.const("i64", 1)
    strides = tuple([one if at == axis else s for at, s in enumerate(found.strides)])

    def body(indices: Indices) -> None:
        lane = b.load(_at(b, found.base, strides, name, indices), name, width, align=1)
        place = _at(b, buffer.at, to, buffer.dtype, indices)
        b.store(place, widen(lane), align=BYTES[buffer.dtype], kills=False)

    _loops(b, buffer, {other: 1, axis: width}, body)


def _blocks(state: State, found: Strided, name: str, buffer: Buffer, axis: int, other: int, widen: Widen) -> None:
    b = state.b
    width = min(full_width(state), buffer.shape[axis], buffer.shape[other])
    to = tuple([b.const("i64", s) for s in buffer.strides])
    one = b.const("i64", 1)
    strides = tuple([one if at == other else s for at, s in enumerate(found.strides)])

    def body(indices: Indices) -> None:
        lines: list[Lane] = []
        first = _at(b, found.base, strides, name, indices)
        for r in range(width):
            here = b.offset(first, b.mul(b.const("i64", r), strides[axis]), name)
            lines.append(widen(b.load(here, name, width, align=1)))
        place = _at(b, buffer.at, to, buffer.dtype, indices)
        for r, lane in enumerate(transposed(state, lines)):
            here = b.offset(place, b.const("i64", r * buffer.strides[other]), buffer.dtype)
            b.store(here, lane, align=BYTES[buffer.dtype], kills=False)

    _loops(b, buffer, {axis: width, other: width}, body)
