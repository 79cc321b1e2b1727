"""The text of `tt.fp_to_fp`: `tt.fp_to_fp %x, rounding = rtne : tensor<8xf32> -> tensor<8xf8E5M2>`."""

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

_WORD = re.compile(r"[a-z]\w*")
_WRITTEN = frozenset(("rounding",))


def write_fp_to_fp(p: Printer, op: Op) -> None:
    rounding = op.attrs.get("rounding")
    shown = f", rounding = {rounding}" if rounding is not None else ""
    rest = dictionary_text(op.attrs, _WRITTEN)
    source, target = text(op.operands[0].type), text(op.results[0].type)
    p.out.append(f"{op.name} {p.values(op.operands)}{shown}{rest} : {source} -> {target}")


def read_fp_to_fp(p: Parser, schema: OpDef) -> Parts:
    del schema
    at = p.at
    x = p.value()
    attrs: dict[str, object] = {}
    if at.accept(","):
        at.expect("rounding")
        at.expect("=")
        word = at.match(_WORD)
        if word not in ("rtne", "rtz"):
            raise at.error(f"expected `rtne` or `rtz`, found `{word or at.next_word()}`")
        attrs["rounding"] = word
    attrs |= read_dictionary(at)
    at.expect(":")
    p.expect_type(x)
    at.expect("->")
    return Parts((x,), attrs, (read_type(at),))
