"""Where instructions go: scopes with value numbering, and the text of functions.

A pure instruction is placed in the scope of its deepest operand (never above the scope's floor), and is looked up there
first: hoisting and common subexpressions cost nothing and need no pass. An open scope is a list of lines; it joins
its parent's list when it closes, so that what is hoisted meanwhile stands before it.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

from teeny.backends.cpu.target import Features, Level, features
from teeny.backends.cpu.text import FLOATS, llvm_type, rounded, scalar_text, vector_text, wrap
from teeny.diag import InternalError
from teeny.ir.lanes import Lane

__all__ = ["Block", "Emitter", "Module"]


class Block:
    """An open loop body, branch or the function itself."""

    __slots__ = ("depth", "floor", "label", "lines", "open", "region", "table")

    def __init__(self, depth: int, label: str, floor: int, region: int | None) -> None:
        self.depth = depth
        self.label = label
        """The basic block in which the next line stands."""
        self.floor = floor
        """Pure instructions made inside go to this depth or deeper."""
        self.region = region
        """Loads made inside go to this depth or deeper; None: they stay in the innermost scope."""
        self.lines: list[str] = []
        self.table: dict[str, Lane] = {}
        self.open = True


class Module:
    """A module of LLVM IR: functions and what they declare."""

    def __init__(self, level: Level = "native") -> None:
        self.level: Level = level
        self.features: Features = features(level)
        self.declarations: dict[str, None] = {}
        self.functions: list[str] = []

    def text(self) -> str:
        """The whole module."""
        attributes = 'nounwind "prefer-vector-width"="512" "min-legal-vector-width"="512"'
        return "\n\n".join(
            [
                "\n".join(self.declarations),
                *self.functions,
                f"attributes #0 = {{ {attributes} }}\n!0 = !{{i32 1}}\n",
            ]
        )


class Emitter:
    """One function under construction: the text level under the operations.

    `width` is the vector width that the caller works with; nothing here depends on it.
    """

    def __init__(self, module: Module, name: str, parameters: str, width: int = 16) -> None:
        self.module = module
        self.features = module.features
        self.width = width
        self._name = name
        self._parameters = parameters
        self._count = 0
        self.epoch: int = 0
        """Loads of one epoch see the same memory; counted up by stores."""
        self._allocas: list[str] = []
        self.scopes: list[Block] = [Block(0, "entry", 0, None)]

    # Names and places

    @property
    def depth(self) -> int:
        """Depth of the innermost open scope."""
        return len(self.scopes) - 1

    def fresh(self, prefix: str) -> str:
        """A name that no other value or block of the function has, without its %."""
        self._count += 1
        return f"{prefix}{self._count}"

    def declare(self, signature: str) -> None:
        """Add `declare <signature>` to the module."""
        self.module.declarations[f"declare {signature}"] = None

    def line(self, text: str) -> None:
        """An instruction with an effect, in the innermost scope."""
        self.scopes[-1].lines.append(text)

    def push(self, label: str, *, floor: bool) -> Block:
        """Open a scope; with `floor` nothing made inside leaves it."""
        outer = self.scopes[-1]
        depth = outer.depth + 1
        region = depth if floor and outer.region is not None else outer.region
        block = Block(depth, label, depth if floor else outer.floor, region)
        self.scopes.append(block)
        return block

    def pop(self) -> Block:
        """Close the innermost scope; its lines are the caller's to place."""
        block = self.scopes.pop()
        block.open = False
        return block

    @contextmanager
    def region(self) -> Generator[None, None, None]:
        """Inside, loads may be hoisted out of inner loops up to here, even past loops that run zero times.

        The caller vouches that such loads are safe and that no store inside can change them.
        """
        block = self.scopes[-1]
        before = block.region
        block.region = block.depth
        self.epoch += 1
        try:
            yield
        finally:
            block.region = before
            self.epoch += 1

    # Instructions

    def pure(self, rhs: str, dtype: str, width: int, *operands: Lane) -> Lane:
        """A pure instruction by its right-hand side, which is also its key."""
        scopes = self.scopes
        depth = 0
        for operand in operands:
            scope = operand.scope
            if not scope.open:
                raise InternalError(f"value {operand.text} is used outside the scope that defines it")
            if scope.depth > depth:
                depth = scope.depth
        floor = scopes[-1].floor
        block = scopes[max(depth, floor)]
        for at in range(depth, block.depth + 1):
            found = scopes[at].table.get(rhs)
            if found is not None:
                # f16, bf16 and i16 are one type to LLVM.
                return found if found.dtype == dtype else Lane(found.text, dtype, width, found.scope)
        self._count += 1
        name = f"%v{self._count}"
        block.lines.append(f"  {name} = {rhs}")
        made = block.table[rhs] = Lane(name, dtype, width, block)
        return made

    def effect(self, rhs: str, dtype: str, width: int) -> Lane:
        """An instruction with a result that must stay where it is."""
        self._count += 1
        name = f"%v{self._count}"
        block = self.scopes[-1]
        block.lines.append(f"  {name} = {rhs}")
        return Lane(name, dtype, width, block)

    def const(self, dtype: str, value: int | float | bool) -> Lane:
        """A constant, of width 1; beside a vector it is broadcast for free."""
        if dtype in FLOATS:
            value = rounded(dtype, float(value))
            return Lane(scalar_text(dtype, value), dtype, 1, self.scopes[0], value)
        value = wrap(dtype, int(value))
        return Lane(scalar_text(dtype, value), dtype, 1, self.scopes[0], value)

    def type_of(self, lane: Lane, /) -> str:
        """The dtype name of a lane."""
        return lane.dtype

    def splat(self, a: Lane, width: int) -> Lane:
        """A scalar in all lanes of a vector; a vector of that width is returned as it is."""
        if a.width == width:
            return a
        if a.width != 1:
            raise InternalError(f"a vector of {a.width} lanes where {width} are needed")
        if a.const is not None:
            return Lane(vector_text(a.dtype, a.const), a.dtype, width, a.scope, a.const)
        vector, scalar = llvm_type(a.dtype, width), llvm_type(a.dtype, 1)
        one = self.pure(f"insertelement {vector} poison, {scalar} {a.text}, i64 0", a.dtype, width, a)
        mask = f"<{width} x i32> zeroinitializer"
        return self.pure(f"shufflevector {vector} {one.text}, {vector} poison, {mask}", a.dtype, width, one)

    def level_lanes(self, *lanes: Lane) -> tuple[Lane, ...]:
        """The lanes with scalars broadcast to the width of the vectors among them."""
        width = max(lane.width for lane in lanes)
        return tuple(self.splat(lane, width) for lane in lanes)

    def slot(self, size: int, align: int) -> Lane:
        """Uninitialised memory of the function's frame, allocated once at entry."""
        name = f"%{self.fresh('slot')}"
        self._allocas.append(f"  {name} = alloca [{size} x i8], align {align}")
        return Lane(name, "ptr", 1, self.scopes[0])

    def parameter(self, name: str, dtype: str) -> Lane:
        """A parameter of the function as a lane."""
        return Lane(f"%{name}", dtype, 1, self.scopes[0])

    def finish(self) -> None:
        """Return from the function and add it to the module."""
        if len(self.scopes) != 1:
            raise InternalError("a function ends inside an open scope")
        entry = self.scopes[0]
        body = "\n".join(["entry:", *self._allocas, *entry.lines, "  ret void"])
        self.module.functions.append(f"define void @{self._name}({self._parameters}) #0 {{\n{body}\n}}")
