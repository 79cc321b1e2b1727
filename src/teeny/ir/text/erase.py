"""What code generation does not need: contracts, and the pure operations whose results feed nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING

from teeny.ir.core import uses, walk_function

if TYPE_CHECKING:
    from teeny.ir.core import Function, Op


def contract_operations(function: Function) -> frozenset[Op]:
    """The contracts of a function and what was computed for them alone."""
    work = [op for op in walk_function(function) if op.schema.group == "contract"]
    if not work:
        return frozenset()
    found = set(work)
    readers = uses(function)
    while work:
        for value in work.pop().operands:
            source = value.op
            if source is None or source in found or not source.schema.pure or source.schema.terminator:
                continue
            if all(reader in found for result in source.results for reader, _ in readers.get(result, ())):
                found.add(source)
                work.append(source)
    return frozenset(found)
