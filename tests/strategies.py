"""Random kernels for property tests: operations x dtypes x shapes x strides x masks x grids.

`samples()` draws a concrete module with arguments that keep every access in bounds, whatever its masks say. So one
module can run on other data and other bounds (`Sample.arguments`), before and after a pass, on two executors.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, TypeVar, cast

import numpy as np
from hypothesis import strategies as st

from teeny.ir.builder import Builder
from teeny.ir.core import Block, Module, Region, Value
from teeny.ir.dtype import BF16, BOOL, F16, F32, F64, I8, I16, I32, I64, DType
from teeny.ir.rules import Lanewise
from teeny.ir.schema import Infer, OpDef, SchemaError, pointee_of, registry
from teeny.ir.text import print_module
from teeny.ir.types import element_of, shape_of, typed
from teeny.ops.arith import addf, addi, maxnumf, maxsi, minnumf, minsi, mulf, muli
from teeny.ops.bits import andi, ori, xori
from teeny.ops.compare import cmpf, cmpi, select
from teeny.ops.control import condition_, while_, yield_
from teeny.ops.vocabulary import numpy_dtype
from tests.drafts import Draft, Shape

importlib.import_module("teeny.language")  # all families of operations enter the registry

T = TypeVar("T")
Draw = Callable[[st.SearchStrategy[Any]], Any]

FLOATS = (F32, F16, BF16, F64)
INTEGERS = (I32, I64, I16, I8)
EVERY = (*FLOATS, *INTEGERS)
SIGN_OF_ZERO = frozenset(("max", "min", "maximum", "minimum"))


@dataclass(slots=True, repr=False)
class Sample:
    """A kernel with its arguments. `outputs` are the numbers of the arguments it stores to."""

    module: Module
    grid: tuple[int, int, int]
    outputs: tuple[int, ...]
    names: tuple[str, ...]
    makers: tuple[Callable[[int], Any], ...]

    def __repr__(self) -> str:
        return f"grid {self.grid}\n{print_module(self.module)}"

    def arguments(self, seed: int = 0, **scalars: int) -> list[Any]:
        """Fresh arguments; `scalars` replaces scalar arguments by name."""
        made = [make(seed * 100 + at) for at, make in enumerate(self.makers)]
        for name, value in scalars.items():
            made[self.names.index(name)] = value
        return made

    @property
    def bounds(self) -> tuple[str, ...]:
        """The scalar arguments that masks depend on."""
        return tuple(n for n in self.names if n.startswith("n"))


@dataclass(frozen=True, slots=True)
class Features:
    """What may be drawn. `exact`: only operations whose every bit is specified. `undefined`: loads without `other`."""

    dtypes: tuple[DType, ...] = EVERY
    exact: bool = False
    undefined: bool = True
    control: bool = True
    reductions: bool = True
    narrow_sums: bool = True
    steps: int = 10


def random_array(dtype: DType, count: int, seed: int) -> Any:
    """`count` elements of all sizes and signs, with some zeros, infinities and NaNs among the floats."""
    rng = np.random.default_rng(seed)
    target = numpy_dtype(np, dtype)
    if dtype.kind == "float":
        scale = rng.choice([1.0, 1.0, 1.0, 1e-3, 100.0], count)
        found = (rng.standard_normal(count) * scale).astype(target)
        special = rng.choice([0.0, -0.0, 1.0, math.inf, -math.inf, math.nan, 2.0**-126], count).astype(target)
        rare = rng.random(count) < rng.choice([0.0, 0.0, 0.05])
        return np.where(rare, special, found).astype(target)
    limits = np.iinfo(target)
    wide = rng.integers(limits.min, limits.max, count, endpoint=True, dtype=target)
    small = rng.integers(-5, 6, count).astype(target)
    return np.where(rng.random(count) < 0.5, small, wide).astype(target)


@cache
def elementwise(dtype: DType, exact: bool) -> tuple[OpDef, ...]:
    """The operations on tiles of one dtype that the registry has."""
    found: list[OpDef] = []
    for schema in registry().values():
        if not isinstance(schema.fill, Lanewise) or schema.generic or not schema.inferred or not schema.pure:
            continue
        if schema.attrs:
            continue
        if exact and schema.ulp.cpu:
            continue
        try:
            cast("Infer", schema.types)((dtype,) * len(schema.operands), {})
        except SchemaError:
            continue
        found.append(schema)
    return tuple(found)


@cache
def conversions(source: DType, target: DType) -> tuple[OpDef, ...]:
    """The casts between two different dtypes."""
    if source.bits == target.bits and source.kind == target.kind:
        return ()
    if source.kind == "float" and target.kind == "float":
        names = ("extf",) if source.bits < target.bits else ("truncf",)
    elif source.kind == "float":
        names = () if target is BOOL else ("fptosi", "fptoui")
    elif target.kind == "float":
        names = ("sitofp", "uitofp")
    else:
        names = ("extsi", "extui") if source.bits < target.bits else ("trunci",)
    return tuple(registry()[f"arith.{name}"] for name in names)


@dataclass(slots=True)
class _Author:
    """Draws one kernel. `pool` holds values by type text; `masks` and `sizes` hold what is always defined."""

    draw: Draw
    features: Features
    d: Draft
    shape: Shape
    pool: list[Value] = field(default_factory=list[Value])
    masks: list[Value] = field(default_factory=list[Value])
    sizes: list[Value] = field(default_factory=list[Value])

    def pick(self, values: Sequence[T]) -> T:
        return cast("T", self.draw(st.sampled_from(list(values))))

    def chance(self, percent: int) -> bool:
        return cast("int", self.draw(st.integers(0, 99))) < percent

    def tiles(self, dtype: DType | None = None) -> list[Value]:
        found = [v for v in self.pool if shape_of(v.type) == self.shape]
        return [v for v in found if element_of(v.type) in ((dtype,) if dtype else self.features.dtypes)]

    def like(self, value: Value) -> Value:
        return self.pick([v for v in self.pool if v.type is value.type])

    # One step

    def step(self) -> None:
        kinds = ["elementwise"] * 6 + ["compare", "select", "cast", "constant", "move"]
        kinds += ["reduce"] * 2 if self.features.reductions else []
        kinds += ["loop", "branch", "while"] if self.features.control else []
        self.pool.append(getattr(self, f"_{self.pick(kinds)}")())

    def _elementwise(self) -> Value:
        x = self.pick(self.tiles())
        dtype = cast("DType", element_of(x.type))
        schema = self.pick(elementwise(dtype, self.features.exact))
        operands = [x, *(self.like(x) for _ in schema.operands[1:])]
        if schema.group in ("floordiv", "mod") and dtype.kind == "signed":
            operands[1] = self.d.apply(ori, operands[1], self.d.const(1, x.type))
        return self._signed_zero(schema, self.d.apply(schema, *operands))

    def _signed_zero(self, schema: OpDef, found: Value) -> Value:
        """A maximum of zeros has either sign; adding 0.0 makes it +0.0, so that all executors go on alike."""
        dtype = cast("DType", element_of(found.type))
        if schema.group in SIGN_OF_ZERO and dtype.kind == "float":
            return self.d.apply(addf, found, self.d.const(0.0, found.type))
        return found

    def _constant(self) -> Value:
        x = self.pick(self.tiles())
        floating = cast("DType", element_of(x.type)).kind == "float"
        return self.d.const(self.pick([0.0, 1.0, -2.5, -math.inf, 1e-3] if floating else [0, 1, -1, 7, 64]), x.type)

    def _compare(self) -> Value:
        x = self.pick(self.tiles())
        floating = cast("DType", element_of(x.type)).kind == "float"
        predicates = ["oeq", "une", "olt", "oge", "ult", "uno", "ord", "one"]
        if not floating:
            predicates = ["eq", "ne", "slt", "sle", "sgt", "uge", "ult"]
        return self.d.apply(cmpf if floating else cmpi, x, self.like(x), predicate=self.pick(predicates))

    def condition(self) -> Value:
        found = [v for v in self.pool if element_of(v.type) is BOOL and shape_of(v.type) == self.shape]
        return self.pick([*found, *self.masks, self.d.const(True, typed(self.shape, BOOL))])

    def _select(self) -> Value:
        x = self.pick(self.tiles())
        condition = self.condition()
        if self.chance(30):
            condition = self.d.apply(self.pick((andi, ori, xori)), condition, self.condition())
        return self.d.apply(select, condition, x, self.like(x))

    def _cast(self) -> Value:
        x = self.pick(self.tiles())
        target = self.pick(self.features.dtypes)
        schemas = conversions(cast("DType", element_of(x.type)), target)
        return self.d.b.create(self.pick(schemas), x, type=typed(self.shape, target)) if schemas else x

    def _move(self) -> Value:
        x = self.pick(self.tiles())
        if len(self.shape) == 1:
            half = self.shape[0] // 2
            return self.d.reshape(self.d.reshape(x, (2, half)), self.shape) if half else x
        turned = self.d.trans(x, (1, 0))
        return self.d.trans(self.d.apply(self._adder(turned), turned, turned), (1, 0))

    def _adder(self, x: Value) -> OpDef:
        return addf if cast("DType", element_of(x.type)).kind == "float" else addi

    def _reduce(self) -> Value:
        x = self.pick(self.tiles())
        dtype = cast("DType", element_of(x.type))
        floating = dtype.kind == "float"
        schemas = [maxnumf, minnumf] if floating else [maxsi, minsi, addi, muli, xori, ori]
        if floating and (dtype.bits > 16 or self.features.narrow_sums):
            schemas += [addf, addf, mulf]
        axis = self.pick(range(len(self.shape)))
        schema = self.pick(schemas)
        found = self._signed_zero(schema, self.d.reduce(x, axis, schema))
        return self.d.fill(found, self.shape) if len(self.shape) == 1 else self.d.expand(found, axis, self.shape)

    # Control flow: what a region makes stays inside it

    def _inner(self, count: int) -> None:
        outer = self.features
        self.features = Features(outer.dtypes, outer.exact, outer.undefined, False, outer.reductions, outer.narrow_sums)
        for _ in range(count):
            self.step()
        self.features = outer

    def _loop(self) -> Value:
        carried = tuple(self.pick(self.tiles()) for _ in range(self.pick((1, 1, 2))))
        end = self.pick([self.d.const(self.pick((0, 1, 3)), I32), *self.sizes])
        start = self.d.const(self.pick((0, 1)), I32)
        steps = self.d.const(self.pick((1, 2, 5)), I32)
        kept = list(self.pool)

        def body(index: Value, *values: Value) -> tuple[Value, ...]:
            self.pool.extend(values)
            if I32 in self.features.dtypes:
                self.pool.append(self.d.fill(index, self.shape))
            self._inner(self.pick((1, 2, 3)))
            return tuple(self.pick([v for v in self.pool if v.type is x.type][-4:]) for x in values)

        found = self.d.loop(start, end, steps, carried, body)
        self.pool = kept
        return self.pick(found)

    def _branch(self) -> Value:
        x = self.pick(self.tiles())
        condition = self.d.compare(
            self.pick(("lt", "eq", "ge")), self.pick(self.sizes), self.d.const(self.pick((0, 1, 4)), I32)
        )
        kept = list(self.pool)

        def arm() -> tuple[Value, ...]:
            self._inner(self.pick((0, 1, 2)))
            found = self.pick([v for v in self.pool if v.type is x.type][-4:])
            self.pool = list(kept)
            return (found,)

        return self.d.branch(condition, arm, arm)[0]

    def _while(self) -> Value:
        """Counts a copy of the program's number up to 3; a tile is carried along."""
        x = self.pick(self.tiles())
        kept = list(self.pool)
        found = _count_up(self, x)
        self.pool = kept
        return found


def _count_up(author: _Author, x: Value) -> Value:
    d = author.d
    start = author.pick(author.sizes)
    types = (I32, x.type)
    before, after = Block(types), Block(types)
    test = Builder(before)
    outer, d.b = d.b, test
    test.op(condition_, (d.compare("lt", before.args[0], d.const(3, I32)), *before.args))
    d.b = Builder(after)
    author.pool.append(after.args[1])
    author._inner(author.pick((1, 2)))
    value = author.pick([v for v in author.pool if v.type is x.type][-4:])
    # The start may be far below 0: the count goes on from its larger with 0.
    count = d.add(d.apply(maxsi, after.args[0], d.const(0, I32)), d.const(1, I32))
    d.b.op(yield_, (count, value))
    d.b = outer
    regions = (Region([before]), Region([after]))
    return d.b.op(while_, (start, x), regions=regions, types=types).results[1]


@dataclass(frozen=True, slots=True)
class _Layout:
    """How a tensor of the kernel's tile lies in memory: strides in elements, one program `step` after the other."""

    strides: tuple[int, ...]
    step: int
    lead: int
    size: int


def _input_layout(draw: Draw, shape: Shape, programs: int) -> _Layout:
    strides = tuple(draw(st.sampled_from((1, 1, 1, 2, 3, 0, -1))) for _ in shape[:-1])
    if len(shape) == 2:
        strides = (draw(st.sampled_from((shape[1], shape[1] + 1, 1, 0, -shape[1]))),)
    strides = (*strides, draw(st.sampled_from((1, 1, 1, 1, 2, 0, -1, shape[0] if len(shape) == 2 else 3))))
    step = draw(st.sampled_from((0, 1, shape[-1], math.prod(shape))))
    low = sum(min(0, (n - 1) * s) for n, s in zip(shape, strides, strict=True))
    high = sum(max(0, (n - 1) * s) for n, s in zip(shape, strides, strict=True)) + (programs - 1) * step
    return _Layout(strides, step, -low, high - low + 1)


def _output_layout(draw: Draw, shape: Shape, programs: int) -> _Layout:
    inner = draw(st.sampled_from((1, 1, 1, 2)))
    strides = (inner,) if len(shape) == 1 else (shape[1] * inner + draw(st.sampled_from((0, 0, 3))), inner)
    if len(shape) == 2 and draw(st.integers(0, 3)) == 0:
        strides = (inner, shape[0] * inner)
    step = sum((n - 1) * s for n, s in zip(shape, strides, strict=True)) + draw(st.sampled_from((1, 1, 4)))
    return _Layout(strides, step, 0, step * programs)


def _offsets(d: Draft, ranges: Sequence[Value], layout: _Layout, program: Value, shape: Shape) -> Value:
    """Each lane's place: lead + program * step + sum of index * stride."""
    total = d.fill(d.add(d.mul(program, d.const(layout.step, I32)), d.const(layout.lead, I32)), shape)
    for index, stride in zip(ranges, layout.strides, strict=True):
        total = d.add(total, d.mul(index, d.const(stride, index.type)))
    return total


def _mask(draw: Draw, d: Draft, index: Value, bound: Value) -> Value:
    """One mask along an axis: a prefix, a suffix, the same in other words, or one that is none of these."""
    limit = d.fill(bound, shape_of(index.type))
    match draw(st.integers(0, 7)):
        case 0 | 1 | 2:
            return d.compare("lt", index, limit)
        case 3:
            return d.compare("gt", limit, index)
        case 4:
            return d.compare("le", index, d.add(limit, d.const(-1, index.type)))
        case 5:
            return d.compare("ge", index, limit)
        case 6:
            return d.compare("lt", d.mul(index, d.const(2, index.type)), limit)
        case _:
            return d.compare("eq", d.apply(andi, index, d.const(1, index.type)), d.const(0, index.type))


@st.composite
def samples(draw: Draw, features: Features = Features()) -> Sample:
    """A random kernel: loads, up to `features.steps` operations, stores."""
    rank = draw(st.sampled_from((1, 1, 2)))
    sizes = (1, 2, 4, 8, 16, 32, 64, 128, 256) if rank == 1 else (1, 2, 4, 8, 16, 32)
    shape: Shape = tuple(draw(st.sampled_from(sizes)) for _ in range(rank))
    grid = draw(st.sampled_from(((1, 1, 1), (2, 1, 1), (3, 1, 1), (2, 2, 1), (1, 2, 2))))
    programs = math.prod(grid)
    dtypes = [draw(st.sampled_from(features.dtypes)) for _ in range(draw(st.integers(1, 3)))]

    d = Draft()
    makers: list[Callable[[int], Any]] = []
    layouts = [_input_layout(draw, shape, programs) for _ in dtypes]
    for at, (dtype, layout) in enumerate(zip(dtypes, layouts, strict=True)):
        d.pointer(f"x{at}", dtype)
        makers.append(_array_maker(dtype, layout.size))
    bounds = [draw(st.integers(-1, size + 1)) for size in shape]
    for axis, bound in enumerate(bounds):
        d.scalar(f"n{axis}")
        makers.append(lambda seed, value=bound: value)
    outputs = [draw(st.sampled_from(features.dtypes)) for _ in range(draw(st.integers(1, 2)))]
    out_layouts = [_output_layout(draw, shape, programs) for _ in outputs]
    first_output = len(makers)
    for at, (dtype, layout) in enumerate(zip(outputs, out_layouts, strict=True)):
        d.pointer(f"y{at}", dtype)
        makers.append(_array_maker(dtype, layout.size))

    args = d.begin()
    author = _Author(draw, features, d, shape)
    numbers = args[len(dtypes) : first_output]
    program = _flat_program(d, grid)
    author.sizes = [*numbers, program]
    plain = [d.range(size) for size in shape]
    ranges = plain if rank == 1 else [d.expand(r, 1 - axis, shape) for axis, r in enumerate(plain)]
    author.masks = [_mask(draw, d, index, bound) for index, bound in zip(ranges, numbers, strict=True)]
    if rank == 2:
        author.masks.append(d.apply(andi, *author.masks))
    if I32 in features.dtypes:
        author.pool.extend(ranges)
    for ptr, layout in zip(args, layouts, strict=False):
        where = d.at(ptr, _offsets(d, ranges, layout, program, shape))
        author.pool.append(_drawn_load(author, where))
    for _ in range(draw(st.integers(0, features.steps))):
        author.step()
    for ptr, layout in zip(args[first_output:], out_layouts, strict=True):
        where = d.at(ptr, _offsets(d, ranges, layout, program, shape))
        _drawn_store(author, where)
    numbers_of = tuple(range(first_output, len(args)))
    return Sample(d.end(), grid, numbers_of, tuple(d.names), tuple(makers))


def _flat_program(d: Draft, grid: tuple[int, int, int]) -> Value:
    x, y, z = (d.program(axis) for axis in range(3))
    return d.add(x, d.mul(d.const(grid[0], I32), d.add(y, d.mul(d.const(grid[1], I32), z))))


def _array_maker(dtype: DType, size: int) -> Callable[[int], Any]:
    return lambda seed: random_array(dtype, size, seed)


def _drawn_load(author: _Author, where: Value) -> Value:
    d = author.d
    mask = author.pick([None, *author.masks])
    dtype = cast("DType", pointee_of(where.type))
    if mask is None:
        return d.load(where)
    if author.features.undefined and author.chance(50):
        return d.load(where, mask)
    if dtype.kind == "float":
        return d.load(where, mask, author.pick((0.0, 1.0, -math.inf, math.inf)))
    return d.load(where, mask, author.pick((0, 1, -1)))


def _drawn_store(author: _Author, where: Value) -> None:
    d = author.d
    dtype = cast("DType", pointee_of(where.type))
    tiles = author.tiles(dtype)
    if tiles:
        value = author.pick(tiles[-4:])
    else:
        source = author.pick(author.tiles()[-4:])
        schemas = conversions(cast("DType", element_of(source.type)), dtype)
        value = (
            d.b.create(schemas[0], source, type=typed(author.shape, dtype))
            if schemas
            else d.const(1, typed(author.shape, dtype))
        )
    d.store(where, value, author.pick([None, *author.masks]))
