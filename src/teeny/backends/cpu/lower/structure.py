"""Where operations stand in a function and which may touch the same memory: the facts behind a plan."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from teeny.backends.cpu.lower.values import is_tile, kind_of
from teeny.ir.types import PointerType, element_of

if TYPE_CHECKING:
    from teeny.ir.core import Block, Function, Op, Value

__all__ = ["Structure", "is_affine", "is_lazy", "root_of"]

Source = Callable[["Value"], "Value"]
_LAZY = frozenset({"", "view", "range", "address", "load"})
_RING = frozenset({"tt.addptr", "arith.addi", "arith.subi"})
COMBINING = frozenset({"tt.reduce", "tt.scan"})
"""Operations whose region joins elements; it holds no tiles."""


def is_lazy(op: Op) -> bool:
    """Whether the operation's result is a tile that anchors evaluate when they need it."""
    return len(op.results) == 1 and is_tile(op.results[0]) and kind_of(op) in _LAZY


def is_uniform(value: Value, source: Source) -> bool:
    """Whether all elements of a tile are plainly the same."""
    value = source(value)
    if not is_tile(value):
        return True
    op = value.op
    if op is None or not is_lazy(op) or kind_of(op) in ("range", "load"):
        return False
    return all(is_uniform(x, source) for x in op.operands)


def is_affine(value: Value, source: Source) -> bool:
    """Whether a tile of integers or pointers is plainly linear in its indices."""
    value = source(value)
    if not is_tile(value):
        return True
    op = value.op
    if op is None or not is_lazy(op):
        return False
    match kind_of(op):
        case "range":
            return True
        case "load":
            return False
        case "view":
            return is_affine(op.operands[0], source)
        case _ if op.name in _RING or op.name in ("arith.extsi", "arith.extui", "arith.trunci"):
            return all(is_affine(x, source) for x in op.operands)
        case _ if op.name == "arith.muli":
            x, y = op.operands
            return (is_uniform(x, source) and is_affine(y, source)) or (is_affine(x, source) and is_uniform(y, source))
        case _:
            return is_uniform(value, source)


def root_of(value: Value, source: Source) -> Value | None:
    """The pointer argument of the function from which a pointer is computed, if it is plainly one."""
    for _ in range(1000):
        value = source(value)
        op = value.op
        if op is None:
            block = value.block
            parent = None if block is None or block.region is None else block.region.op
            if parent is None:
                return value if block is not None else None
            if parent.name != "scf.for" or value.index == 0 or not _stays(value, parent, source):
                return None
            value = parent.operands[value.index + 2]
        elif kind_of(op) in ("view", "address"):
            value = op.operands[0]
        elif op.name == "scf.for" and _stays(op.regions[0].block.args[value.index + 1], op, source):
            value = op.operands[value.index + 3]
        else:
            return None
    return None


def _stays(argument: Value, loop: Op, source: Source) -> bool:
    """Whether a carried pointer only moves: what the loop yields for it is computed from itself."""
    value = source(loop.regions[0].block.ops[-1].operands[argument.index - 1])
    while value is not argument:
        op = value.op
        if op is None or kind_of(op) not in ("view", "address"):
            return False
        value = source(op.operands[0])
    return True


class Structure:
    """Positions, enclosing loops, users and writes of a function.

    `stores` are all operations that write memory.
    """

    def __init__(self, function: Function, source: Source, made: list[Op], disjoint: bool) -> None:
        self.source = source
        self.disjoint = disjoint
        self.position: dict[Op, int] = {}
        self.loops: dict[Op, frozenset[Op]] = {}
        self.users: dict[Value, list[Op]] = {}
        self.stores: list[Op] = []
        self.lazy_values: list[Value] = []
        self._place(function.entry, frozenset())
        for op in (*self.position, *made):
            if kind_of(op) == "nothing":
                continue
            for operand in op.operands:
                if is_tile(operand):
                    self.users.setdefault(source(operand), []).append(op)
        self._roots = {s: root_of(s.operands[0], source) for s in self.stores}

    def _place(self, block: Block, loops: frozenset[Op]) -> None:
        for op in block.ops:
            self.position[op] = len(self.position)
            self.loops[op] = loops
            if op.schema.writes:
                self.stores.append(op)
            if op.name in COMBINING:
                continue
            if is_lazy(op):
                self.lazy_values.append(op.results[0])
            inner = loops | {op} if op.name in ("scf.for", "scf.while") else loops
            for region in op.regions:
                for body in region.blocks:
                    self._place(body, inner)

    def may_alias(self, load: Op, store: Op) -> bool:
        """Whether a load may read what a store writes."""
        if not self.disjoint:
            return True
        x, y = root_of(load.operands[0], self.source), self._roots[store]
        return x is None or y is None or x is y

    def hazards(self, load: Op, sites: frozenset[Op]) -> list[Op]:
        """The stores before which a load has to be done: those that come between it and a site, or defeat a test."""
        return [
            store
            for store in self.stores
            if any(self._between(load, store, site) for site in sites) and self.may_alias(load, store)
        ]

    def _between(self, load: Op, store: Op, site: Op) -> bool:
        position, loops = self.position, self.loops
        if position[load] < position[store] < position[site]:
            return True
        if loops[store] & (loops[site] - loops[load]):
            return True
        return site is store and is_tile(store.operands[0]) and not self._testable(load, store)

    def _testable(self, load: Op, store: Op) -> bool:
        """Whether a test of addresses in the store's nest can tell that the load is safe."""
        source = self.source
        pointer = store.operands[0]
        if store.name != "tt.store" or not is_affine(load.operands[0], source) or not is_affine(pointer, source):
            return False
        decisive = [pointer, *store.operands[2:]]
        return not any(self._reaches(v, load.results[0], set()) for v in decisive)

    def _reaches(self, value: Value, goal: Value, seen: set[Value]) -> bool:
        value = self.source(value)
        if value is goal:
            return True
        op = value.op
        if value in seen or op is None or not is_tile(value) or not is_lazy(op):
            return False
        seen.add(value)
        return any(self._reaches(x, goal, seen) for x in op.operands)


def is_pointer(value: Value) -> bool:
    return isinstance(element_of(value.type), PointerType)
