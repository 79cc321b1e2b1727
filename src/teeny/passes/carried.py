"""Values that loops carry and branches give, and that are always the same one: its reader takes that one itself.

So a loop that moves a block pointer along one axis carries one number.
"""

from __future__ import annotations

from teeny.ir.core import Block, Function, Module, Op, Value


def carried(module: Module) -> None:
    """Change the module in place. A second run changes nothing."""
    for function in module.functions:
        _function(function)


def _function(function: Function) -> None:
    replaced: dict[Value, Value] = {}
    for block in function.body.blocks:
        _block(block, replaced)


def _block(block: Block, replaced: dict[Value, Value]) -> None:
    """Inner operations first: what they carry may then be what an outer one does."""
    for op in block.ops:
        op.operands = tuple([_last(v, replaced) for v in op.operands])
        for region in op.regions:
            for inner in region.blocks:
                _block(inner, replaced)
        if op.name in _RULES:
            same = _RULES[op.name](op, replaced)
            if same:
                replaced.update(same)
                drop(op, replaced)
                for region in op.regions:
                    for inner in region.blocks:
                        _rename(inner, replaced)


def _last(value: Value, replaced: dict[Value, Value]) -> Value:
    while value in replaced:
        value = replaced[value]
    return value


def _rename(block: Block, replaced: dict[Value, Value]) -> None:
    for op in block.ops:
        op.operands = tuple([_last(v, replaced) for v in op.operands])
        for region in op.regions:
            for inner in region.blocks:
                _rename(inner, replaced)


Same = dict[Value, Value]


def _for(op: Op, replaced: Same) -> Same:
    body = op.regions[0].block
    found: Same = {}
    for result, arg, init, after in zip(op.results, body.args[1:], op.operands[3:], _ending(body), strict=True):
        if after is arg or after is init:
            found |= {arg: init, result: init}
    return found


def _while(op: Op, replaced: Same) -> Same:
    before, body = (region.block for region in op.regions)
    passed = before.ops[-1].operands[1:]
    if len(before.args) != len(passed):
        return {}
    found: Same = {}
    sides = zip(op.results, before.args, passed, body.args, _ending(body), op.operands, strict=True)
    for result, first, handed, arg, after, init in sides:
        if (handed is first or handed is init) and (after is arg or after is init):
            found |= {first: init, arg: init, result: init}
    return found


def _if(op: Op, replaced: Same) -> Same:
    if not op.results:
        return {}
    sides = [_ending(region.block) for region in op.regions]
    return {r: x for r, x, y in zip(op.results, *sides, strict=True) if x is y}


_RULES = {"scf.for": _for, "scf.while": _while, "scf.if": _if}


def _ending(block: Block) -> tuple[Value, ...]:
    return block.ops[-1].operands


def drop(op: Op, replaced: Same) -> None:
    """Take the results that are replaced out of a loop or branch, with what carries them; places in it close up."""
    kept = [at for at, r in enumerate(op.results) if r not in replaced]
    op.results = tuple([op.results[at] for at in kept])
    _number(op.results)
    first = {"scf.for": 3, "scf.while": 0}.get(op.name)
    if first is not None:
        op.operands = (*op.operands[:first], *[op.operands[first + at] for at in kept])
    for region in op.regions:
        block = region.block
        index = 1 if op.name == "scf.for" else 0
        if first is not None:
            block.args = (*block.args[:index], *[block.args[index + at] for at in kept])
            _number(block.args)
        last = block.ops[-1]
        skip = 1 if last.name == "scf.condition" else 0
        last.operands = (*last.operands[:skip], *[last.operands[skip + at] for at in kept])


def _number(values: tuple[Value, ...]) -> None:
    for at, value in enumerate(values):
        value.index = at
