"""The shape of the code: a stray gather, buffer or nest is a fault of speed that right results never show."""

from __future__ import annotations

import re

import pytest

from teeny.backends.cpu.lower.entry import lower
from teeny.backends.cpu.lower.plan import make_plan
from teeny.backends.cpu.lower.state import Options
from teeny.diag.errors import CompileError
from teeny.ir.core import Module, walk_function
from teeny.ir.dtype import F32, I32
from teeny.ir.types import typed
from teeny.ops.arith import addf
from tests.drafts import Draft
from tests.kernels_text import load


def calls(module: Module, name: str) -> int:
    """How often an intrinsic is called."""
    text = lower(module, level="x86-64-v4").ir_text
    return len(re.findall(rf"call [^\n]*@llvm\.{re.escape(name)}", text))


def kept(module: Module) -> tuple[list[str], list[str]]:
    """The operations that are materialised: on their own, and as by-products."""
    plan = make_plan(module.kernel, disjoint=False)
    hosted = {value for values in plan.hosts.values() for value in values}
    ops = list(walk_function(module.kernel))
    alone = [op.name for op in ops if op in plan.early]
    return alone, [op.name for op in ops if op.results and op.results[0] in hosted]


def test_softmax_keeps_its_exponentials() -> None:
    """The exponentials are a by-product of their sum; x is loaded twice."""
    module = load("softmax")
    assert kept(module) == ([], ["math.exp"])
    assert calls(module, "masked.gather") == 0
    scratch = lower(module, level="x86-64-v4").scratch_bytes
    assert scratch == 4 * 256 + 2 * 4 * 64  # the exponentials, and the tails of two reductions


def test_layer_norm_keeps_nothing() -> None:
    module = load("layer_norm")
    assert kept(module) == ([], [])
    assert calls(module, "masked.gather") == 0


def test_vector_add_is_one_nest() -> None:
    module = load("vector_add")
    assert kept(module) == ([], [])
    assert calls(module, "masked.gather") == calls(module, "masked.scatter") == 0


def test_a_transposition_gathers_nothing() -> None:
    module = load("transpose")
    assert calls(module, "masked.gather") == calls(module, "masked.scatter") == 0


def test_carried_sums_are_linear() -> None:
    assert calls(load("loop"), "masked.gather") == 0


def test_a_unit_stride_is_found() -> None:
    """x[i * stride + j * step] is contiguous in the version for step == 1, and a gather in the other one."""
    d = Draft()
    d.pointer("x", F32)
    d.pointer("y", F32)
    d.scalar("stride")
    d.scalar("step")
    x, y, stride, step = d.begin()
    dims = (4, 64)
    i, j = d.expand(d.range(4), 1, dims), d.expand(d.range(64), 0, dims)
    tile = d.load(d.at(x, d.add(d.mul(i, d.fill(stride, dims)), d.mul(j, d.fill(step, dims)))))
    d.store(d.at(y, d.add(d.mul(i, d.const(64, i.type)), j)), d.apply(addf, tile, tile))
    text = lower(d.end(), level="x86-64-v4", options=Options(disjoint=True)).ir_text
    assert "masked.gather" in text
    assert re.search(r"load <\d+ x float>, ptr", text)


def test_an_axis_that_is_no_power_of_two() -> None:
    d = Draft()
    d.pointer("x", F32)
    (x,) = d.begin()
    d.store(d.at(x, d.range(24)), d.const(1.0, typed((24,), F32)))
    with pytest.raises(CompileError, match="power of two"):
        lower(d.end())


def test_gathered_rows_are_contiguous() -> None:
    """x[index[i] * 64 + j] in i32: a row at a time, and a gather only where the offset would wrap inside it."""
    d = Draft()
    d.pointer("x", F32)
    d.pointer("index", I32)
    d.pointer("y", F32)
    x, index, y = d.begin()
    dims = (4, 64)
    i, j = d.expand(d.range(4), 1, dims), d.expand(d.range(64), 0, dims)
    rows = d.expand(d.load(d.at(index, d.range(4))), 1, dims)
    tile = d.load(d.at(x, d.add(d.mul(rows, d.const(64, i.type)), j)))
    d.store(d.at(y, d.add(d.mul(i, d.const(64, i.type)), j)), tile)
    text = lower(d.end(), level="x86-64-v4", options=Options(disjoint=True)).ir_text
    assert re.search(r"load <\d+ x float>, ptr", text)
