"""The combiner of a reduction or a scan on lanes, and what is known about it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from teeny.backends.cpu.lower.evaluate import lanewise
from teeny.backends.cpu.lower.values import cannot, dtype_name, kind_of
from teeny.backends.cpu.text import FLOATS
from teeny.diag.errors import InternalError
from teeny.ir.core import Block, Op, walk
from teeny.ops.reduce import combiner

if TYPE_CHECKING:
    from teeny.backends.cpu.lower.state import State
    from teeny.ir.core import Value
    from teeny.ir.lanes import Lane

__all__ = ["Combiner", "LowerBlock"]

LowerBlock = Callable[["State", Block], Op]
"""Lowers a block of scalars and gives its terminator."""
_IDEMPOTENT = frozenset({"max", "min", "maximum", "minimum", "and", "or"})


class Combiner:
    """What joins accumulators with elements, one lane an operand of the operation.

    Branches are computed on both sides and chosen from, lane by lane: nothing in a combiner has an effect. One with
    loops in it is `scalar`: it takes scalars alone.
    """

    def __init__(self, state: State, op: Op, lower_block: LowerBlock) -> None:
        self.state = state
        self.op = op
        self.group = combiner(op) if len(op.operands) == 1 else None
        self.dtypes = [dtype_name(x.type) for x in op.operands]
        inner = list(walk(op.regions[0].block))
        self.scalar = any(kind_of(o) in ("for", "while") for o in inner)
        self.work = sum(o.schema.cost for o in inner if not o.schema.terminator)
        """Cost of the arithmetic, joining once."""
        self._lower_block = lower_block

    def __call__(self, left: Sequence[Lane], right: Sequence[Lane]) -> list[Lane]:
        state, block = self.state, self.op.regions[0].block
        given = (*left, *right)
        if self.scalar:
            state.bound.update(zip(block.args, given, strict=True))
            return [state.scalar(x) for x in self._lower_block(state, block).operands]
        width = max(lane.width for lane in given)
        found = self._block(block, dict(zip(block.args, given, strict=True)))
        return [state.b.splat(lane, width) for lane in found]

    def _block(self, block: Block, lanes: dict[Value, Lane]) -> list[Lane]:
        """What a block hands on; `lanes` has the values from around it and takes those that it makes."""
        state = self.state
        for op in block.ops:
            found = [lanes[x] if x in lanes else state.scalar(x) for x in op.operands]
            if op.schema.terminator:
                return found
            match kind_of(op):
                case "":
                    lanes[op.results[0]] = lanewise(state.b, op, found)
                case "if":
                    lanes.update(zip(op.results, self._chosen(op, found[0], lanes), strict=True))
                case _:
                    raise cannot(op)
        raise InternalError("a combiner without an end", self.op.loc)

    def _chosen(self, op: Op, condition: Lane, lanes: dict[Value, Lane]) -> list[Lane]:
        arms = [self._block(region.block, lanes) for region in op.regions if region.blocks]
        if not op.results:
            return []
        if condition.const is not None:
            return arms[0 if condition.const else 1]
        return [self.state.b.select(condition, x, y) for x, y in zip(*arms, strict=True)]

    def identity(self) -> list[Lane] | None:
        """Values that leave every element as it is, bit for bit; None where there are none."""
        if self.group is None:
            return None
        dtype = self.dtypes[0]
        floating = dtype in FLOATS
        name = self.op.regions[0].block.ops[0].name
        match name:
            case "arith.addf":
                value: float = -0.0
            case "arith.maxnumf" | "arith.minnumf":
                value = math.nan
            case "arith.maximumf":
                value = -math.inf
            case "arith.minimumf":
                value = math.inf
            case "arith.mulf":
                value = 1.0
            case "arith.minui":
                value = -1
            case "arith.maxui":
                value = 0
            case _:
                schema = self.op.regions[0].block.ops[0].schema
                if schema.identity is None or floating:
                    return None
                from teeny.ir.dtype import LEAVES

                value = schema.identity(LEAVES[dtype]) if dtype != "i1" else schema.identity(LEAVES["bool"])
        return [self.state.b.const(dtype, value)]

    def once(self, values: Sequence[Lane]) -> bool:
        """Whether joining these values in again and again is the same as once."""
        if self.group in _IDEMPOTENT:
            return True
        return self.group == "add" and values[0].const == 0
