"""Operations without regions whose text no format can say: constants, grid axes, selections, calls."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from teeny.ir.dtype import BOOL, DType, integer_range
from teeny.ir.text.attributes import dictionary_text, float_text, read_dictionary, read_number, read_symbol, symbol_text
from teeny.ir.text.parts import Parts
from teeny.ir.text.types import read_type
from teeny.ir.types import TensorType, element_of, shape_of, text

if TYPE_CHECKING:
    from teeny.ir.core import Op
    from teeny.ir.schema import OpDef
    from teeny.ir.text.parser import Parser
    from teeny.ir.text.printer import Printer
    from teeny.ir.types import Type

_AXES = ("x", "y", "z")


def write_constant(p: Printer, op: Op) -> None:
    """`arith.constant dense<0.0> : tensor<8xf32>`, `arith.constant 3 : i32`, `arith.constant true`."""
    type_ = op.results[0].type
    word = _constant_text(op.attrs["value"], element_of(type_))
    if isinstance(type_, TensorType):
        p.out.append(f"arith.constant dense<{word}> : {text(type_)}")
    else:
        p.out.append(
            f"arith.constant {word}" if word in ("true", "false") else f"arith.constant {word} : {text(type_)}"
        )


def _constant_text(value: Any, element: object) -> str:
    if isinstance(element, DType) and isinstance(value, int | float):
        if element.kind == "bool":
            return "true" if value else "false"
        if element.kind.startswith("float"):
            return float_text(float(value), element.bits, element.name)
    return str(value)


def read_constant(p: Parser, schema: OpDef) -> Parts:
    at = p.at
    attrs = read_dictionary(at)
    start = at.pos
    dense = at.accept("dense<")
    if not dense and (at.peek("true") or at.peek("false")):
        attrs["value"] = at.accept("true") or not at.accept("false")
        return Parts(attrs=attrs, types=(_bool_type(p),))
    first = at.pos
    if read_number(at) is None:
        raise at.error("expected a number: teeny has constants whose every lane is the same")
    if dense:
        at.expect(">")
    at.expect(":")
    type_ = read_type(at)
    after = at.pos
    element = element_of(type_)
    if not isinstance(element, DType) or dense != bool(shape_of(type_)):
        raise at.error(f"a constant of type {text(type_)} is not written like this", start)
    at.move(first)
    value = read_number(at, element)
    at.move(after)
    attrs["value"] = _normal(p, start, element, value)
    return Parts(attrs=attrs, types=(type_,))


def _bool_type(p: Parser) -> Type:
    start = p.at.pos
    if p.at.accept(":") and read_type(p.at) is not BOOL:
        raise p.at.error("a bool has the type i1", start)
    return BOOL


def _normal(p: Parser, start: int, dtype: DType, value: Any) -> object:
    """The value as the IR keeps it: bool, float, or an integer in the signed range."""
    if dtype.kind == "bool":
        return bool(value)
    if dtype.kind.startswith("float"):
        return float(value)
    low, high = integer_range(dtype)
    if isinstance(value, float) or not low <= value <= 2 * high + 1:
        raise p.at.error(f"{value} is no {dtype.mlir}", start)
    return int(value) - (2 * high + 2 if value > high else 0)


def write_axis(p: Printer, op: Op) -> None:
    """`tt.get_program_id x : i32`."""
    p.out.append(f"{op.name} {_AXES[int(str(op.attrs['axis']))]} : i32")


def read_axis(p: Parser, schema: OpDef) -> Parts:
    for number, axis in enumerate(_AXES):
        if p.at.accept(axis):
            p.at.expect(":")
            return Parts(attrs={"axis": number}, types=(read_type(p.at),))
    raise p.at.error(f"expected `x`, `y` or `z`, found `{p.at.next_word()}`")


def write_select(p: Printer, op: Op) -> None:
    """`arith.select %c, %x, %y : f32`; the condition's type comes first where it is a tile."""
    condition, x, _ = op.operands
    tile = f"{text(condition.type)}, " if shape_of(condition.type) else ""
    p.out.append(f"arith.select {p.values(op.operands)} : {tile}{text(x.type)}")


def read_select(p: Parser, schema: OpDef) -> Parts:
    operands = p.values()
    attrs = read_dictionary(p.at)
    p.at.expect(":")
    if len(operands) == 3 and shape_of(operands[0].type):
        p.expect_type(operands[0])
        p.at.expect(",")
    return Parts(operands, attrs, (read_type(p.at),))


def write_call(p: Printer, op: Op) -> None:
    """`tt.call @helper(%x) : (f32) -> f32`."""
    results = ", ".join(text(r.type) for r in op.results)
    arrow = results if len(op.results) == 1 else f"({results})"
    rest = dictionary_text(op.attrs, frozenset(("callee",)))
    callee = symbol_text(str(op.attrs["callee"]))
    p.out.append(f"tt.call {callee}({p.values(op.operands)}){rest} : ({p.types(op.operands)}) -> {arrow}")


def read_call(p: Parser, schema: OpDef) -> Parts:
    at = p.at
    name = read_symbol(at)
    if name is None:
        raise at.error("expected the name of a function")
    at.expect("(")
    operands = () if at.peek(")") else p.values()
    at.expect(")")
    attrs = read_dictionary(at)
    types = p.function_type(operands)
    return Parts(operands, {"callee": name, **attrs}, types)
