"""The combiner of a reduction on lanes, and what is known about it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from teeny.backends.cpu.lower.evaluate import lanewise
from teeny.backends.cpu.lower.values import cannot, dtype_name, kind_of
from teeny.backends.cpu.text import FLOATS
from teeny.diag.errors import InternalError
from teeny.ops.reduce import combiner

if TYPE_CHECKING:
    from teeny.backends.cpu.lower.state import State
    from teeny.ir.core import Op, Value
    from teeny.ir.lanes import Lane

__all__ = ["Combiner"]

_IDEMPOTENT = frozenset({"max", "min", "maximum", "minimum", "and", "or"})


class Combiner:
    """What joins accumulators with elements, one lane an operand of the reduction."""

    def __init__(self, state: State, op: Op) -> None:
        self.state = state
        self.op = op
        self.group = combiner(op) if len(op.operands) == 1 else None
        self.dtypes = [dtype_name(x.type) for x in op.operands]

    def __call__(self, left: Sequence[Lane], right: Sequence[Lane]) -> list[Lane]:
        state = self.state
        block = self.op.regions[0].block
        lanes: dict[Value, Lane] = dict(zip(block.args, (*left, *right), strict=True))
        for op in block.ops:
            found = [lanes[x] if x in lanes else state.scalar(x) for x in op.operands]
            if op.schema.terminator:
                return found
            if kind_of(op):
                raise cannot(op)
            lanes[op.results[0]] = lanewise(state.b, op, found)
        raise InternalError("a reduction without an end", self.op.loc)

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
