"""Which scalars are plainly not negative, wrapping of their sums and products considered."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from teeny.ir.core import walk_function
from teeny.ir.dtype import I32, I64, DType, integer_range

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from teeny.ir.core import Function, Op, Value
    from teeny.ir.rules import Interval

_LARGEST_GRID = (1 << 31) - 1
_LARGEST_STEP = (1 << 31) - 1
"""No loop runs so often that what it carries in 64 bits and moves up by such steps would wrap."""
_DEEPEST = 64


def nonnegative(value: Value) -> bool:
    """Whether an integer scalar is 0 or more, whatever the arguments of the kernel are."""
    return Signs().nonnegative(value)


class Signs:
    """Bounds of the integer scalars of a structured function.

    With `function`, what its author states counts, where it stands in the block that makes the value or in the
    function's own: `tl.assume(x >= 0)`, and a size of a tensor descriptor, which is 1 or more. And sums and products
    of what is not negative are taken not to wrap, as offsets of tiles that are in an array do not.
    """

    def __init__(self, function: Function | None = None) -> None:
        self._known: dict[Value, Interval] = {}
        self._wraps = function is None
        if function is not None:
            for op in walk_function(function):
                entry = op.block is not None and op.block.region is function.body
                for value, low in _statements(op):
                    if entry or op.block is value.home:
                        self._known[value] = max(low, self._known.get(value, (low, 0))[0]), _whole(value)[1]

    def nonnegative(self, value: Value) -> bool:
        """Whether an integer scalar is 0 or more."""
        return self._interval(value, 0)[0] >= 0

    def _interval(self, value: Value, depth: int) -> Interval:
        """Each value's is found once; while it is looked for, as by what a loop carries, it may be anything."""
        if value in self._known:
            return self._known[value]
        if depth > _DEEPEST or not isinstance(value.type, DType) or not value.type.bits:
            return -math.inf, math.inf
        low, high = self._known[value] = _whole(value)
        found = self._carried(value, depth) if value.op is None else self._computed(value, value.op, depth)
        if found is not None and not self._wraps and 0 <= found[0] <= high:
            found = found[0], min(found[1], high)
        if found is not None and low <= found[0] and found[1] <= high:
            self._known[value] = found
        return self._known[value]

    def _computed(self, value: Value, op: Op, depth: int) -> Interval | None:
        of = [self._interval(v, depth + 1) for v in op.operands if isinstance(v.type, DType)]
        match op.schema.group:
            case "constant":
                number: Any = op.attrs["value"]
                return (number, number) if isinstance(number, int) else None
            case "program_id":
                return 0, _LARGEST_GRID - 1
            case "num_programs":
                return 1, _LARGEST_GRID
            case "add" | "sub" | "mul" | "max" | "min" if op.schema.name.endswith(("i", "si")):
                rule: Any = op.schema.interval
                found = rule(*of)
                return found if all(map(math.isfinite, found)) else None
            case "descriptor_size" if not self._wraps and value.type is I32:
                return 1, _whole(value)[1]
            case "if":
                yielded = [region.block.ops[-1].operands[value.index] for region in op.regions]
                return _hull(*(self._interval(v, depth + 1) for v in yielded))
            case _:
                small = _RULES.get(op.schema.name)
                return small(*of) if small is not None else None

    def _carried(self, value: Value, depth: int) -> Interval | None:
        """The index of a loop, or what it carries and only moves up."""
        block = value.block
        loop = block.region.op if block is not None and block.region is not None else None
        if block is None or loop is None or loop.name != "scf.for":
            return None
        if value.index == 0:
            step = self._interval(loop.operands[2], depth + 1)
            first, last = (self._interval(loop.operands[at], depth + 1) for at in (0, 1))
            return (first[0], max(first[0], last[1] - 1)) if step[0] > 0 else None
        init = self._interval(loop.operands[value.index + 2], depth + 1)
        after = block.ops[-1].operands[value.index - 1]
        if init[0] < 0 or (self._wraps and value.type is not I64) or not self._rises(after, value, depth):
            return None
        return init[0], _whole(value)[1]

    def _rises(self, value: Value, start: Value, depth: int) -> bool:
        """Whether a value is `start` plus steps that are small and not negative."""
        while value is not start:
            op = value.op
            if op is None or op.name != "arith.addi":
                return False
            x, y = op.operands
            low, high = self._interval(y, depth + 1)
            if low < 0 or high > _LARGEST_STEP:
                return False
            value = x
        return True


def _whole(value: Value) -> Interval:
    dtype = value.type
    assert isinstance(dtype, DType)
    return integer_range(dtype)


def _statements(op: Op) -> Iterator[tuple[Value, int]]:
    """Of which values an operation says what they are at least."""
    if op.name == "tt.make_tensor_descriptor":
        sizes = (len(op.operands) - 1) // 2
        yield from ((size, 1) for size in op.operands[1 : 1 + sizes])
    test = op.operands[0].op if op.schema.group == "assume" else None
    if test is None or test.name != "arith.cmpi":
        return
    x, y = test.operands
    for value, bound, more in ((x, y, "sg"), (y, x, "sl")):
        least: Any = bound.op.attrs["value"] if bound.op is not None and bound.op.schema.group == "constant" else None
        if isinstance(least, int) and isinstance(value.type, DType):
            match str(test.attrs["predicate"]).removeprefix(more):
                case "e":
                    yield value, least
                case "t":
                    yield value, least + 1
                case _:
                    pass


def _hull(x: Interval, y: Interval) -> Interval:
    return min(x[0], y[0]), max(x[1], y[1])


def _quotient(x: Interval, y: Interval) -> Interval | None:
    return (x[0] // y[1], x[1] // y[0]) if x[0] >= 0 and y[0] > 0 else None


def _kept(x: Interval, y: Interval) -> Interval | None:
    """Of a remainder and of a shift to the right, which have the sign of what is divided."""
    return (0, x[1]) if x[0] >= 0 else None


def _both(x: Interval, y: Interval) -> Interval | None:
    tops = [high for low, high in (x, y) if low >= 0]
    return (0, min(tops)) if tops else None


def _same(x: Interval) -> Interval:
    return x


def _either(condition: Interval, x: Interval, y: Interval) -> Interval:
    return _hull(x, y)


_RULES: dict[str, Callable[..., Interval | None]] = {
    "arith.divsi": _quotient,
    "arith.remsi": _kept,
    "arith.shrsi": _kept,
    "arith.andi": _both,
    "arith.extsi": _same,
    "arith.select": _either,
}
