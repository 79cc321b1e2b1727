"""Whether a tile's elements differ along an axis, given what is known about its bounds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from teeny.backends.cpu.lower.evaluate import Axes, depends, through_view
from teeny.backends.cpu.lower.forms import Mask, Unknown
from teeny.backends.cpu.lower.state import Buffer
from teeny.backends.cpu.lower.values import is_tile, kind_of, operand
from teeny.ir.lanes import Lane

if TYPE_CHECKING:
    from teeny.backends.cpu.lower.analysis import Analysis
    from teeny.backends.cpu.lower.point import Known
    from teeny.ir.core import Value

__all__ = ["varies"]


def varies(analysis: Analysis, value: Value, axes: Axes, axis: int, known: Known) -> bool:
    """True unless all elements along `axis` are plainly equal where `known` holds."""
    seen: dict[tuple[Value, Axes], bool] = {}

    def look(value: Value, axes: Axes) -> bool:
        value = analysis.state.plan.source(value)
        key = (value, axes)
        if key not in seen:
            seen[key] = find(value, axes)
        return seen[key]

    def truth(value: Value, axes: Axes) -> bool | None:
        """The value of a condition, where `known` gives it."""
        value = analysis.state.plan.source(value)
        form = analysis.at(value, axes)
        if isinstance(form, Mask):
            fact = known.get(form.term.key)
            return None if fact is None else fact != form.term.negated
        op = value.op
        if value in analysis.state.bound or op is None:
            return None
        if op.name == "arith.andi":
            parts = [truth(x, axes) for x in op.operands]
            return False if False in parts else True if None not in parts else None
        if op.name == "arith.ori":
            parts = [truth(x, axes) for x in op.operands]
            return True if True in parts else False if None not in parts else None
        if kind_of(op) == "view":
            return truth(*through_view(op, axes))
        return None

    def find(value: Value, axes: Axes) -> bool:
        if axis not in axes:
            return False
        form = analysis.at(value, axes)
        if isinstance(form, Mask) and form.term.key in known:
            return False
        if not isinstance(form, Unknown):
            return axis in depends(form)
        bound = analysis.state.bound.get(value)
        if isinstance(bound, Lane | Buffer):
            return isinstance(bound, Buffer)
        op = value.op
        if op is None:
            return True
        if kind_of(op) == "view":
            return look(*through_view(op, axes))
        mask, other = operand(op, 1), operand(op, 2)
        if op.name == "tt.load" and mask is not None and truth(mask, axes) is False:
            return other is not None and look(other, axes)
        if op.name == "arith.select":
            condition = truth(op.operands[0], axes if is_tile(op.operands[0]) else ())
            if condition is not None:
                return look(op.operands[1 if condition else 2], axes)
        return any(look(x, axes if is_tile(x) else ()) for x in op.operands)

    return look(value, axes)
