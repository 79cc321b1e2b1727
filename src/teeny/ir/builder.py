"""Making operations at an insertion point. Result types come from the schema, so a wrong operand is caught here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from teeny.ir.core import Block, Op, Region, Value

if TYPE_CHECKING:
    from teeny.diag.span import Location
    from teeny.ir.schema import Infer, OpDef
    from teeny.ir.types import Type


class Builder:
    """Appends operations to `block`, stamped with `loc` and `guard`."""

    __slots__ = ("block", "guard", "loc")

    def __init__(self, block: Block, loc: Location | None = None) -> None:
        self.block = block
        self.loc = loc
        self.guard: int | None = None

    def op(
        self,
        schema: OpDef,
        operands: tuple[Value, ...],
        attrs: dict[str, Any] | None = None,
        regions: tuple[Region, ...] = (),
        types: tuple[Type, ...] | None = None,
    ) -> Op:
        """Append an operation and return it. `types` are the results', where the schema cannot infer them."""
        attrs = attrs if attrs is not None else {}
        if types is None:
            types = cast("Infer", schema.types)(tuple([v.type for v in operands]), attrs)
        op = Op(schema, operands, types, attrs, regions, self.loc)
        op.guard = self.guard
        return self.block.append(op)

    def create(self, schema: OpDef, *operands: Value, type: Type | None = None, **attrs: Any) -> Value:
        """Append an operation with one result and return that."""
        return self.op(schema, operands, attrs, types=None if type is None else (type,)).results[0]
