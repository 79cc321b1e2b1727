"""The text of `tt.gather`: `tt.gather %x[%i] {axis = 0 : i32} : (tensor<8xf32>, tensor<4xi32>) -> tensor<4xf32>`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from teeny.ir.text.attributes import dictionary_text, read_dictionary
from teeny.ir.text.parts import Parts
from teeny.ir.types import text

if TYPE_CHECKING:
    from teeny.ir.core import Op
    from teeny.ir.schema import OpDef
    from teeny.ir.text.parser import Parser
    from teeny.ir.text.printer import Printer


def write_gather(p: Printer, op: Op) -> None:
    src, index = (p.names[v] for v in op.operands)
    types = f"({p.types(op.operands)}) -> {text(op.results[0].type)}"
    p.out.append(f"tt.gather {src}[{index}]{dictionary_text(op.attrs)} : {types}")


def read_gather(p: Parser, schema: OpDef) -> Parts:
    src = p.value()
    p.at.expect("[")
    index = p.value()
    p.at.expect("]")
    attrs = read_dictionary(p.at)
    return Parts((src, index), attrs, p.function_type((src, index)))
