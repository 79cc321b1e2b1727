"""The check: analyse a function, and put what is found into words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from teeny.checks.fill.analysis import Analysis
from teeny.checks.fill.reduction import identity_of
from teeny.checks.fill.report import diagnose
from teeny.checks.fill.state import ANYWHERE
from teeny.ir.core import Module
from teeny.ir.facts import Facts
from teeny.passes.plain_memory import plain_memory

if TYPE_CHECKING:
    from teeny.checks.fill.finding import Finding
    from teeny.diag.diagnostic import Diagnostic
    from teeny.ir.core import Function, Op

CANDIDATES = (0, 1, float("-inf"), float("inf"))


def check_fills(function: Function, facts: Facts | None = None, possible: int = ANYWHERE) -> list[Diagnostic]:
    """Findings F001 to F007 about a function in generic or concrete IR, in program order.

    Every mask may fail. Where one fill of a load mends all reductions that it spoils, the first of them is reported.
    `facts` are what is known about Consts; `possible` is the truth table of the Const conditions that can hold
    (`AtomTable.possible`). Integers are taken not to overflow.
    """
    known = facts or Facts()
    (function,) = plain_memory(Module([function])).functions
    analysis = _analysed(function, known, possible, {})
    mended: set[Op] = set()
    found: list[Diagnostic] = []
    for finding in analysis.findings.values():
        load = finding.entry.load
        if finding.role == "reduction" and load in mended:
            continue
        fill = _fill(function, known, possible, finding)
        if fill is not None and load is not None:
            mended.add(load)
        found.append(diagnose(finding, function.name, analysis.keys, fill))
    return found


def _analysed(function: Function, facts: Facts, possible: int, fills: Mapping[Op, float]) -> Analysis:
    analysis = Analysis(facts, possible, fills)
    analysis.function(function)
    return analysis


def _fill(function: Function, facts: Facts, possible: int, finding: Finding) -> float | None:
    """A fill for the load of a finding that mends it and gives no other about the same load; None where none does."""
    load = finding.entry.load
    if load is None or finding.role != "reduction":
        return None
    identity = identity_of(finding.op)
    for fill in dict.fromkeys((*((identity,) if identity is not None else ()), *CANDIDATES)):
        found = _analysed(function, facts, possible, {load: fill}).findings.values()
        if all(other.entry.load is not load for other in found):
            return fill
    return None
