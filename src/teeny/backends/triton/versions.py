"""Operations that only newer versions of Triton have."""

from __future__ import annotations

from typing import TYPE_CHECKING

from teeny.backends.triton.wheel import version
from teeny.diag.diagnostic import Diagnostic, at, report
from teeny.diag.span import user_location
from teeny.ir.core import walk_function
from teeny.ir.types import shape_of

if TYPE_CHECKING:
    from teeny.backends.triton.goal import Goal
    from teeny.ir.core import Module, Op

_SINCE = {
    "tt.atomic_load": ((3, 9), "atomic_add(pointer, 0) reads an integer in one step with every version"),
    "tt.atomic_store": ((3, 9), "atomic_xchg(pointer, val) writes in one step with every version"),
    "tt.atomic_poll": ((3, 9), "wait in a loop: while tl.atomic_add(pointer, 0) != expected_value"),
}
"""By operation, the first version that has it, and what does the same before."""


def lacking(module: Module, goal: Goal) -> list[Diagnostic]:
    """Operations that the installed Triton lacks, at all or for an architecture, in program order."""
    found: list[Diagnostic] = []
    for function in module.functions:
        for op in walk_function(function):
            since, instead = _SINCE.get(op.name, ((0,), ""))
            if op.name == "tt.gather" and not goal.capability and _larger(op):
                since, instead = (3, 9), "gather in parts whose index is no larger than the source along its axis"
            if not instead or tuple(map(int, version().split(".")[:2])) >= since:
                continue
            name = op.loc.name if op.loc is not None and op.loc.name else op.name
            labels = () if op.loc is None else (at(user_location(op.loc)),)
            what = f"`{name}` like this for {goal.name}" if op.name == "tt.gather" else f"`{name}`"
            message = f"Triton {version()} has no {what}; it needs {'.'.join(map(str, since))} or newer"
            found.append(report("X002", message, *labels, help=(instead,), kernel=function.name))
    return found


def _larger(op: Op) -> bool:
    """Whether more is picked along an axis of several than there is."""
    src, index = (shape_of(v.type) for v in op.operands)
    return len(src) > 1 and any(str(a) != str(b) and int(str(b)) > int(str(a)) for a, b in zip(src, index, strict=True))
