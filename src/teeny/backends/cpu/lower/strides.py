"""Which integer parameters are strides of the last axis of what a kernel reads and writes.

Where such a stride is 1, and it mostly is, memory is contiguous along the vectors: a kernel is compiled for that case
and for all others.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from teeny.backends.cpu.lower.evaluate import Axes, through_view
from teeny.backends.cpu.lower.structure import is_lazy, is_uniform
from teeny.backends.cpu.lower.values import axes_of, is_tile, kind_of, shape
from teeny.ir.core import walk_function
from teeny.ir.dtype import INT, DType

if TYPE_CHECKING:
    from teeny.ir.core import Function, Value

__all__ = ["unit_strides"]

Source = Callable[["Value"], "Value"]
Factors = dict[int, frozenset["Value"]]
"""For each axis that matters, the parameters by which its index is multiplied."""


def unit_strides(function: Function, source: Source) -> tuple[int, ...]:
    """Numbers of the parameters that multiply the index of the last axis alone, in an access that is not contiguous."""
    found: set[int] = set()
    for op in walk_function(function):
        if op.name not in ("tt.load", "tt.store") or not is_tile(op.operands[0]):
            continue
        dims = shape(op.operands[0])
        factors = _factors(op.operands[0], axes_of(dims), source)
        last = max((axis for axis, dim in enumerate(dims) if dim > 1), default=0)
        others = [values for axis, values in factors.items() if axis != last]
        if all(others):  # an axis that nothing multiplies is contiguous already
            found.update(v.index for v in factors.get(last, frozenset["Value"]()).difference(*others))
    return tuple(sorted(found))


def _factors(value: Value, axes: Axes, source: Source) -> Factors:
    value = source(value)
    op = value.op
    if op is None or not is_lazy(op) or all(axis is None for axis in axes):
        return {}
    match kind_of(op):
        case "view":
            return _factors(*through_view(op, axes), source)
        case "range":
            return {axis: frozenset() for axis in axes if axis is not None}
        case _ if op.name == "arith.muli":
            for x, y in (op.operands, op.operands[::-1]):
                if is_uniform(y, source):
                    by = _parameters(y, source)
                    return {axis: values | by for axis, values in _factors(x, axes, source).items()}
            return {}
        case _ if op.name in ("tt.addptr", "arith.addi", "arith.subi", "arith.extsi", "arith.extui"):
            total: Factors = {}
            for operand in op.operands:
                for axis, values in _factors(operand, axes, source).items():
                    total[axis] = total.get(axis, frozenset["Value"]()) | values
            return total
        case _:
            return {}


def _parameters(value: Value, source: Source) -> frozenset[Value]:
    """The integer parameter that a uniform tile is, possibly widened."""
    for _ in range(8):
        value = source(value)
        op = value.op
        if op is None:
            parameter = value.block is not None and value.block.region is not None and value.block.region.op is None
            integer = isinstance(value.type, DType) and value.type.within(INT)
            return frozenset({value}) if parameter and integer else frozenset["Value"]()
        if op.name not in ("tt.splat", "tt.broadcast", "tt.expand_dims", "arith.extsi", "arith.extui"):
            break
        value = op.operands[0]
    return frozenset["Value"]()
