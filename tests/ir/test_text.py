"""Text out and in: golden texts, round trips, and faults at their lines."""

from __future__ import annotations

import pickle
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from teeny.diag.span import Location, SourceFile, Span
from teeny.ir.builder import Builder
from teeny.ir.core import Block, Function, Module, Region, Value, walk_function
from teeny.ir.dtype import BF16, F16, F32, F64, FLOAT, I8, I32, LEAVES, variable
from teeny.ir.poly import symbol
from teeny.ir.schema import registry
from teeny.ir.text import TextError, parse_module, print_function, print_module
from teeny.ir.types import pointer, typed
from tests.kernels_text import NAMES, load, source
from tests.operations import Example, concrete, examples, kernel, missing
from tests.strategies import Sample, samples

HERE = Path(__file__).parent
GOLDEN = """\
module {
  tt.func public @all(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32, %c: i1) attributes {noinline = false} {
    %0 = arith.constant dense<0xFF800000> : tensor<4x8xf32>
    %1 = arith.constant -1.5e-07 : f64
    %2 = arith.constant 1.0e+30 : f32
    %3 = arith.constant 0x7E00 : f16
    %4 = arith.constant 0xFF80 : bf16
    %5 = arith.constant 0x7FF0000000000000 : f64
    %6 = arith.constant true
    %7 = arith.constant dense<false> : tensor<8xi1>
    %8 = arith.constant -128 : i8
    %start = arith.constant 0 : i32
    %step = arith.constant 9000000000 : i64
    %pid = tt.get_program_id y : i32
    %many = tt.get_num_programs z : i32
    %range = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
    %9 = tt.trans %0 {order = array<i32: 1, 0>} : tensor<4x8xf32> -> tensor<8x4xf32>
    %10 = tt.reshape %9 allow_reorder : tensor<8x4xf32> -> tensor<32xf32>
    %11 = tt.reshape %9 : tensor<8x4xf32> -> tensor<32xf32>
    %small = arith.cmpi ult, %pid, %n : i32
    %12 = arith.select %small, %10, %11 : tensor<32xf32>
    %13 = arith.select %7, %range, %range : tensor<8xi1>, tensor<8xi32>
    %14 = arith.truncf %1 : f64 to f32
    teeny.require %small, "say \\22n\\22 is\\0Abig\\C3\\A9"
    teeny.extent %x, [%n]
    teeny.extent %x, [%n, %many], strides [%many, %n]
    %15 = "tt.reduce"(%0) <{axis = 1 : i32}> ({
    ^bb0(%a: f32, %b: f32):
      %16 = arith.maxnumf %a, %b : f32
      tt.reduce.return %16 : f32
    }) : (tensor<4x8xf32>) -> tensor<4xf32>
    %17, %last = scf.for %i = %start to %n step %pid iter_args(%carry = %14, %old = %pid) -> (f32, i32)  : i32 {
      %18 = tt.call @helper(%carry) : (f32) -> f32
      scf.yield %18, %i : f32, i32
    } {tt.num_stages = 2 : i32}
    scf.for %i_1 = %step to %step step %step  : i64 {
      %19 = tt.addptr %x, %i_1 : !tt.ptr<f32>, i64
      tt.store %19, %17, %c : !tt.ptr<f32>
    }
    %20 = scf.if %c -> (i32) {
      scf.yield %last : i32
    } else {
      scf.yield %n : i32
    }
    scf.if %c {
      %21, %22 = tt.call @two(%20) : (i32) -> (i32, f32)
    } else {
      tt.call @none() : () -> ()
    }
    scf.if %c {
      tt.store %x, %17 : !tt.ptr<f32>
    }
    %23 = scf.while (%v = %20) : (i32) -> (i32) {
      %24 = arith.cmpi sgt, %v, %n : i32
      scf.condition(%24) %v : i32
    } do {
    ^bb0(%w: i32):
      scf.yield %w : i32
    }
    tt.return
  }
  tt.func private @helper(%x: f32) -> f32 {
    tt.return %x : f32
  }
  tt.func private @two(%x: i32) -> (i32, f32) {
    %0 = arith.sitofp %x : i32 to f32
    tt.return %x, %0 : i32, f32
  }
  tt.func private @none() {
    tt.return
  }
}
"""


def again(module: Module) -> str:
    """The text of a module, which must be its text again after it is read."""
    text = print_module(module)
    assert print_module(parse_module(text)) == text
    return text


def test_golden() -> None:
    assert print_module(parse_module(GOLDEN)) == GOLDEN


def test_what_triton_prints_is_read() -> None:
    text = (HERE / "printed_by_triton.mlir").read_text()
    assert print_module(parse_module(text)) == (HERE / "printed_by_triton.read.mlir").read_text()


def test_attributes_keep_their_values() -> None:
    function = parse_module(GOLDEN).kernel
    ops = {str(op.attrs): op for op in walk_function(function)}
    assert function.arg_attrs == ({"tt.divisibility": 16}, {}, {})
    assert function.attrs == {"noinline": False}
    assert "{'order': (1, 0)}" in ops
    assert "{'message': 'say \"n\" is\\nbigé'}" in ops
    assert [op.attrs for op in walk_function(function) if op.name == "teeny.extent"] == [
        {"rank": 1, "strided": False},
        {"rank": 2, "strided": True},
    ]


HINTS = "{cachePolicy = #tt.cache_policy<cache_modifier = cg, eviction_policy = evict_last>, isVolatile = true}"


@pytest.mark.parametrize("hints", ["cacheModifier = cg evictionPolicy = evict_last {isVolatile = true}", HINTS])
def test_words_about_caches_of_every_version_are_read(hints: str) -> None:
    text = f"tt.func @k(%x: !tt.ptr<f32>) {{ %v = tt.load %x {hints} : !tt.ptr<f32> tt.return }}"
    assert f"%v = tt.load %x {HINTS} : !tt.ptr<f32>" in print_module(parse_module(text))


def test_attributes_of_other_kinds_are_kept() -> None:
    attrs = "{tt.contiguity = dense<4> : tensor<1xi32>, tt.flatten, tt.num_stages = 3 : i32}"
    text = f"tt.func @k(%n: i32) {{ %v = arith.muli %n, %n {attrs} : i32 tt.return }}"
    module = parse_module(text)
    assert module.kernel.entry.ops[0].attrs["tt.num_stages"] == 3
    assert f"%v = arith.muli %n, %n {attrs} : i32" in again(module)


@pytest.mark.parametrize("name", NAMES)
def test_kernels_round_trip(name: str) -> None:
    again(load(name))


def test_every_operation_has_an_example() -> None:
    assert missing() == []


@pytest.mark.parametrize("schema", concrete(), ids=lambda s: s.name)
def test_every_operation_round_trips(schema: object) -> None:
    for _, module in examples_of(schema):
        again(module)


def examples_of(schema: object) -> list[Example]:
    return examples(next(s for s in concrete() if s is schema))


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(samples())
def test_random_modules_round_trip(sample: Sample) -> None:
    text = again(sample.module)
    names = [v.name for f in parse_module(text).functions for op in walk_function(f) for v in op.results if v.name]
    assert len(names) == len(set(names))


@given(
    st.floats(width=64, allow_nan=True),
    st.sampled_from((F32, F64, F16, BF16)),
)
def test_constants_keep_their_value(value: float, dtype: object) -> None:
    leaf = next(d for d in (F32, F64, F16, BF16) if d is dtype)
    module = kernel((), lambda b, _: b.create(registry()["arith.constant"], type=leaf, value=value) and None)
    read = parse_module(print_module(module)).kernel.entry.ops[0].attrs["value"]
    assert isinstance(read, float)
    assert repr(read) == repr(value)


@pytest.mark.parametrize(
    ("word", "type_", "value"),
    [
        ("0x3DCCCCCD", "f32", 0.10000000149011612),
        ("0xC000", "f16", -2.0),
        ("0x3F80", "bf16", 1.0),
        ("0x3FF8000000000000", "f64", 1.5),
        ("1.000000e-01", "f32", 0.1),
        ("255", "i8", -1),
        ("4294967295", "i32", -1),
        ("-5", "i64", -5),
        ("0x10", "i32", 16),
        ("0x3C", "f8E5M2", 1.0),
        ("0x38", "f8E4M3FN", 1.0),
        ("0x01", "f8E4M3FN", 2.0**-9),
    ],
)
def test_numbers(word: str, type_: str, value: object) -> None:
    text = f"tt.func @k() {{ %x = arith.constant {word} : {type_} tt.return }}"
    assert parse_module(text).kernel.entry.ops[0].attrs["value"] == value


def test_names_are_sanitised_and_unique() -> None:
    block = Block((I32, I32, I32, I32, I32), ("x", "x", "x_1", "a b", "1st"))
    b = Builder(block)
    for name in (None, "x", "é", "tmp"):
        b.create(registry()["arith.addi"], block.args[0], block.args[1]).name = name
    b.op(registry()["tt.return"], ())
    text = print_function(Function("k", Region([block])))
    assert text.splitlines()[:5] == [
        "tt.func public @k(%x: i32, %x_1: i32, %x_1_1: i32, %a_b: i32, %_1st: i32) {",
        "  %0 = arith.addi %x, %x_1 : i32",
        "  %x_2 = arith.addi %x, %x_1 : i32",
        "  %_ = arith.addi %x, %x_1 : i32",
        "  %tmp = arith.addi %x, %x_1 : i32",
    ]


def test_generic_ir_prints() -> None:
    d, n = variable("D", FLOAT), symbol("BLOCK")

    def write(b: Builder, args: tuple[Value, ...]) -> None:
        x = b.create(registry()["num.add"], args[0], args[0])
        b.guard = 3
        y = b.create(registry()["arith.constant"], type=typed((2 * n,), I32), value=n)
        b.guard = None
        b.create(registry()["teeny.phi"], y, y, guards=(1, 1 << 4000))
        b.create(registry()["num.cast"], x, type=typed((n,), I8))

    lines = print_module(kernel((typed((n,), d), pointer(d)), write)).splitlines()
    assert lines[1] == "  tt.func public @kernel(%a0: tensor<BLOCKx!D>, %a1: !tt.ptr<!D>) {"
    assert lines[2] == "    %0 = num.add %a0, %a0 : tensor<BLOCKx!D>"
    assert lines[3] == "    %1 = arith.constant dense<BLOCK> : tensor<2*BLOCKxi32>  // guarded"
    assert lines[4].startswith("    %2 = teeny.phi %1, %1 {guards = [0x1, 0x1000")
    assert lines[5] == "    %3 = num.cast %0 : tensor<BLOCKx!D> to tensor<BLOCKxi8>"


def test_contracts_are_left_out_with_what_feeds_them_alone() -> None:
    text = """\
module {
  tt.func public @k(%x: !tt.ptr<f32>, %n: i32) {
    %one = arith.constant 1 : i32
    %unused = arith.constant 2 : i32
    %m = arith.addi %n, %one : i32
    %both = arith.muli %m, %n : i32
    %c = arith.cmpi sle, %both, %n : i32
    teeny.require %c, "no"
    teeny.extent %x, [%both]
    %at = tt.addptr %x, %m : !tt.ptr<f32>, i32
    %v = tt.load %at : !tt.ptr<f32>
    tt.store %x, %v : !tt.ptr<f32>
    tt.return
  }
}
"""
    gone = ("%both", "%c =", "teeny.")
    kept = "".join(line + "\n" for line in text.splitlines() if not any(word in line for word in gone))
    module = parse_module(text)
    assert print_module(module, contracts=False) == kept
    assert print_module(module) == text


def test_locations() -> None:
    file = SourceFile("a b\\kernel.py", "def k():\n    é = f(x)\n")
    lib = SourceFile("lib.py", "def f(x):\n    return x + 1\n")
    call = Location(Span(file, 2, 9, 2, 13), "f")
    inner = Location(Span(lib, 2, 11, 2, 16), None, call)

    def write(b: Builder, args: tuple[Value, ...]) -> None:
        for place in (inner, call, inner, None):
            b.loc = place
            b.create(registry()["arith.addi"], *args)

    module = kernel((I32, I32), write)
    module.kernel.loc = Location(Span(file, 1, 0, 1, 3))
    text = print_module(module, locations=True)
    assert [line[line.index(" loc(") :] for line in text.splitlines() if " loc(" in line and "=" in line[:12]][:4] == [
        " loc(#loc1)",
        " loc(#loc0)",
        " loc(#loc1)",
        " loc(unknown)",
    ]
    assert text.endswith(
        '} loc(#loc2)\n}\n#loc0 = loc("a b\\5Ckernel.py":2:9)\n'
        '#loc1 = loc(callsite("lib.py":2:12 at #loc0))\n#loc2 = loc("a b\\5Ckernel.py":1:1)\n'
    )
    assert "loc(" not in print_module(module)
    assert print_module(parse_module(text)) == print_module(module)


def test_operations_know_their_place_in_the_text() -> None:
    function = load("vector_add").kernel
    place = next(op.loc for op in walk_function(function) if op.name == "arith.addf")
    assert place is not None
    assert place.span.text == "arith.addf"
    assert place.span.position == "vector_add.ttir:18:10"


HEAD = "tt.func public @k(%x: !tt.ptr<f32>, %n: i32, %c: i1) {\n"


@pytest.mark.parametrize(
    ("body", "line", "message"),
    [
        ("%0 = tt.dott %n : i32", 2, "teeny has no operation tt.dott"),
        ("cf.br ^bb1", 2, "there is no block ^bb1 in this function"),
        ("%0 = arith.addi %n, %m : i32", 2, "%m is not defined here"),
        ("%0 = arith.addi %n, %n : i64", 2, "arith.addi gives (i32,), found (i64,)"),
        ("%0 = arith.addi %n, %x : i32", 2, "operand types differ: i32 and !tt.ptr<f32>"),
        ("%0 = arith.addi %n : i32", 2, "expected `,`, found `:`"),
        ("%0 = arith.addf %n, %n : i32", 2, "the element dtype of i32 does not fit"),
        ("%0 = arith.addi %n, %n : i33", 2, "`i33` is no type that teeny has"),
        ("%0 = arith.addi %n, %n : tensor<4xi32, #blocked>", 2, "is no type that teeny has"),
        ("%0, %1 = arith.addi %n, %n : i32", 2, "arith.addi has 1 results"),
        ("%0 = tt.load %x#1 : !tt.ptr<f32>", 2, "%x has 1 results, and none with number 1"),
        ("%n = tt.load %x : !tt.ptr<f32>", 2, "%n is defined twice"),
        ("tt.store %x, %n : !tt.ptr<f32>", 2, "the value must be f32, found i32"),
        ("tt.store %x, %n : !tt.ptr<i32>", 2, "%x has the type !tt.ptr<f32>, and the text says !tt.ptr<i32>"),
        ("%0 = tt.get_program_id w : i32", 2, "expected `x`, `y` or `z`, found `w`"),
        ("%0 = arith.constant dense<[1, 2]> : tensor<2xi32>", 2, "constants whose every lane is the same"),
        ("%0 = arith.constant 1.5 : i32", 2, "1.5 is no i32"),
        ("%0 = arith.constant 300 : i8", 2, "300 is no i8"),
        ("%0 = arith.constant 1 : tensor<2xi32>", 2, "is not written like this"),
        ("%0 = arith.constant dense<1> : tensor<3xi32>", 2, "a dim of tensor<3xi32> is no power of two"),
        ("scf.if %c {\n scf.yield %n : i32\n}", 3, "scf.yield gives (i32), expected ()"),
        ("%0 = scf.if %c -> (i32) {\n scf.yield %n : i32\n}", 4, "scf.yield gives (), expected (i32)"),
        ("scf.if %c {\n tt.return\n}", 4, "this block ends in scf.yield, found tt.return"),
        ("scf.if %c {\n %0 = arith.addi %n, %n : i32\n}\n%1 = arith.addi %0, %n : i32", 5, "%0 is not defined here"),
        ("scf.for %i = %n to %n step %c : i32 {\n}", 2, "operand types differ: i32 and bool"),
        ("scf.for %i = %n to %n step %n {\n}", 2, "expected `:` and the type of the index"),
        ("tt.call @none() : () -> ()", 2, "tt.call of none, which is no function of the module"),
        ("%0 = tt.call @k(%n) : (f32) -> i32", 2, "%n has the type i32, and the text says f32"),
        ("tt.return\ntt.return", 3, "tt.return ends its block, and something follows it"),
        ("%0 = tt.make_range {start = 0 : i32} : tensor<8xi32>", 2, "lacks the attribute end"),
        ("%0 = tt.make_range {end = 8 : i32 start = 0 : i32} : tensor<8xi32>", 2, "expected `,` or `}`"),
        ('%0 = "tt.reduce"() <{axis = 0 : i32}> ({\n}) : () -> f32', 2, "a reduction has an operand"),
    ],
)
def test_faults_are_found_at_their_line(body: str, line: int, message: str) -> None:
    with pytest.raises(TextError) as caught:
        parse_module(f"{HEAD}{body}\n}}\n", "k.ttir")
    (first, *_) = caught.value.diagnostics
    assert first.code == "X006"
    assert message in first.message
    assert first.primary is not None
    assert first.primary.location.span.line == line
    assert "k.ttir" in str(caught.value)
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


def test_help_names_the_nearest_operation_and_value() -> None:
    with pytest.raises(TextError, match=r"did you mean arith.addi\?"):
        parse_module(HEAD + "%0 = arith.addii %n, %n : i32\n}")
    with pytest.raises(TextError, match=r"did you mean %count\?"):
        parse_module("tt.func @k(%count: i32) {\n%0 = arith.addi %count, %cuont : i32\n}")


@pytest.mark.parametrize(
    "text", ["", "module {\n}", "module {", "tt.func @k(", "#loc = 3", "hello", HEAD, "tt.func @k() {\n} }"]
)
def test_broken_texts(text: str) -> None:
    with pytest.raises(TextError):
        parse_module(text)


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_damaged_text_gives_an_error_and_nothing_worse(data: st.DataObject) -> None:
    text = GOLDEN if data.draw(st.booleans()) else source(data.draw(st.sampled_from(NAMES)))
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start, min(len(text), start + 12)))
    new = data.draw(
        st.sampled_from(("", "%", "{", "}", "<", ">", '"', "(", "tt.load", "3", "0x", ": i32", "loc(", "#", "\\", ","))
    )
    try:
        module = parse_module(text[:start] + new + text[end:])
    except TextError:
        return
    again(module)


def test_a_generic_operation_is_read_in_the_generic_form() -> None:
    text = 'tt.func @k(%n: i32) { %0 = "arith.cmpi"(%n, %n) <{predicate = "slt"}> : (i32, i32) -> i1 tt.return }'
    assert "%0 = arith.cmpi slt, %n, %n : i32" in print_module(parse_module(text))


def test_all_leaves_are_read() -> None:
    for leaf in LEAVES.values():
        module = parse_module(f"tt.func @k(%x: !tt.ptr<{leaf.mlir}>, %y: tensor<4x!tt.ptr<{leaf.mlir}, 1>>) {{\n}}")
        assert module.kernel.args[0].type is pointer(next(d for d in LEAVES.values() if d.mlir == leaf.mlir))


def test_printing_is_fast() -> None:
    module = load("softmax")
    print_module(module)
    best = 1.0
    for _ in range(30):
        start = time.perf_counter()
        print_module(module)
        best = min(best, time.perf_counter() - start)
    assert best < 1.0e-3, f"{best * 1e3:.2f} ms"
