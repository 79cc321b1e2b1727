"""Descriptors made on the host: as parameters of a kernel, pointer, sizes, strides and padding take their place."""

from __future__ import annotations

from typing import TYPE_CHECKING

from teeny.ir.builder import Builder
from teeny.ir.core import Block, Function, Module, Region
from teeny.ir.dtype import BOOL, FLOAT, FLOAT8, I32, I64, storage
from teeny.ir.types import ViewType, pointer
from teeny.ops.cast import trunci
from teeny.ops.compare import select
from teeny.ops.constant import constant
from teeny.ops.descriptor import make_descriptor_
from teeny.ops.views import NAN
from teeny.passes.copy import copy_op

if TYPE_CHECKING:
    from teeny.ir.core import Value
    from teeny.ir.types import Type
    from teeny.passes.copy import Values

__all__ = ["made_inside"]


def made_inside(module: Module) -> Module:
    """The module with a kernel that makes its descriptors itself; the module itself where it is passed none.

    A parameter becomes a pointer, as many i64 as the block has axes for the sizes and again for the strides, and two
    i1: whether padding is NaN, and one that the CPU does not need. The slots of a launch come in that order. The last
    stride is 1, as Triton sees to.
    """
    kernel = module.kernel
    if not any(isinstance(a.type, ViewType) for a in kernel.args):
        return module
    types: list[Type] = []
    names: list[str | None] = []
    for argument in kernel.args:
        found = _parts(argument.type)
        types += found
        names += [argument.name] * len(found)
    block = Block(tuple(types), tuple(names))
    b = Builder(block, kernel.loc)
    values: Values = {}
    rest = iter(block.args)
    for argument in kernel.args:
        given = [next(rest) for _ in _parts(argument.type)]
        values[argument] = _made(b, argument.type, given)
    for op in kernel.entry.ops:
        copy_op(op, block, values)
    made = Function(kernel.name, Region([block]), (), kernel.public, (), dict(kernel.attrs), kernel.loc)
    return Module([made if f is kernel else f for f in module.functions])


def _parts(type_: Type) -> list[Type]:
    if not isinstance(type_, ViewType):
        return [type_]
    return [pointer(storage(type_.element)), *([I64] * (2 * len(type_.shape))), BOOL, BOOL]


def _made(b: Builder, type_: Type, given: list[Value]) -> Value:
    if not isinstance(type_, ViewType):
        return given[0]
    rank = len(type_.shape)
    sizes = [b.create(trunci, size, type=I32) for size in given[1 : rank + 1]]
    numbers = (given[0], *sizes, *given[rank + 1 : 2 * rank], constant(b, I64, 1))
    zero = b.create(make_descriptor_, *numbers, type=type_)
    if not storage(type_.element).within(FLOAT | FLOAT8):
        return zero
    nan = b.op(make_descriptor_, numbers, {"padding": NAN}, types=(type_,)).results[0]
    return b.create(select, given[2 * rank + 1], nan, zero)
