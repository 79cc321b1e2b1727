"""The text of prints, assertions and inline assembly: their strings stand outside of the attributes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from teeny.ir.text.attributes import dictionary_text, quoted, read_dictionary, read_string
from teeny.ir.text.parts import Parts
from teeny.ir.text.types import read_type

if TYPE_CHECKING:
    from teeny.ir.core import Op, Value
    from teeny.ir.schema import OpDef
    from teeny.ir.text.parser import Parser
    from teeny.ir.text.printer import Printer
    from teeny.ir.types import Type


def write_print(p: Printer, op: Op) -> None:
    """`tt.print " x: " {hex = false, isSigned = array<i32: 1>} : %x : tensor<8xi32>`."""
    rest = f" : {p.values(op.operands)} : {p.types(op.operands)}" if op.operands else ""
    prefix = quoted(str(op.attrs["prefix"]))
    p.out.append(f"tt.print {prefix}{dictionary_text(op.attrs, frozenset(('prefix',)))}{rest}")


def read_print(p: Parser, schema: OpDef) -> Parts:
    prefix = _string(p, "the prefix")
    attrs = read_dictionary(p.at)
    operands: tuple[Value, ...] = ()
    if p.at.accept(":"):
        operands = p.values()
        p.at.expect(":")
        _types(p, operands)
    return Parts(operands, {"prefix": prefix, **attrs}, ())


def write_assert(p: Printer, op: Op) -> None:
    """`tt.assert %c, "message" : tensor<8xi1>`."""
    rest = dictionary_text(op.attrs, frozenset(("message",)))
    message = quoted(str(op.attrs["message"]))
    p.out.append(f"tt.assert {p.values(op.operands)}, {message}{rest} : {p.types(op.operands)}")


def read_assert(p: Parser, schema: OpDef) -> Parts:
    condition = p.value()
    p.at.expect(",")
    message = _string(p, "the message")
    attrs = read_dictionary(p.at)
    p.at.expect(":")
    p.expect_type(condition)
    return Parts((condition,), {"message": message, **attrs}, ())


def write_asm(p: Printer, op: Op) -> None:
    """`tt.elementwise_inline_asm "..." {constraints = "=r,r", ...} %x : tensor<8xi32> -> tensor<8xi32>`."""
    rest = dictionary_text(op.attrs, frozenset(("asm_string",)))
    operands = f" {p.values(op.operands)} : {p.types(op.operands)}" if op.operands else ""
    text = quoted(str(op.attrs["asm_string"]))
    p.out.append(f"tt.elementwise_inline_asm {text}{rest}{operands} -> {p.types(op.results)}")


def read_asm(p: Parser, schema: OpDef) -> Parts:
    at = p.at
    text = _string(p, "the assembly")
    attrs = read_dictionary(at)
    operands: tuple[Value, ...] = ()
    if at.peek("%"):
        operands = p.values()
        at.expect(":")
        _types(p, operands)
    at.expect("->")
    results: list[Type] = [read_type(at)]
    while at.accept(","):
        results.append(read_type(at))
    return Parts(operands, {"asm_string": text, **attrs}, tuple(results))


def _string(p: Parser, what: str) -> str:
    found = read_string(p.at)
    if found is None:
        raise p.at.error(f"expected {what}, in quotes")
    return found


def _types(p: Parser, operands: tuple[Value, ...]) -> None:
    for number, value in enumerate(operands):
        if number:
            p.at.expect(",")
        p.expect_type(value)
