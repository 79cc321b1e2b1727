"""IR to the text of the Triton dialect."""

from __future__ import annotations

from typing import TYPE_CHECKING

from teeny.ir.text.attributes import dictionary_text, symbol_text
from teeny.ir.text.erase import contract_operations
from teeny.ir.text.format import AttrDict, AttrSlot, Group, Literal, OperandSlot, format_of
from teeny.ir.text.kinds import writer_of
from teeny.ir.text.locations import LocationTable
from teeny.ir.text.names import names_of
from teeny.ir.types import text

if TYPE_CHECKING:
    from collections.abc import Iterable

    from teeny.ir.core import Block, Function, Module, Op, Region, Value
    from teeny.ir.text.format import Token
    from teeny.ir.types import Type


def print_module(module: Module, *, locations: bool = False, contracts: bool = True) -> str:
    """The text of a module. Without locations it names no path, so that equal kernels have equal texts.

    `contracts=False` leaves out `teeny.require`, `teeny.extent` and what was computed for them alone: Triton has
    neither.
    """
    table = LocationTable() if locations else None
    parts = [_function_text(f, table, contracts, "  ") for f in module.functions]
    return f"module {{\n{''.join(parts)}}}\n{table.definitions if table is not None else ''}"


def print_function(function: Function, *, contracts: bool = True) -> str:
    """The text of one function, without locations."""
    return _function_text(function, None, contracts, "")


def _function_text(function: Function, table: LocationTable | None, contracts: bool, indent: str) -> str:
    printer = Printer(names_of(function), table, frozenset() if contracts else contract_operations(function))
    out = printer.out
    out.append(f"{indent}tt.func {'public' if function.public else 'private'} {symbol_text(function.name)}(")
    attrs = function.arg_attrs
    out.append(
        ", ".join(
            f"{printer.names[v]}: {text(v.type)}{dictionary_text(attrs[i]) if i < len(attrs) else ''}"
            for i, v in enumerate(function.args)
        )
    )
    out.append(")")
    if function.result_types:
        out.append(f" -> {result_types_text(function.result_types)}")
    if function.attrs:
        out.append(f" attributes{dictionary_text(function.attrs)}")
    out.append(" {\n")
    printer.indent = indent + "  "
    for number, block in enumerate(function.body.blocks):
        if number:
            args = f"({printer.typed(block.args)})" if block.args else ""
            out.append(f"{indent}^bb{number}{args}:\n")
        printer.operations(block)
    out.append(f"{indent}}}{table.suffix(function.loc) if table is not None else ''}\n")
    return "".join(out)


def result_types_text(types: Iterable[Type]) -> str:
    """Types as they follow an arrow: one alone, several in parentheses."""
    found = [text(t) for t in types]
    return found[0] if len(found) == 1 else f"({', '.join(found)})"


class Printer:
    """The text of one function so far, in pieces. `names` are those of its values, `erased` what is left out."""

    __slots__ = ("erased", "indent", "names", "out", "table")

    def __init__(self, names: dict[Value, str], table: LocationTable | None, erased: frozenset[Op]) -> None:
        self.out: list[str] = []
        self.names = names
        self.table = table
        self.erased = erased
        self.indent = ""

    def operations(self, block: Block, *, terminator: bool = True) -> None:
        """The operations of a block, one a line; the terminator where `terminator`."""
        for op in block.ops:
            if op not in self.erased and (terminator or not op.schema.terminator):
                self._operation(op)

    def region(self, region: Region, *, terminator: bool = True, label: bool = False) -> None:
        """`{`, the region's block one step deeper, and `}` without the end of the line."""
        block, outer = region.block, self.indent
        self.out.append("{\n")
        if label:
            self.out.append(f"{outer}^bb0({self.typed(block.args)}):\n")
        self.indent = outer + "  "
        self.operations(block, terminator=terminator)
        self.indent = outer
        self.out.append(outer + "}")

    def values(self, values: Iterable[Value]) -> str:
        """The names of values, with commas."""
        names = self.names
        return ", ".join([names[v] for v in values])

    def typed(self, values: Iterable[Value]) -> str:
        """Names with types: `%a: f32, %b: f32`."""
        return ", ".join([f"{self.names[v]}: {text(v.type)}" for v in values])

    def types(self, values: Iterable[Value]) -> str:
        """The types of values, with commas."""
        return ", ".join([text(v.type) for v in values])

    def _operation(self, op: Op) -> None:
        out, schema = self.out, op.schema
        out.append(self.indent)
        if op.results:
            out.append(self.values(op.results) + " = ")
        if isinstance(schema.text, str):
            out.append(schema.name)
            self._walk(format_of(schema), op)
        else:
            writer_of(schema.text.kind)(self, op)
        if self.table is not None:
            out.append(self.table.suffix(op.loc))
        out.append("\n" if op.guard is None else "  // guarded\n")

    def _walk(self, tokens: tuple[Token, ...], op: Op) -> None:
        out = self.out
        for token in tokens:
            if isinstance(token, Literal):
                out.append(token.printed)
            elif isinstance(token, OperandSlot):
                here = op.operands[token.index :] if token.many else op.operands[token.index : token.index + 1]
                out.append(" " + self.values(here))
            elif isinstance(token, AttrDict):
                if op.attrs:
                    out.append(dictionary_text(op.attrs, token.written))
            elif isinstance(token, AttrSlot):
                out.append(f" {op.attrs[token.name]}")
            elif isinstance(token, Group):
                self._group(token, op)
            else:
                values = op.results if token.result else op.operands
                values = values[token.index :] if token.many else values[token.index : token.index + 1]
                out.append(" " + self.types(values))

    def _group(self, group: Group, op: Op) -> None:
        anchor = group.anchor
        if isinstance(anchor, OperandSlot):
            if len(op.operands) > anchor.index:
                self._walk(group.tokens, op)
        elif op.attrs.get(anchor.name):
            self._walk(tuple(t for t in group.tokens if t is not anchor), op)
