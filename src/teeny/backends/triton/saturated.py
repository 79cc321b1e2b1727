"""Floats to integers as the language has it, on GPUs: what is too large or too small saturates, a NaN gives 0.

On an H200, with what Triton 3.6 and 3.9 make, 32 bits do so by themselves; 8 and 16 keep the low bits of a wider
integer; a NaN gives the smallest of 64 bits. AMD's instructions have 32 bits, and 64 are put together from these. LLVM
leaves open what its conversion of a constant that is out of range gives, so that none is left to it.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from teeny.ir.dtype import F32, F64, I32, DType
from teeny.ir.schema import dtype_of
from teeny.ir.types import with_element
from teeny.ops.arith import maxsi, minsi
from teeny.ops.cast import extf, fptosi, fptoui, trunci
from teeny.ops.compare import cmpf, select
from teeny.ops.constant import constant, constant_

if TYPE_CHECKING:
    from teeny.ir.builder import Builder
    from teeny.ir.core import Op, Value

__all__ = ["saturated", "saturates"]


def saturates(op: Op) -> bool:
    """Whether an operation is a conversion that GPUs do otherwise."""
    if op.schema not in (fptosi, fptoui):
        return False
    wide = dtype_of(op.operands[0].type) is F64  # a NaN of which becomes the smallest number
    return wide or dtype_of(op.results[0].type).bits != 32 or _end(op) is not None


def saturated(b: Builder, op: Op, x: Value, *, amd: bool) -> Value:
    """Such a conversion, written out."""
    type_ = op.results[0].type
    low, high = _range(op)
    end = _end(op)
    if end is not None:
        return constant(b, type_, end)
    if dtype_of(type_).bits < 32:
        wide = b.create(fptosi, x, type=with_element(type_, I32))
        if dtype_of(x.type) is F64:
            wide = _unless_nan(b, x, wide)
        held = b.create(minsi, b.create(maxsi, wide, constant(b, wide.type, low)), constant(b, wide.type, high))
        return b.create(trunci, held, type=type_)
    if amd:
        x = _widened(b, x)
    found = b.create(op.schema, x, type=type_)
    if amd:
        for predicate, limit, given in (("ole", low, low), ("oge", high + 1, high)):
            beyond = b.create(cmpf, x, constant(b, x.type, limit), predicate=predicate)
            found = b.create(select, beyond, constant(b, type_, given), found)
    return _unless_nan(b, x, found)


def _unless_nan(b: Builder, x: Value, found: Value) -> Value:
    return b.create(select, b.create(cmpf, x, x, predicate="uno"), constant(b, found.type, 0), found)


def _range(op: Op) -> tuple[int, int]:
    bits = dtype_of(op.results[0].type).bits
    return (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if op.schema is fptosi else (0, (1 << bits) - 1)


def _end(op: Op) -> int | None:
    """What a constant that is out of range becomes, NaN too."""
    x = op.operands[0]
    while x.op is not None and x.op.schema.name in ("tt.splat", "tt.broadcast"):
        x = x.op.operands[0]
    if x.op is None or x.op.schema is not constant_:
        return None
    value, (low, high) = float(str(x.op.attrs["value"])), _range(op)
    if math.isnan(value):
        return 0
    return low if value <= low else high if value >= high else None


def _widened(b: Builder, x: Value) -> Value:
    """A float in a format that has the ends of the range."""
    dtype: DType = dtype_of(x.type)
    return x if dtype in (F32, F64) else b.create(extf, x, type=with_element(x.type, F32))
