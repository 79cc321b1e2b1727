"""Sorting: a bitonic network on a row of integer keys (`teeny.ops.order`).

Elements far apart are exchanged vector by vector, those within one vector by shuffles, as many steps as there are in a
row. The first steps run as the row is read, while each vector is in a register.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from teeny.backends.cpu.lower.elements import Indices, get, over, put
from teeny.backends.cpu.lower.join import viewed
from teeny.backends.cpu.lower.nest import Carried, counted
from teeny.backends.cpu.lower.state import Buffer, State
from teeny.backends.cpu.lower.store import full_width, materialise
from teeny.backends.cpu.lower.values import BYTES, dtype_name, shape, size
from teeny.ops.order import lane_key, lane_value

if TYPE_CHECKING:
    from collections.abc import Callable

    from teeny.ir.core import Op
    from teeny.ir.lanes import Lane

__all__ = ["sort"]


def sort(state: State, op: Op) -> None:
    """Lower a `teeny.sort`."""
    operand, result = op.operands[0], op.results[0]
    source = viewed(state, operand)
    if source is None or source.carried or (source.strides[-1] != 1 and source.shape[-1] > 1):
        source = state.buffer(shape(operand), dtype_name(operand.type))
        materialise(state, [(operand, source)])
    target = state.buffer(shape(result), source.dtype)
    top = state.arena.top
    _Rows(state, op, source, target).emit()
    state.arena.top = top
    state.bound[result] = target


class _Rows:
    def __init__(self, state: State, op: Op, source: Buffer, target: Buffer) -> None:
        self.b = state.b
        self.source = source
        self.target = target
        self.count = source.shape[-1]
        self.descending = bool(op.attrs["descending"])
        self.merge = bool(op.attrs["merge"])
        self.unsigned = bool(op.attrs["unsigned"])
        self.dtype = f"i{8 * BYTES[source.dtype]}"
        self.width = min(full_width(state), self.count)
        self.keys = state.buffer((self.count,), self.dtype)
        steps = self.count.bit_length() ** 2 / 2
        state.cost += state.trips * size(source.shape) * steps / self.width

    def emit(self) -> None:
        lead = [a for a, dim in enumerate(self.source.shape[:-1]) if dim > 1]
        over(self.b, self.source.shape, lead, {}, self._row)

    def _row(self, at: Indices) -> None:
        b, last = self.b, len(self.source.shape) - 1
        in_vector = [] if self.merge and self.count > self.width else self._stages(2, self.width)

        def read(index: Lane) -> None:
            x = get(b, self.source, {**at, last: index}, self.width)
            keys = lane_key(b, x, self.dtype, unsigned=self.unsigned)
            for stage in in_vector:
                keys = self._within(keys, index, stage, stage // 2)
            put(b, self.keys, {0: index}, keys)

        self._loop(0, self.count, self.width, read)
        for stage in self._stages(2 * self.width, self.count):
            self._stage(stage)
        width = min(self.width, self.target.shape[-1])

        def write(index: Lane) -> None:
            keys = get(b, self.keys, {0: index}, width)
            put(b, self.target, {**at, last: index}, lane_value(b, keys, self.source.dtype, unsigned=self.unsigned))

        self._loop(0, self.target.shape[-1], width, write)

    def _stages(self, first: int, last: int) -> list[int]:
        """The lengths of the pieces that are made, each twice the one before."""
        if self.merge:
            return [self.count] if first <= self.count <= last else []
        found = [1 << e for e in range(first.bit_length() - 1, last.bit_length())]
        return [n for n in found if n > 1]

    def _loop(self, low: int, high: int, step: int, body: Callable[[Lane], None]) -> None:
        b = self.b

        def inside(index: Lane, carried: Carried) -> Carried:
            body(index)
            return carried

        b.epoch += 1
        counted(b, b.const("i64", low), b.const("i64", high), step, (), inside)
        b.epoch += 1

    def _stage(self, stage: int) -> None:
        """Make sorted pieces of `stage` elements from bitonic ones."""
        b, apart = self.b, stage // 2
        while apart >= self.width:
            self._exchange(stage, apart)
            apart //= 2
        if not apart:
            return

        def within(index: Lane) -> None:
            keys = get(b, self.keys, {0: index}, self.width)
            put(b, self.keys, {0: index}, self._within(keys, index, stage, apart))

        self._loop(0, self.count, self.width, within)

    def _rises(self, index: Lane, stage: int) -> Lane:
        """Whether the piece at an index is sorted upwards: pieces alternate, until there is but one."""
        b = self.b
        if stage == self.count:
            return b.const("i1", not self.descending)
        return b.icmp("eq", b.and_(index, b.const("i64", stage)), b.const("i64", 0))

    def _exchange(self, stage: int, apart: int) -> None:
        """Compare vectors that are `apart` elements from one another."""
        b = self.b

        def pair(base: Lane) -> None:
            rises = self._rises(base, stage)

            def one(offset: Lane) -> None:
                first = b.add(base, offset)
                second = b.add(first, b.const("i64", apart))
                x, y = (get(b, self.keys, {0: i}, self.width) for i in (first, second))
                low, high = b.smin(x, y), b.smax(x, y)
                put(b, self.keys, {0: first}, self._either(rises, low, high))
                put(b, self.keys, {0: second}, self._either(rises, high, low))

            self._loop(0, apart, self.width, one)

        self._loop(0, self.count, 2 * apart, pair)

    def _either(self, rises: Lane, x: Lane, y: Lane) -> Lane:
        if rises.const is not None:
            return x if rises.const else y
        return self.b.select(rises, x, y)

    def _within(self, keys: Lane, index: Lane, stage: int, apart: int) -> Lane:
        """All steps of a stage from `apart` on, inside one vector."""
        b, width = self.b, self.width
        while apart:
            other = b.shuffle(keys, keys, [lane ^ apart for lane in range(width)])
            low, high = b.smin(keys, other), b.smax(keys, other)

            def chosen(rises: bool, low: Lane = low, high: Lane = high, apart: int = apart) -> Lane:
                """The smaller element first, or the larger; in pieces within the vector by turns."""
                lanes: list[int] = []
                for lane in range(width):
                    falls = stage < width and bool(lane & stage)
                    lanes.append(lane if bool(lane & apart) == (rises == falls) else width + lane)
                return b.shuffle(low, high, lanes)

            if stage < width:
                keys = chosen(True)
            else:
                rises = self._rises(index, stage)
                if rises.const is not None:
                    keys = chosen(bool(rises.const))
                else:
                    keys = b.select(rises, chosen(True), chosen(False))
            apart //= 2
        return keys
