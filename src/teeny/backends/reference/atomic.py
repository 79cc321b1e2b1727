"""Atomic operations on the reference: programs run one after the other, so a lane's step is a load and a store."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from teeny.backends.reference.errors import ExecutionError, PoisonError
from teeny.backends.reference.lanes import Lanes, united
from teeny.backends.reference.memory import stored_dtype
from teeny.backends.reference.turns import PATIENCE
from teeny.ops.vocabulary import rounded

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from teeny.backends.reference.memory import Access, Memory
    from teeny.backends.reference.run import Frame

Step = Callable[[Any, Any], Any]
"""What memory holds afterwards, from what it holds and the lane's value: scalars of the same dtype."""


def _unsigned(x: Any) -> Any:
    return x.view(np.dtype(f"u{x.dtype.itemsize}"))


def _add(old: Any, x: Any) -> Any:
    """Rounded once: an f64 holds the sum of two 16-bit floats exactly."""
    if x.dtype.itemsize > 2:
        return old + x
    return rounded(np, np.asarray(old.astype(np.float64) + x.astype(np.float64)), x.dtype)[()]


_STEPS: dict[str, Step] = {
    "add": lambda old, x: old + x,
    "fadd": _add,
    "max": max,
    "min": min,
    "umax": lambda old, x: max(old, x, key=_unsigned),
    "umin": lambda old, x: min(old, x, key=_unsigned),
    "fmax": np.fmax,
    "fmin": np.fmin,
    "and": lambda old, x: old & x,
    "or": lambda old, x: old | x,
    "xor": lambda old, x: old ^ x,
    "exch": lambda old, x: x,
}


def rmw(access: Access, pointers: Lanes, value: Lanes, mask: Lanes | None = None) -> Lanes:
    """Change the active lanes in row-major order; gives what each found. What undefined values enter is undefined."""
    kind = str(access.op.attrs["atomic_rmw_op"])
    step = _STEPS[kind]
    given, unknown = value.value.reshape(-1), value.mask.reshape(-1)

    def change(lane: int, old: Any, undefined: bool) -> tuple[Any, bool]:
        return step(old, given[lane]), bool(unknown[lane]) or (undefined and kind != "exch")

    return _each(access, pointers, mask, given.dtype, change)


def cas(access: Access, pointers: Lanes, expected: Lanes, value: Lanes) -> Lanes:
    """Write where memory holds exactly the bits expected; gives what each lane found."""
    wanted, given, unknown = (x.reshape(-1) for x in (expected.value, value.value, value.mask))
    open_ = expected.mask.reshape(-1)

    def change(lane: int, old: Any, undefined: bool) -> tuple[Any, bool]:
        if access.strict and open_[lane]:
            index = tuple(int(i) for i in np.unravel_index(lane, pointers.value.shape))
            raise PoisonError("the value to compare with is undefined", access.op, access.program, index)
        same = old.tobytes() == wanted[lane].tobytes()
        return (given[lane], undefined or bool(unknown[lane])) if same else (old, undefined)

    return _each(access, pointers, None, given.dtype, change)


def load(access: Access, pointers: Lanes, mask: Lanes | None = None) -> Lanes:
    """What memory holds at the active lanes; elsewhere undefined."""
    dtype = stored_dtype(access.op.operands[0].type)
    return _each(access, pointers, mask, dtype, lambda lane, old, undefined: (old, undefined), write=False)


def store(access: Access, pointers: Lanes, value: Lanes, mask: Lanes | None = None) -> None:
    """Write the active lanes in row-major order."""
    given, unknown = value.value.reshape(-1), value.mask.reshape(-1)
    _each(access, pointers, mask, given.dtype, lambda lane, old, undefined: (given[lane], bool(unknown[lane])))


def poll(frame: Frame, access: Access, pointers: Lanes, expected: Lanes, timeout: Lanes | None = None) -> Lanes:
    """Wait until all lanes find what they expect, other programs having their turns meanwhile, or time is up."""
    turns, begun = frame.machine.turns, time.monotonic_ns()
    limit = None if timeout is None else int(timeout.value)
    for _ in range(PATIENCE):
        found = load(access, pointers)
        there = found.value == expected.value
        if there.all() or (limit is not None and (turns is None or time.monotonic_ns() - begun >= limit)):
            poison = united(found.poison, expected.poison)
            return Lanes(np.asarray(there), poison)
        if turns is not None:
            turns.hand_on()
    raise ExecutionError(f"what is waited for has not come in {PATIENCE} turns", access.op, access.program)


Change = Callable[[int, Any, bool], tuple[Any, bool]]
"""`(lane, old, whether it is undefined)` to what is written, and whether that is undefined."""


def _each(
    access: Access, pointers: Lanes, mask: Lanes | None, dtype: np.dtype[Any], change: Change, *, write: bool = True
) -> Lanes:
    active = access.active(pointers, mask)
    found = np.zeros(active.shape, dtype)
    poison = np.zeros(active.shape, np.bool_)
    poison[...] = np.logical_not(active)
    flat, flat_poison = found.reshape(-1), poison.reshape(-1)
    for lane, memory, places in _places(access, pointers.value, active, dtype.itemsize, write):
        old, undefined = memory.bytes[places].view(dtype)[0], bool(memory.poison[places].any())
        flat[lane], flat_poison[lane] = old, undefined
        if not write:
            continue
        new, spoilt = change(lane, old, undefined)
        memory.bytes[places] = np.asarray(new, dtype).reshape(1).view(np.uint8)
        memory.poison[places] = spoilt
    together = united(poison, pointers.poison, mask.poison if mask is not None else None)
    return Lanes(found, together if together is not None and together.any() else None)


def _places(
    access: Access, pointers: NDArray[Any], active: NDArray[np.bool_], size: int, write: bool
) -> list[tuple[int, Memory, NDArray[np.int64]]]:
    """The active lanes in row-major order, each with its memory and its bytes."""
    found = [
        (int(lane), memory, place)
        for memory, lanes, places in access.places(pointers, active, size, write)
        for lane, place in zip(lanes, places, strict=True)
    ]
    return sorted(found, key=lambda one: one[0])


def atomic(frame: Frame, access: Access, operands: tuple[Lanes, ...]) -> tuple[Lanes, ...]:
    """The results of an atomic operation."""
    match access.op.name:
        case "tt.atomic_cas":
            return (cas(access, *operands),)
        case "tt.atomic_load":
            return (load(access, *operands),)
        case "tt.atomic_store":
            store(access, *operands)
            return ()
        case "tt.atomic_poll":
            return (poll(frame, access, *operands),)
        case _:
            return (rmw(access, *operands),)
