"""Generic IR under one choice of the Const conditions: operations whose guard does not hold go, joins are resolved."""

from __future__ import annotations

from typing import Any

from teeny.frontend.lower import Generic
from teeny.frontend.values import Condition
from teeny.ir.core import Block, Function, Module, Op, Region, Value
from teeny.ir.guard import holds
from teeny.ir.poly import Poly, evaluate
from teeny.ir.predicate import Predicate, evaluate_predicate
from teeny.ops.constant import constant_


def at(generic: Generic, constants: dict[str, Any]) -> Module:
    """The module that is left for these Consts; dtypes must be known, and shapes."""
    table, function = generic.table, generic.module.kernel
    values = {key: _truth(key, constants) for key in table.keys}
    row = table.row(values)
    body = _block(function.entry, {}, row, constants)
    return Module([Function(function.name, Region([body]), loc=function.loc, arg_attrs=function.arg_attrs)])


def _truth(key: Any, constants: dict[str, Any]) -> bool:
    if isinstance(key, Predicate):
        return evaluate_predicate(key.op, key.a, key.b, constants)
    kind, name = key
    assert kind == "const"
    return bool(constants[name])


def _block(block: Block, known: dict[Value, Value], row: int, constants: dict[str, Any]) -> Block:
    made = Block(tuple(a.type for a in block.args), tuple(a.name for a in block.args))
    known = {**known, **dict(zip(block.args, made.args, strict=True))}
    for op in block.ops:
        if op.guard is not None and not holds(op.guard, row):
            continue
        if op.name == "teeny.phi":
            guards: Any = op.attrs["guards"]
            chosen = [v for v, g in zip(op.operands, guards, strict=True) if holds(g, row)]
            if chosen and chosen[0] in known:
                known[op.result] = known[chosen[0]]
            continue
        attrs = {name: _value(value, row, constants) for name, value in op.attrs.items()}
        regions = tuple(Region([_block(r.block, known, row, constants)]) for r in op.regions)
        # what a loop carries although it has no value here is never read: any value of the type does
        carrier = op.name.startswith("scf.")
        operands = tuple(known[v] if v in known or not carrier else _anything(made, v.type) for v in op.operands)
        new = Op(op.schema, operands, tuple(r.type for r in op.results), attrs, regions, op.loc)
        known.update(zip(op.results, made.append(new).results, strict=True))
    return made


def _anything(block: Block, type_: Any) -> Value:
    return block.append(Op(constant_, (), (type_,), {"value": 0})).result


def _value(value: Any, row: int, constants: dict[str, Any]) -> Any:
    if isinstance(value, Poly):
        return evaluate(value, constants)
    return holds(value.guard, row) if isinstance(value, Condition) else value
