"""Block pointers and tensor descriptors, in the form of Triton up to 3.7 (where it has the former) and 3.9."""

from __future__ import annotations

from typing import TYPE_CHECKING

from teeny.ir.text.attributes import dictionary_text, read_dictionary
from teeny.ir.text.parts import Parts
from teeny.ir.text.types import read_short_type
from teeny.ir.types import text

if TYPE_CHECKING:
    from teeny.ir.core import Op, Value
    from teeny.ir.schema import OpDef
    from teeny.ir.text.parser import Parser
    from teeny.ir.text.printer import Printer


def _short(type_: str) -> str:
    """A type without the name of its kind."""
    return type_[type_.index("<") :]


def _listed(p: Printer, values: tuple[Value, ...], lists: int) -> str:
    """Values in so many bracketed lists of one length."""
    step = len(values) // lists
    return ", ".join(f"[{p.values(values[at * step : (at + 1) * step])}]" for at in range(lists))


def read_list(p: Parser) -> tuple[Value, ...]:
    """`[%a, %b]`."""
    p.at.expect("[")
    found = () if p.at.peek("]") else p.values()
    p.at.expect("]")
    return found


def _numbers(p: Parser, lists: int) -> tuple[Value, ...]:
    found: tuple[Value, ...] = ()
    for _ in range(lists):
        p.at.expect(",")
        found += read_list(p)
    return found


def write_make_pointer(p: Printer, op: Op) -> None:
    """`tt.make_tensor_ptr %x, [%m, %n], [%s, %t], [%i, %j] {order = array<i32: 1, 0>} : <tensor<16x32xf32>>`."""
    base, *numbers = op.operands
    p.out.append(f"{op.name} {p.names[base]}, {_listed(p, tuple(numbers), 3)}")
    p.out.append(f"{dictionary_text(op.attrs)} : {_short(text(op.results[0].type))}")


def read_make_pointer(p: Parser, schema: OpDef) -> Parts:
    base = p.value()
    numbers = _numbers(p, 3)
    attrs = read_dictionary(p.at)
    p.at.expect(":")
    return Parts((base, *numbers), attrs, (read_short_type(p.at, "ptr"),))


def write_advance(p: Printer, op: Op) -> None:
    """`tt.advance %p, [%i, %j] : <tensor<16x32xf32>>`."""
    ptr, *offsets = op.operands
    p.out.append(f"{op.name} {p.names[ptr]}, [{p.values(offsets)}]{dictionary_text(op.attrs)}")
    p.out.append(f" : {_short(text(op.results[0].type))}")


def read_advance(p: Parser, schema: OpDef) -> Parts:
    ptr = p.value()
    offsets = _numbers(p, 1)
    attrs = read_dictionary(p.at)
    p.at.expect(":")
    return Parts((ptr, *offsets), attrs, (read_short_type(p.at, "ptr"),))
