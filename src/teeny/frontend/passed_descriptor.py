"""A tensor descriptor that a launch passes: a pointer, sizes and strides, of which one is made where the kernel starts.

Its block shape and padding belong to the specialisation; its rank is known with them alone, so that the check at the
definition takes such a parameter for a value that it knows nothing of.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from teeny.ir.dtype import I32, I64, DType
from teeny.ir.types import Type, pointer, view
from teeny.ops.constant import constant
from teeny.ops.contracts import extent_
from teeny.ops.descriptor import make_descriptor_
from teeny.ops.function import Operand
from teeny.ops.views import NAN, in_memory

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from teeny.frontend.params import Parameter
    from teeny.ir.builder import Builder
    from teeny.ir.core import Value

Layout = tuple[tuple[int, ...], str]
"""Block shape and padding, as one Const."""


def parts(parameter: Parameter, layout: Layout, subst: Mapping[DType, DType]) -> list[tuple[str, Type, DType]]:
    """What is passed for a descriptor: name, type and dtype (with sign) of the base, the sizes, all strides but 1."""
    assert parameter.dtype is not None
    name, rank = parameter.name, len(layout[0])
    dtype = subst.get(parameter.dtype, parameter.dtype)
    sizes: list[tuple[str, Type, DType]] = [(f"{name}.shape[{at}]", I32, I32) for at in range(rank)]
    strides: list[tuple[str, Type, DType]] = [(f"{name}.strides[{at}]", I64, I64) for at in range(rank - 1)]
    return [(name, parameter.type(subst), dtype), *sizes, *strides]


def made(b: Builder, parameter: Parameter, layout: Layout, values: Sequence[Value], dtype: DType) -> Operand:
    """The descriptor of the values passed; the launch checks that the array is there."""
    block, padding = layout
    b.loc = parameter.location
    numbers = (*values[1:], constant(b, I64, 1))
    rank = len(block)
    b.op(extent_, (values[0], *numbers), {"rank": rank, "strided": True})
    type_ = view("descriptor", block, in_memory(dtype))
    attrs: dict[str, Any] = {"padding": NAN} if padding == "nan" else {}
    value = b.op(make_descriptor_, (values[0], *numbers), attrs, types=(type_,)).result
    value.name = parameter.name
    return Operand(value, pointer(dtype))
