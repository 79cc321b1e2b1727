"""The intermediate form: typed SSA values, operations with regions, functions, modules.

Operations mirror the Triton dialect; what an operation means is in its `OpDef` (`ir.schema`). Plain mutable objects;
passes return new functions or edit in place, and say which.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from teeny.diag.span import Location
    from teeny.ir.dtype import DType
    from teeny.ir.schema import OpDef
    from teeny.ir.types import Type

Attr: TypeAlias = "int | float | bool | str | DType | tuple[Attr, ...] | None"


class Value:
    """A result of an operation (`op` set) or an argument of a block (`block` set), number `index` of it."""

    __slots__ = ("block", "index", "name", "op", "type")

    def __init__(self, type_: Type, op: Op | None, block: Block | None, index: int, name: str | None = None) -> None:
        self.type = type_
        self.op = op
        self.block = block
        self.index = index
        self.name = name

    @property
    def home(self) -> Block | None:
        """The block that it is made in."""
        return self.op.block if self.op is not None else self.block

    def __repr__(self) -> str:
        return f"<%{self.name or self.index}: {self.type}>"


class Op:
    """One operation. `guard` is used in generic IR alone: the Const condition (`ir.guard`) under which it exists."""

    __slots__ = ("attrs", "block", "guard", "loc", "operands", "regions", "results", "schema")

    def __init__(
        self,
        schema: OpDef,
        operands: tuple[Value, ...],
        result_types: tuple[Type, ...] = (),
        attrs: dict[str, object] | None = None,
        regions: tuple[Region, ...] = (),
        loc: Location | None = None,
    ) -> None:
        self.schema = schema
        self.operands = operands
        self.attrs: dict[str, object] = attrs if attrs is not None else {}
        self.regions = regions
        self.loc = loc
        self.block: Block | None = None
        self.guard: int | None = None
        self.results = tuple(Value(t, self, None, i) for i, t in enumerate(result_types))
        for region in regions:
            region.op = self

    @property
    def name(self) -> str:
        return self.schema.name

    @property
    def result(self) -> Value:
        """The one result."""
        (result,) = self.results
        return result

    def __repr__(self) -> str:
        return f"<{self.schema.name}>"


class Block:
    """A straight run of operations; the last is the terminator."""

    __slots__ = ("args", "ops", "region")

    def __init__(self, arg_types: tuple[Type, ...] = (), names: tuple[str | None, ...] = ()) -> None:
        self.ops: list[Op] = []
        self.region: Region | None = None
        self.args = tuple(
            Value(t, None, self, i, names[i] if i < len(names) else None) for i, t in enumerate(arg_types)
        )

    def append(self, op: Op) -> Op:
        op.block = self
        self.ops.append(op)
        return op


class Region:
    """The blocks of an operation's body; structured operations have one."""

    __slots__ = ("blocks", "op")

    def __init__(self, blocks: list[Block] | None = None) -> None:
        self.blocks: list[Block] = blocks if blocks is not None else []
        self.op: Op | None = None
        for block in self.blocks:
            block.region = self

    @property
    def block(self) -> Block:
        """The one block."""
        (block,) = self.blocks
        return block


@dataclass(slots=True)
class Function:
    """A `tt.func`. Its parameters are the arguments of the body's first block."""

    name: str
    body: Region
    result_types: tuple[Type, ...] = ()
    public: bool = True
    arg_attrs: tuple[dict[str, object], ...] = ()
    attrs: dict[str, object] = field(default_factory=dict[str, object])
    loc: Location | None = None

    @property
    def args(self) -> tuple[Value, ...]:
        return self.body.blocks[0].args

    @property
    def entry(self) -> Block:
        return self.body.blocks[0]


@dataclass(slots=True)
class Module:
    """Functions; the first public one is the kernel."""

    functions: list[Function]

    @property
    def kernel(self) -> Function:
        return next(f for f in self.functions if f.public)


def walk(block: Block) -> Iterator[Op]:
    """Every operation of a block, regions included, in program order (an operation before its regions)."""
    for op in block.ops:
        yield op
        for region in op.regions:
            for inner in region.blocks:
                yield from walk(inner)


def walk_function(function: Function) -> Iterator[Op]:
    for block in function.body.blocks:
        yield from walk(block)


def uses(function: Function) -> dict[Value, list[tuple[Op, int]]]:
    """For each value, the operations that read it and the operand's number, in program order."""
    table: dict[Value, list[tuple[Op, int]]] = {}
    for op in walk_function(function):
        for at, value in enumerate(op.operands):
            table.setdefault(value, []).append((op, at))
    return table
