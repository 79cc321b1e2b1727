"""The verifier: silent on what is right, and each fault found."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, given, settings

from teeny.diag.errors import InternalError
from teeny.ir.core import Block, Function, Module, Op, Region, walk_function
from teeny.ir.dtype import F32, FLOAT, I32, U32, variable
from teeny.ir.poly import symbol
from teeny.ir.schema import registry
from teeny.ir.text import parse_module
from teeny.ir.types import pointer, typed
from teeny.ir.verify import faults_of, verify
from tests.kernels_text import NAMES, load
from tests.operations import concrete, examples, kernel
from tests.strategies import Sample, samples

TEXT = """\
module {
  tt.func public @k(%x: !tt.ptr<f32>, %n: i32, %c: i1, %t: tensor<8xf32>) {
    %a = arith.addi %n, %n : i32
    %s = "tt.reduce"(%t) <{axis = 0 : i32}> ({
    ^bb0(%p: f32, %q: f32):
      %pq = arith.addf %p, %q : f32
      tt.reduce.return %pq : f32
    }) : (tensor<8xf32>) -> f32
    %l = scf.for %i = %n to %a step %n iter_args(%v = %s) -> (f32)  : i32 {
      %w = arith.addf %v, %s : f32
      scf.yield %w : f32
    }
    %d = scf.if %c -> (f32) {
      scf.yield %l : f32
    } else {
      scf.yield %s : f32
    }
    %e = scf.while (%g = %d) : (f32) -> (f32) {
      scf.condition(%c) %g : f32
    } do {
    ^bb0(%h: f32):
      scf.yield %h : f32
    }
    %r = tt.call @helper(%e) : (f32) -> f32
    tt.store %x, %r : !tt.ptr<f32>
    tt.return
  }
  tt.func private @helper(%y: f32) -> f32 {
    tt.return %y : f32
  }
}
"""


class Case:
    """A fresh module, with its operations by name (the last of each)."""

    def __init__(self) -> None:
        self.module = parse_module(TEXT)
        self.kernel = self.module.kernel
        self.helper = self.module.functions[1]
        self.entry = self.kernel.entry

    def op(self, name: str) -> Op:
        return [op for op in walk_function(self.kernel) if op.name == name][-1]

    def body(self, name: str, number: int = 0) -> Block:
        return self.op(name).regions[number].block


def new(name: str, *args: object) -> Op:
    return Op(registry()[name], *args)


def swap(block: Block, at: int, op: Op) -> None:
    op.block = block
    block.ops[at] = op


def _sign(c: Case) -> None:
    c.op("arith.addi").results[0].type = U32


FAULTS: dict[str, tuple[Callable[[Case], object], str]] = {
    "operand of another type": (
        lambda c: setattr(c.op("arith.addi"), "operands", (c.entry.args[1], c.entry.args[2])),
        "arith.addi: operand types differ: i32 and bool",
    ),
    "too few operands": (
        lambda c: setattr(c.op("arith.addi"), "operands", c.entry.args[1:2]),
        "arith.addi takes 2 to 2 operands, found 1",
    ),
    "wrong result": (
        lambda c: setattr(c.op("arith.addi").results[0], "type", F32),
        "arith.addi gives (i32,), found (f32,)",
    ),
    "missing attribute": (lambda c: c.op("tt.reduce").attrs.clear(), "tt.reduce lacks the attribute axis"),
    "attribute of a wrong kind": (
        lambda c: c.op("tt.reduce").attrs.update(axis="x"),
        "tt.reduce has attributes that do not fit",
    ),
    "used before it is defined": (
        lambda c: c.entry.ops.insert(0, c.entry.ops.pop(-2)),
        "operand 1 of tt.store is not defined before it",
    ),
    "used outside its region": (
        lambda c: setattr(c.op("tt.store"), "operands", (c.entry.args[0], c.body("scf.for").ops[0].results[0])),
        "operand 1 of tt.store is not defined before it",
    ),
    "used across regions": (
        lambda c: setattr(c.body("scf.while", 1).ops[-1], "operands", c.body("scf.while").args),
        "operand 0 of scf.yield is not defined before it",
    ),
    "used by itself": (
        lambda c: setattr(c.op("arith.addi"), "operands", (c.entry.args[1], c.op("arith.addi").results[0])),
        "operand 1 of arith.addi is not defined before it",
    ),
    "value of another function": (
        lambda c: setattr(c.helper.entry.ops[0], "operands", (c.op("tt.call").results[0],)),
        "helper: operand 0 of tt.return is not defined before it",
    ),
    "no terminator": (lambda c: c.entry.ops.pop(), "a block ends in tt.return, found tt.store"),
    "empty block": (lambda c: c.helper.entry.ops.clear(), "helper: a block ends in tt.return, found nothing"),
    "wrong terminator": (
        lambda c: swap(c.body("scf.for"), -1, new("tt.return", ())),
        "a block ends in scf.yield, found tt.return",
    ),
    "terminator in the middle": (
        lambda c: (c.entry.ops.insert(0, new("tt.return", ())), setattr(c.entry.ops[0], "block", c.entry)),
        "tt.return is not the last of its block",
    ),
    "return of another type": (
        lambda c: setattr(c.helper, "result_types", (I32,)),
        "tt.return gives (f32), expected (i32)",
    ),
    "yield of another type": (
        lambda c: setattr(c.body("scf.for").ops[-1], "operands", (c.entry.args[1],)),
        "scf.yield gives (i32), expected (f32)",
    ),
    "else yields nothing": (
        lambda c: setattr(c.body("scf.if", 1).ops[-1], "operands", ()),
        "scf.yield gives (), expected (f32)",
    ),
    "condition passes nothing": (
        lambda c: setattr(c.body("scf.while").ops[-1], "operands", (c.entry.args[2],)),
        "scf.condition gives (), expected (f32)",
    ),
    "reduction returns another type": (
        lambda c: setattr(c.body("tt.reduce").ops[-1], "operands", (c.entry.args[1],)),
        "tt.reduce.return gives (i32), expected (f32)",
    ),
    "loop body's argument": (
        lambda c: setattr(c.body("scf.for").args[1], "type", I32),
        "the region of scf.for takes (i32, i32), expected (i32, f32)",
    ),
    "reduction's argument": (
        lambda c: setattr(c.body("tt.reduce").args[0], "type", I32),
        "the region of tt.reduce takes (i32, f32), expected (f32, f32)",
    ),
    "while's argument": (
        lambda c: setattr(c.body("scf.while", 1).args[0], "type", I32),
        "the region of scf.while takes (i32), expected (f32)",
    ),
    "no such function": (
        lambda c: c.op("tt.call").attrs.update(callee="nobody"),
        "tt.call of nobody, which is no function of the module",
    ),
    "argument of a call": (
        lambda c: setattr(c.op("tt.call"), "operands", (c.entry.args[1],)),
        "tt.call passes (i32), expected (f32)",
    ),
    "result of a call": (
        lambda c: setattr(c.op("tt.call").results[0], "type", I32),
        "tt.call gives (i32), expected (f32)",
    ),
    "region missing": (lambda c: setattr(c.op("scf.for"), "regions", ()), "scf.for has 1 regions, found 0"),
    "two blocks": (
        lambda c: c.op("scf.for").regions[0].blocks.append(Block()),
        "a region of scf.for has not one block",
    ),
    "region of another operation": (
        lambda c: setattr(c.op("scf.for").regions[0], "op", None),
        "a region of scf.for does not know its place",
    ),
    "operation twice": (lambda c: c.entry.ops.insert(0, c.entry.ops[0]), "arith.addi stands in two places"),
    "operation of another block": (
        lambda c: setattr(c.op("arith.addi"), "block", None),
        "arith.addi or one of its results does not know its place",
    ),
    "argument without a block": (
        lambda c: setattr(c.entry.args[0], "block", None),
        "argument 0 of a block does not know its place",
    ),
    "two functions of one name": (lambda c: setattr(c.helper, "name", "k"), "two functions have one name"),
    "no kernel": (lambda c: setattr(c.kernel, "public", False), "no function is public"),
    "attributes of parameters": (
        lambda c: setattr(c.kernel, "arg_attrs", ({},)),
        "there are as many attribute dictionaries as parameters, or none",
    ),
    "function of two blocks": (
        lambda c: c.helper.body.blocks.append(c.helper.entry),
        "a function has one block",
    ),
    "guard": (lambda c: setattr(c.op("arith.addi"), "guard", 1), "arith.addi has a guard"),
    "sign": (_sign, "u32 has a sign, which the IR does not keep"),
    "no power of two": (
        lambda c: setattr(c.entry.args[3], "type", typed((6,), F32)),
        "a dim of tensor<6xf32> is no power of two",
    ),
    "symbolic dim": (
        lambda c: setattr(c.entry.args[3], "type", typed((symbol("N"),), F32)),
        "tensor<Nxf32> has a symbolic dim",
    ),
    "dtype variable": (
        lambda c: setattr(c.entry.args[0], "type", pointer(variable("D", FLOAT))),
        "!tt.ptr<!D> has a dtype variable",
    ),
    "symbolic attribute": (
        lambda c: c.op("tt.call").attrs.update(size=symbol("N")),
        "size of tt.call is symbolic: N",
    ),
    "generic operation": (
        lambda c: setattr(c.op("arith.addi"), "schema", registry()["num.add"]),
        "num.add is an operation of generic IR",
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_found(name: str) -> None:
    breaks, message = FAULTS[name]
    case = Case()
    verify(case.module, concrete=True)
    breaks(case)
    with pytest.raises(InternalError, match="teeny failed: the IR is malformed") as caught:
        verify(case.module, concrete=True)
    assert message in str(caught.value)


def test_all_faults_are_reported_with_a_place() -> None:
    case = Case()
    case.op("arith.addi").guard = 1
    case.op("tt.call").attrs["callee"] = "nobody"
    case.helper.result_types = ()
    with pytest.raises(InternalError) as caught:
        verify(case.module, concrete=True)
    text = str(caught.value)
    assert [m in text for m in ("k: arith.addi has a guard", "k: tt.call of nobody", "helper: tt.return gives")] == [
        True
    ] * 3
    assert re.search(r"<text>:3:10", text), text


def test_an_operation_without_its_result_is_found() -> None:
    case = Case()
    constant = new("arith.constant", (), (), {"value": 1})
    constant.block = case.entry
    case.entry.ops.insert(0, constant)
    assert "k: arith.constant has 1 results, found 0" in [m for m, _ in faults_of(case.module, concrete=True)]


def test_generic_ir_is_right_in_its_place() -> None:
    d, n = variable("D", FLOAT), symbol("N")
    made = kernel(
        (typed((n,), d), pointer(d)), lambda b, args: b.create(registry()["num.add"], args[0], args[0]) and None
    )
    made.kernel.entry.ops[0].guard = 5
    verify(made, concrete=False)
    faults = [m for m, _ in faults_of(made, concrete=True)]
    assert len(faults) == 5 + 1 + 1, faults


def test_generic_ir_is_checked_too() -> None:
    d = variable("D", FLOAT)
    block = Block((d, I32))
    op = new("num.add", block.args, (d,))
    block.append(op)
    block.append(new("tt.return", ()))
    found = [m for m, _ in faults_of(Module([Function("k", Region([block]))]), concrete=False)]
    assert found == ["k: num.add: operand types differ: D and i32"]


@pytest.mark.parametrize("name", NAMES)
def test_kernels_are_right(name: str) -> None:
    verify(load(name), concrete=True)


def test_every_operation_is_right() -> None:
    for schema in concrete():
        for _, module in examples(schema):
            verify(module, concrete=True)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(samples())
def test_random_modules_are_right(sample: Sample) -> None:
    verify(sample.module, concrete=True)
