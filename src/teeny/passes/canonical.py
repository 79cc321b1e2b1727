"""Clean-up: integer constants folded, equal operations shared, unused ones dropped.

No float arithmetic is folded and no memory access moved, so that the meaning stays bit for bit.
"""

from __future__ import annotations

from collections.abc import Hashable

from teeny.ir.builder import Builder
from teeny.ir.core import Block, Function, Module, Op, Value, walk_function
from teeny.ir.dtype import DType
from teeny.ir.rules import Lanewise
from teeny.ir.types import element_of
from teeny.ops.constant import constant, constant_

_FOLDED = frozenset(("add", "sub", "mul", "and", "or", "xor"))
_NEUTRAL: dict[str, int] = {"add": 0, "sub": 0, "or": 0, "xor": 0, "mul": 1, "and": -1}

Known = dict[Hashable, tuple[Value, ...]]


def canonical(module: Module) -> None:
    """Change the module in place. A second run changes nothing."""
    for function in module.functions:
        replaced: dict[Value, Value] = {}
        for block in function.body.blocks:
            _share(block, {}, replaced)
        _drop(function)


def _share(block: Block, outer: Known, replaced: dict[Value, Value]) -> None:
    """Fold and share within a block and what encloses it."""
    known = dict(outer)
    before, block.ops = block.ops, []
    for op in before:
        op.operands = tuple([replaced.get(v, v) for v in op.operands])
        simpler = _simplified(op, block, known)
        if simpler is not None:
            replaced[op.results[0]] = simpler
            continue
        key = _key(op)
        found = known.get(key) if key is not None else None
        if found is not None:
            replaced.update(zip(op.results, found, strict=True))
            continue
        block.append(op)
        if key is not None:
            known[key] = op.results
        for region in op.regions:
            for inner in region.blocks:
                _share(inner, known, replaced)


def _key(op: Op) -> Hashable | None:
    """Equal for operations that give equal results; None for those that may not be shared."""
    if not op.schema.pure or op.schema.terminator or op.regions or not op.results:
        return None
    attrs = tuple(sorted((name, type(value), repr(value)) for name, value in op.attrs.items()))
    return op.schema.name, op.operands, attrs, tuple(v.type for v in op.results), op.guard


def _simplified(op: Op, block: Block, known: Known) -> Value | None:
    """The value that an integer operation on constants always has."""
    schema = op.schema
    if not isinstance(schema.fill, Lanewise) or schema.group not in _FOLDED or len(op.operands) != 2 or schema.generic:
        return None
    type_ = op.results[0].type
    dtype = element_of(type_)
    if not isinstance(dtype, DType) or dtype.kind not in ("signed", "bool"):
        return None
    x, y = op.operands
    a, b = _number(x), _number(y)
    neutral = _NEUTRAL[schema.group]
    if dtype.kind == "bool" and neutral == -1:
        neutral = 1
    if b == neutral:
        return x
    if a == neutral and schema.commutative:
        return y
    if a is None or b is None or schema.fold is None:
        return None
    folded = schema.fold(a, b)
    if folded is None:
        return None
    builder = Builder(block, op.loc)
    builder.guard = op.guard
    made = constant(builder, type_, folded)
    key = _key(block.ops[-1])
    shared = known.setdefault(key, (made,))[0]
    if shared is not made:
        block.ops.pop()
    return shared


def _number(value: Value) -> int | None:
    if value.op is None or value.op.schema is not constant_:
        return None
    number = value.op.attrs["value"]
    return int(number) if isinstance(number, int) else None


def _drop(function: Function) -> None:
    """Remove pure operations whose results nothing reads."""
    while True:
        read = {v for op in walk_function(function) for v in op.operands}
        if not any(_drop_block(block, read) for block in function.body.blocks):
            return


def _drop_block(block: Block, read: set[Value]) -> bool:
    kept = [op for op in block.ops if not _unused(op, read)]
    changed = len(kept) != len(block.ops)
    block.ops = kept
    for op in kept:
        for region in op.regions:
            for inner in region.blocks:
                changed = _drop_block(inner, read) or changed
    return changed


def _unused(op: Op, read: set[Value]) -> bool:
    removable = op.schema.pure or (op.schema.group == "load" and not op.attrs.get("isVolatile"))
    return removable and not op.schema.terminator and all(v not in read for v in op.results)
