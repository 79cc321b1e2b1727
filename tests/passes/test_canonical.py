"""Folding, sharing, dropping."""

from __future__ import annotations

from teeny.ir.core import Module, Value, walk_function
from teeny.ir.dtype import F32, I32
from teeny.ir.types import typed
from teeny.ops.arith import addf, addi, muli
from teeny.passes.canonical import canonical
from tests.drafts import Draft


def names(module: Module) -> list[str]:
    return [op.name for op in walk_function(module.kernel)]


def test_equal_operations_are_shared_also_inside_a_region() -> None:
    d = Draft()
    d.pointer("x", F32)
    d.scalar("n")
    ptr, n = d.begin()
    first = d.at(ptr, d.range(8))

    def body(index: Value, total: Value) -> tuple[Value, ...]:
        return (d.apply(addf, total, d.load(d.at(ptr, d.range(8)))),)

    (total,) = d.loop(d.const(0, I32), n, d.const(2, I32), (d.load(first),), body)
    d.store(first, total)
    module = d.end()
    canonical(module)
    assert names(module) == [
        "tt.make_range", "tt.splat", "tt.addptr", "arith.constant", "arith.constant", "tt.load", "scf.for",
        "tt.load", "arith.addf", "scf.yield", "tt.store", "tt.return",
    ]  # fmt: skip


def test_integer_constants_fold_and_wrap() -> None:
    d = Draft()
    d.pointer("y", I32)
    (ptr,) = d.begin()
    big = d.const(2**31 - 1, I32)
    d.store(ptr, d.apply(addi, big, d.const(1, I32)))
    module = d.end()
    canonical(module)
    assert names(module) == ["arith.constant", "tt.store", "tt.return"]
    assert module.kernel.entry.ops[0].attrs["value"] == -(2**31)


def test_neutral_operands_vanish() -> None:
    d = Draft()
    d.pointer("y", I32)
    (ptr,) = d.begin()
    tile = typed((4,), I32)
    offsets = d.apply(muli, d.apply(addi, d.range(4), d.const(0, tile)), d.const(1, tile))
    d.store(d.at(ptr, offsets), offsets)
    module = d.end()
    canonical(module)
    assert names(module) == ["tt.make_range", "tt.splat", "tt.addptr", "tt.store", "tt.return"]


def test_float_arithmetic_is_not_folded() -> None:
    d = Draft()
    d.pointer("y", F32)
    (ptr,) = d.begin()
    d.store(ptr, d.apply(addf, d.const(-0.0, F32), d.const(0.0, F32)))
    module = d.end()
    canonical(module)
    assert names(module).count("arith.addf") == 1
    assert names(module).count("arith.constant") == 2


def test_loads_are_not_shared_across_a_store() -> None:
    d = Draft()
    d.pointer("y", F32)
    (ptr,) = d.begin()
    first = d.load(ptr)
    d.store(ptr, d.const(1.0, F32))
    d.store(ptr, d.apply(addf, first, d.load(ptr)))
    module = d.end()
    canonical(module)
    assert names(module).count("tt.load") == 2
