"""Which values may be one another, or places in the same memory: pointers and views that loops, branches and selections
hand on, and what is made of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from teeny.ir.core import walk_function
from teeny.ir.types import PointerType, ViewType, element_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from teeny.ir.core import Function, Op, Value


@dataclass(slots=True)
class Together:
    """Sets of such values of a structured function. Two arguments are never together, though memory may be shared."""

    function: Function
    _above: dict[Value, Value] = field(default_factory=dict["Value", "Value"], init=False)

    def __post_init__(self) -> None:
        for op in walk_function(self.function):
            for one in _sets(op):
                self._join(one)

    def root(self, value: Value) -> Value:
        """The value that stands for all that are together with one."""
        while value in self._above:
            value = self._above[value]
        return value

    def _join(self, values: Iterable[Value]) -> None:
        first, *rest = values
        for value in rest:
            one, other = self.root(first), self.root(value)
            if one is not other:
                self._above[other] = one


def _sets(op: Op) -> Iterable[tuple[Value, ...]]:
    """What an operation puts together."""
    blocks = [region.block for region in op.regions]
    if op.name == "scf.for":
        return zip(op.results, blocks[0].args[1:], op.operands[3:], blocks[0].ops[-1].operands, strict=True)
    if op.name == "scf.while":
        before, body = blocks
        carried = zip(op.operands, before.args, body.ops[-1].operands, strict=True)
        return (*carried, *zip(op.results, before.ops[-1].operands[1:], body.args, strict=True))
    if op.name == "scf.if":
        return zip(op.results, *(b.ops[-1].operands for b in blocks), strict=True) if op.results else ()
    places = tuple([v for v in op.operands if _is_place(v)])
    return [(result, *places) for result in op.results if _is_place(result)]


def _is_place(value: Value) -> bool:
    return isinstance(value.type, ViewType) or isinstance(element_of(value.type), PointerType)
