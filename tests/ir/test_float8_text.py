"""8-bit floats in the text: constants, and conversions with their rounding."""

from __future__ import annotations

import math

import numpy as np
import pytest

from teeny.ir.dtype import LEAVES
from teeny.ir.schema import registry
from teeny.ir.text import TextError, parse_module, print_module
from tests.language.rounding import DTYPES8
from tests.operations import kernel, void

NAMES = tuple(DTYPES8)


def module(operation: str, parameters: str = "") -> str:
    return f"module {{\n  tt.func public @k({parameters}) {{\n    {operation}\n    tt.return\n  }}\n}}\n"


@pytest.mark.parametrize("name", NAMES)
def test_every_pattern_is_read(name: str) -> None:
    for bits in range(256):
        source = module(f"%x = arith.constant 0x{bits:02X} : {LEAVES[name].mlir}")
        value = float(str(parse_module(source).functions[0].entry.ops[0].attrs["value"]))
        wanted = float(np.array([bits], np.uint8).view(DTYPES8[name])[0])
        assert value == wanted or (math.isnan(value) and math.isnan(wanted))


@pytest.mark.parametrize("name", NAMES)
def test_constants_come_back(name: str) -> None:
    constant = registry()["arith.constant"]
    for value in (0.5, -3.0, math.nan, *((math.inf, -math.inf) if name == "f8e5m2" else ())):
        text = print_module(
            kernel((), lambda b, args, value=value: void(b.create(constant, type=LEAVES[name], value=value)))
        )
        assert print_module(parse_module(text)) == text


@pytest.mark.parametrize("rounding", ["rtne", "rtz"])
def test_a_rounding_is_written_as_triton_writes_it(rounding: str) -> None:
    operation = f"%y = tt.fp_to_fp %x, rounding = {rounding} : tensor<8xf32> -> tensor<8xf8E5M2>"
    source = module(operation, "%x: tensor<8xf32>")
    found = parse_module(source)
    assert found.functions[0].entry.ops[0].attrs["rounding"] == rounding
    assert print_module(found) == source


def test_a_wider_float_needs_no_rounding() -> None:
    source = module("%y = tt.fp_to_fp %x : f8E4M3FN -> f16", "%x: f8E4M3FN")
    assert print_module(parse_module(source)) == source


@pytest.mark.parametrize(
    ("operation", "message"),
    [
        ("%y = tt.fp_to_fp %x : tensor<8xf32> -> tensor<8xf8E5M2>", "needs a rounding"),
        ("%y = tt.fp_to_fp %x, rounding = up : tensor<8xf32> -> tensor<8xf8E5M2>", "expected `rtne` or `rtz`"),
        ("%y = tt.fp_to_fp %x, rounding = rtz : tensor<8xf32> -> tensor<4xf8E5M2>", "shapes differ"),
        ("%y = tt.fp_to_fp %x, rounding = rtz : tensor<8xf32> -> tensor<8xi8>", "converts floats"),
        ("%y = tt.bitcast %x : tensor<8xf32> -> tensor<8xf8E5M2>", "size"),
    ],
)
def test_faults(operation: str, message: str) -> None:
    with pytest.raises(TextError) as caught:
        parse_module(module(operation, "%x: tensor<8xf32>"))
    assert message in str(caught.value)
