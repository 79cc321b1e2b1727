"""What a GPU demands of a kernel beyond the language: found before Triton's compiler fails on it without a place."""

from __future__ import annotations

from typing import TYPE_CHECKING

from teeny.diag.diagnostic import Diagnostic, at, report
from teeny.diag.span import user_location
from teeny.ir.core import walk_function
from teeny.ir.schema import dtype_of
from teeny.ir.types import shape_of

if TYPE_CHECKING:
    from teeny.ir.core import Module, Op

INNER = {8: 32, 16: 16, 32: 16}
"""The least inner size of a product, by the bits of its operands (Triton 3.6; 3.9 takes 8 for 32 bits)."""


def limits(module: Module) -> list[Diagnostic]:
    """Products whose inner axis is too short, in program order."""
    found: list[Diagnostic] = []
    for function in module.functions:
        for op in walk_function(function):
            if op.name == "tt.dot" and (wrong := _product(op, function.name)) is not None:
                found.append(wrong)
    return found


def _product(op: Op, kernel: str) -> Diagnostic | None:
    operand = op.operands[0].type
    inner, dtype = shape_of(operand)[-1], dtype_of(operand)
    least = INNER[dtype.bits]
    if not isinstance(inner, int) or inner >= least:
        return None
    return report(
        "X002",
        f"on a GPU the inner size of `tl.dot` of {dtype} is at least {least}, found {inner}",
        *(() if op.loc is None else (at(user_location(op.loc)),)),
        help=("choose a larger block along the inner axis; on the CPU any size will do",),
        kernel=kernel,
    )
