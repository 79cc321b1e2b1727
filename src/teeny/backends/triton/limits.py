"""What a GPU demands of a kernel beyond the language: found before Triton's compiler fails on it without a place."""

from __future__ import annotations

from typing import TYPE_CHECKING

from teeny.diag.diagnostic import Diagnostic, at, report
from teeny.diag.span import user_location
from teeny.ir.core import walk_function
from teeny.ir.dtype import I8
from teeny.ir.schema import dtype_of
from teeny.ir.types import shape_of

if TYPE_CHECKING:
    from teeny.ir.core import Module, Op

INNER = {8: 32, 16: 16, 32: 16}
"""The least inner size of a product, by the bits of its operands (Triton 3.6; 3.9 takes 8 for 32 bits)."""


def limits(module: Module, capability: int) -> list[Diagnostic]:
    """Products that cannot be compiled for a compute capability (times ten), in program order."""
    products = [(op, f.name) for f in module.functions for op in walk_function(f) if op.name == "tt.dot"]
    return [wrong for op, name in products if (wrong := _product(op, name, capability)) is not None]


def _product(op: Op, kernel: str, capability: int) -> Diagnostic | None:
    operand = op.operands[0].type
    inner, dtype = shape_of(operand)[-1], dtype_of(operand)
    least = INNER[dtype.bits]
    if isinstance(inner, int) and inner < least:
        message = f"on a GPU the inner size of `tl.dot` of {dtype} is at least {least}, found {inner}"
        help_ = "choose a larger block along the inner axis; on the CPU any size will do"
    elif dtype is I8 and capability < 80:
        message = f"Triton has no `tl.dot` of i8 for sm_{capability}"
        help_ = "convert the operands with .to(tl.f16): products of i8 are exact in it, and sums in f32 up to 2**24"
    else:
        return None
    labels = () if op.loc is None else (at(user_location(op.loc)),)
    return report("X002", message, *labels, help=(help_,), kernel=kernel)
