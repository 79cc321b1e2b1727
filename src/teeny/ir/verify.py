"""The verifier: whether IR is well formed. What it finds is teeny's own fault, so it raises `InternalError`.

Generic IR (`concrete=False`) may hold dtype variables, symbolic dims, guards and generic operations; concrete IR not.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, cast

from teeny.diag.errors import InternalError
from teeny.ir.blocks import defined, dominators
from teeny.ir.dtype import DType
from teeny.ir.schema import is_storage, verify_op
from teeny.ir.types import PointerType, TensorType, element_of, text

if TYPE_CHECKING:
    from teeny.diag.span import Location
    from teeny.ir.core import Block, Function, Module, Op, Value
    from teeny.ir.types import Type

Types = tuple["Type", ...]


def verify(module: Module, *, concrete: bool) -> None:
    """Check a module; raises `InternalError` that lists every fault found."""
    faults = faults_of(module, concrete=concrete)
    if faults:
        lines = "".join(f"\n  {text_}" for text_, _ in faults)
        place = next((loc for _, loc in faults if loc is not None), None)
        raise InternalError(f"the IR is malformed{lines}", place)


def faults_of(module: Module, *, concrete: bool, structured: bool = True) -> list[tuple[str, Location | None]]:
    """Every fault of a module with its place, in program order. Not `structured`: functions may have several blocks."""
    found = _Verifier({f.name: f for f in module.functions}, concrete, structured)
    if len(found.functions) != len(module.functions):
        found.fault("two functions have one name", None)
    if not any(f.public for f in module.functions):
        found.fault("no function is public", None)
    for function in module.functions:
        found.function(function)
    return found.faults


class _Verifier:
    __slots__ = ("concrete", "current", "faults", "functions", "seen", "structured")

    def __init__(self, functions: dict[str, Function], concrete: bool, structured: bool) -> None:
        self.structured = structured
        self.functions = functions
        self.concrete = concrete
        self.faults: list[tuple[str, Location | None]] = []
        self.seen: set[Op] = set()
        self.current = ""

    def fault(self, message: str, place: Location | None) -> None:
        self.faults.append((f"{self.current}: {message}" if self.current else message, place))

    def function(self, function: Function) -> None:
        self.current = function.name
        blocks = function.body.blocks
        if len(blocks) != 1 and self.structured:
            self.fault("a function has one block", function.loc)
        if function.arg_attrs and len(function.arg_attrs) != len(function.args):
            self.fault("there are as many attribute dictionaries as parameters, or none", function.loc)
        above = dominators(blocks)
        for number, block in enumerate(blocks):
            visible = {v for n in above[number] - {number} for v in defined(blocks[n])}
            ending = block.ops[-1].name if block.ops and "to" in block.ops[-1].attrs else "tt.return"
            expected = function.result_types
            if ending != "tt.return":
                expected = self.aims(block.ops[-1], blocks)
            self.block(block, visible, ending, expected, function.loc)

    def block(self, block: Block, visible: set[Value], ending: str, expected: Types, place: Location | None) -> None:
        """A block that ends in the terminator `ending`, whose operands have the types `expected`."""
        inside = set(visible)
        for at, value in enumerate(block.args):
            if value.block is not block or value.index != at:
                self.fault(f"argument {at} of a block does not know its place", place)
            self.type(value.type, place)
            inside.add(value)
        for op in block.ops:
            self.operation(op, block, inside)
            inside.update(op.results)
        last = block.ops[-1] if block.ops else None
        if last is None or last.name != ending:
            self.fault(f"a block ends in {ending}, found {last.name if last is not None else 'nothing'}", place)
        else:
            given = last.operands[1:] if ending in ("scf.condition", "cf.cond_br") else last.operands
            self.same(f"{ending} gives", tuple(v.type for v in given), expected, last.loc)

    def aims(self, op: Op, blocks: list[Block]) -> Types:
        """The types of the arguments that a branch hands on."""
        found: list[Type] = []
        for number in cast("tuple[int, ...]", op.attrs["to"]):
            if not 0 < number < len(blocks):
                self.fault(f"{op.name} leads to the block {number}, which is none of the others", op.loc)
            else:
                found += [v.type for v in blocks[number].args]
        return tuple(found)

    def operation(self, op: Op, block: Block, visible: set[Value]) -> None:
        schema = op.schema
        if op in self.seen:
            self.fault(f"{op.name} stands in two places", op.loc)
            return
        self.seen.add(op)
        if op.block is not block or any(r.op is not op or r.index != i for i, r in enumerate(op.results)):
            self.fault(f"{op.name} or one of its results does not know its place", op.loc)
        if schema.terminator and op is not block.ops[-1]:
            self.fault(f"{op.name} is not the last of its block", op.loc)
        for at, value in enumerate(op.operands):
            if value not in visible:
                self.fault(f"operand {at} of {op.name} is not defined before it", op.loc)
        if self.concrete:
            self.concretely(op)
        if self.own(op):
            self.regions(op, visible)

    def own(self, op: Op) -> bool:
        """Check an operation by its schema; whether its regions can be judged."""
        names = op.schema.results
        if not any(n.endswith("*") for n in names) and op.schema.inferred is False and len(op.results) != len(names):
            self.fault(f"{op.name} has {len(names)} results, found {len(op.results)}", op.loc)
            return False
        try:
            wrong = verify_op(op)
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            wrong = f"{op.name} has attributes that do not fit: {error}"
        if wrong is not None:
            self.fault(wrong, op.loc)
        if len(op.regions) != op.schema.regions:
            return False
        if any(len(region.blocks) != 1 for region in op.regions):
            self.fault(f"a region of {op.name} has not one block", op.loc)
            return False
        if any(region.op is not op or region.block.region is not region for region in op.regions):
            self.fault(f"a region of {op.name} does not know its place", op.loc)
        return True

    def regions(self, op: Op, visible: set[Value]) -> None:
        if op.name == "tt.call":
            self.call(op)
        rule = _REGIONS.get(op.name)
        if rule is None:
            if op.regions:
                self.fault(f"{op.name} has regions that the verifier knows nothing of", op.loc)
            return
        for region, (args, ending, given) in zip(op.regions, rule(op), strict=True):
            block = region.block
            self.same(f"the region of {op.name} takes", tuple(v.type for v in block.args), args, op.loc)
            self.block(block, visible, ending, given, op.loc)

    def call(self, op: Op) -> None:
        callee = self.functions.get(str(op.attrs.get("callee")))
        if callee is None:
            self.fault(f"tt.call of {op.attrs.get('callee')}, which is no function of the module", op.loc)
            return
        self.same("tt.call passes", tuple(v.type for v in op.operands), tuple(v.type for v in callee.args), op.loc)
        self.same("tt.call gives", tuple(v.type for v in op.results), callee.result_types, op.loc)

    def same(self, what: str, found: Types, expected: Types, place: Location | None) -> None:
        if found != expected:
            self.fault(f"{what} {_show(found)}, expected {_show(expected)}", place)

    def concretely(self, op: Op) -> None:
        """What only generic IR may have."""
        if op.schema.generic:
            self.fault(f"{op.name} is an operation of generic IR", op.loc)
        if op.guard is not None:
            self.fault(f"{op.name} has a guard", op.loc)
        for name, value in op.attrs.items():
            if not isinstance(value, int | float | str | tuple | DType | None):
                self.fault(f"{name} of {op.name} is symbolic: {value}", op.loc)
        for result in op.results:
            self.type(result.type, op.loc)

    def type(self, type_: Type, place: Location | None) -> None:
        """A type of concrete IR."""
        if not self.concrete:
            return
        element = element_of(type_)
        while isinstance(element, PointerType):
            element = element.pointee
        if element.is_variable:
            self.fault(f"{text(type_)} has a dtype variable", place)
        elif not is_storage(element):
            self.fault(f"{element} has a sign, which the IR does not keep", place)
        if isinstance(type_, TensorType):
            for dim in type_.shape:
                if not isinstance(dim, int):
                    self.fault(f"{text(type_)} has a symbolic dim", place)
                elif dim < 1 or dim & (dim - 1):
                    self.fault(f"a dim of {text(type_)} is no power of two", place)


def _show(types: Types) -> str:
    return "(" + ", ".join(text(t) for t in types) + ")"


def _for(op: Op) -> list[tuple[Types, str, Types]]:
    carried = tuple(v.type for v in op.operands[3:])
    return [((op.operands[0].type, *carried), "scf.yield", carried)]


def _if(op: Op) -> list[tuple[Types, str, Types]]:
    results = tuple(r.type for r in op.results)
    return [((), "scf.yield", results)] * 2


def _while(op: Op) -> list[tuple[Types, str, Types]]:
    inits, results = tuple(v.type for v in op.operands), tuple(r.type for r in op.results)
    return [(inits, "scf.condition", results), (results, "scf.yield", inits)]


def _reduce(op: Op) -> list[tuple[Types, str, Types]]:
    elements = tuple(element_of(v.type) for v in op.operands)
    return [((*elements, *elements), f"{op.name}.return", elements)]


def _map(op: Op) -> list[tuple[Types, str, Types]]:
    pack = cast("int", op.attrs["pack"])
    taken = tuple(element_of(v.type) for v in op.operands for _ in range(pack))
    return [(taken, "tt.map_elementwise.return", tuple(element_of(r.type) for r in op.results for _ in range(pack)))]


_REGIONS: dict[str, Callable[[Op], list[tuple[Types, str, Types]]]] = {
    "scf.for": _for,
    "scf.if": _if,
    "scf.while": _while,
    "tt.reduce": _reduce,
    "tt.scan": _reduce,
    "tt.map_elementwise": _map,
}
"""For each region: its block's argument types, its terminator, and what that gives."""
