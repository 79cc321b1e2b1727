"""Integer and float arithmetic that GPUs do otherwise than the language says, written out in what they do alike.

What Triton 3.6 and 3.9 make on an H200: a shift by the width or more is whatever the instruction gives; quotients and
remainders of 8 bits are wrong in some lanes, and a divisor of 0 spoils the lanes beside it, which share a register; the
remainder of floats is x - y * trunc(x / y), with all its roundings. Floats to integers: `saturated`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from teeny.backends.triton.saturated import saturated, saturates
from teeny.ir.dtype import F32, F64, I32
from teeny.ir.schema import dtype_of
from teeny.ir.types import with_element
from teeny.ops.arith import minui
from teeny.ops.bits import shli, shrsi, shrui
from teeny.ops.cast import extsi, extui, trunci
from teeny.ops.compare import cmpi, select
from teeny.ops.constant import constant, constant_
from teeny.ops.division import divsi, divui, remf, remsi, remui
from teeny.ops.whole import fmod_
from teeny.passes.expand import expand

if TYPE_CHECKING:
    from teeny.backends.triton.goal import Goal
    from teeny.ir.builder import Builder
    from teeny.ir.core import Module, Op, Value

_SHIFTS = (shli, shrui, shrsi)
_DIVISIONS = {divsi: extsi, remsi: extsi, divui: extui, remui: extui}


def exact(module: Module, goal: Goal) -> Module:
    """The module itself where it has no such operation, else a copy with the same meaning."""

    def rule(b: Builder, op: Op, operands: tuple[Value, ...]) -> Value | None:
        if not _concerns(op):
            return None
        if op.schema in _SHIFTS:
            return _shifted(b, op, *operands)
        if op.schema is remf:
            return b.create(fmod_, *operands)
        if op.schema in _DIVISIONS:
            return _divided(b, op, operands)
        return saturated(b, op, operands[0], amd=goal.backend == "hip")

    return expand(module, rule, _concerns)


def _concerns(op: Op) -> bool:
    if op.schema in _SHIFTS:
        return not _is_inside(op.operands[1])
    if op.schema in _DIVISIONS:
        return dtype_of(op.operands[0].type).bits == 8
    return saturates(op) or (op.schema is remf and dtype_of(op.operands[0].type) in (F32, F64))


def _divided(b: Builder, op: Op, operands: tuple[Value, ...]) -> Value:
    """In 32 bits, and by 1 in the place of 0: a quotient by 0 is anything, but of this lane alone."""
    x, y = [b.create(_DIVISIONS[op.schema], v, type=with_element(v.type, I32)) for v in operands]
    none = b.create(cmpi, y, constant(b, y.type, 0), predicate="eq")
    divisor = b.create(select, none, constant(b, y.type, 1), y)
    return b.create(trunci, b.create(op.schema, x, divisor), type=op.results[0].type)


def _is_inside(amount: Value) -> bool:
    """Whether a shift is by a constant less than the width."""
    while amount.op is not None and amount.op.schema.name in ("tt.splat", "tt.broadcast"):
        amount = amount.op.operands[0]
    op = amount.op
    return op is not None and op.schema is constant_ and 0 <= int(str(op.attrs["value"])) < dtype_of(amount.type).bits


def _shifted(b: Builder, op: Op, x: Value, amount: Value) -> Value:
    width = dtype_of(amount.type).bits
    if op.schema is shrsi:
        return b.create(shrsi, x, b.create(minui, amount, constant(b, amount.type, width - 1)))
    inside = b.create(cmpi, amount, constant(b, amount.type, width), predicate="ult")
    return b.create(select, inside, b.create(op.schema, x, amount), constant(b, x.type, 0))
