"""What a program prints and asserts, and what it says of itself: assumptions, and hints about scalars, are checked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np

from teeny.backends.output import first_failure, lines_of
from teeny.backends.reference.errors import ExecutionError, FailedAssertionError, PoisonError
from teeny.backends.reference.lanes import POINTER

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from teeny.backends.reference.lanes import Lanes
    from teeny.backends.reference.run import Frame
    from teeny.ir.core import Op


def print_(frame: Frame, op: Op, operands: tuple[Lanes, ...]) -> tuple[Lanes, ...]:
    """A line for each lane, at once: programs run in order."""
    signs = cast("tuple[int, ...]", op.attrs["isSigned"])
    arrays = [_shown(frame, x.value, bool(sign)) for x, sign in zip(operands, signs, strict=True)]
    hexadecimal = [bool(op.attrs["hex"]) or x.value.dtype == POINTER for x in operands]
    poison = [x.poison for x in operands]
    for line in lines_of(frame.program, str(op.attrs["prefix"]), hexadecimal, arrays, poison):
        print(line)
    return ()


def _shown(frame: Frame, value: NDArray[Any], signed: bool) -> NDArray[Any]:
    """The array as it is printed: a pointer as its address, an integer with or without a sign."""
    if value.dtype != POINTER:
        return value if signed or value.dtype.kind != "i" else value.view(np.dtype(f"u{value.dtype.itemsize}"))
    base = np.array([0 if b is None else b.memory.address + b.offset for b in frame.machine.buffers], np.uint64)
    return base[value["argument"]] + value["offset"].astype(np.uint64)


def assert_(frame: Frame, op: Op, operands: tuple[Lanes, ...]) -> tuple[Lanes, ...]:
    """Raises FailedAssertionError where a lane is false; PoisonError where it is undefined."""
    (condition,) = operands
    if frame.machine.strict and condition.poison is not None and condition.poison.any():
        raise PoisonError("the assertion is undefined", op, frame.program, first_failure(~condition.poison))
    if not condition.value.all():
        message = str(op.attrs["message"])
        said = f"the assertion failed: {message}" if message else "the assertion failed"
        raise FailedAssertionError(said, op, frame.program, first_failure(condition.value))
    return ()


def assume(frame: Frame, op: Op, operands: tuple[Lanes, ...]) -> tuple[Lanes, ...]:
    """Raises ExecutionError for an assumption that is false."""
    (condition,) = operands
    if frame.machine.strict and condition.defined and not condition.value:
        raise ExecutionError("the assumption is false", op, frame.program)
    return ()


def hint(frame: Frame, op: Op, operands: tuple[Lanes, ...]) -> tuple[Lanes, ...]:
    """Raises ExecutionError for a scalar that is no multiple of what is said. Of tiles nothing is checked: kernels
    wrap offsets around, and give hints that hold for the lanes that count alone."""
    (x,) = operands
    (multiple, *_) = cast("tuple[int, ...]", op.attrs["values"])
    plain = op.attrs["kind"] == "divisibility" and x.value.ndim == 0 and x.value.dtype != POINTER and x.defined
    if frame.machine.strict and plain and int(x.value) % multiple:
        raise ExecutionError(f"the hint is false: {int(x.value)} is no multiple of {multiple}", op, frame.program)
    return ()
