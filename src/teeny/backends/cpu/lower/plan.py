"""What of a function is kept in buffers, and where it is computed; decided before any code is emitted.

Tile values are lazy: each *anchor* (a store, a reduction, a value handed to or from a region) evaluates what it needs
inside its own loop nest. A value is materialised, computed once into a buffer, where
- it is dear (`DEAR`) and two anchors or one in a deeper loop need it, or
- it is a load, and a store that may write the same memory comes between it and an anchor, or
- it is a load that a store's nest could not be shown to read before the store overwrites it.
It is then a by-product of the first anchor that needs it, if that runs over the same domain in the same block
(`hosts`), else a nest of its own where it is defined (`early`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from teeny.backends.cpu.lower.shifts import Shift, find_shifts
from teeny.backends.cpu.lower.structure import Structure, is_affine, is_lazy
from teeny.backends.cpu.lower.values import is_tile, kind_of, shape
from teeny.passes.polling import spinning

if TYPE_CHECKING:
    from teeny.ir.core import Function, Op, Value

__all__ = ["Plan", "make_plan"]

DEAR = 6.0
GATHER = 16.0


@dataclass(slots=True)
class Plan:
    """`early`: operations whose result gets a nest of its own; `hosts`: for an anchor, its by-products."""

    alias: dict[Value, Value]
    shifts: dict[Op, dict[int, Shift | None]]
    early: set[Op] = field(default_factory=set["Op"])
    hosts: dict[Op, list[Value]] = field(default_factory=dict["Op", list["Value"]])
    sites: dict[Value, frozenset[Op]] = field(default_factory=dict["Value", frozenset["Op"]])
    accumulators: dict[Op, Value] = field(default_factory=dict["Op", "Value"])
    """For a product: the tile that its loop carries, of which its result is the next value; nobody reads it later."""
    unread: frozenset[Op] = frozenset()
    """Atomic operations whose results, tiles, nobody reads."""
    spinning: frozenset[Op] = frozenset()
    """Loops that end by what another thread may do."""

    def source(self, value: Value) -> Value:
        """The value that stands for another one."""
        while (found := self.alias.get(value)) is not None:
            value = found
        return value


def make_plan(function: Function, *, disjoint: bool) -> Plan:
    """Plan a function; `disjoint` vouches that different pointer arguments lead to disjoint memory."""
    alias, shifts, made = find_shifts(function)
    plan = Plan(alias, shifts)
    structure = Structure(function, plan.source, made, disjoint)
    steps = (op for op in structure.position if op.schema.group == "atomic")
    plan.unread = frozenset([op for op in steps if all(r not in structure.users for r in op.results)])
    plan.spinning = frozenset(spinning(function))
    plan.early.update([op for op in structure.position if op.attrs.get("isVolatile") and is_lazy(op)])
    planner = _Planner(plan, structure)
    products = [op for op in structure.position if op.schema.group == "dot"]
    for op in products:
        planner.operands(op)
    for value in structure.lazy_values:
        planner.sites(value)
    for op in products:
        planner.accumulator(op)
    return plan


class _Planner:
    def __init__(self, plan: Plan, structure: Structure) -> None:
        self.plan = plan
        self.structure = structure

    def operands(self, product: Op) -> None:
        """Compute what a product takes before the loop that it stands in, where it comes from there."""
        structure = self.structure
        for value in (*product.operands[:2], *product.operands[3:]):
            value = self.plan.source(value)
            while value.op is not None and kind_of(value.op) == "view":
                value = self.plan.source(value.op.operands[0])
            op = value.op
            if op in structure.position and is_lazy(op) and structure.loops[product] - structure.loops[op]:
                self.plan.early.add(op)

    def accumulator(self, product: Op) -> None:
        """Find the tile that the loop carries, of which the product's result is the next value; see `Plan`."""
        block = product.block
        parent = None if block is None or block.region is None else block.region.op
        if block is None or parent is None or parent.name != "scf.for":
            return
        here = self.structure.position[product]
        for number, value in enumerate(block.ops[-1].operands):
            carried = parent.regions[0].block.args[number + 1]
            if self.plan.source(value) is product.results[0] and carried not in self.plan.alias:
                if all(self.structure.position.get(s, here) <= here for s in self.sites(carried)):
                    self.plan.accumulators[product] = carried
                return

    def sites(self, value: Value) -> frozenset[Op]:
        """The anchors in whose nests the value is evaluated (a nest of its own counts as one)."""
        known = self.plan.sites.get(value)
        if known is not None:
            return known
        found: set[Op] = set()
        for user in self.structure.users.get(value, ()):
            if is_lazy(user):
                result = user.results[0]
                inner = self.sites(result)
                if user in self.plan.early:
                    found.add(user)
                else:
                    host = self._host(result)
                    found.update(inner if host is None else (host,))
            else:
                found.add(user)
        sites = self.plan.sites[value] = frozenset(found)
        if sites and value.op is not None and is_lazy(value.op):
            self._decide(value, value.op, sites)
        return sites

    def _host(self, value: Value) -> Op | None:
        for host, values in self.plan.hosts.items():
            if value in values:
                return host
        return None

    def _decide(self, value: Value, op: Op, sites: frozenset[Op]) -> None:
        structure = self.structure
        at = structure.position.get(op)
        if at is None or op in self.plan.early:  # made by the planner itself: always cheap
            return
        load = op.name == "tt.load"
        cost = op.schema.cost
        if load and not is_affine(op.operands[0], self.plan.source):
            cost = GATHER
        deeper = any(structure.loops[s] - structure.loops[op] for s in sites)
        dear = cost >= DEAR and (len(sites) >= 2 or deeper)
        first = min(sites, key=lambda s: structure.position[s])
        writes = structure.hazards(op, sites) if load else []
        if not dear and not writes:
            return
        in_time = all(structure.position[first] < structure.position[w] for w in writes)
        if in_time and first.block is op.block and self._same_domain(value, first):
            self.plan.hosts.setdefault(first, []).append(value)
        else:
            self.plan.early.add(op)

    def _same_domain(self, value: Value, anchor: Op) -> bool:
        """Whether the anchor's nest evaluates the value at its own index, and each element of it."""
        plan = self.plan
        if anchor in plan.early:
            roots = [anchor.results[0]]
        elif anchor.name in ("tt.reduce", "tt.reshape"):
            roots = list(anchor.operands)
        else:
            return False
        dims = shape(value)
        seen: set[Value] = set()
        stack = [plan.source(r) for r in roots]
        while stack:
            found = stack.pop()
            if found in seen or not is_tile(found) or shape(found) != dims:
                continue
            seen.add(found)
            op = found.op
            if found is value:
                return True
            if op is None or not is_lazy(op) or op.name in ("tt.trans", "tt.broadcast", "tt.expand_dims", "tt.splat"):
                continue
            if op in plan.early and op is not anchor:
                continue
            host = self._host(found)
            if host is None or host is anchor:
                stack.extend(plan.source(x) for x in op.operands)
        return False
