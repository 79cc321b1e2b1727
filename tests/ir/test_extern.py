"""Library functions in the text: `tt.extern_elementwise`, both ways."""

from __future__ import annotations

import pytest

import teeny.language
from teeny.ir.dtype import LEAVES
from teeny.ir.schema import registry
from teeny.ir.text import parse_module, print_module
from teeny.ir.text.cursor import TextError
from teeny.ir.types import typed
from tests.operations import fits

assert teeny.language


def text(operation: str, dtype: str = "f32") -> str:
    tile = f"tensor<128x{dtype}>"
    body = f"    %y = {operation.replace('TILE', tile)}\n    tt.return\n"
    return f"module {{\n  tt.func public @k(%x: {tile}) {{\n{body}  }}\n}}\n"


def call(symbol: str, operands: str = "%x", types: str = "TILE") -> str:
    dictionary = f'{{libname = "", libpath = "", pure = true, symbol = "{symbol}"}}'
    return f"tt.extern_elementwise {operands} {dictionary} : ({types}) -> TILE"


def operation(source: str) -> str:
    return parse_module(source).functions[0].entry.ops[0].name


@pytest.mark.parametrize("schema", [s for s in registry().values() if s.symbols], ids=lambda s: s.name)
def test_a_symbol_is_read_as_the_operation_and_printed_again(schema: teeny.ir.schema.OpDef) -> None:
    count = len(schema.operands)
    operands, types = ", ".join(["%x"] * count), ", ".join(["TILE"] * count)
    for symbol, dtype in zip(schema.symbols, ("f32", "f64"), strict=True):
        if not fits(schema, (typed((128,), LEAVES[dtype]),) * count):
            continue  # of integers, or of a float and an integer
        source = text(call(symbol, operands, types), dtype)
        assert operation(source) == schema.name
        assert print_module(parse_module(source)) == source
        assert print_module(parse_module(text(f"{schema.name} {operands} : TILE", dtype))) == source


def test_counts_of_bits() -> None:
    """The result is an i32, and the operand says which function it is."""
    tile = "(tensor<128xi64>) -> tensor<128xi32>"
    dictionary = '{libname = "", libpath = "", pure = true, symbol = "__nv_popcll"}'
    body = f"    %y = tt.extern_elementwise %x {dictionary} : {tile}\n    tt.return\n"
    source = f"module {{\n  tt.func public @k(%x: tensor<128xi64>) {{\n{body}  }}\n}}\n"
    assert operation(source) == "libdevice.popc"
    assert print_module(parse_module(source)) == source


def test_a_float_and_an_integer() -> None:
    dictionary = '{libname = "", libpath = "", pure = true, symbol = "__nv_ldexpf"}'
    body = f"    %y = tt.extern_elementwise %x, %n {dictionary} : (f32, i32) -> f32\n    tt.return\n"
    source = f"module {{\n  tt.func public @k(%x: f32, %n: i32) {{\n{body}  }}\n}}\n"
    assert operation(source) == "libdevice.ldexp"
    assert print_module(parse_module(source)) == source


def test_the_names_of_amds_library_are_read_too() -> None:
    assert operation(text(call("__ocml_tanh_f32"))) == "math.tanh"
    assert operation(text(call("__ocml_log1p_f64"), "f64")) == "math.log1p"


def test_an_unknown_function_is_an_error_at_its_place() -> None:
    with pytest.raises(TextError) as caught:
        parse_module(text(call("__nv_unheard_of")))
    assert "does not know what the library function __nv_unheard_of does" in str(caught.value)
    assert "3:10" in str(caught.value)


def test_a_function_of_another_dtype_is_an_error() -> None:
    with pytest.raises(TextError, match="__nv_tanh is no function of tensor<128xf32>"):
        parse_module(text(call("__nv_tanh")))


def test_too_many_operands_are_an_error() -> None:
    with pytest.raises(TextError, match=r"math\.tanh takes 1 to 1 operands"):
        parse_module(text(call("__nv_tanhf", "%x, %x", "TILE, TILE")))
