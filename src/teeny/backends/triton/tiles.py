"""Which tensor descriptors of a kernel an architecture has hardware for (TMA), and the kernel without the others.

Seen on an H200 with the code of Triton 3.6: a tile whose offset along the last axis is no multiple of 16 bytes, one
that is stored or added at a negative offset along any axis, and a reduction by and, or and xor of 64 bits, are illegal
instructions. Loads may have negative offsets (CUDA C++ Programming Guide, "Tensor Memory Access").
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from teeny.backends.triton.goal import goal
from teeny.ir.core import walk_function
from teeny.ir.types import ViewType
from teeny.ops.descriptor import LINE
from teeny.passes.descriptors import is_descriptor, some_descriptors
from teeny.passes.multiples import Multiples
from teeny.passes.signs import Signs
from teeny.passes.together import Together

if TYPE_CHECKING:
    from collections.abc import Mapping

    from teeny.ir.core import Module, Op

_TILES, _ROWS = 90, range(100, 120)
"""Architectures that move tiles begin with the first; those of the second gather rows too."""
WIDEST = 32
"""Bits of an element of rows that are gathered so, and of one that is changed bit by bit."""
_READS = frozenset(("tt.descriptor_load", "tt.descriptor_gather"))
_WRITES = frozenset(("tt.descriptor_store", "tt.descriptor_reduce", "tt.descriptor_scatter"))


def with_hardware(described: Module, plain: Module, name: str, given: Mapping[int, int]) -> Module:
    """The form of a kernel for an architecture ("sm_90").

    `described` has tensor descriptors, `plain` pointers instead. `given`: what arguments are multiples of, by number.
    Descriptors that may be one another, or are of one pointer, are moved by hardware all or none: so what one stores
    the other finds.
    """
    capability, kernel = goal(name).capability, described.kernel
    if capability < _TILES:
        return plain
    known = Multiples(kernel, given)
    signs, together = Signs(kernel), Together(kernel)
    accesses = [op for op in walk_function(kernel) if op.name in _READS | _WRITES]
    without = {together.root(op.operands[0]) for op in accesses if not _moves(op, known, signs, capability)}
    if not without:
        return described
    if without.issuperset(together.root(op.operands[0]) for op in accesses):
        return plain
    blocks = {op.block: None for op in walk_function(kernel) if op.block is not None}
    values = (*(a for b in blocks for a in b.args), *(r for b in blocks for op in b.ops for r in op.results))
    chosen = [v for v in values if is_descriptor(v.type) and together.root(v) in without]
    return some_descriptors(described, chosen)


def _moves(op: Op, known: Multiples, signs: Signs, capability: int) -> bool:
    """Whether the hardware does an access."""
    type_ = op.operands[0].type
    assert isinstance(type_, ViewType)
    line = max(1, LINE // type_.element.bytes)
    match op.name:
        case "tt.descriptor_load":
            return known.divides(line, op.operands[-1])
        case "tt.descriptor_gather":
            return capability in _ROWS and type_.element.bits <= WIDEST and known.divides(line, op.operands[-1])
        case "tt.descriptor_scatter":
            return False  # a row may be negative
        case _:
            if op.attrs.get("kind") in ("and", "or", "xor") and type_.element.bits > WIDEST:
                return False
            return known.divides(line, op.operands[-1]) and all(map(signs.nonnegative, op.operands[2:]))
