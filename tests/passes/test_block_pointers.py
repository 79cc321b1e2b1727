"""Block pointers become parts: of those a loop carries what it changes unevenly; nothing else is left of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import teeny as tn
import teeny.language as tl
from teeny.backends.reference import run
from teeny.frontend.lower import lower_generic
from teeny.ir.core import walk_function
from teeny.ir.text import parse_module, print_module
from teeny.ir.types import ViewType
from teeny.ir.verify import verify
from teeny.passes.block_pointers import block_pointers

TEXT = """\
module {
  tt.func public @k(%x: !tt.ptr<f32>, %y: !tt.ptr<f32>, %m: i32, %n: i32, %s: i64) attributes {noinline = false} {
    %c0_i32 = arith.constant 0 : i32
    %c8_i32 = arith.constant 8 : i32
    %c1_i64 = arith.constant 1 : i64
    %0 = arith.extsi %m : i32 to i64
    %1 = arith.extsi %n : i32 to i64
    %2 = tt.make_tensor_ptr %x, [%0, %1], [%s, %c1_i64], [%c0_i32, %c0_i32] {order = array<i32: 1, 0>} : \
<tensor<8x8xf32>>
    %3 = tt.make_tensor_ptr %y, [%0, %1], [%s, %c1_i64], [%c0_i32, %c0_i32] {order = array<i32: 1, 0>} : \
<tensor<8x8xf32>>
    %4:2 = scf.for %i = %c0_i32 to %n step %c8_i32 iter_args(%p = %2, %q = %3) -> \
(!tt.ptr<tensor<8x8xf32>>, !tt.ptr<tensor<8x8xf32>>)  : i32 {
      %5 = tt.load %p {boundaryCheck = array<i32: 0, 1>, padding = 2 : i32} : !tt.ptr<tensor<8x8xf32>>
      tt.store %q, %5 {boundaryCheck = array<i32: 0, 1>} : !tt.ptr<tensor<8x8xf32>>
      %6 = arith.cmpi sgt, %i, %c8_i32 : i32
      %7 = scf.if %6 -> (!tt.ptr<tensor<8x8xf32>>) {
        %8 = tt.advance %p, [%c0_i32, %c8_i32] : <tensor<8x8xf32>>
        scf.yield %8 : !tt.ptr<tensor<8x8xf32>>
      } else {
        %9 = tt.advance %p, [%c0_i32, %i] : <tensor<8x8xf32>>
        scf.yield %9 : !tt.ptr<tensor<8x8xf32>>
      }
      %10 = arith.select %6, %7, %7 : !tt.ptr<tensor<8x8xf32>>
      %11 = tt.advance %q, [%c0_i32, %c8_i32] : <tensor<8x8xf32>>
      scf.yield %10, %11 : !tt.ptr<tensor<8x8xf32>>, !tt.ptr<tensor<8x8xf32>>
    }
    tt.return
  }
}
"""
"""As Triton 3.6 writes it."""


def views(module: Any) -> list[Any]:
    return [v for f in module.functions for op in walk_function(f) for v in op.results if isinstance(v.type, ViewType)]


def test_text_of_triton_is_read_and_written() -> None:
    module = parse_module(TEXT)
    text = print_module(module)
    assert "{order = array<i32: 1, 0>} : <tensor<8x8xf32>>" in text
    assert "tt.advance" in text
    assert print_module(parse_module(text)) == text


def test_a_loop_carries_what_it_changes() -> None:
    module = block_pointers(parse_module(TEXT))
    verify(module, concrete=True)
    assert not views(module)
    (loop,) = (op for op in walk_function(module.kernel) if op.name == "scf.for")
    assert [a.name for a in loop.regions[0].block.args] == ["i", "p.offset1"]
    assert block_pointers(module) is module


def test_the_meaning_of_text() -> None:
    module = block_pointers(parse_module(TEXT))
    x = np.arange(60, dtype=np.float32).reshape(5, 12)
    y = np.zeros_like(x)
    run(module, [x, y, 5, 12, 12], (1, 1, 1))
    wanted = np.zeros_like(x)
    wanted[:, :8], wanted[:, 8:] = x[:, :8], x[:, :4]  # the second load is at 0 again: i was 0
    np.testing.assert_array_equal(y, wanted)


@tn.kernel
def copies(
    x: tl.Ptr[tl.f16], y: tl.Ptr[tl.f16], m: tl.Scalar[tl.i32], n: tl.Scalar[tl.i32], i: tl.Scalar[tl.i64],
    B: tl.Const[int], FLIP: tl.Const[bool],
) -> None:  # fmt: skip
    p = tl.make_block_ptr(x, (m, n), (n, 1), (i, 0), (B, B), (1, 0))
    if FLIP:
        p = tl.make_block_ptr(x, (n, m), (1, n), (0, i), (B, B), (0, 1))
    q = tl.make_block_ptr(y, (m, n), (n, 1), (i, 0), (B, B), (1, 0))
    for _ in tl.range(0, n, B):
        tl.store(q, tl.load(p, boundary_check=(0, 1), padding_option="zero"), boundary_check=(0, 1))
        p, q = tl.advance(p, (0, B)), tl.advance(q, (0, B))


def test_no_check_of_offsets_that_are_plainly_not_negative() -> None:
    """Along the axis that the loop walks from 0 on the lower bound needs no test."""
    module = copies.specialize(B=16, FLIP=False).module
    lower = [op for op in walk_function(module.kernel) if op.attrs.get("predicate") == "sge"]
    upper = [op for op in walk_function(module.kernel) if op.attrs.get("predicate") == "slt"]
    assert (len(lower), len(upper)) == (2, 4)


def test_generic_code_has_none_left_either() -> None:
    generic = lower_generic(copies.definition)
    assert views(generic.module)
    made = block_pointers(generic.module)
    assert not views(made)
    verify(made, concrete=False)


CALLED = """\
tt.func private @moved(%p: !tt.ptr<tensor<8xf32>>, %by: i32) -> !tt.ptr<tensor<8xf32>> {
  %q = tt.advance %p, [%by] : <tensor<8xf32>>
  tt.return %q : !tt.ptr<tensor<8xf32>>
}
tt.func public @k(%x: !tt.ptr<f32>, %n: i64) {
  %zero = arith.constant 0 : i32
  %two = arith.constant 2 : i32
  %one = arith.constant 1 : i64
  %p = tt.make_tensor_ptr %x, [%n], [%one], [%zero] {order = array<i32: 0>} : <tensor<8xf32>>
  %q = tt.call @moved(%p, %two) : (!tt.ptr<tensor<8xf32>>, i32) -> !tt.ptr<tensor<8xf32>>
  %v = tt.load %q {boundaryCheck = array<i32: 0>, padding = 1 : i32} : !tt.ptr<tensor<8xf32>>
  tt.store %p, %v {boundaryCheck = array<i32: 0>} : !tt.ptr<tensor<8xf32>>
  tt.return
}
"""


def test_calls_pass_the_parts() -> None:
    module = block_pointers(parse_module(CALLED))
    verify(module, concrete=True)
    assert not views(module)
    x = np.arange(5, dtype=np.float32)
    run(module, [x, 5], (1, 1, 1))
    np.testing.assert_array_equal(x, [2, 3, 4, 0, 0])


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("%q = tt.advance %p, [%zero, %zero] : <tensor<8xf32>>", "one offset an axis"),
        ("%q = tt.make_tensor_ptr %x, [%n], [%n], [%n, %n] {order = array<i32: 0>} : <tensor<8xf32>>", "as many sizes"),
        ("%q = tt.make_tensor_ptr %x, [%n], [%n], [%n] {order = array<i32: 0>} : <tensor<8xf16>>", "does not point at"),
        ("%q = tt.load %p, %zero : !tt.ptr<tensor<8xf32>>", "without a mask"),
    ],
)
def test_text_that_does_not_fit(line: str, said: str) -> None:
    source = CALLED.replace("  %q = tt.call", f"  {line.replace('%q', '%r')}\n  %q = tt.call")
    with pytest.raises(tn.TeenyError, match=said):
        parse_module(source)
