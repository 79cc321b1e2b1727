"""Block pointers and tensor descriptors, in the form of Triton up to 3.7 (where it has the former) and 3.9."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from teeny.ir.text.attributes import dictionary_text, read_dictionary
from teeny.ir.text.parts import Parts
from teeny.ir.text.types import read_short_type, read_type
from teeny.ir.types import text

if TYPE_CHECKING:
    from teeny.ir.core import Op, Value
    from teeny.ir.schema import OpDef
    from teeny.ir.text.parser import Parser
    from teeny.ir.text.printer import Printer


_WORD = re.compile(r"[a-z]+")


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


def write_make_descriptor(p: Printer, op: Op) -> None:
    """`tt.make_tensor_descriptor %x, [%m, %n], [%s, %t] : !tt.ptr<f32>, !tt.tensordesc<16x32xf32>`."""
    base, *numbers = op.operands
    p.out.append(f"{op.name} {p.names[base]}, {_listed(p, tuple(numbers), 2)}{dictionary_text(op.attrs)}")
    p.out.append(f" : {text(base.type)}, {text(op.results[0].type)}")


def read_make_descriptor(p: Parser, schema: OpDef) -> Parts:
    base = p.value()
    numbers = _numbers(p, 2)
    attrs = read_dictionary(p.at)
    p.at.expect(":")
    read_short_type(p.at, "ptr")
    p.at.expect(",")
    return Parts((base, *numbers), attrs, (read_short_type(p.at, "tensordesc"),))


def write_descriptor_load(p: Printer, op: Op) -> None:
    """`tt.descriptor_load %d[%i, %j] : !tt.tensordesc<16x32xf32> -> tensor<16x32xf32>`."""
    desc, *offsets = op.operands
    p.out.append(f"{op.name} {p.names[desc]}[{p.values(offsets)}]{dictionary_text(op.attrs)}")
    p.out.append(f" : {text(desc.type)} -> {text(op.results[0].type)}")


def read_descriptor_load(p: Parser, schema: OpDef) -> Parts:
    desc, offsets = p.value(), read_list(p)
    attrs = read_dictionary(p.at)
    p.at.expect(":")
    p.expect_type(desc)
    p.at.expect("->")
    return Parts((desc, *offsets), attrs, (read_type(p.at),))


def write_descriptor_store(p: Printer, op: Op) -> None:
    """`tt.descriptor_store %d[%i, %j], %x : !tt.tensordesc<16x32xf32>, tensor<16x32xf32>`.

    In `tt.descriptor_reduce` the kind comes first: `tt.descriptor_reduce add, %d[%i, %j], ...`.
    """
    desc, value, *offsets = op.operands
    kind = f"{op.attrs['kind']}, " if "kind" in op.attrs else ""
    p.out.append(f"{op.name} {kind}{p.names[desc]}[{p.values(offsets)}], {p.names[value]}")
    p.out.append(f"{dictionary_text(op.attrs, frozenset(('kind',)))} : {text(desc.type)}, {text(value.type)}")


def read_descriptor_store(p: Parser, schema: OpDef) -> Parts:
    attrs: dict[str, object] = {}
    if "kind" in schema.attrs:
        kind = p.at.match(_WORD)
        if kind is None:
            raise p.at.error(f"expected the kind of the reduction, found `{p.at.next_word()}`")
        attrs["kind"] = kind
        p.at.expect(",")
    desc, offsets = p.value(), read_list(p)
    p.at.expect(",")
    value = p.value()
    attrs |= read_dictionary(p.at)
    p.at.expect(":")
    p.expect_type(desc)
    p.at.expect(",")
    p.expect_type(value)
    return Parts((desc, value, *offsets), attrs, ())


def write_gather(p: Printer, op: Op) -> None:
    """`tt.descriptor_gather %d[%rows, %j] : (!tt.tensordesc<1x32xf32>, tensor<8xi32>, i32) -> tensor<8x32xf32>`."""
    desc, rows, column = op.operands
    p.out.append(f"{op.name} {p.names[desc]}[{p.names[rows]}, {p.names[column]}]{dictionary_text(op.attrs)}")
    p.out.append(f" : ({p.types(op.operands)}) -> {text(op.results[0].type)}")


def read_gather(p: Parser, schema: OpDef) -> Parts:
    desc, offsets = p.value(), read_list(p)
    attrs = read_dictionary(p.at)
    return Parts((desc, *offsets), attrs, p.function_type((desc, *offsets)))


def write_scatter(p: Printer, op: Op) -> None:
    """`tt.descriptor_scatter %d[%rows, %j], %x : !tt.tensordesc<1x32xf32>, tensor<8xi32>, i32, tensor<8x32xf32>`."""
    desc, rows, column, value = op.operands
    p.out.append(f"{op.name} {p.names[desc]}[{p.names[rows]}, {p.names[column]}], {p.names[value]}")
    p.out.append(f"{dictionary_text(op.attrs)} : {p.types(op.operands)}")


def read_scatter(p: Parser, schema: OpDef) -> Parts:
    desc, offsets = p.value(), read_list(p)
    p.at.expect(",")
    operands = (desc, *offsets, p.value())
    attrs = read_dictionary(p.at)
    p.at.expect(":")
    for at, one in enumerate(operands):
        if at:
            p.at.expect(",")
        p.expect_type(one)
    return Parts(operands, attrs, ())


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
