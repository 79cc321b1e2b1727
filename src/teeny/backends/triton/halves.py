"""Atomic extremes of two bytes: NVIDIA's have instructions for tiles alone, and ptxas complains without a place."""

from __future__ import annotations

from typing import TYPE_CHECKING

from teeny.diag.diagnostic import Diagnostic, at, report
from teeny.diag.span import user_location
from teeny.ir.core import walk_function
from teeny.ir.schema import dtype_of

if TYPE_CHECKING:
    from teeny.ir.core import Module

_EXTREMES = frozenset(("max", "min", "umax", "umin", "fmax", "fmin"))


def narrow_extremes(module: Module, target: str) -> list[Diagnostic]:
    """Atomic maxima and minima of 16 bits through pointers, in program order; one for each place."""
    found: dict[object, Diagnostic] = {}
    for function in module.functions:
        for op in walk_function(function):
            if op.name != "tt.atomic_rmw" or op.attrs["atomic_rmw_op"] not in _EXTREMES:
                continue
            if dtype_of(op.operands[1].type).bits != 16:
                continue
            name = op.loc.name if op.loc is not None and op.loc.name else op.name
            labels = () if op.loc is None else (at(user_location(op.loc)),)
            message = f"{target} has no atomic maximum or minimum of 16 bits for `{name}`"
            help_ = "keep the array in f32, whose maxima every target has; from sm_90 on descriptors take f16 and bf16"
            found.setdefault(op.loc, report("X002", message, *labels, help=(help_,), kernel=function.name))
    return list(found.values())
