"""Tensor descriptors as text: what Triton 3.6 and 3.9 write is read, and either is written."""

from __future__ import annotations

import pytest

import teeny as tn
import teeny.language
from teeny.backends.triton.older import for_version
from teeny.ir.dtype import BF16, I8, U32
from teeny.ir.text import parse_module, print_module
from teeny.ir.text.types import parse_type
from teeny.ir.types import ViewType, view

assert teeny.language

OPERATIONS = """\
module {
  tt.func public @d(%x: !tt.ptr<f32>, %u: !tt.ptr<i32>, %m: i32, %n: i32, %s: i64) attributes {noinline = false} {
    %one = arith.constant 1 : i64
    %c4 = arith.constant 4 : i32
    %0 = tt.make_tensor_descriptor %x, [%m, %n], [%s, %one] {padding = 2 : i32} : <f32>, <TILE(32x16xf32)>
    %1 = tt.make_tensor_descriptor %x, [%m, %n], [%s, %one] : <f32>, <TILE(1x16xf32)>
    %2 = tt.make_tensor_descriptor %u, [%m, %n], [%s, %one] : <i32>, <TILE(32x16xui32)>
    %3 = tt.descriptor_load %0[%c4, %m] : !tt.tensordesc<TILE(32x16xf32)> -> tensor<32x16xf32>
    tt.descriptor_store %0[%m, %c4], %3 : !tt.tensordesc<TILE(32x16xf32)>, tensor<32x16xf32>
    tt.descriptor_reduce add, %0[%c4, %c4], %3 : !tt.tensordesc<TILE(32x16xf32)>, tensor<32x16xf32>
    %4 = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
    %5 = tt.descriptor_gather %1[%4, %c4] : (!tt.tensordesc<TILE(1x16xf32)>, tensor<32xi32>, i32) -> tensor<32x16xf32>
    tt.descriptor_scatter %1[%4, %c4], %5 : !tt.tensordesc<TILE(1x16xf32)>, tensor<32xi32>, i32, tensor<32x16xf32>
    %6 = tt.descriptor_load %2[%c4, %c4] : !tt.tensordesc<TILE(32x16xui32)> -> tensor<32x16xi32>
    tt.descriptor_reduce max, %2[%c4, %c4], %6 : !tt.tensordesc<TILE(32x16xui32)>, tensor<32x16xi32>
    tt.return
  }
}
"""
"""As Triton writes it, with its words for the type of a tile left open."""


def written(before: str, after: str) -> str:
    return OPERATIONS.replace("TILE(", before).replace(")>", f"{after}>")


@pytest.mark.parametrize(("before", "after"), [("tensor<", ">"), ("", "")], ids=["3.6", "3.9"])
def test_both_forms_are_read(before: str, after: str) -> None:
    text = print_module(parse_module(written(before, after)))
    assert "!tt.tensordesc<32x16xui32>" in text
    assert print_module(parse_module(text)) == text
    older = for_version(text, "3.6.0")
    assert "!tt.tensordesc<tensor<32x16xui32>>" in older
    assert "!tt.tensordesc<3" not in older
    assert print_module(parse_module(older)) == text
    assert for_version(text, "3.9.0") == text


@pytest.mark.parametrize(
    ("text", "type_"),
    [
        ("!tt.tensordesc<8x16xsi8>", view("descriptor", (8, 16), I8)),
        ("!tt.tensordesc<8x16xui32>", view("descriptor", (8, 16), U32)),
        ("!tt.tensordesc<1x16xbf16>", view("descriptor", (1, 16), BF16)),
        ("!tt.ptr<tensor<8x16xi32>>", view("block pointer", (8, 16), U32)),
    ],
)
def test_types(text: str, type_: ViewType) -> None:
    """The element of a descriptor keeps its sign; that of a block pointer has none, like a pointer's."""
    assert parse_type(text) is type_
    assert str(type_) == text


def test_what_is_no_view() -> None:
    assert parse_type("!tt.tensordesc<8x16x!tt.ptr<f32>>") is None
    assert parse_type("!tt.ptr<!tt.tensordesc<8x16xf32>>") is None
    assert parse_type("tensor<8x!tt.tensordesc<8x16xf32>>") is None


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("[%c4, %m] :", "[%c4] :", "one offset an axis"),
        ("-> tensor<32x16xf32>", "-> tensor<16x16xf32>", "is no tensor<16x16xf32>"),
        ("descriptor_reduce add", "descriptor_reduce inc", "the kind is one of add"),
        ("descriptor_gather %1", "descriptor_gather %0", "the text says"),
        ("[%m, %n], [%s, %one] {padding", "[%m], [%s, %one] {padding", "as many sizes as strides"),
    ],
)
def test_text_that_does_not_fit(old: str, new: str, said: str) -> None:
    source = written("", "")
    assert old in source
    with pytest.raises(tn.TeenyError, match=said):
        parse_module(source.replace(old, new, 1))
