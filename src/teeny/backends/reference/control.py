"""Operations with regions: loops, branches, calls, reductions. Each runs its regions' blocks through `Frame.block`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from teeny.backends.reference.debug import assert_, assume, hint, print_
from teeny.backends.reference.dot import dot, dot_scaled
from teeny.backends.reference.errors import ExecutionError, PoisonError
from teeny.backends.reference.gather import gather
from teeny.backends.reference.lanes import Lanes, array_dtype
from teeny.backends.reference.reduce import Arrays, Combine, reduce
from teeny.backends.reference.scan import scan
from teeny.backends.reference.turns import PATIENCE
from teeny.diag.errors import InternalError
from teeny.ir.rules import Lanewise
from teeny.ir.types import element_of, shape_of

if TYPE_CHECKING:
    from teeny.backends.reference.run import Frame
    from teeny.ir.core import Block, Op

Results = tuple[Lanes, ...]
Rule = Callable[["Frame", "Op", Results], Results]


def _decided(frame: Frame, op: Op, lanes: Lanes, what: str) -> Any:
    """The Python value of a scalar that decides what is done next."""
    if frame.machine.strict and not lanes.defined:
        raise PoisonError(f"{what} is undefined", op, frame.program)
    return lanes.value.item()


def for_(frame: Frame, op: Op, operands: Results) -> Results:
    """Start, start + step, ... below the end (above it for a negative step), compared with sign."""
    start, end, step = (_decided(frame, op, x, "a bound of the loop") for x in operands[:3])
    if step == 0:
        raise ExecutionError("the step of the loop is 0", op, frame.program)
    carried = operands[3:]
    body = op.regions[0].block
    dtype = operands[0].value.dtype
    for index in range(start, end, step):
        carried = frame.block(body, (Lanes(np.asarray(index, dtype)), *carried))[1]
    return carried


def if_(frame: Frame, op: Op, operands: Results) -> Results:
    taken = op.regions[0 if _decided(frame, op, operands[0], "the condition") else 1]
    return frame.block(taken.block, ())[1] if taken.blocks else ()


def while_(frame: Frame, op: Op, operands: Results) -> Results:
    carried = operands
    machine = frame.machine
    turns = 0
    while True:
        terminator, (condition, *passed) = frame.block(op.regions[0].block, carried)
        if not _decided(frame, terminator, condition, "the condition of the loop"):
            return tuple(passed)
        carried = frame.block(op.regions[1].block, tuple(passed))[1]
        if op in machine.spinning:
            turns += 1
            if turns > PATIENCE:
                raise ExecutionError(f"what the loop waits for has not come in {PATIENCE} turns", op, frame.program)
            if machine.turns is not None:
                machine.turns.hand_on()


def call(frame: Frame, op: Op, operands: Results) -> Results:
    name = str(op.attrs["callee"]).removeprefix("@")
    callee = frame.machine.functions.get(name)
    if callee is None:
        raise InternalError(f"there is no function {name} to call", op.loc)
    return frame.function(callee, operands)


def _whole_tiles(block: Block) -> bool:
    """Whether the block can run on all lanes at once: it has no control flow and no memory in it."""
    kinds = ("compare", "select", "constant")
    return all(
        isinstance(op.schema.fill, Lanewise) or getattr(op.schema.fill, "kind", "") in kinds for op in block.ops[:-1]
    )


def _combiner(frame: Frame, op: Op) -> Combine:
    """What joins accumulators with elements: the operation's region, on all lanes at once where it can."""
    block = op.regions[0].block

    def whole(left: Arrays, right: Arrays) -> Arrays:
        found = frame.block(block, tuple(map(Lanes, (*left, *right))))[1]
        return [np.broadcast_to(x.value, left[0].shape) for x in found]

    def single(left: Arrays, right: Arrays) -> Arrays:
        out = [np.empty_like(x) for x in left]
        for at in np.ndindex(left[0].shape):
            for target, value in zip(out, whole([x[at] for x in left], [x[at] for x in right]), strict=True):
                target[at] = value
        return out

    return whole if _whole_tiles(block) else single


def reduce_(frame: Frame, op: Op, operands: Results) -> Results:
    with frame.untraced():
        return reduce(operands, int(str(op.attrs["axis"])), _combiner(frame, op))


def scan_(frame: Frame, op: Op, operands: Results) -> Results:
    with frame.untraced():
        return scan(operands, int(str(op.attrs["axis"])), bool(op.attrs["reverse"]), _combiner(frame, op))


def split(frame: Frame, op: Op, operands: Results) -> Results:
    (x,) = operands
    poison = x.mask
    halves = [(x.value[..., k], poison[..., k]) for k in (0, 1)]
    return tuple(Lanes(value, undefined if undefined.any() else None) for value, undefined in halves)


def program(frame: Frame, op: Op, operands: Results) -> Results:
    numbers = frame.machine.grid if op.schema.group == "num_programs" else frame.program
    return (Lanes(np.asarray(numbers[int(str(op.attrs["axis"]))], np.int32)),)


def contract(frame: Frame, op: Op, operands: Results) -> Results:
    return ()


def poison(frame: Frame, op: Op, operands: Results) -> Results:
    type_ = op.results[0].type
    shape: Any = shape_of(type_)
    value: Any = np.zeros(shape, array_dtype(element_of(type_)))
    return (Lanes(value, np.ones_like(value, np.bool_)),)


def check_results(op: Op, results: Results) -> None:
    """Results have the types that the IR says. Raises InternalError."""
    for lanes, value in zip(results, op.results, strict=True):
        if lanes.value.shape != shape_of(value.type) or lanes.value.dtype != array_dtype(element_of(value.type)):
            raise InternalError(f"{op.name} made {lanes.value.dtype}{lanes.value.shape} for {value.type}", op.loc)


def nothing(frame: Frame, op: Op, operands: Results) -> Results:
    return ()


RULES: dict[str, Rule] = {
    "for": for_,
    "if": if_,
    "while": while_,
    "call": call,
    "reduce": reduce_,
    "scan": scan_,
    "split": split,
    "dot": dot,
    "dot_scaled": dot_scaled,
    "program": program,
    "gather": gather,
    "contract": contract,
    "nothing": nothing,
    "hint": hint,
    "assume": assume,
    "print": print_,
    "assert": assert_,
    "poison": poison,
}
