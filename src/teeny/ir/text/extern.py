"""Operations that Triton's dialect writes as calls of a library: `tt.extern_elementwise %x {symbol = "__nv_tanhf"}`.

Functions are known by their names in NVIDIA's libdevice, which the schemas hold, and in AMD's ocml, which follow.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from teeny.ir.dtype import LEAVES
from teeny.ir.schema import registry
from teeny.ir.text.attributes import dictionary_text, read_dictionary
from teeny.ir.text.parts import Parts
from teeny.ir.types import element_of, text

if TYPE_CHECKING:
    from teeny.ir.core import Op
    from teeny.ir.schema import OpDef
    from teeny.ir.text.parser import Parser
    from teeny.ir.text.printer import Printer

CALL = "tt.extern_elementwise"
_F64 = LEAVES["f64"]
_OCML = re.compile(r"__ocml_(\w+)_f(32|64)")


def write_extern(p: Printer, op: Op) -> None:
    """The call of the function for the dtype of the result: for 16-bit floats, which no library has, that of f32."""
    type_ = op.results[0].type
    symbol = op.schema.symbols[1 if element_of(type_) is _F64 else 0]
    attrs = dictionary_text({"libname": "", "libpath": "", "pure": True, "symbol": symbol})
    p.out.append(f"{CALL} {p.values(op.operands)}{attrs} : ({p.types(op.operands)}) -> {text(type_)}")


def read_extern(p: Parser, schema: OpDef) -> Parts:
    """The operation under its own name: `math.tanh %x : f32`."""
    del schema
    operands = p.values()
    attrs = read_dictionary(p.at)
    p.at.expect(":")
    p.expect_type(operands[0])
    return Parts(operands, attrs)


def read_call(p: Parser, place: int) -> tuple[OpDef, Parts]:
    """What follows `tt.extern_elementwise`: the operation that the symbol stands for."""
    at = p.at
    operands = p.values()
    attrs = read_dictionary(at)
    types = p.function_type(operands)
    symbol = str(attrs.get("symbol", ""))
    known = {name: (schema, at == 1) for schema in registry().values() for at, name in enumerate(schema.symbols)}
    schema, wide = known.get(_libdevice(symbol), (None, False))
    if schema is None:
        raise at.error(f"teeny does not know what the library function {symbol} does", place, len(CALL))
    if (element_of(types[0]) is _F64) is not wide:
        raise at.error(f"{symbol} is no function of {text(types[0])}", place, len(CALL))
    return schema, Parts(operands, {}, types)


def _libdevice(symbol: str) -> str:
    """The name in libdevice of a function of either library."""
    found = _OCML.fullmatch(symbol)
    return f"__nv_{found[1]}{'f' if found[2] == '32' else ''}" if found is not None else symbol
