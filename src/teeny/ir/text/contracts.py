"""The text of contracts, which is teeny's own: Triton has no such operations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from teeny.ir.text.attributes import quoted, read_dictionary, read_number, read_string
from teeny.ir.text.parts import Parts

if TYPE_CHECKING:
    from teeny.ir.core import Op, Value
    from teeny.ir.schema import OpDef
    from teeny.ir.text.parser import Parser
    from teeny.ir.text.printer import Printer


def write_contract(p: Printer, op: Op) -> None:
    """`teeny.require %c, "text"`, `teeny.aligned %p, 16, "text"`, `teeny.extent %p, [%n, %m], strides [%s, %t]`."""
    first, *numbers = op.operands
    if "bytes" in op.attrs:
        p.out.append(f"{op.name} {p.names[first]}, {op.attrs['bytes']}, {quoted(str(op.attrs['message']))}")
        return
    if "message" in op.attrs:
        p.out.append(f"{op.name} {p.names[first]}, {quoted(str(op.attrs['message']))}")
        return
    rank = int(str(op.attrs["rank"]))
    strides = f", strides [{p.values(numbers[rank:])}]" if op.attrs["strided"] else ""
    p.out.append(f"{op.name} {p.names[first]}, [{p.values(numbers[:rank])}]{strides}")


def read_contract(p: Parser, schema: OpDef) -> Parts:
    at = p.at
    first = p.value()
    at.expect(",")
    bytes_: dict[str, object] = {}
    if "bytes" in schema.attrs:
        bytes_["bytes"] = read_number(at)
        at.expect(",")
    if "message" in schema.attrs:
        message = read_string(at)
        if message is None:
            raise at.error("expected the message of the contract, in quotes")
        return Parts((first,), {"message": message, **bytes_, **read_dictionary(at)}, ())
    sizes = _list(p)
    strided = at.accept(",")
    if strided:
        at.expect("strides")
    strides = _list(p) if strided else ()
    attrs: dict[str, object] = {"rank": len(sizes), "strided": strided, **read_dictionary(at)}
    return Parts((first, *sizes, *strides), attrs, ())


def _list(p: Parser) -> tuple[Value, ...]:
    p.at.expect("[")
    found = () if p.at.peek("]") else p.values()
    p.at.expect("]")
    return found
