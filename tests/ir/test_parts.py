"""Text of joins, splits, concatenations, scans and histograms as Triton prints it, and what is wrong with others."""

from __future__ import annotations

import pytest

import teeny.language
from teeny.ir.text import TextError, parse_module, print_module
from teeny.ir.verify import verify

assert teeny.language

GOOD = """
module {
  tt.func public @kernel(%x: tensor<4x8x2xf32>, %i: tensor<64xi32>, %m: tensor<64xi1>, %one: tensor<1x1xf16>) {
    %outLHS, %outRHS = tt.split %x : tensor<4x8x2xf32> -> tensor<4x8xf32>
    %0 = tt.join %outRHS, %outLHS : tensor<4x8xf32> -> tensor<4x8x2xf32>
    %1 = tt.cat %i, %i : tensor<64xi32> -> tensor<128xi32>
    %2 = tt.unsplat %one : tensor<1x1xf16>
    %3 = tt.histogram %i : tensor<64xi32> -> tensor<16xi32>
    %4 = tt.histogram %i, %m : tensor<64xi32> -> tensor<8xi32>
    %5:2 = "tt.scan"(%outLHS, %outRHS) <{axis = 1 : i32, reverse = true}> ({
    ^bb0(%a: f32, %b: f32, %c: f32, %d: f32):
      %6 = arith.addf %a, %c : f32
      %7 = arith.mulf %b, %d : f32
      tt.scan.return %6, %7 : f32, f32
    }) : (tensor<4x8xf32>, tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>)
    tt.return
  }
}
"""


def test_what_triton_prints_is_read_and_written_again() -> None:
    module = parse_module(GOOD)
    verify(module, concrete=True)
    text = print_module(module)
    assert print_module(parse_module(text)) == text
    scan = module.kernel.entry.ops[-2]
    assert scan.attrs == {"axis": 1, "reverse": True}
    assert len(scan.results) == 2


WRONG = {
    "%a, %b = tt.split %x : tensor<4x8x2xf32> -> tensor<8x4xf32>": "gives tensor<4x8xf32>",
    "%a = tt.split %x : tensor<4x8x2xf32> -> tensor<4x8xf32>": "2 results",
    "%a, %b = tt.split %i : tensor<64xi32> -> tensor<32xi32>": "cannot split",
    "%a = tt.join %x, %i : tensor<4x8x2xf32> -> tensor<4x8x2x2xf32>": "differ",
    "%a = tt.cat %i, %i : tensor<64xi32> -> tensor<64xi32>": "do not make",
    "%a = tt.unsplat %i : tensor<64xi32>": "not one element",
    "%a = tt.histogram %x : tensor<4x8x2xf32> -> tensor<8xi32>": "no row of integers",
}


@pytest.mark.parametrize("line", WRONG)
def test_what_does_not_fit_is_told(line: str) -> None:
    head, _, _ = GOOD.partition("    %outLHS")
    with pytest.raises(TextError) as caught:
        parse_module(f"{head}    {line}\n    tt.return\n  }}\n}}\n")
    assert WRONG[line] in str(caught.value)


def test_a_scan_along_an_axis_that_there_is_not() -> None:
    with pytest.raises(TextError, match="has no axis 2"):
        parse_module(GOOD.replace("axis = 1", "axis = 2"))
