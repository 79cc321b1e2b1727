"""Parallel assignment of tiles to buffers: every value is as it was before the first buffer changed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from teeny.backends.cpu.lower.evaluate import Axes, through_view
from teeny.backends.cpu.lower.state import Buffer, State
from teeny.backends.cpu.lower.store import Output, materialise
from teeny.backends.cpu.lower.values import axes_of, is_tile, kind_of, shape

if TYPE_CHECKING:
    from teeny.ir.core import Value

__all__ = ["assign", "reads_of"]

Reads = set[tuple[str, Axes, tuple[int, ...]]]
"""Buffers by their address, the axes along which they are read, and their shape."""


def assign(state: State, outputs: Sequence[Output]) -> None:
    """Compute the values into the buffers.

    Tiles of one shape share a nest, in place where a buffer is read only at the point at which it is written. A group
    whose buffers are still read by a later one, or read elsewhere than at the point, goes through temporaries.
    """
    pending = [(v, t) for v, t in outputs if state.bound.get(state.plan.source(v)) is not t]
    groups: dict[tuple[int, ...], list[Output]] = {}
    for value, target in pending:
        groups.setdefault(target.shape, []).append((value, target))
    reads = {dims: reads_of(state, group) for dims, group in groups.items()}
    late: list[Output] = []
    order = list(groups)
    for at, dims in enumerate(order):
        group = groups[dims]
        targets = {t.at.text for _, t in group}
        identity = axes_of(dims)
        elsewhere = {r[0] for r in reads[dims] if r[0] in targets and (r[1] != identity or r[2] != dims)}
        later = {r[0] for other in order[at + 1 :] for r in reads[other]}
        direct: list[Output] = []
        for value, target in group:
            if target.at.text in elsewhere or target.at.text in later:
                copy = state.buffer(dims, target.dtype)
                direct.append((value, copy))
                name = f"copy of {value!r}"
                late.append((_held(state, value, copy, name), target))
            else:
                direct.append((value, target))
        materialise(state, direct)
    for value, target in late:
        materialise(state, [(value, target)])


def _held(state: State, value: Value, copy: Buffer, name: str) -> Value:
    """A value that stands for a temporary."""
    from teeny.ir.core import Value as Made

    made = Made(value.type, None, None, 0, name)
    state.bound[made] = copy
    return made


def reads_of(state: State, group: list[Output]) -> Reads:
    """The buffers that some values are computed from."""
    found: Reads = set()
    seen: set[tuple[Value, Axes]] = set()

    def look(value: Value, axes: Axes) -> None:
        value = state.plan.source(value)
        if not is_tile(value) or (value, axes) in seen:
            return
        seen.add((value, axes))
        bound = state.bound.get(value)
        if isinstance(bound, Buffer):
            found.add((bound.at.text, axes, bound.shape))
            return
        op = value.op
        if op is None or op.regions:
            return
        if kind_of(op) == "view":
            look(*through_view(op, axes))
            return
        for operand in op.operands:
            look(operand, axes)

    for value, target in group:
        look(value, axes_of(shape(value)))
        _ = target
    return found
