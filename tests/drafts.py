"""Short ways to write IR by hand in tests, and a kernel under construction with its arguments."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from teeny.ir.builder import Builder
from teeny.ir.core import Block, Function, Module, Op, Region, Value
from teeny.ir.dtype import I32, DType
from teeny.ir.schema import OpDef, registry
from teeny.ir.types import PointerType, Type, element_of, pointer, shape_of, typed
from teeny.ops.address import addptr_
from teeny.ops.arith import addi, muli
from teeny.ops.compare import compare
from teeny.ops.constant import constant
from teeny.ops.control import for_, if_, return_, yield_
from teeny.ops.memory import load_, store_
from teeny.ops.program import get_program_id, make_range
from teeny.ops.reduce import reduce_, reduce_return
from teeny.ops.shape import broadcast, broadcast_value, expand_dims_, reshape_, trans_

Shape = tuple[Any, ...]


@dataclass(slots=True)
class Draft:
    """A kernel that is being written. Parameters come first: `pointer` and `scalar` before `begin`."""

    names: list[str] = field(default_factory=list[str])
    types: list[Type] = field(default_factory=list[Type])
    b: Builder = field(init=False)
    function: Function = field(init=False)

    def parameter(self, name: str, type_: Type) -> int:
        self.names.append(name)
        self.types.append(type_)
        return len(self.types) - 1

    def pointer(self, name: str, dtype: DType) -> int:
        return self.parameter(name, pointer(dtype))

    def scalar(self, name: str, dtype: DType = I32) -> int:
        return self.parameter(name, dtype)

    def begin(self) -> tuple[Value, ...]:
        """Close the list of parameters; their values."""
        block = Block(tuple(self.types), tuple(self.names))
        self.function = Function("kernel", Region([block]))
        self.b = Builder(block)
        return block.args

    def end(self) -> Module:
        self.b.op(return_, ())
        return Module([self.function])

    # Values

    def const(self, value: Any, type_: Type) -> Value:
        return constant(self.b, type_, value)

    def range(self, size: Any, start: Any = 0) -> Value:
        return self.b.create(make_range, start=start, end=start + size)

    def program(self, axis: int = 0) -> Value:
        return self.b.create(get_program_id, axis=axis)

    def apply(self, schema: OpDef, *operands: Value, **attrs: Any) -> Value:
        return self.b.create(schema, *operands, **attrs)

    def add(self, x: Value, y: Value) -> Value:
        return self.apply(addi, x, y)

    def mul(self, x: Value, y: Value) -> Value:
        return self.apply(muli, x, y)

    def compare(self, predicate: str, x: Value, y: Value, dtype: DType | None = None) -> Value:
        """By the plain predicate ("lt"); integers with sign unless `dtype` is given."""
        found = element_of(x.type)
        assert isinstance(found, DType)
        return compare(self.b, predicate, dtype or found, x, y)

    def fill(self, x: Value, shape: Shape) -> Value:
        return broadcast_value(self.b, x, shape)

    def expand(self, x: Value, axis: int, shape: Shape) -> Value:
        """A new axis at `axis`, then broadcast to `shape`."""
        found = self.b.create(expand_dims_, x, axis=axis)
        return (
            found
            if shape_of(found.type) == shape
            else self.b.create(broadcast, found, type=typed(shape, element_of(x.type)))
        )

    def reshape(self, x: Value, shape: Shape) -> Value:
        return self.b.create(reshape_, x, type=typed(shape, element_of(x.type)), allow_reorder=False)

    def trans(self, x: Value, order: tuple[int, ...]) -> Value:
        return self.b.create(trans_, x, order=order)

    # Memory

    def at(self, ptr: Value, offset: Value) -> Value:
        """`ptr` (a scalar) moved by a tile or scalar of offsets."""
        return self.b.create(addptr_, self.fill(ptr, shape_of(offset.type)), offset)

    def load(self, ptr: Value, mask: Value | None = None, other: Value | float | None = None) -> Value:
        operands = [ptr] if mask is None else [ptr, mask]
        element = element_of(ptr.type)
        assert isinstance(element, PointerType)
        if other is not None:
            operands.append(
                other if isinstance(other, Value) else self.const(other, typed(shape_of(ptr.type), element.pointee))
            )
        return self.b.op(load_, tuple(operands)).result

    def store(self, ptr: Value, value: Value, mask: Value | None = None) -> Op:
        return self.b.op(store_, (ptr, value) if mask is None else (ptr, value, mask))

    # Regions

    def reduce(self, x: Value, axis: int, *schemas: OpDef) -> Value:
        """Reduce by `schemas[0](left, right)`, then by each further one applied to the result and `right`."""
        element = element_of(x.type)
        body = Block((element, element))
        inner = Builder(body)
        found = body.args[0]
        for schema in schemas:
            found = inner.create(schema, found, body.args[1])
        inner.op(reduce_return, (found,))
        return self.b.op(reduce_, (x,), {"axis": axis}, (Region([body]),)).result

    def scan(self, x: Value, axis: int, schema: OpDef, *, reverse: bool = False) -> Value:
        """Scan by `schema(left, right)`."""

        def join(left: Value, right: Value) -> tuple[Value, ...]:
            return (self.apply(schema, left, right),)

        return self.combine("tt.scan", (x,), {"axis": axis, "reverse": reverse}, join)[0]

    def combine(
        self, name: str, xs: tuple[Value, ...], attrs: dict[str, Any], body: Callable[..., tuple[Value, ...]]
    ) -> tuple[Value, ...]:
        """A reduction ("tt.reduce") or a scan ("tt.scan"); `body(*left, *right)` gives what they become."""
        elements = tuple(element_of(x.type) for x in xs)
        block = Block((*elements, *elements))
        outer, self.b = self.b, Builder(block)
        found = body(*block.args)
        self.b.op(registry()[f"{name}.return"], found)
        self.b = outer
        return self.b.op(registry()[name], xs, attrs, (Region([block]),)).results

    def loop(
        self, start: Value, end: Value, step: Value, inits: tuple[Value, ...], body: Callable[..., tuple[Value, ...]]
    ) -> tuple[Value, ...]:
        """`body(index, *carried)` gives what is carried on."""
        block = Block((start.type, *(v.type for v in inits)))
        self._inside(block, lambda: body(*block.args))
        return self.b.op(for_, (start, end, step, *inits), regions=(Region([block]),)).results

    def branch(
        self, condition: Value, then: Callable[[], tuple[Value, ...]], otherwise: Callable[[], tuple[Value, ...]]
    ) -> tuple[Value, ...]:
        blocks = Block(), Block()
        results = self._inside(blocks[0], then)
        self._inside(blocks[1], otherwise)
        types = tuple(v.type for v in results)
        return self.b.op(if_, (condition,), regions=(Region([blocks[0]]), Region([blocks[1]])), types=types).results

    def _inside(self, block: Block, body: Callable[[], tuple[Value, ...]]) -> tuple[Value, ...]:
        outer, self.b = self.b, Builder(block)
        results = body()
        self.b.op(yield_, results)
        self.b = outer
        return results
