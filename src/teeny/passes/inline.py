"""Calls replaced by the bodies of the functions they call, innermost first.

The place of an inlined operation is its place in the function, with the call behind it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from teeny.diag.diagnostic import at as label
from teeny.diag.diagnostic import report
from teeny.ir.core import Block, Function, Module, Op, Region
from teeny.ir.text import TextError
from teeny.passes.copy import copy_op

if TYPE_CHECKING:
    from collections.abc import Callable

    from teeny.diag.span import Location
    from teeny.ir.core import Value
    from teeny.passes.copy import Values

__all__ = ["inline"]


def inline(module: Module, called: Callable[[str], str | None] = lambda callee: None) -> Module:
    """The kernel alone, without calls. The functions have one block each (`passes.structure`).

    `called` gives the name by which messages call a function, where it has one.
    Raises TextError (X006) for a function that calls itself, and for a call of one that is not there.
    """
    if not any(True for f in module.functions if f is not module.kernel):
        return module
    functions = {f.name: f for f in module.functions}
    return Module([_Inliner(functions, called).function(module.kernel)])


class _Inliner:
    def __init__(self, functions: dict[str, Function], called: Callable[[str], str | None]) -> None:
        self.functions = functions
        self.called = called
        self.ready: dict[str, Function] = {}
        self.open: list[str] = []

    def function(self, function: Function) -> Function:
        """A function without calls."""
        found = self.ready.get(function.name)
        if found is None:
            self.open.append(function.name)
            entry = function.entry
            block = Block(tuple(a.type for a in entry.args), tuple(a.name for a in entry.args))
            values: Values = dict(zip(entry.args, block.args, strict=True))
            self.fill(entry, block, values)
            found = self.ready[function.name] = Function(
                function.name, Region([block]), function.result_types, function.public, function.arg_attrs,
                dict(function.attrs), function.loc,
            )  # fmt: skip
            self.open.pop()
        return found

    def fill(self, source: Block, target: Block, values: Values) -> None:
        """Copy the operations of a block, calls replaced."""
        for op in source.ops:
            if op.name == "tt.call":
                results = self.call(op, target, tuple(values.get(v, v) for v in op.operands))
                for result, value in zip(op.results, results, strict=True):
                    if value.name is None:
                        value.name = result.name
                    values[result] = value
                continue
            regions: list[Region] = []
            for region in op.regions:
                inner = Block(tuple(a.type for a in region.block.args), tuple(a.name for a in region.block.args))
                values.update(zip(region.block.args, inner.args, strict=True))
                self.fill(region.block, inner, values)
                regions.append(Region([inner]))
            operands = tuple(values.get(v, v) for v in op.operands)
            types = tuple(r.type for r in op.results)
            made = target.append(Op(op.schema, operands, types, dict(op.attrs), tuple(regions), op.loc))
            for old, new in zip(op.results, made.results, strict=True):
                new.name = old.name
                values[old] = new

    def call(self, op: Op, target: Block, operands: tuple[Value, ...]) -> tuple[Value, ...]:
        """Append the body of what is called; what it returns."""
        name = str(op.attrs["callee"])
        callee = self.functions.get(name)
        if callee is None or name in self.open:
            message = f"there is no function {name} to call" if callee is None else f"the function {name} calls itself"
            raise TextError((report("X006", message, *(() if op.loc is None else (label(op.loc),))),))
        body = self.function(callee).entry
        values: Values = dict(zip(body.args, operands, strict=True))
        *ops, last = body.ops

        call = op.loc._replace(name=self.called(name) or op.loc.name) if op.loc is not None else None

        def place(loc: Location | None) -> Location | None:
            return call if loc is None else loc if call is None else loc.called(call)

        for one in ops:
            copy_op(one, target, values, place)
        return tuple(values.get(v, v) for v in last.operands)
