"""Stores past the cache, for outputs that are larger than it and that the kernel does not read.

An ordinary store reads its line first; a stream of whole vectors need not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from teeny.backends.cpu.lower.forms import Pointer
from teeny.backends.cpu.lower.structure import root_of
from teeny.backends.cpu.lower.values import BYTES, size
from teeny.ir.core import walk_function

if TYPE_CHECKING:
    from collections.abc import Callable

    from teeny.backends.cpu.lower.nest import Nest
    from teeny.ir.core import Function, Op, Value
    from teeny.ir.lanes import Lane

__all__ = ["read_roots", "streams"]

LARGE = 32 << 20
"""Bytes of an output from which on it is not kept in a cache."""
LIGHT = 8.0
"""Where more work than this is done for an element, memory does not decide."""
VECTORS = (16, 32, 64)


def read_roots(function: Function, source: Callable[[Value], Value]) -> frozenset[Value | None]:
    """The pointer arguments that a function loads from; None among them where that is not plain.

    All of them where it has atomic operations: what these publish must not be behind them on its way past the cache.
    """
    if any(op.schema.group == "atomic" for op in walk_function(function)):
        return frozenset(function.args)
    loads = [op for op in walk_function(function) if op.name == "tt.load"]
    return frozenset([root_of(op.operands[0], source) for op in loads])


def streams(nest: Nest, op: Op) -> Lane | None:
    """A test (i1) whether a store's nest should go past the cache; None where it never should."""
    analysis, b = nest.analysis, nest.b
    state, vector = analysis.state, nest.vector
    form = analysis.at(op.operands[0], analysis.identity())
    if not isinstance(form, Pointer) or vector is None or not b.features.x86 or analysis.work > LIGHT:
        return None
    if any(a.strides.get(vector, 1) != 1 for a in analysis.accesses):
        return None
    step = form.coefficients.get(vector)
    each = BYTES[form.name]
    whole = each * nest.width
    root = root_of(op.operands[0], state.plan.source)
    if step is None or step.lane.const != 1 or whole not in VECTORS or root is None or root in state.reads:
        return None
    programs = b.const("i64", size(analysis.dims) * each)
    for count in state.grid:
        programs = b.mul(programs, b.zext(count, "i64"))
    places = b.bitcast(b.offset(form.base, form.offset, form.name), "i64")
    for axis, c in form.coefficients.items():
        if axis != vector:
            places = b.or_(places, b.mul(c.lane, b.const("i64", each)))
    aligned = b.icmp("eq", b.and_(places, b.const("i64", whole - 1)), b.const("i64", 0))
    return b.and_(b.icmp("sge", programs, b.const("i64", LARGE)), aligned)
