"""The text of `tt.dot`: `tt.dot %a, %b, %c, inputPrecision = tf32 : tensor<..> * tensor<..> -> tensor<..>`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from teeny.ir.text.attributes import dictionary_text, read_dictionary
from teeny.ir.text.parts import Parts
from teeny.ir.text.types import read_type
from teeny.ir.types import text

if TYPE_CHECKING:
    from teeny.ir.core import Op
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
