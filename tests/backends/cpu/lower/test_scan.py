"""Scans, and reductions with combiners of every kind: the canonical order bit for bit, at every width and level."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from teeny.ir.core import Module, Value
from teeny.ir.dtype import BF16, BOOL, F16, F32, F64, I8, I32, I64, DType
from teeny.ir.schema import OpDef
from teeny.ir.types import element_of, shape_of, typed
from teeny.ops.arith import addf, addi, maxnumf, mulf, subf
from teeny.ops.bits import ori, xori
from teeny.ops.compare import cmpf, select
from teeny.ops.math import exp_
from teeny.ops.shape import broadcast, expand_dims_
from teeny.ops.vocabulary import numpy_dtype
from tests.backends.cpu.lower.harness import ALL, FEW, check
from tests.drafts import Draft

Shape = tuple[int, ...]
SHAPES: tuple[tuple[Shape, int], ...] = (
    ((1,), 0), ((2,), 0), ((256,), 0), ((16, 32), 0), ((16, 32), 1), ((4, 64), 1), ((2, 64), 1), ((64, 2), 0),
    ((64, 1), 0), ((1, 32), 1), ((8, 4, 16), 0), ((8, 4, 16), 1), ((8, 4, 16), 2), ((2, 8, 1), 1), ((64, 128), 1),
)  # fmt: skip
SUMS: dict[DType, OpDef] = {F16: addf, BF16: addf, F32: addf, F64: addf, I8: addi, I32: addi, I64: addi, BOOL: xori}


def spread(d: Draft, row: Value, axis: int, shape: Shape) -> Value:
    """A row along one axis of a shape."""
    for other in range(len(shape)):
        if other != axis:
            row = d.b.create(expand_dims_, row, axis=other)
    return row if shape_of(row.type) == shape else d.b.create(broadcast, row, type=typed(shape, element_of(row.type)))


def places(d: Draft, ptr: Value, shape: Shape) -> Value:
    """The addresses of a tile that lies dense in memory."""
    step = int(np.prod(shape))
    offsets: Value | None = None
    for axis, size in enumerate(shape):
        step //= size
        along = spread(d, d.mul(d.range(size), d.fill(d.const(step, I32), (size,))), axis, shape)
        offsets = along if offsets is None else d.add(offsets, along)
    assert offsets is not None
    return d.at(ptr, offsets)


def values(dtype: DType, shape: Shape, seed: int = 0) -> Any:
    rng = np.random.default_rng(seed)
    if dtype is BOOL:
        return rng.integers(0, 2, shape).astype(np.bool_)
    if dtype.kind == "float":
        return (rng.standard_normal(shape) * 3).astype(numpy_dtype(np, dtype))
    return rng.integers(-100, 100, shape).astype(numpy_dtype(np, dtype))


def scanned(dtype: DType, shape: Shape, axis: int, reverse: bool, schema: Any, before: Any = None) -> Module:
    d = Draft()
    d.pointer("x", dtype)
    d.pointer("y", dtype)
    x, y = d.begin()
    tile = d.load(places(d, x, shape))
    if before is not None:
        tile = d.apply(before, tile)
    found = d.scan(tile, axis, schema, reverse=reverse)
    d.store(places(d, y, shape), found)
    return d.end()


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize(("shape", "axis"), SHAPES)
def test_every_shape_and_axis(shape: Shape, axis: int, reverse: bool) -> None:
    x = values(F32, shape)
    check(scanned(F32, shape, axis, reverse, addf), [x, np.zeros_like(x)], (1, 1, 1), ALL if shape == (16, 32) else FEW)


@pytest.mark.parametrize("dtype", SUMS, ids=str)
def test_every_dtype(dtype: DType) -> None:
    x = values(dtype, (8, 32))
    for axis in (0, 1):
        check(scanned(dtype, (8, 32), axis, axis == 0, SUMS[dtype]), [x, np.zeros_like(x)], (1, 1, 1))


@pytest.mark.parametrize("schema", [subf, mulf, maxnumf], ids=lambda s: s.name)
@pytest.mark.parametrize(("shape", "axis"), [((64,), 0), ((8, 16), 0), ((8, 16), 1)])
def test_combiners_of_one_operation(schema: Any, shape: Shape, axis: int) -> None:
    x = values(F32, shape, 1)
    x.reshape(-1)[5] = np.nan
    check(scanned(F32, shape, axis, False, schema), [x, np.zeros_like(x)], (1, 1, 1))


def test_an_operand_that_is_computed() -> None:
    x = values(F32, (16, 64), 2)
    check(scanned(F32, (16, 64), 1, False, addf, exp_), [x, np.zeros_like(x)], (1, 1, 1), rtol=1e-5)


def recurrence(d: Draft) -> Any:
    """Pairs (a, b) for h -> a * h + b, the second after the first; a negative a forgets what was."""

    def join(a1: Value, b1: Value, a2: Value, b2: Value) -> tuple[Value, ...]:
        positive = d.apply(cmpf, a2, d.const(0.0, F32), predicate="ogt")
        carried = d.branch(positive, lambda: (d.apply(mulf, a2, b1),), lambda: (d.const(0.0, F32),))[0]
        return d.apply(mulf, a1, a2), d.apply(addf, carried, b2)

    return join


def looping(d: Draft) -> Any:
    """Adds the right operand twice, in a loop."""

    def join(x: Value, y: Value) -> tuple[Value, ...]:
        zero, two, one = (d.const(n, I32) for n in (0, 2, 1))

        def body(i: Value, acc: Value) -> tuple[Value, ...]:
            return (d.apply(addf, acc, y),)

        return d.loop(zero, two, one, (x,), body)

    return join


def largest(d: Draft) -> Any:
    """A value and its index: the larger value, of equals the left one."""

    def join(x: Value, i: Value, y: Value, j: Value) -> tuple[Value, ...]:
        keep = d.apply(cmpf, x, y, predicate="oge")
        return d.apply(select, keep, x, y), d.apply(select, keep, i, j)

    return join


def constant(d: Draft) -> Any:
    """Nothing but a number."""

    def join(x: Value, y: Value) -> tuple[Value, ...]:
        return (d.const(7.0, F32),)

    return join


def joined(name: str, shape: Shape, attrs: dict[str, Any], make: Any, operands: int, integer: bool = False) -> Module:
    d = Draft()
    for number in range(operands):
        d.pointer(f"x{number}", I32 if integer and number else F32)
    for number in range(operands):
        d.pointer(f"y{number}", I32 if integer and number else F32)
    pointers = d.begin()
    tiles = tuple(d.load(places(d, p, shape)) for p in pointers[:operands])
    found = d.combine(name, tiles, attrs, make(d))
    for pointer, value in zip(pointers[operands:], found, strict=True):
        left = tuple(int(str(n)) for n in shape_of(value.type))
        d.store(places(d, pointer, left) if left else pointer, value)
    return d.end()


COMBINERS = {
    "recurrence": (recurrence, 2, False),
    "looping": (looping, 1, False),
    "largest": (largest, 2, True),
    "constant": (constant, 1, False),
}


@pytest.mark.parametrize("name", ["tt.scan", "tt.reduce"])
@pytest.mark.parametrize("combiner", COMBINERS)
@pytest.mark.parametrize(("shape", "axis"), [((128,), 0), ((1,), 0), ((8, 32), 0), ((8, 32), 1), ((2, 4, 8), 1)])
def test_combiners_of_every_kind(name: str, combiner: str, shape: Shape, axis: int) -> None:
    make, operands, integer = COMBINERS[combiner]
    attrs: dict[str, Any] = {"axis": axis} | ({"reverse": False} if name == "tt.scan" else {})
    module = joined(name, shape, attrs, make, operands, integer)
    data = [values(I32 if integer and n else F32, shape, n) for n in range(operands)]
    if combiner == "largest":
        data[0] = np.round(data[0])
        data[1] = np.arange(int(np.prod(shape)), dtype=np.int32).reshape(shape)
    check(module, [*data, *(np.zeros_like(x) for x in data)], (1, 1, 1))


def test_what_is_scanned_may_be_read_again() -> None:
    d = Draft()
    d.pointer("x", F32)
    d.pointer("y", F32)
    x, y = d.begin()
    tile = d.apply(exp_, d.load(places(d, x, (16, 16))))
    once = d.scan(tile, 0, addf)
    twice = d.scan(once, 0, maxnumf)
    d.store(places(d, y, (16, 16)), d.apply(addf, d.apply(addf, tile, once), d.trans(twice, (1, 0))))
    data = values(F32, (16, 16), 4)
    check(d.end(), [data, np.zeros_like(data)], (1, 1, 1), rtol=1e-5)


def test_in_place_under_a_mask() -> None:
    """A ragged tile, scanned along both axes, goes back to where it came from."""
    d = Draft()
    d.pointer("x", I32)
    d.scalar("n")
    x, n = d.begin()
    inside = d.compare("lt", spread(d, d.range(32), 1, (8, 32)), d.fill(n, (8, 32)))
    at = places(d, x, (8, 32))
    tile = d.load(at, inside, 0)
    for axis in (1, 0):
        tile = d.scan(tile, axis, addi)
    d.store(at, tile, inside)
    check(d.end(), [values(I32, (8, 32)), 21], (1, 1, 1))


def test_bools() -> None:
    x = values(BOOL, (4, 64)) & values(BOOL, (4, 64), 1)
    check(scanned(BOOL, (4, 64), 1, False, ori), [x, np.zeros_like(x)], (1, 1, 1))
