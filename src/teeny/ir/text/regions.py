"""Operations with regions: loops, branches, and MLIR's generic form, in which reductions are written."""

from __future__ import annotations

from typing import TYPE_CHECKING

from teeny.ir.core import Block, Region
from teeny.ir.text.attributes import dictionary_text, read_dictionary, read_properties
from teeny.ir.text.parts import Parts
from teeny.ir.text.types import read_type, read_types
from teeny.ir.types import text

if TYPE_CHECKING:
    from collections.abc import Iterable

    from teeny.ir.core import Op, Value
    from teeny.ir.schema import OpDef
    from teeny.ir.text.parser import Parser
    from teeny.ir.text.printer import Printer
    from teeny.ir.types import Type


def _arrow(types: Iterable[Type]) -> str:
    return f" -> ({', '.join([text(t) for t in types])})"


def write_generic(p: Printer, op: Op) -> None:
    """`"tt.reduce"(%x) <{axis = 0 : i32}> ({ ... }) : (tensor<8xf32>) -> f32`."""
    out = p.out
    own = {a.rstrip("?") for a in op.schema.attrs}
    properties = {k: v for k, v in op.attrs.items() if k in own}
    rest = {k: v for k, v in op.attrs.items() if k not in own}
    out.append(f'"{op.name}"({p.values(op.operands)})')
    if properties:
        out.append(f" <{dictionary_text(properties)[1:]}>")
    if op.regions:
        out.append(" (")
        for number, region in enumerate(op.regions):
            out.append(", " if number else "")
            p.region(region, label=bool(region.block.args))
        out.append(")")
    out.append(dictionary_text(rest))
    results = [text(r.type) for r in op.results]
    arrow = results[0] if len(results) == 1 else f"({', '.join(results)})"
    out.append(f" : ({p.types(op.operands)}) -> {arrow}")


def read_generic(p: Parser, schema: OpDef) -> Parts:
    """What follows the quoted name. Every operation may be written like this."""
    at = p.at
    at.expect("(")
    operands = () if at.peek(")") else p.values()
    at.expect(")")
    attrs = read_properties(at)
    regions: list[Region] = []
    if at.accept("("):
        while not at.accept(")"):
            at.expect("{")
            regions.append(Region([p.labelled_block()]))
            at.accept(",")
    attrs |= read_dictionary(at)
    return Parts(operands, attrs, p.function_type(operands), tuple(regions))


def write_for(p: Printer, op: Op) -> None:
    """`scf.for %i = %a to %b step %c iter_args(%x = %y) -> (f32)  : i32 { ... }`."""
    start, end, step, *inits = op.operands
    index, *carried = op.regions[0].block.args
    names = p.names
    p.out.append(f"scf.for {names[index]} = {names[start]} to {names[end]} step {names[step]} ")
    if carried:
        pairs = ", ".join([f"{names[c]} = {names[i]}" for c, i in zip(carried, inits, strict=True)])
        p.out.append(f"iter_args({pairs}){_arrow(r.type for r in op.results)} ")
    p.out.append(f" : {text(index.type)} ")
    p.region(op.regions[0], terminator=bool(carried))
    p.out.append(dictionary_text(op.attrs))


def read_for(p: Parser, schema: OpDef) -> Parts:
    at = p.at
    names = [p.name()]
    at.expect("=")
    start = p.value()
    at.expect("to")
    end = p.value()
    at.expect("step")
    step = p.value()
    inits: list[Value] = []
    types: tuple[Type, ...] = ()
    if at.accept("iter_args"):
        _pairs(p, names, inits)
        at.expect("->")
        types = read_types(at)
    if not at.accept(":"):
        raise at.error("expected `:` and the type of the index, an integer")
    index = read_type(at)
    at.expect("{")
    body = p.block(tuple(zip(names, (index, *(v.type for v in inits)), strict=True)))
    p.close(body, "scf.yield")
    return Parts((start, end, step, *inits), read_dictionary(at), types, (Region([body]),))


def _pairs(p: Parser, names: list[str], inits: list[Value]) -> None:
    """`(%a = %x, %b = %y)`."""
    p.at.expect("(")
    while not p.at.accept(")"):
        names.append(p.name())
        p.at.expect("=")
        inits.append(p.value())
        if not p.at.accept(",") and not p.at.peek(")"):
            raise p.at.error("expected `,` or `)`")


def write_if(p: Printer, op: Op) -> None:
    """`scf.if %c -> (f32) { ... } else { ... }`."""
    valued = bool(op.results)
    p.out.append(f"scf.if {p.names[op.operands[0]]}{_arrow(r.type for r in op.results) if valued else ''} ")
    p.region(op.regions[0], terminator=valued)
    if valued or len(op.regions[1].block.ops) > 1:
        p.out.append(" else ")
        p.region(op.regions[1], terminator=valued)
    p.out.append(dictionary_text(op.attrs))


def read_if(p: Parser, schema: OpDef) -> Parts:
    at = p.at
    condition = p.value()
    types = read_types(at) if at.accept("->") else ()
    at.expect("{")
    blocks = [p.block(())]
    p.close(blocks[0], "scf.yield")
    if at.accept("else"):
        at.expect("{")
        blocks.append(p.block(()))
    else:
        blocks.append(Block())
    p.close(blocks[1], "scf.yield")
    return Parts((condition,), read_dictionary(at), types, tuple(Region([b]) for b in blocks))


def write_while(p: Printer, op: Op) -> None:
    """`scf.while (%a = %x) : (i32) -> (i32) { ... scf.condition(%c) %a : i32 } do { ^bb0(%b: i32): ... }`."""
    p.out.append("scf.while ")
    before = op.regions[0].block.args
    if before:
        names = p.names
        p.out.append(f"({', '.join([f'{names[a]} = {names[i]}' for a, i in zip(before, op.operands, strict=True)])}) ")
    p.out.append(f": ({p.types(op.operands)}){_arrow(r.type for r in op.results)} ")
    p.region(op.regions[0])
    p.out.append(" do ")
    p.region(op.regions[1], label=bool(op.regions[1].block.args))
    if op.attrs:
        p.out.append(f" attributes{dictionary_text(op.attrs)}")


def read_while(p: Parser, schema: OpDef) -> Parts:
    at = p.at
    names: list[str] = []
    inits: list[Value] = []
    if at.peek("("):
        _pairs(p, names, inits)
    types = p.function_type(tuple(inits))
    at.expect("{")
    before = p.block(tuple(zip(names, (v.type for v in inits), strict=True)))
    p.close(before, "scf.condition")
    at.expect("do")
    at.expect("{")
    after = p.labelled_block()
    p.close(after, "scf.yield")
    attrs = read_dictionary(at) if at.accept("attributes") else {}
    return Parts(tuple(inits), attrs, types, (Region([before]), Region([after])))


def write_condition(p: Printer, op: Op) -> None:
    """`scf.condition(%c) %a, %b : i32, f32`."""
    condition, *args = op.operands
    rest = f" {p.values(args)} : {p.types(args)}" if args else ""
    p.out.append(f"scf.condition({p.names[condition]}){dictionary_text(op.attrs)}{rest}")


def read_condition(p: Parser, schema: OpDef) -> Parts:
    at = p.at
    at.expect("(")
    condition = p.value()
    at.expect(")")
    attrs = read_dictionary(at)
    args: tuple[Value, ...] = ()
    if at.peek("%"):
        args = p.values()
        at.expect(":")
        for number, value in enumerate(args):
            if number:
                at.expect(",")
            p.expect_type(value)
    return Parts((condition, *args), attrs, ())
