"""Numbers that a loop carries and moves by the same step in every iteration, in terms of the loop's own index.

A block pointer that goes along with a loop then needs nothing carried, its bounds are plainly those of the index, and
two that go side by side have the same offsets. Two numbers of a `while` that start equal and move alike become one.
"""

from __future__ import annotations

from typing import Any

from teeny.ir.builder import Builder
from teeny.ir.core import Block, Function, Module, Op, Value, uses, walk_function
from teeny.ir.dtype import I64
from teeny.ir.poly import Dim, Poly
from teeny.ops.arith import subi
from teeny.ops.constant import constant
from teeny.passes.carried import drop
from teeny.passes.tile_access import number, plus, times, wide


def steady(module: Module) -> None:
    """Change the module in place, numbers of 64 bits alone. A second run changes nothing."""
    for function in module.functions:
        replaced: dict[Value, Value] = {}
        readers = {value for value, found in uses(function).items() if found}
        for block in function.body.blocks:
            _block(block, readers, replaced)
        if replaced:
            _rename(function, replaced)


def _block(block: Block, readers: set[Value], replaced: dict[Value, Value]) -> None:
    for op in block.ops:
        for region in op.regions:
            for inner in region.blocks:
                _block(inner, readers, replaced)
        if op.name == "scf.for":
            _counted(op, readers, replaced)
        if op.name in ("scf.for", "scf.while"):
            _alike(op, replaced)


def _rename(function: Function, replaced: dict[Value, Value]) -> None:
    for op in walk_function(function):
        op.operands = tuple([_last(v, replaced) for v in op.operands])


def _last(value: Value, replaced: dict[Value, Value]) -> Value:
    while value in replaced:
        value = replaced[value]
    return value


def _step(after: Value, before: Value) -> Dim | None:
    """By how much a carried number moves, where that is one known number."""
    total: Dim = 0
    while after is not before:
        op = after.op
        if op is None or op.name != "arith.addi":
            return None
        known: Any = number(op.operands[1])
        if not isinstance(known, int | Poly):
            return None
        total, after = total + known, op.operands[0]
    return total


def _counted(op: Op, readers: set[Value], replaced: dict[Value, Value]) -> None:
    """Numbers that move by a multiple of the loop's step, and that nothing reads after it."""
    body = op.regions[0].block
    stride: Any = number(op.operands[2])
    if not isinstance(stride, int | Poly) or (isinstance(stride, int) and stride <= 0):
        return
    found: dict[Value, Value] = {}
    made = Block()
    b = Builder(made, op.loc)
    b.guard = op.guard
    ending = body.ops[-1].operands
    for arg, init, after, result in zip(body.args[1:], op.operands[3:], ending, op.results, strict=True):
        step = _step(after, arg) if arg.type is I64 and result not in readers else None
        times_stride = None if step is None else _quotient(step, stride)
        if times_stride is None:
            continue
        by = times(b, _since(b, op, body.args[0]), constant(b, I64, times_stride))
        value = plus(b, init, by)
        value.name = arg.name
        found |= {arg: value, result: init}
    if not found:
        return
    replaced.update(found)
    drop(op, found)
    for one in made.ops:
        one.block = body
    body.ops = [*made.ops, *body.ops]


def _quotient(step: Dim, stride: Dim) -> Dim | None:
    """How often the loop's step goes into another; None where that is not a known whole number."""
    if step == stride or stride == 1:
        return 1 if step == stride else step
    whole = isinstance(step, int) and isinstance(stride, int) and step % stride == 0
    return step // stride if whole else None


def _since(b: Builder, op: Op, index: Value) -> Value:
    """How far the index is from the loop's start."""
    start = op.operands[0]
    here = wide(b, index)
    return here if number(start) == 0 else b.create(subi, here, wide(b, start))


def _alike(op: Op, replaced: dict[Value, Value]) -> None:
    first, skip = (3, 1) if op.name == "scf.for" else (0, 0)
    inits = op.operands[first:]
    bodies = [region.block for region in op.regions]
    enters, body = bodies[0].args[skip:], bodies[-1]
    if op.name == "scf.while":
        passed = bodies[0].ops[-1].operands[1:]
        if passed != enters:
            return
    args, ending = body.args[skip:], body.ops[-1].operands
    known: dict[object, int] = {}
    found: dict[Value, Value] = {}
    for at, (init, arg, after) in enumerate(zip(inits, args, ending, strict=True)):
        step = _step(after, arg) if arg.type is I64 else None
        if step is None:
            continue
        start = number(init)
        key = (step, init if start is None else start)
        same = known.setdefault(key, at)
        if same != at:
            found |= {arg: args[same], enters[at]: enters[same], op.results[at]: op.results[same]}
    if found:
        replaced.update(found)
        drop(op, found)
