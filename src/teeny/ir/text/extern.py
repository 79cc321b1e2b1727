"""Operations that Triton's dialect writes as calls of a library: `tt.extern_elementwise %x {symbol = "__nv_tanhf"}`.

Functions are known by their names in NVIDIA's libdevice, which the schemas hold, and in AMD's ocml, which follow.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from teeny.ir.dtype import DType
from teeny.ir.schema import registry
from teeny.ir.text.attributes import dictionary_text, read_dictionary
from teeny.ir.text.parts import Parts
from teeny.ir.types import element_of, text

if TYPE_CHECKING:
    from teeny.ir.core import Op
    from teeny.ir.schema import OpDef
    from teeny.ir.text.parser import Parser
    from teeny.ir.text.printer import Printer
    from teeny.ir.types import Type

CALL = "tt.extern_elementwise"
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


def read_call(p: Parser, place: int) -> tuple[OpDef, Parts]:
    """What follows `tt.extern_elementwise`: the operation that the symbol stands for."""
    at = p.at
    operands = p.values()
    attrs = read_dictionary(at)
    types = p.function_type(operands)
    symbol = str(attrs.get("symbol", ""))
    known = {name: (schema, at == 1) for schema in registry().values() for at, name in enumerate(schema.symbols)}
    schema, wide = known.get(_libdevice(symbol)) or _common(_libdevice(symbol))
    if schema is None:
        raise at.error(f"teeny does not know what the library function {symbol} does", place, len(CALL))
    if _is_wide(operands[0].type) is not wide:
        raise at.error(f"{symbol} is no function of {text(types[0])}", place, len(CALL))
    return schema, Parts(operands, {}, types)


_DIALECT = {
    "fabs": "math.absf", "fmod": "arith.remf", "fmax": "arith.maxnumf", "fmin": "arith.minnumf", "add_rn": "arith.addf",
    "sub_rn": "arith.subf", "mul_rn": "arith.mulf", "div_rn": "tt.precise_divf", "sqrt_rn": "tt.precise_sqrt",
    "fma_rn": "math.fma", **{n: f"math.{n}" for n in (
        "ceil", "cos", "erf", "exp", "exp2", "floor", "fma", "log", "log2", "rsqrt", "sin", "sqrt",
    )},
}  # fmt: skip
"""Functions of libdevice, without prefix and suffix, that are operations of the dialect."""


def _common(symbol: str) -> tuple[OpDef | None, bool]:
    """The operation of the dialect for a function of libdevice, and whether it is the one of f64."""
    for prefix in ("__nv_fast_", "__nv_f", "__nv_d", "__nv_"):
        if symbol.startswith(prefix):
            rest = symbol.removeprefix(prefix)
            for name, wide in ((rest.removesuffix("f"), not rest.endswith("f")), (rest, True)):
                if name in _DIALECT and (prefix not in ("__nv_f", "__nv_d") or name.endswith("_rn")):
                    narrow = prefix in ("__nv_f", "__nv_fast_")
                    return registry().get(_DIALECT[name]), wide and not narrow
    return None, False


def _is_wide(type_: Type) -> bool:
    """Whether elements have 64 bits."""
    element = element_of(type_)
    return isinstance(element, DType) and element.bits == 64


def _libdevice(symbol: str) -> str:
    """The name in libdevice of a function of either library."""
    found = _OCML.fullmatch(symbol)
    return f"__nv_{found[1]}{'f' if found[2] == '32' else ''}" if found is not None else symbol
