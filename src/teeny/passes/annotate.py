"""For Triton's compiler: hints as attributes of the operations whose values they speak of, and assertions or none."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, cast

from teeny.ir.core import Module, walk_function
from teeny.ir.text.attributes import Opaque
from teeny.passes.copy import copy_region

if TYPE_CHECKING:
    from teeny.ir.core import Block, Function, Op, Value


def annotate(module: Module, *, asserts: bool) -> Module:
    """The module itself where there is nothing to change, else a copy, in which assertions are left where `asserts`."""
    dropped = ("hint",) if asserts else ("hint", "assert")
    if not any(op.schema.group in dropped for f in module.functions for op in walk_function(f)):
        return module
    return Module([_function(f, dropped) for f in module.functions])


def _function(function: Function, dropped: tuple[str, ...]) -> Function:
    values: dict[Value, Value] = {}
    made = replace(function, body=copy_region(function.body, values), attrs=dict(function.attrs))
    arguments = [dict(attrs) for attrs in made.arg_attrs] or [dict[str, object]() for _ in made.args]
    for op in walk_function(made):
        if op.schema.group == "hint":
            _attach(op, made, arguments)
    for block in made.body.blocks:
        _drop(block, dropped)
    return replace(made, arg_attrs=tuple(arguments)) if any(arguments) else made


def _attach(hint: Op, function: Function, arguments: list[dict[str, object]]) -> None:
    """Give the hint to the operation that makes the value, or to the argument.

    What a loop carries has no such place, and Triton works out its index by itself.
    """
    value = hint.operands[0]
    name = f"tt.{hint.attrs['kind']}"
    numbers = cast("tuple[int, ...]", hint.attrs["values"])
    if value.op is not None and not value.op.regions:
        value.op.attrs[name] = _dense(numbers)
    elif value.block is function.entry and len(numbers) == 1:
        arguments[value.index][name] = numbers[0]


def _dense(numbers: tuple[int, ...]) -> Opaque:
    same = len(set(numbers)) == 1
    text = str(numbers[0]) if same else f"[{', '.join(map(str, numbers))}]"
    return Opaque(f"dense<{text}> : tensor<{len(numbers)}xi32>")


def _drop(block: Block, groups: tuple[str, ...]) -> None:
    block.ops = [op for op in block.ops if op.schema.group not in groups]
    for op in block.ops:
        for region in op.regions:
            for inner in region.blocks:
                _drop(inner, groups)
