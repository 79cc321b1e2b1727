"""Operations that only newer versions of Triton have."""

from __future__ import annotations

from typing import TYPE_CHECKING

from teeny.backends.triton.wheel import version
from teeny.diag.diagnostic import Diagnostic, at, report
from teeny.diag.span import user_location
from teeny.ir.core import walk_function

if TYPE_CHECKING:
    from teeny.ir.core import Module

_SINCE = {
    "tt.atomic_load": ((3, 9), "atomic_add(pointer, 0) reads an integer in one step with every version"),
    "tt.atomic_store": ((3, 9), "atomic_xchg(pointer, val) writes in one step with every version"),
    "tt.atomic_poll": ((3, 9), "wait in a loop: while tl.atomic_add(pointer, 0) != expected_value"),
}
"""By operation, the first version that has it, and what does the same before."""


def lacking(module: Module) -> list[Diagnostic]:
    """Operations that the installed Triton lacks, in program order."""
    found: list[Diagnostic] = []
    for function in module.functions:
        for op in walk_function(function):
            since, instead = _SINCE.get(op.name, ((0,), ""))
            if not instead or tuple(map(int, version().split(".")[:2])) >= since:
                continue
            name = op.loc.name if op.loc is not None and op.loc.name else op.name
            labels = () if op.loc is None else (at(user_location(op.loc)),)
            message = f"Triton {version()} has no `{name}`; it needs {'.'.join(map(str, since))} or newer"
            found.append(report("X002", message, *labels, help=(instead,), kernel=function.name))
    return found
