"""Names of SSA values: the value's own where it is free, else numbers in the order of definition, per function."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from teeny.ir.core import Block, Function, Value

_GOOD = re.compile(r"[A-Za-z_][\w.]*\Z", re.ASCII)
_BAD = re.compile(r"[^A-Za-z0-9_.]")


def names_of(function: Function) -> dict[Value, str]:
    """The name of each value of a function, with its `%`. A name given again gets `_1`, `_2`, ... from then on."""
    names: dict[Value, str] = {}
    taken: dict[str, int] = {}
    count = 0

    def give(value: Value) -> None:
        nonlocal count
        name = value.name
        if not name:
            names[value] = f"%{count}"
            count += 1
            return
        if not _GOOD.match(name):
            name = _BAD.sub("_", name)
            name = name if not name[0].isdigit() else "_" + name
        if name in taken:
            name = _free(taken, name)
        taken[name] = 0
        names[value] = "%" + name

    def visit(block: Block) -> None:
        for value in block.args:
            give(value)
        for op in block.ops:
            for value in op.results:
                give(value)
            for region in op.regions:
                for inner in region.blocks:
                    visit(inner)

    for block in function.body.blocks:
        visit(block)
    return names


def _free(taken: dict[str, int], name: str) -> str:
    number = taken[name] + 1
    while f"{name}_{number}" in taken:
        number += 1
    taken[name] = number
    return f"{name}_{number}"
