"""Which powers of two integer scalars are plainly multiples of, whatever the arguments of the kernel are.

Powers of two alone: they divide a sum or a product also where it has wrapped. What loops carry is assumed to be what
it starts as, until the loop's body says less (the greatest fixed point).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import count
from typing import TYPE_CHECKING, Any, cast

from teeny.ir.dtype import DType
from teeny.passes.tile_access import number

if TYPE_CHECKING:
    from teeny.ir.core import Block, Function, Op, Value

MOST = 64
"""Lowest bits that are 0 in the number 0; all counts are of such bits."""
_PATIENCE = 3
"""Rounds of a loop after which what it still makes smaller counts as nothing."""


class Multiples:
    """What a structured function's integer scalars are multiples of.

    `given` says it for arguments, by number, as launches promise it. `tl.multiple_of` and `tl.assume(x % 16 == 0)`
    count where they stand in the block that makes the value, or in the function's own.
    """

    def __init__(self, function: Function, given: Mapping[int, int]) -> None:
        self._found: dict[Value, int] = {}
        self._stated: dict[Value, int] = {}
        for at, divisor in given.items():
            self._state(function.args[at], _zeros(divisor))
        for block in function.body.blocks:
            self._statements(block, block)
        for block in function.body.blocks:
            self._block(block)

    def divides(self, divisor: int, value: Value) -> bool:
        """Whether a power of two divides a value."""
        return self._of(value) >= _zeros(divisor)

    def _of(self, value: Value) -> int:
        return max(self._found.get(value, 0), self._stated.get(value, 0))

    def _least(self, values: Iterable[Value]) -> int:
        return min(map(self._of, values))

    # What the kernel's author states

    def _state(self, value: Value, zeros: int) -> None:
        self._stated[value] = max(zeros, self._stated.get(value, 0))

    def _statements(self, block: Block, entry: Block) -> None:
        for op in block.ops:
            found = _statement(op)
            if found is not None and block in (entry, found[0].home):
                self._state(*found)
            for region in op.regions:
                for inner in region.blocks:
                    self._statements(inner, entry)

    # What operations make

    def _block(self, block: Block) -> None:
        for op in block.ops:
            match op.name:
                case "scf.for":
                    self._for(op)
                case "scf.while":
                    self._while(op)
                case "scf.if":
                    self._if(op)
                case name if name in _RULES:
                    found = _RULES[name](op, [self._of(v) for v in op.operands])
                    self._put(op.results, (min(MOST, max(0, found)),))
                case _:
                    for region in op.regions:
                        for inner in region.blocks:
                            self._block(inner)

    def _put(self, values: Iterable[Value], counts: Iterable[int]) -> None:
        self._found.update(zip(values, counts, strict=True))

    def _rounds(self, carried: tuple[Value, ...], inits: tuple[Value, ...], run: Callable[[], Iterable[Value]]) -> None:
        """Run a loop's body until what it carries stays as it was; `run` gives what is carried next."""
        counts = [self._of(v) for v in inits]
        for at in count():
            self._put(carried, counts)
            after = [min(old, self._of(v)) for old, v in zip(counts, run(), strict=True)]
            if after == counts:
                return
            counts = [new if new == old or at < _PATIENCE else 0 for old, new in zip(counts, after, strict=True)]

    def _for(self, op: Op) -> None:
        body = op.regions[0].block
        index, *carried = body.args
        self._put((index,), (self._least((op.operands[0], op.operands[2])),))

        def run() -> Iterable[Value]:
            self._block(body)
            return body.ops[-1].operands

        self._rounds(tuple(carried), op.operands[3:], run)
        self._put(op.results, [self._of(v) for v in carried])

    def _while(self, op: Op) -> None:
        before, body = (region.block for region in op.regions)
        passed = before.ops[-1].operands[1:]

        def run() -> Iterable[Value]:
            self._block(before)
            self._put(body.args, [self._of(v) for v in passed])
            self._block(body)
            return body.ops[-1].operands

        self._rounds(before.args, op.operands, run)
        self._put(op.results, [self._of(v) for v in passed])

    def _if(self, op: Op) -> None:
        ends: list[tuple[Value, ...]] = []
        for region in op.regions:
            self._block(region.block)
            ends.append(region.block.ops[-1].operands)
        if op.results:
            self._put(op.results, [self._least(pair) for pair in zip(*ends, strict=True)])


def _zeros(n: int) -> int:
    return MOST if n == 0 else min(MOST, (n & -n).bit_length() - 1)


def _statement(op: Op) -> tuple[Value, int] | None:
    """Of which value an operation says what it is a multiple of."""
    if op.schema.group == "hint" and op.attrs["kind"] == "divisibility":
        values = cast("tuple[int, ...]", op.attrs["values"])
        return (op.operands[0], _zeros(values[0])) if isinstance(op.operands[0].type, DType) else None
    test = op.operands[0].op if op.schema.group == "assume" else None
    if test is None or test.name != "arith.cmpi" or test.attrs["predicate"] != "eq" or number(test.operands[1]) != 0:
        return None
    remainder = test.operands[0].op
    if remainder is None or remainder.name not in ("arith.remsi", "arith.remui"):
        return None
    divisor: Any = number(remainder.operands[1])
    return (remainder.operands[0], _zeros(divisor)) if isinstance(divisor, int) and divisor else None


Counts = list[int]


def _constant(op: Op, of: Counts) -> int:
    value = op.attrs["value"]
    return _zeros(value) if isinstance(value, int) and not isinstance(value, bool) else 0


def _known(value: Value) -> int:
    found = number(value)
    return found if isinstance(found, int) else 0


def _shifted_left(op: Op, of: Counts) -> int:
    return of[0] + max(0, _known(op.operands[1]))


def _shifted_right(op: Op, of: Counts) -> int:
    amount = number(op.operands[1])
    return of[0] - amount if isinstance(amount, int) and amount >= 0 else 0


def _divided(op: Op, of: Counts) -> int:
    """Of a quotient by a power of two that leaves no remainder."""
    divisor = abs(_known(op.operands[1]))
    return of[0] - _zeros(divisor) if divisor and divisor & (divisor - 1) == 0 else 0


def _all(op: Op, of: Counts) -> int:
    return min(of)


_RULES: dict[str, Callable[[Op, Counts], int]] = {
    "arith.constant": _constant,
    "arith.muli": lambda op, of: sum(of),
    "arith.andi": lambda op, of: max(of),
    "arith.select": lambda op, of: min(of[1:]),
    "arith.shli": _shifted_left,
    **dict.fromkeys(("arith.shrsi", "arith.shrui"), _shifted_right),
    **dict.fromkeys(("arith.divsi", "arith.divui"), _divided),
    **dict.fromkeys(
        [f"arith.{n}" for n in ("addi", "subi", "ori", "xori", "remsi", "remui", "maxsi", "minsi", "maxui", "minui")],
        _all,
    ),
    **dict.fromkeys(("arith.extsi", "arith.extui", "arith.trunci", "math.absi"), _all),
}
