"""The text of atomic operations: words, operands, and their types as those of a function.

`tt.atomic_rmw fadd, acq_rel, gpu, %p, %x, %m : (!tt.ptr<f32>, f32, i1) -> f32`
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from teeny.ir.text.attributes import dictionary_text, read_dictionary
from teeny.ir.text.parts import Parts
from teeny.ir.types import text

if TYPE_CHECKING:
    from teeny.ir.core import Op
    from teeny.ir.schema import OpDef
    from teeny.ir.text.parser import Parser
    from teeny.ir.text.printer import Printer

_WORD = re.compile(r"[A-Za-z_]\w*")


def write_atomic(p: Printer, op: Op) -> None:
    """The words are the attributes that the schema names, in its order."""
    names = op.schema.attrs
    words = ", ".join(str(op.attrs[name]) for name in names)
    rest = dictionary_text(op.attrs, frozenset(names))
    result = text(op.results[0].type)
    p.out.append(f"{op.name} {words}, {p.values(op.operands)}{rest} : ({p.types(op.operands)}) -> {result}")


def read_atomic(p: Parser, schema: OpDef) -> Parts:
    at = p.at
    attrs: dict[str, object] = {}
    for name in schema.attrs:
        word = at.match(_WORD)
        if word is None:
            raise at.error(f"expected a word for {name}, found `{at.next_word()}`")
        attrs[name] = word
        at.expect(",")
    operands = p.values()
    attrs |= read_dictionary(at)
    return Parts(operands, attrs, p.function_type(operands))
