"""Operands of a product where the micro-kernel wants them.

The first operand is read element by element: it stays where it is if it lies in memory without gaps, else it is copied.
The second one is read by vectors along n: it is copied into a buffer that is contiguous along n, of 16-bit pairs as
one i32 for two neighbours in k.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from teeny.backends.cpu.lower.analysis import Analysis
from teeny.backends.cpu.lower.copies import copy
from teeny.backends.cpu.lower.nest import Carried, counted
from teeny.backends.cpu.lower.scheme import widened
from teeny.backends.cpu.lower.state import Buffer, State, row_major
from teeny.backends.cpu.lower.store import full_width, materialise
from teeny.backends.cpu.lower.strided import Strided, of_buffer, strided
from teeny.backends.cpu.lower.transpose import laid_out, turn
from teeny.backends.cpu.lower.values import axes_of, dtype_name, shape
from teeny.ir.schema import dtype_of

if TYPE_CHECKING:
    from teeny.backends.cpu.lower.scheme import Scheme
    from teeny.ir.core import Value
    from teeny.ir.lanes import Lane

__all__ = ["elements", "vectors"]


def elements(state: State, value: Value, scheme: Scheme) -> Strided:
    """The first operand, (..., M, K): where it is if it is contiguous along k, which may be found at run time."""
    b, last = state.b, len(shape(value)) - 1
    found = strided(state, value) if dtype_name(value.type) == scheme.packed else None
    axis = last if scheme.pairs else _contiguous(state, value)
    if found is not None and found.strides[last].const != 1:
        step = found.strides[last]
        if step.const is not None or axis != last:
            found = None
        else:
            one = b.const("i64", 1)
            holds = b.and_(found.holds, b.icmp("eq", step, one))
            found = Strided(found.base, (*found.strides[:last], one), holds)
    return _either(state, found, lambda: of_buffer(state, _copied(state, value, scheme, axis)))


def _either(state: State, found: Strided | None, copy: Callable[[], Strided]) -> Strided:
    """The one where its test holds, else the copy."""
    if found is None:
        return copy()
    if found.holds.const is not None:
        return found
    b = state.b
    with b.if_(found.holds) as branch:
        branch.yield_((found.base, *found.strides))
        branch.otherwise()
        other = copy()
        branch.yield_((other.base, *other.strides))
    base, *steps = branch.results
    strides = [
        x if x.const is not None and x.const == y.const else z
        for x, y, z in zip(found.strides, other.strides, steps, strict=True)
    ]
    return Strided(base, tuple(strides), b.const("i1", 1))


def _contiguous(state: State, value: Value) -> int:
    """The axis along which what a tile is computed from lies contiguously; the last one where there is none."""
    dims = shape(value)
    last = len(dims) - 1
    analysis = Analysis(state, dims)
    analysis.at(value, axes_of(dims))
    if any(a.strides.get(last) == 1 for a in analysis.accesses):
        return last
    others = (axis for axis in range(last) for a in analysis.accesses if a.strides.get(axis) == 1)
    return next(others, last)


def _copied(state: State, value: Value, scheme: Scheme, axis: int) -> Buffer:
    """The tile, widened, in a buffer that is contiguous along an axis."""
    wide = widened(value, scheme)
    buffer = laid_out(state, wide, axis)
    found = strided(state, value)
    if found is None or any(stride.const is not None for stride in found.strides[-2:]):
        materialise(state, [(wide, buffer)])
    else:
        dtype = dtype_of(value.type)
        copy(state, found, value, wide, buffer, axis, lambda lane: scheme.widen(state.b, lane, dtype))
    return buffer


def vectors(state: State, value: Value, scheme: Scheme) -> Buffer:
    """The second operand, (..., K, N), in a buffer contiguous along n; of pairs (..., K / 2, N)."""
    dims = shape(value)
    last = len(dims) - 1
    lies = _contiguous(state, value)
    if scheme.pairs:
        return _paired(state, value, scheme, lies)
    bound = state.bound.get(state.plan.source(value))
    if isinstance(bound, Buffer) and bound.dtype == scheme.packed and bound.strides == row_major(dims):
        return bound
    if lies != last - 1 or state.options.exact:
        return _copied(state, value, scheme, last)
    source = _copied(state, value, scheme, lies)
    target = state.buffer(dims, scheme.packed)
    turn(state, source, target, lies, last)
    return target


def _paired(state: State, value: Value, scheme: Scheme, lies: int) -> Buffer:
    dims = shape(value)
    last = len(dims) - 1
    half = (*dims[:-2], dims[-2] // 2, dims[-1])
    target = state.buffer(half, "i32")
    if lies == last - 1:  # each pair is one i32 already
        plain = _copied(state, value, scheme, lies)
        strides = tuple(s if axis == lies else s // 2 for axis, s in enumerate(plain.strides))
        turn(state, Buffer(plain.at, half, "i32", strides), target, lies, last)
        return target
    found = strided(state, value) if dtype_name(value.type) == scheme.packed else None
    if found is not None and found.strides[last].const != 1:
        found = None
    source = _either(state, found, lambda: of_buffer(state, _copied(state, value, scheme, last)))
    _interleaved(state, source, target)
    return target


def _interleaved(state: State, source: Strided, target: Buffer) -> None:
    """Rows 2k and 2k + 1 of the source, element by element, as row k of the target."""
    b = state.b
    columns = target.shape[-1]
    width = min(2 * full_width(state), columns)
    zero, two = b.const("i64", 0), b.const("i64", 2)
    halves = [[width // 2 * half + j // 2 + (width if j % 2 else 0) for j in range(width)] for half in range(2)]

    def level(axis: int, at: Lane, to: Lane) -> None:
        """The axes before the last one, outermost first."""
        if axis == len(target.shape) - 1:
            row(at, to)
            return
        pair = axis == len(target.shape) - 2
        step = b.mul(source.strides[axis], two) if pair else source.strides[axis]

        def inside(index: Lane, carried: Carried) -> Carried:
            there = b.offset(to, b.mul(index, b.const("i64", target.strides[axis])), "i32")
            level(axis + 1, b.offset(at, b.mul(index, step), "i16"), there)
            return carried

        counted(b, zero, b.const("i64", target.shape[axis]), 1, (), inside)

    def row(at: Lane, to: Lane) -> None:
        second = b.offset(at, source.strides[-2], "i16")

        def block(n: Lane, carried: Carried) -> Carried:
            x = b.load(b.offset(at, n, "i16"), "i16", width, align=1)
            y = b.load(b.offset(second, n, "i16"), "i16", width, align=1)
            here = b.offset(to, n, "i32")
            for half, lanes in enumerate(halves):
                b.store(b.offset(here, b.const("i64", half * width), "i16"), b.shuffle(x, y, lanes), kills=False)
            return carried

        counted(b, zero, b.const("i64", columns), width, (), block)

    b.epoch += 1
    level(0, source.base, target.at)
    b.epoch += 1
