"""A copy of a function with some integer arguments known: constants take their place in the body.

The arguments stay in the signature. A stride known to be 1 lets a compiler see that memory is contiguous.
"""

from __future__ import annotations

from collections.abc import Mapping

from teeny.ir.builder import Builder
from teeny.ir.core import Block, Function, Region, Value
from teeny.ops.constant import constant
from teeny.passes.copy import copy_op


def bind(function: Function, known: Mapping[int, int]) -> Function:
    """A copy of a structured function; `known` gives values for arguments by number. The original is left alone."""
    entry = function.entry
    block = Block(tuple(a.type for a in entry.args), tuple(a.name for a in entry.args))
    values: dict[Value, Value] = dict(zip(entry.args, block.args, strict=True))
    b = Builder(block, function.loc)
    for number, value in known.items():
        argument = entry.args[number]
        values[argument] = constant(b, argument.type, value)
    for op in entry.ops:
        copy_op(op, block, values)
    return Function(
        function.name,
        Region([block]),
        function.result_types,
        function.public,
        function.arg_attrs,
        dict(function.attrs),
        function.loc,
    )
