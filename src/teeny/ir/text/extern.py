"""Operations that Triton's dialect writes as calls of a library: `tt.extern_elementwise %x {symbol = "__nv_tanhf"}`.

Functions are known by their names in NVIDIA's libdevice, which the schemas and `ir.calls` hold, and in AMD's ocml,
which are made of those.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from teeny.ir.calls import calls
from teeny.ir.dtype import DType
from teeny.ir.schema import registry
from teeny.ir.text.attributes import dictionary_text, read_dictionary
from teeny.ir.text.parts import Parts
from teeny.ir.types import element_of, shape_of, text

if TYPE_CHECKING:
    from teeny.ir.calls import LibraryCall
    from teeny.ir.core import Op, Value
    from teeny.ir.schema import OpDef
    from teeny.ir.text.parser import Parser
    from teeny.ir.text.printer import Printer
    from teeny.ir.types import Type

CALL = "tt.extern_elementwise"
OCML_NAMES = {
    "cyl_bessel_i0": "i0", "cyl_bessel_i1": "i1", "norm3d": "len3", "norm4d": "len4", "normcdf": "ncdf",
    "normcdfinv": "ncdfinv", "powi": "pown", "rnorm3d": "rlen3", "rnorm4d": "rlen4",
}  # fmt: skip
"""Functions that AMD's library has under another name than libdevice, without prefix and suffix."""
_OCML = re.compile(r"__ocml_(\w+)_f(32|64)")


def write_extern(p: Printer, op: Op) -> None:
    """The call of the function for the width of the operand: for 16-bit floats, which no library has, that of f32."""
    type_ = op.results[0].type
    symbol = op.schema.symbols[1 if _is_wide(op.operands[0].type) else 0]
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


def read_call(p: Parser, place: int) -> tuple[OpDef | LibraryCall, Parts]:
    """What follows `tt.extern_elementwise`: the operation that the symbol stands for, or the function."""
    at = p.at
    operands = p.values()
    attrs = read_dictionary(at)
    types = p.function_type(operands)
    symbol = str(attrs.get("symbol", ""))
    known = {name: (schema, at == 1) for schema in registry().values() for at, name in enumerate(schema.symbols)}
    name = _libdevice(symbol)
    if (call := calls().get(name)) is not None:
        fits = len(types) == 1 and tuple(element_of(v.type) for v in operands) == call.operands
        fits = fits and element_of(types[0]) is call.result
        fits = fits and all(shape_of(v.type) == shape_of(types[0]) for v in operands)
        if not fits:
            raise at.error(f"{symbol} is no function of {_listed(operands)}", place, len(CALL))
        return call, Parts(operands, {}, types)
    if name not in known:
        raise at.error(f"teeny does not know what the library function {symbol} does", place, len(CALL))
    schema, wide = known[name]
    if any(_is_wide(v.type) for v in operands) is not wide:
        raise at.error(f"{symbol} is no function of {_listed(operands)}", place, len(CALL))
    return schema, Parts(operands, {}, types)


def _listed(operands: tuple[Value, ...]) -> str:
    return " and ".join(dict.fromkeys(text(v.type) for v in operands))


def _is_wide(type_: Type) -> bool:
    """Whether elements have 64 bits."""
    element = element_of(type_)
    return isinstance(element, DType) and element.bits == 64


def _libdevice(symbol: str) -> str:
    """The name in libdevice of a function of either library."""
    found = _OCML.fullmatch(symbol)
    if found is None:
        return symbol
    name = _OTHERWISE.get(found[1], found[1])
    return f"__nv_{name}{'f' if found[2] == '32' else ''}"


_OTHERWISE = {other: name for name, other in OCML_NAMES.items()}
