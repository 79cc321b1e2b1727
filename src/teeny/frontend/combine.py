"""Functions that take a function: `reduce`, `associative_scan`, `map_elementwise`.

The function is lowered once into a block of scalars.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from teeny.diag.span import user_location
from teeny.frontend.call import bind, call_language
from teeny.frontend.dims import CallShapes
from teeny.frontend.explain import not_const
from teeny.frontend.guards import guard_of
from teeny.frontend.inline import inline
from teeny.frontend.lift import Lift, flat
from teeny.frontend.pack import apart, together
from teeny.frontend.regions import Region
from teeny.frontend.values import (
    UNKNOWN,
    Comparison,
    Condition,
    Unset,
    is_const,
    is_faulty,
    is_tuple,
    show,
    show_dtype,
    show_shape,
)
from teeny.ir.core import Block, walk
from teeny.ir.core import Region as IrRegion
from teeny.ir.poly import Dim, Poly
from teeny.ir.types import element_of, shape_of, typed
from teeny.ops.function import LanguageFunction, Operand, function_of
from teeny.ops.reduce import reduce_, reduce_return
from teeny.ops.scan import scan_, scan_return
from teeny.ops.shape import broadcast_value, expand_dims_, normal_axis, reshape_, splat

if TYPE_CHECKING:
    from types import FunctionType

    from teeny.frontend.context import Context
    from teeny.ir.core import Op, Value
    from teeny.ir.schema import OpDef

_INSIDE = frozenset({"constant", "compare", "select", "phi", "for", "if", "while", "terminator"})
"""Kinds of operations, beside those that work lane by lane, that a function of scalars may become."""


def apply(c: Context, node: ast.AST, fn: Any, args: tuple[Any, ...], nodes: tuple[ast.AST, ...]) -> Any:
    """Call a function that was passed as a value; `nodes`: where its arguments stem from."""
    function = function_of(fn)
    if function is not None and not function.construct:
        return call_language(c, node, function, args, {}, nodes, {})
    return inline(c, node, fn, args, {}, nodes, {}, lenient=True)


def is_function(fn: Any) -> bool:
    """Whether a value can be applied: a Python function, or one of the language."""
    function = function_of(fn)
    return not function.construct if function is not None else hasattr(fn, "__code__")


class Call:
    """One call of such a function: its arguments by name, and where they stand."""

    def __init__(
        self, c: Context, node: ast.AST, function: LanguageFunction, values: dict[str, Any],
        nodes: dict[str, ast.AST], rest: tuple[ast.AST, ...],
    ) -> None:  # fmt: skip
        self.c = c
        self.node = node
        self.name = function.written
        self.values = values
        self.nodes = nodes
        self.rest = rest
        """Where the arguments after the first stand."""
        self.place = c.location(node, self.name)

    def at(self, parameter: str) -> ast.AST:
        """Where an argument stands."""
        return self.nodes.get(parameter, self.node)

    def fault(self, code: str, message: str, parameter: str = "", help: str = "") -> Any:
        return self.c.fault(code, message, self.at(parameter), help=help)

    def const(self, parameter: str, kind: type, default: Any = None, optional: bool = False) -> Any:
        """A Const argument; UNKNOWN after a fault, and where only a specialisation knows it. `optional`: or None."""
        value = self.values.get(parameter, default)
        if isinstance(value, Condition | Comparison) and kind is bool:
            guard = guard_of(self.c, value)
            return UNKNOWN if guard is None else self.c.settle(Condition(guard))
        if isinstance(value, Unset | Poly) or is_faulty(value):
            return UNKNOWN
        if not is_const(value):
            return not_const(self.c, self.at(parameter), f"`{parameter}` of `{self.name}`", value)
        if optional and value is None:
            return None
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            text = f"`{self.name}` needs a compile-time {kind.__name__} for `{parameter}`; found {show(value)}"
            return self.fault("T010", text, parameter)
        return value

    def function(self, parameter: str) -> Any:
        """The function passed; UNKNOWN where there is none to look into."""
        value = self.values[parameter]
        if isinstance(value, Unset) or is_faulty(value):
            return UNKNOWN
        if is_function(value):
            return value
        text = f"`{self.name}` needs a function for `{parameter}`; `{self.c.text(self.at(parameter))}` is {show(value)}"
        help = "define one beside the kernel that takes the scalars: def add(a, b): return a + b"
        return self.fault("T010", text, parameter, help)

    def operands(self, value: Any, parameter: str) -> tuple[Operand, ...] | None:
        """A tensor, or a tuple of tensors of one shape, as a tuple; None after a fault."""
        parts = value if is_tuple(value) else (value,)
        for part in parts:
            if not isinstance(part, Operand) or part.is_pointer:
                code = "T005" if isinstance(part, Operand) else "T010"
                text = f"`{self.name}` needs a tensor, or a tuple of tensors, for `{parameter}`; found {show(part)}"
                self.fault(code, text, parameter)
                return None
        if not parts:
            self.fault("T010", f"`{self.name}` needs at least one tensor for `{parameter}`", parameter)
            return None
        return parts

    def block(self, fn: Any, given: tuple[Any, ...], sources: tuple[ast.AST, ...]) -> tuple[Block, Any]:
        """The function in a block of its own, on a scalar for each tensor in `given`; what it gives, or UNKNOWN.

        `sources`: the nodes that the arguments stem from.
        """
        c = self.c
        body = Block(tuple(element_of(v.type) for v in given if isinstance(v, Operand)))
        left = iter(body.args)
        scalars = tuple(Operand(next(left), v.dtype) if isinstance(v, Operand) else v for v in given)
        with Region(c, body):
            found = apply(c, self.node, fn, scalars, sources)
        inside = None if is_faulty(found) else _effect(body)
        if inside is not None:
            place = inside.loc or self.place
            named = place.name or inside.name
            named = named if named.startswith("tl.") or not hasattr(c.frame.fn, "__name__") else f"tl.{named}"
            label = place if user_location(place) is place else self.place
            text = f"`{named}` cannot stand in a function that `{self.name}` applies to elements"
            help = "it takes scalars and computes a scalar; load before and store after"
            return body, c.fault("E004", text, label, help=help)
        return body, found


def _effect(body: Block) -> Op | None:
    """The first operation in a block that does more than compute scalars from scalars."""
    for op in walk(body):
        schema = op.schema
        if not schema.lanewise and getattr(schema.fill, "kind", "") not in _INSIDE:
            return op
        if any(not isinstance(r.type, type(element_of(r.type))) for r in op.results):
            return op
    return None


def _agreeing(call: Call, fn: FunctionType, found: Any, operands: tuple[Operand, ...]) -> tuple[Operand, ...] | None:
    """What a combiner gave, where it has the dtypes that it takes; None after a fault."""
    if is_faulty(found):
        return None
    given = found if is_tuple(found) else (found,)
    wanted = ", ".join(f"Scalar[{show_dtype(v.dtype)}]" for v in operands)
    name = getattr(fn, "__name__", "?")
    fits = len(given) == len(operands) and all(
        isinstance(g, Operand) and not g.shape and g.dtype is v.dtype for g, v in zip(given, operands, strict=True)
    )
    if fits:
        return given
    gives = ", ".join("nothing" if g is None else show(g) for g in given)
    text = f"`{name}` must give {wanted}, what it takes; it gives {gives}"
    call.fault("T014", text, "combine_fn", "convert what it returns, or the input of the whole")
    return None


def _combined(
    call: Call, schema: OpDef, end: OpDef, operands: tuple[Operand, ...], attrs: dict[str, Any]
) -> list[Operand] | None:
    """The operation whose region is the combiner; None after a fault."""
    c, fn = call.c, call.function("combine_fn")
    if is_faulty(fn):
        return None
    node = call.at("input")
    parts = node.elts if isinstance(node, ast.Tuple) and len(node.elts) == len(operands) else [node] * len(operands)
    body, found = call.block(fn, (*operands, *operands), (*parts, *parts))
    agreed = _agreeing(call, fn, found, operands)
    if agreed is None:
        return None
    with Region(c, body):
        c.b.loc = call.place
        c.b.op(end, tuple(v.value for v in agreed))
    if not c.generic and any(op.regions for op in body.ops):
        body = flat(c.b, body)
    c.b.loc = call.place
    made = c.b.op(schema, tuple(v.value for v in operands), attrs, (IrRegion([body]),))
    return [Operand(r, v.dtype) for r, v in zip(made.results, operands, strict=True)]


def _one_shape(call: Call, operands: tuple[Operand, ...]) -> CallShapes:
    """Demand that all have one shape."""
    rules = CallShapes(call.c, call.node, call.name)
    first = operands[0].shape
    for one in operands[1:]:
        if len(one.shape) != len(first):
            rules.fault(
                "S001", f"the tensors of `{call.name}` differ in shape: {show_shape(first)} and {show_shape(one.shape)}"
            )
            break
        for a, b in zip(first, one.shape, strict=True):
            rules.equal(a, b, "S001", f"the tensors of `{call.name}` differ in shape")
    return rules


def _needed(call: Call, *names: str) -> bool:
    for name in names:
        if name not in call.values:
            call.fault("E005", f"`{call.name}` needs the argument `{name}`")
            return False
    return not any(map(is_faulty, call.values.values()))


def _reduce(call: Call) -> Any:
    if not _needed(call, "input", "axis", "combine_fn"):
        return UNKNOWN
    c, source = call.c, call.values["input"]
    operands = call.operands(source, "input")
    axis, keep = call.const("axis", int, optional=True), call.const("keep_dims", bool, False)
    if operands is None or is_faulty(axis) or is_faulty(keep):
        return UNKNOWN
    rules = _one_shape(call, operands)
    shape = operands[0].shape
    if not shape:
        rules.fault("S005", "a reduction needs a block, found a scalar")
    at = 0 if axis is None else normal_axis(rules, axis, len(shape), "the operand")
    if rules.failed:
        return UNKNOWN
    if axis is None and len(shape) > 1:
        operands = tuple(_flat(call, v) for v in operands)
    results = _combined(call, reduce_, reduce_return, operands, {"axis": at})
    if results is None:
        return UNKNOWN
    if keep:
        c.b.loc = call.place
        results = [Operand(_kept(call, v.value, shape, axis, at), v.dtype) for v in results]
    return tuple(results) if is_tuple(source) else results[0]


def _flat(call: Call, x: Operand) -> Operand:
    size: Dim = 1
    for dim in x.shape:
        size = size * dim
    call.c.b.loc = call.place
    type_ = typed((size,), element_of(x.type))
    return Operand(call.c.b.create(reshape_, x.value, type=type_, allow_reorder=False), x.dtype)


def _kept(call: Call, value: Value, shape: tuple[Dim, ...], axis: int | None, at: int) -> Value:
    """A result with the axes that were reduced, of size one."""
    if axis is None or len(shape) == 1:
        return call.c.b.create(splat, value, type=typed((1,) * len(shape), element_of(value.type)))
    return call.c.b.create(expand_dims_, value, axis=at)


def _scan(call: Call) -> Any:
    if not _needed(call, "input", "axis", "combine_fn"):
        return UNKNOWN
    source = call.values["input"]
    operands = call.operands(source, "input")
    axis, reverse = call.const("axis", int), call.const("reverse", bool, False)
    if operands is None or is_faulty(axis) or is_faulty(reverse):
        return UNKNOWN
    rules = _one_shape(call, operands)
    if not operands[0].shape:
        rules.fault("S005", "a scan needs a block, found a scalar")
    at = normal_axis(rules, axis, len(operands[0].shape), "the operand")
    if rules.failed:
        return UNKNOWN
    results = _combined(call, scan_, scan_return, operands, {"axis": at, "reverse": reverse})
    if results is None:
        return UNKNOWN
    return tuple(results) if is_tuple(source) else results[0]


def _map(call: Call) -> Any:
    if not _needed(call, "scalar_fn", "args"):
        return UNKNOWN
    c, fn, given = call.c, call.function("scalar_fn"), call.values["args"]
    pack = call.const("pack", int, 1)
    if is_faulty(fn) or is_faulty(pack):
        return UNKNOWN
    if pack < 1 or pack & (pack - 1):
        return call.fault("S002", f"`pack` of `{call.name}` must be a power of two, found {pack}", "pack")
    tensors = tuple(v for v in given if isinstance(v, Operand))
    if not tensors or any(v.is_pointer for v in tensors):
        code, text = ("T005", "takes no pointers") if tensors else ("T010", "needs a tensor")
        return call.fault(code, f"`{call.name}` {text}", "args")
    rules = CallShapes(c, call.node, call.name)
    shape = rules.broadcast(*(v.shape for v in tensors))
    if pack > 1:
        rules.require("ge", shape[-1] if shape else 1, pack, "S004", f"the last axis must have `pack={pack}` elements")
    if rules.failed:
        return UNKNOWN
    counts = [pack if isinstance(v, Operand) else 1 for v in given]
    body, found = call.block(fn, _repeated(given, counts), _repeated(call.rest, counts))
    if is_faulty(found):
        return UNKNOWN
    results = found if is_tuple(found) else (found,)
    if not results or not all(isinstance(r, Operand) and not r.shape for r in results):
        gives = ", ".join("nothing" if r is None else show(r) for r in results)
        return call.fault("T014", f"`{getattr(fn, '__name__', '?')}` must give scalars; it gives {gives}", "scalar_fn")
    if len(results) % pack or any(r.dtype is not results[at - at % pack].dtype for at, r in enumerate(results)):
        gives = ", ".join(map(show, results))
        text = (
            f"`{getattr(fn, '__name__', '?')}` must give {pack} scalars of one dtype for each result; it gives {gives}"
        )
        return call.fault("T014", text, "scalar_fn")
    made = _lifted(call, body, tensors, shape, results, pack)
    return made if is_tuple(found) else made[0]


def _repeated(values: tuple[Any, ...], counts: list[int]) -> tuple[Any, ...]:
    return tuple(v for v, count in zip(values, counts, strict=False) for _ in range(count))


def _lifted(
    call: Call, body: Block, tensors: tuple[Operand, ...], shape: tuple[Dim, ...], found: tuple[Operand, ...], pack: int
) -> tuple[Operand, ...]:
    """The function's block on whole tiles, or on those of every so many-th element; what it gives."""
    b = call.c.b
    b.loc = call.place
    guard = b.guard
    lanes = [one for v in tensors for one in apart(b, broadcast_value(b, v.value, shape), pack)]
    lift = Lift(b, shape_of(lanes[0].type), dict(zip(body.args, lanes, strict=True)))
    lift.block(body)
    b.loc, b.guard = call.place, guard
    tiles = [lift.tile(lift.made[one.value]) for one in found]
    return tuple(
        Operand(together(b, tiles[at : at + pack], shape[-1] if shape else 1), found[at].dtype)
        for at in range(0, len(found), pack)
    )


_RULES: dict[str, Callable[[Call], Any]] = {"reduce": _reduce, "associative_scan": _scan, "map_elementwise": _map}
COMBINERS = frozenset(_RULES)
"""The constructs that take a function."""


def combine(
    c: Context, node: ast.AST, function: LanguageFunction, args: tuple[Any, ...], keywords: dict[str, Any],
    nodes: tuple[ast.AST, ...], keyword_nodes: dict[str, ast.AST],
) -> Any:  # fmt: skip
    """Call one of `COMBINERS`."""
    values = bind(c, node, function, args, keywords)
    if values is None:
        return UNKNOWN
    named = dict(zip(values, nodes, strict=False)) | keyword_nodes
    return _RULES[function.construct](Call(c, node, function, values, named, nodes[1:]))
