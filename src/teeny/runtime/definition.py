"""What happens to a kernel at its definition: read, lowered in general, checked; or remembered from the last time."""

from __future__ import annotations

import warnings
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from types import FunctionType
from typing import Any, cast

from teeny.checks.fill import check_fills
from teeny.diag.diagnostic import Diagnostic
from teeny.diag.errors import KernelError, TeenyError
from teeny.diag.render import render_all
from teeny.frontend.lower import Definition, define, lower_generic
from teeny.frontend.remember import Remembered, recall, remember
from teeny.ir.store import Json

Exclusions = Mapping[str, frozenset[str]]


class KernelWarning(UserWarning):
    """A safety finding at definition: the kernel is kept, and refused when it is specialised or launched."""


_collecting: list[list[Diagnostic]] = []


@contextmanager
def collecting() -> Generator[list[Diagnostic]]:
    """Within, definitions report into a list and neither raise nor warn, nor trust what is remembered."""
    found: list[Diagnostic] = []
    _collecting.append(found)
    try:
        yield found
    finally:
        _collecting.remove(found)


def check_definition(fn: FunctionType) -> tuple[Definition | None, Exclusions]:
    """Check a kernel. Raises KernelError with all its faults; warns of safety findings.

    An unchanged kernel is not checked again, and then not even read: its definition comes back as None.
    """
    if _collecting:
        try:
            return _check(fn)
        except TeenyError as error:
            _collecting[-1].extend(error.diagnostics)
            return None, {}
    known = recall(fn)
    if known is not None:
        _warn(known.warnings, 5)
        return None, _exclusions(known.exclusions)
    return _check(fn)


def _check(fn: FunctionType) -> tuple[Definition, Exclusions]:
    definition, faults = define(fn)
    generic = lower_generic(definition)
    faults.extend(generic.faults)
    if faults:
        _fail(faults)
        return definition, {}
    findings = check_fills(generic.module.kernel, generic.facts, generic.table.possible)
    if _collecting:
        _collecting[-1].extend(findings)
        return definition, generic.exclusions
    exclusions: Json = {name: cast("Json", sorted(leaves)) for name, leaves in generic.exclusions.items()}
    remember(fn, definition.source, Remembered(tuple(findings), None, exclusions))
    _warn(findings, 6)
    return definition, generic.exclusions


def read(fn: FunctionType) -> Definition:
    """The definition of a kernel that was checked before."""
    definition, faults = define(fn)
    if faults:
        raise KernelError(faults)
    return definition


def _exclusions(data: Json) -> dict[str, frozenset[str]]:
    return {name: frozenset(leaves) for name, leaves in cast("dict[str, list[str]]", data or {}).items()}


def _fail(faults: list[Diagnostic]) -> None:
    if not _collecting:
        raise KernelError(faults)
    _collecting[-1].extend(faults)


def _warn(findings: Any, level: int) -> None:
    """Warn at the decorator, which is so many frames up."""
    if findings:
        warnings.warn("\n" + render_all(list(findings)), KernelWarning, stacklevel=level)


__all__ = ["KernelWarning", "check_definition", "collecting", "read"]
