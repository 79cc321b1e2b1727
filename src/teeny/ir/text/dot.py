"""The text of products: `tt.dot %a, %b, %c, inputPrecision = tf32 : tensor<..> * tensor<..> -> tensor<..>`, and
`tt.dot_scaled %a scale %s, %b scale %t, %c lhs = e4m3 rhs = e2m1 {..} : tensor<..>, .. * tensor<..>, .. -> tensor<..>`,
where a scale and its type may be missing."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from teeny.ir.text.attributes import dictionary_text, read_dictionary
from teeny.ir.text.parts import Parts
from teeny.ir.text.types import read_type
from teeny.ir.types import text

if TYPE_CHECKING:
    from teeny.ir.core import Op, Value
    from teeny.ir.schema import OpDef
    from teeny.ir.text.parser import Parser
    from teeny.ir.text.printer import Printer

_WORD = re.compile(r"[A-Za-z]\w*")


def write_dot(p: Printer, op: Op) -> None:
    """The precision is left out where it is "ieee", which is the dialect's default."""
    precision = op.attrs.get("inputPrecision")
    shown = f", inputPrecision = {precision}" if precision is not None else ""
    rest = dictionary_text(op.attrs, frozenset(("inputPrecision",)))
    a, b, c = (text(v.type) for v in op.operands)
    p.out.append(f"{op.name} {p.values(op.operands)}{shown}{rest} : {a} * {b} -> {c}")


def read_dot(p: Parser, schema: OpDef) -> Parts:
    at = p.at
    operands = [p.value()]
    attrs: dict[str, object] = {}
    while at.accept(","):
        if at.accept("inputPrecision"):
            at.expect("=")
            word = at.match(_WORD)
            if word is None:
                raise at.error(f"expected a precision, found `{at.next_word()}`")
            if word != "ieee":
                attrs["inputPrecision"] = word
            break
        operands.append(p.value())
    if len(operands) != 3:
        raise at.error(f"{schema.name} takes three operands, found {len(operands)}")
    attrs |= read_dictionary(at)
    at.expect(":")
    p.expect_type(operands[0])
    at.expect("*")
    p.expect_type(operands[1])
    at.expect("->")
    return Parts(tuple(operands), attrs, (read_type(at),))


def write_dot_scaled(p: Printer, op: Op) -> None:
    """`lhs_k_pack` and `rhs_k_pack` are left out where they are true, which is the dialect's default."""
    names, types = [p.names[v] for v in op.operands], [text(v.type) for v in op.operands]
    scaled = str(op.attrs["scaled"])
    given = iter(range(3, len(names)))
    operands, shown = names[:2], types[:2]
    for at, side in enumerate("ab"):
        if side in scaled:
            number = next(given)
            operands[at] += f" scale {names[number]}"
            shown[at] += f", {types[number]}"
    formats = f"lhs = {op.attrs['a_elem_type']} rhs = {op.attrs['b_elem_type']}"
    attrs = {"fastMath": False, **op.attrs}
    rest = dictionary_text(attrs, frozenset(("a_elem_type", "b_elem_type", "scaled")))
    p.out.append(f"{op.name} {operands[0]}, {operands[1]}, {names[2]} {formats}{rest} : ")
    p.out.append(f"{shown[0]} * {shown[1]} -> {types[2]}")


def read_dot_scaled(p: Parser, schema: OpDef) -> Parts:
    at = p.at
    sides: list[tuple[Value, Value | None]] = []
    for _ in range(2):
        operand = p.value()
        sides.append((operand, p.value() if at.accept("scale") else None))
        at.expect(",")
    total = p.value()
    attrs: dict[str, object] = {}
    for word, name in (("lhs", "a_elem_type"), ("rhs", "b_elem_type")):
        at.expect(word)
        at.expect("=")
        format = at.match(_WORD)
        if format is None:
            raise at.error(f"expected a format, found `{at.next_word()}`")
        attrs[name] = format
    attrs |= read_dictionary(at)
    attrs["scaled"] = "".join(side for side, (_, scale) in zip("ab", sides, strict=True) if scale is not None)
    for word, (operand, scale) in zip(":*", sides, strict=True):
        at.expect(word)
        p.expect_type(operand)
        if scale is not None:
            at.expect(",")
            p.expect_type(scale)
    at.expect("->")
    scales = [scale for _, scale in sides if scale is not None]
    return Parts((sides[0][0], sides[1][0], total, *scales), attrs, (read_type(at),))
