"""What a launch must bring for tensor descriptors: addresses and strides that GPUs take.

On a CPU nothing needs it. The same is asked there, so that what runs on the one runs on the other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from teeny.ir.builder import Builder
from teeny.ir.core import Block, Module, Op, Value
from teeny.ir.dtype import DType
from teeny.ir.types import ViewType
from teeny.ops.compare import cmpi
from teeny.ops.constant import constant, constant_
from teeny.ops.contracts import aligned_, require_
from teeny.ops.descriptor import LINE, make_descriptor_
from teeny.ops.division import remsi
from teeny.runtime.contracts import evaluable

if TYPE_CHECKING:
    from collections.abc import Collection


def require_alignment(module: Module) -> None:
    """Add contracts for the descriptors that every launch makes, where they come of its arguments; in place."""
    entry = module.kernel.entry
    if any(op.schema is make_descriptor_ for op in entry.ops):
        made = Block()
        for op in entry.ops:
            made.ops.append(op)
            if op.schema is make_descriptor_:
                _require(Builder(made, op.loc), op, entry.args)
        entry.ops = []
        for op in made.ops:
            entry.append(op)


def _require(b: Builder, op: Op, arguments: Collection[Value]) -> None:
    base, *numbers = op.operands
    type_ = op.results[0].type
    assert isinstance(type_, ViewType)
    start = f"`{base.name}`" if base.name else "a tensor descriptor"
    name = f"the tensor descriptor of {start}" if base.name else start
    if base in arguments:
        text = f"the address of {start} must be a multiple of {LINE} bytes, since a tensor descriptor starts there"
        b.op(aligned_, (base,), {"bytes": LINE, "message": text})
    multiple = LINE // type_.element.bytes
    for axis, stride in enumerate(numbers[len(type_.shape) : -1]):
        known: Any = stride.op.attrs["value"] if stride.op is not None and stride.op.schema is constant_ else None
        if known is not None or multiple == 1 or not evaluable(stride, arguments):
            continue
        assert isinstance(stride.type, DType)
        rest = b.create(remsi, stride, constant(b, stride.type, multiple))
        fits = b.create(cmpi, rest, constant(b, stride.type, 0), predicate="eq")
        text = f"the stride of axis {axis} of {name} must be a multiple of {LINE} bytes"
        b.op(require_, (fits,), {"message": f"{text}, {multiple} elements of {type_.element}"})
