"""Forms that are linear along some axes only, once the others stand still: rows that are found through an index.

`w + index[:, None] * D + d[None, :]` is no linear form, yet each row of it is contiguous.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from teeny.backends.cpu.lower.forms import Form, Linear, Pointer, Uniform, Unknown

if TYPE_CHECKING:
    from teeny.ir.core import Op

__all__ = ["unknown"]

_SUMS = frozenset({"arith.addi", "arith.subi", "tt.addptr"})
_CASTS = frozenset({"arith.extsi", "arith.extui", "arith.trunci"})


def unknown(op: Op, forms: list[Form], axes: frozenset[int]) -> Unknown:
    """The form of an operation that depends on `axes` in no plain way, with the steps that are plain nevertheless."""
    steps: dict[int, int | None] = {}
    for axis in axes:
        if all(_linear(form, axis) for form in forms):
            each = [_step(form, axis) for form in forms]
            if op.name in _SUMS:
                steps[axis] = _sum(each[0], each[1], subtract=op.name == "arith.subi")
            elif op.name in _CASTS:
                steps[axis] = each[0]
            elif op.name == "arith.muli" and 0 in each:
                x, y = forms if each[1] == 0 else (forms[1], forms[0])
                steps[axis] = _product(_step(x, axis), y)
    return Unknown(axes, steps)


def _sum(x: int | None, y: int | None, *, subtract: bool) -> int | None:
    if x is None or y is None:
        return None
    return x - y if subtract else x + y


def _product(step: int | None, factor: Form) -> int | None:
    if step is None or not isinstance(factor, Uniform) or factor.lane.const is None:
        return None
    return step * int(factor.lane.const)


def _linear(form: Form, axis: int) -> bool:
    """Whether a form is linear along an axis, or does not depend on it."""
    if isinstance(form, Unknown):
        return axis not in form.axes or axis in form.steps
    return isinstance(form, Uniform | Linear | Pointer)


def _step(form: Form, axis: int) -> int | None:
    match form:
        case Linear() | Pointer():
            found = form.coefficients.get(axis)
            if found is None:
                return 0
            return None if found.lane.const is None else int(found.lane.const)
        case Unknown():
            return form.steps[axis] if axis in form.axes else 0
        case _:
            return 0
