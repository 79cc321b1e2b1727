"""What a GPU demands of a kernel beyond the language, where Triton's compiler fails without a place, or not at all."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from teeny.backends.triton.caches import mixed
from teeny.backends.triton.goal import TENSOR_MEMORY
from teeny.backends.triton.halves import narrow_extremes
from teeny.backends.triton.products import EXACT
from teeny.backends.triton.versions import lacking
from teeny.backends.triton.wheel import release
from teeny.diag.diagnostic import Diagnostic, Label, at, report
from teeny.diag.span import user_location
from teeny.ir.core import walk, walk_function
from teeny.ir.dtype import I8
from teeny.ir.schema import dtype_of
from teeny.ir.types import shape_of
from teeny.ops.dot import dot_, dot_unsigned_

if TYPE_CHECKING:
    from teeny.backends.triton.goal import Goal
    from teeny.backends.triton.metadata import Metadata
    from teeny.ir.core import Module, Op, Value

INNER = {8: 32, 16: 16, 32: 8, 64: 4}
"""The least inner size of a product, by the bits of its operands."""
_OLDER = {**INNER, 32: 16, 64: 16}
"""The same before Triton 3.9."""


def limits(module: Module, goal: Goal) -> list[Diagnostic]:
    """What the installed Triton lacks, and for NVIDIA's architectures accesses and products that it cannot compile."""
    lacks = lacking(module, goal)
    if not goal.capability:
        return [*lacks, *_loops(module, goal)]
    wrong = [_product(op, name, goal) for op, name in _products(module)]
    return [
        *lacks,
        *_loops(module, goal),
        *mixed(module, goal.name),
        *narrow_extremes(module, goal.name),
        *[one for one in wrong if one is not None],
    ]


def _loops(module: Module, goal: Goal) -> list[Diagnostic]:
    """Loops in functions that join elements: Triton's compiler takes straight code alone."""
    return [
        report(
            "X002",
            f"on {goal.name} a function that joins elements cannot loop, unless the number of iterations is a Const",
            *(() if inner.loc is None else (at(user_location(inner.loc)),)),
            help=("write the loop over tl.static_range, or with `tl.where`; the CPU runs it as it is",),
            kernel=f.name,
        )
        for f in module.functions
        for op in walk_function(f)
        if op.schema.group in ("reduce", "scan")
        for inner in walk(op.regions[0].block)
        if inner.name in ("scf.for", "scf.while")
    ]


def memory_limits(module: Module, goal: Goal, found: Metadata) -> list[Diagnostic]:
    """More memory than a block has, shown at the largest product, else at the largest reduction.

    Triton finds this out at a launch alone, on the device.
    """
    parts = (
        ("bytes of shared memory", found["shared"], goal.shared, "or fewer num_stages: each keeps a loop's tiles once"),
        ("columns of tensor memory", found["tensor_memory"], TENSOR_MEMORY, "since sums of products are kept there"),
    )
    return [
        report(
            "X002",
            f"the kernel needs {needs} {what}, and a block on {goal.name} has {most}",
            *_largest(module),
            help=(f"choose smaller blocks, {why}",),
            kernel=module.kernel.name,
        )
        for what, needs, most, why in parts
        if needs > most
    ]


def _products(module: Module) -> list[tuple[Op, str]]:
    plain = (dot_, dot_unsigned_)
    return [(op, f.name) for f in module.functions for op in walk_function(f) if op.schema in plain]


def _product(op: Op, kernel: str, goal: Goal) -> Diagnostic | None:
    operand = op.operands[0].type
    inner, dtype = shape_of(operand)[-1], dtype_of(operand)
    least = _least(op, dtype.bits)
    if isinstance(inner, int) and inner < least:
        message = f"on a GPU the inner size of `tl.dot` of {dtype} is at least {least}, found {inner}"
        help_ = "choose a larger block along the inner axis; on the CPU any size will do"
    elif dtype is I8 and goal.capability < 80 and isinstance(inner, int) and inner > EXACT:
        message = f"{goal.name} adds up {EXACT} products of i8 in `tl.dot` at most, found {inner}"
        help_ = "choose a smaller block along the inner axis; the sums of several products are exact"
    else:
        return None
    labels = () if op.loc is None else (at(user_location(op.loc)),)
    return report("X002", message, *labels, help=(help_,), kernel=kernel)


def _least(op: Op, bits: int) -> int:
    younger = release() >= (3, 9)
    pieces = str(op.attrs.get("inputPrecision", "")).startswith("bf16")  # f32 as sums of bf16
    return (INNER if younger else _OLDER)[16 if pieces and bits == 32 else bits]


def _largest(module: Module) -> tuple[Label, ...]:
    """The operation that most likely takes the memory."""
    for name in ("tt.dot", "tt.dot_scaled", "tt.reduce"):
        placed = [op for op in walk_function(module.kernel) if op.name == name and op.loc is not None]
        if placed:
            loc = max(placed, key=lambda op: sum(_bits(o) for o in op.operands)).loc
            assert loc is not None
            return (at(user_location(loc)),)
    return ()


def _bits(value: Value) -> int:
    sizes = [size for size in shape_of(value.type) if isinstance(size, int)]
    return math.prod(sizes) * dtype_of(value.type).bits
